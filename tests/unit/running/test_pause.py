"""A pause is said wherever it is obeyed: while images are read as well as between two steps."""

import threading

import pytest

from tests.waits import HANG
from workbench.config import Choice, RunConfig, TrainingParams
from workbench.control import Control, insist, wait_if_asked
from workbench.events import Ended, Resumed, Status, Waiting
from workbench.problem import Problem, RunTaken
from workbench.running.launch import make_job, prepare_run
from workbench.workspace import Workspace


def test_a_pause_before_the_first_image_is_read_is_said_and_ended(tmp_path):
    backbone = Choice(name="conv4", params={"width": 4})
    config = RunConfig(
        device="cpu", backbone=backbone, split=Choice(name="random"), training=TrainingParams(epochs=1)
    )  # fmt: skip
    control, heard, waits = Control(), [], threading.Event()

    def listen(event):
        heard.append(event)
        if isinstance(event, Waiting):
            waits.set()

    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id = prepare_run(config, workspace)
        control.pause()
        job = make_job(workspace, run_id, control, listen).start()
        try:
            assert waits.wait(HANG), "nothing said that the run stands still"
            assert workspace.run(run_id).status == "waiting"
            assert [type(event) for event in heard] == [Status, Waiting]
        finally:
            control.interrupt()  # lets it go on to its first step and no further
            job.join()
        assert Resumed() in heard
        assert heard[-1] == Ended("stopped")


def test_a_pause_that_comes_after_the_look_is_not_obeyed_in_silence():
    class LooksTooEarly(Control):
        paused = False

    control, heard = LooksTooEarly(), []
    control.pause()
    assert wait_if_asked(control, heard.append) is False  # the next step's look will see it
    assert heard == []


@pytest.mark.parametrize(
    ("problem", "attended", "asked", "tries"),
    [
        (Problem, True, "resume", 3),  # the person frees the disk
        (Problem, True, "stop", 2),  # the person gives up
        (Problem, False, "resume", 1),
        (RunTaken, True, "resume", 1),
    ],
)
def test_a_full_disk_waits_for_the_person_who_is_there(problem, attended, asked, tries):
    control, heard, tried = Control(attended=attended), [], []

    def listen(event):
        heard.append(event)
        if isinstance(event, Waiting):
            getattr(control, asked)()

    def write():
        tried.append(1)
        if len(tried) < 3:
            raise problem("The disk is full.")
        return "written"

    if tries == 3:
        assert insist(control, listen, write) == "written"
    else:
        with pytest.raises(problem, match="full"):
            insist(control, listen, write)
    assert len(tried) == tries
    assert heard == [Waiting("The disk is full."), Resumed()] * (tries - 1)
