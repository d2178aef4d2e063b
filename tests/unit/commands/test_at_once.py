"""Runs of one config at once: each device has one, others wait, and a failure starts nothing new."""

import pytest

from tests.unit.workspace.test_workspace import Images, evaluated
from workbench.commands.training import at_once
from workbench.config import RunConfig
from workbench.events import RunState
from workbench.running.launch import prepare_run
from workbench.running.processes import own_process
from workbench.sweeps.device_lock import DeviceLock
from workbench.workspace import Workspace
from workbench.workspace.recorder import Recorder


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_LOCKS", str(tmp_path / "locks"))
    with Workspace(tmp_path / "space", create=True) as workspace:
        yield workspace


@pytest.fixture
def trained(monkeypatch):
    """What was trained: (run, device, runs at work); jobs end at the second look, those of `failing` as failed."""
    made, at_work = [], set()

    class Looked:
        failing: tuple[int, ...] = ()

        def __init__(self, workspace, run_id):
            self.workspace, self.run_id, self.looks = workspace, run_id, 0

        def start(self):
            return self

        def join(self, timeout=None):
            self.looks += 1
            if self.looks == 2:
                at_work.discard(self.run_id)
                failed = self.run_id in self.failing
                self.workspace.set_status(self.run_id, RunState.FAILED if failed else RunState.DONE, "No room.")
            return self.looks >= 2

    def make_job(workspace, run_id, control, *, resume, device, threads):
        at_work.add(run_id)
        made.append((run_id, device, len(at_work)))
        return Looked(workspace, run_id)

    monkeypatch.setattr(own_process, "make_job", make_job)
    return {"made": made, "job": Looked}


def test_each_device_trains_one_run_at_a_time(workspace, trained):
    numbers, said = [prepare_run(RunConfig(), workspace) for _ in range(3)], []
    assert at_once.Lanes(workspace, ("cuda:0", "cuda:1"), said.append).train(numbers, resume=False) == []
    assert [(device, busy) for _, device, busy in trained["made"]] == [("cuda:0", 1), ("cuda:1", 2), ("cuda:0", 1)]
    assert [run.status for run in workspace.runs()] == ["done"] * 3
    assert said[:2] == [f"Run {numbers[0]} trains on cuda:0.", f"Run {numbers[1]} trains on cuda:1."]
    assert DeviceLock("cuda:0").take(), "the locks are free afterwards"


def test_a_device_that_another_program_has_is_left_to_it(workspace, trained):
    theirs = DeviceLock("cuda:0")
    theirs.take()
    numbers = [prepare_run(RunConfig(), workspace) for _ in range(2)]
    at_once.Lanes(workspace, ("cuda:0", "cuda:1"), lambda line: None).train(numbers, resume=False)
    assert [device for _, device, _ in trained["made"]] == ["cuda:1", "cuda:1"]
    theirs.free()


def test_after_a_failure_nothing_new_begins(workspace, trained):
    numbers = [prepare_run(RunConfig(), workspace) for _ in range(3)]
    trained["job"].failing = (numbers[0],)
    problems = at_once.Lanes(workspace, ("cpu",), lambda line: None).train(numbers, resume=False)
    assert problems == [f"Run {numbers[0]}: No room."]
    assert len(trained["made"]) == 1


def test_what_the_runs_remark_is_said_once_and_their_scores_at_their_ends(workspace, trained):
    numbers, said = [prepare_run(RunConfig(), workspace) for _ in range(2)], []
    data = {"fingerprint": "f", "train": 2, "test": 4, "classes_disjoint": False, "left_out": [], "left_out_count": 0}
    for run_id in numbers:
        recorder = Recorder(workspace, run_id)
        recorder.read(Images(), None)
        recorder.environment({"data": data | {"notes": [("1 class", "has one image")]}})
        recorder(evaluated(Images(), 1, 10, 0.25))
        recorder.close()
    at_once.Lanes(workspace, ("cpu",), said.append).train(numbers, resume=False)
    ended = "done. Best MAP@R 25.00%, R@1 75.00% at epoch 1; optimistic, as it was chosen on the test set."
    first, second = numbers
    assert said == [
        f"Run {first} trains on cpu.", "1 class has one image.", f"Run {first} {ended}",
        f"Run {second} trains on cpu.", f"Run {second} {ended}",
    ]  # fmt: skip
