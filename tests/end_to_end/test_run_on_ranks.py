"""Runs on several processes of the CPU: ended, gone on with by another number of them, and with one that dies."""

import json
import os
import re
import signal

import pytest

from tests.processes import children_with
from tests.waits import HANG
from workbench.config import RunConfig
from workbench.control import Control
from workbench.entries import catalog
from workbench.events import Progress, Saved, Waiting
from workbench.problem import Problem
from workbench.running.devices.together import MODULE, parse_devices, refuse_unfit
from workbench.running.launch import make_folder_job, make_job, prepare_run
from workbench.settings.checks import largest_batch
from workbench.workspace import Workspace
from workbench.workspace.arriving.ingest import ingest
from workbench.workspace.folders import travelling
from workbench.workspace.folders.journal import last_state

CONFIG = RunConfig.model_validate(
    {
        "backbone": {"name": "conv4", "width": 8},
        "training": {"epochs": 2, "batch_size": 65, "optimiser": "sgd", "lr": 1e-3},
        "sampler": {"name": "random"},
        "evaluation": {"probe_size": 100, "probe_every": 5, "linear_probe": True, "anatomy_every": 0},
    }
)


@pytest.fixture
def workspace(tmp_path):
    with Workspace(tmp_path / "runs", create=True) as workspace:
        yield workspace


def other_ranks():
    """The processes beside this one."""
    return children_with(MODULE)


def trained(workspace, devices, *, run_id=0, hear=lambda control, event: None, control=None):
    """A run's number, and how it ended."""
    resume, control = bool(run_id), control or Control()
    number = run_id or prepare_run(CONFIG, workspace)
    if resume:
        workspace.take_over(number)
    job = make_job(workspace, number, control, lambda event: hear(control, event), resume=resume, device=devices)
    assert job.start().join(HANG)
    assert not other_ranks()
    return number, job.ended


def losses(workspace, number):
    return told(workspace.folder(number))


def told(folder):
    """The loss of each step in a run folder's journal."""
    lines = (folder / "journal.jsonl").read_text().splitlines()
    points = [point for line in lines for point in json.loads(line).get("scalars", [])]
    return {step: value for name, step, value in points if name == "batch/loss"}


def after_epoch(epoch, then):
    """Call `then(control)` when that epoch's checkpoint is written."""
    return lambda control, event: (
        then(control) if isinstance(event, Saved) and (event.kind, event.epoch) == ("last", epoch) else None
    )


@pytest.mark.slow
def test_a_run_that_two_ranks_began_and_three_ended_is_that_of_one(workspace):
    alone, ended = trained(workspace, "")
    assert ended.status == "done"
    begun, ended = trained(workspace, "cpu,cpu", hear=after_epoch(1, lambda control: control.interrupt()))
    assert ended.status == "stopped"
    trained(workspace, "cpu,cpu,cpu", run_id=begun)
    expected = losses(workspace, alone)
    assert losses(workspace, begun) == pytest.approx(expected, rel=1e-5)
    one, other = (workspace.run(number) for number in (alone, begun))
    assert (one.status, one.epoch) == (other.status, other.epoch)
    assert other.best == pytest.approx(one.best, abs=0.01)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_a_killed_rank_ends_the_run_with_a_sentence_and_its_checkpoint(workspace):
    number, ended = trained(workspace, "cpu,cpu", hear=after_epoch(1, lambda control: other_ranks()[0].kill()))
    assert ended.status == "failed"
    assert ended.problem.startswith("Rank 1 of 2 was ended by signal 9 (SIGKILL). The run and its checkpoints are kept")
    assert (workspace.folder(number) / "last.pt").is_file()
    assert trained(workspace, "", run_id=number)[1].status == "done"


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_a_rank_that_hangs_ends_the_run_with_a_sentence(workspace, monkeypatch):
    monkeypatch.setenv("WORKBENCH_RANK_PATIENCE", "20")
    hung = after_epoch(1, lambda control: other_ranks()[0].send_signal(signal.SIGSTOP))
    _, ended = trained(workspace, "cpu,cpu", hear=hung)
    assert ended.status == "failed"
    assert ended.problem.startswith("A rank of this run has not answered for 20 seconds.")


@pytest.mark.slow
def test_pause_stop_and_cancel_are_obeyed_by_all_ranks(workspace):
    number, ended = trained(workspace, "cpu,cpu", hear=pause_once)
    assert (ended.status, workspace.run(number).epoch) == ("done", 2)
    number, ended = trained(workspace, "cpu,cpu", hear=stop_at_once)
    assert (ended.status, workspace.run(number).epoch) == ("stopped", 1)
    _, ended = trained(workspace, "cpu,cpu", hear=after_epoch(1, lambda control: control.cancel()))
    assert ended.status == "cancelled"


def pause_once(control, event):
    if isinstance(event, Waiting):
        control.resume()
    else:
        after_epoch(1, lambda control: control.pause())(control, event)


def stop_at_once(control, event):
    if isinstance(event, Progress):
        control.stop()


@pytest.mark.parametrize(
    ("text", "names"), [("0,1", ("cuda:0", "cuda:1")), ("cpu, cpu", ("cpu", "cpu")), ("cuda:3", ("cuda:3",))]
)
def test_devices_are_named_by_number(text, names):
    assert parse_devices(text) == names


@pytest.mark.parametrize("text", ["", "0,0", "cpu,0", "gpu", "1,", "cuda:"])
def test_devices_that_cannot_train_together_are_refused(text):
    with pytest.raises(Problem, match=r"cannot be used: .* Nothing was started"):
        parse_devices(text)


def test_a_gpu_that_is_not_there_is_refused_before_a_process_is_started(workspace):
    _, ended = trained(workspace, "7,98")
    assert ended.status == "failed"
    assert "GPUs that it can use" in ended.problem


def in_folder(folder, devices, *, resume=False, hear=lambda control, event: None):
    """How a run in a folder that travels ended."""
    if not resume:
        travelling.make(folder, CONFIG)
    control = Control()
    job = make_folder_job(folder, control, lambda event: hear(control, event), resume=resume, device=devices)
    assert job.start().join(HANG)
    assert not other_ranks()
    return job.ended


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_a_run_in_a_folder_trains_on_two_ranks_loses_one_goes_on_and_comes_home(tmp_path, workspace):
    folder = tmp_path / "travelling"
    ended = in_folder(folder, "cpu,cpu", hear=after_epoch(1, lambda control: other_ranks()[0].kill()))
    assert ended.status == "failed"
    assert ended.problem.startswith("Rank 1 of 2 was ended by signal 9 (SIGKILL).")
    assert last_state(folder) == "failed"
    assert in_folder(folder, "cpu,cpu", resume=True).status == "done"
    assert last_state(folder) == "done"
    assert not list(folder.rglob("*.db"))
    ingest(workspace, folder)
    (run,) = workspace.runs()
    assert (run.status, run.epoch, run.environment["devices"]) == ("done", 2, "cpu,cpu")
    steps = losses(workspace, run.id)
    assert sorted(steps) == list(range(1, max(steps) + 1)), "each step is told once"


@pytest.mark.slow
def test_a_run_in_a_folder_is_that_of_one_rank_when_it_was_interrupted_too(tmp_path):
    assert in_folder(tmp_path / "one", "").status == "done"
    stopped = in_folder(tmp_path / "two", "cpu,cpu", hear=after_epoch(1, lambda control: control.interrupt()))
    assert (stopped.status, last_state(tmp_path / "two")) == ("stopped", "stopped")
    assert in_folder(tmp_path / "two", "cpu,cpu", resume=True).status == "done"
    one, two = (told(tmp_path / name) for name in ("one", "two"))
    assert two == pytest.approx(one, rel=1e-5)


def test_a_config_may_name_the_devices_that_train_together():
    assert RunConfig(device="0, 1", training={"batch_size": 64}).device == "cuda:0,cuda:1"
    with pytest.raises(ValueError, match="'gpu' is not a device"):
        RunConfig(device="0,gpu")


FEW = "A batch of 2 images cannot be spread over 3 devices: use 3 images or more."


def test_a_batch_needs_an_image_for_each_device_however_the_devices_are_named():
    assert CONFIG.model_copy(update={"device": "cpu,cpu"}).check(catalog.current()) == {}, "65 images are 33 and 32"
    few = CONFIG.model_copy(update={"training": CONFIG.training.model_copy(update={"batch_size": 2})})
    named = few.model_copy(update={"device": "cpu,cpu,cpu"})
    assert named.check(catalog.current()) == {"training.batch_size": FEW}
    with pytest.raises(Problem, match=re.escape(FEW)):
        refuse_unfit(few, 3)
    assert largest_batch(named, catalog.current(), 65) == 65
    assert largest_batch(named, catalog.current(), 2) is None


@pytest.mark.slow
def test_the_devices_of_a_config_are_the_ranks_of_its_run(workspace):
    training = CONFIG.training.model_copy(update={"batch_size": 64, "epochs": 1})
    number = prepare_run(CONFIG.model_copy(update={"device": "cpu,cpu", "training": training}), workspace)
    ranks = []

    def count(event):
        if isinstance(event, Progress) and event.done < event.total:  # the last news may come after they have ended
            ranks.append(len(other_ranks()))

    job = make_job(workspace, number, Control(), count)
    assert job.start().join(HANG)
    assert job.ended.status == "done", job.ended
    assert set(ranks) == {1}
