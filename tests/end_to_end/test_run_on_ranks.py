"""Runs on several processes of the CPU: ended, gone on with by another number of them, and with one that dies."""

import json
import os
import signal

import psutil
import pytest

from tests.waits import HANG
from workbench.config import RunConfig
from workbench.control import Control
from workbench.events import Progress, Saved, Waiting
from workbench.problem import Problem
from workbench.running.launch import make_job, prepare_run
from workbench.running.together import MODULE, parse_devices
from workbench.workspace import Workspace

CONFIG = RunConfig.model_validate(
    {
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
    return [child for child in psutil.Process().children() if MODULE in child.cmdline()]


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
    lines = (workspace.folder(number) / "journal.jsonl").read_text().splitlines()
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


def test_a_config_may_name_the_devices_that_train_together():
    assert RunConfig(device="0, 1", training={"batch_size": 64}).device == "cuda:0,cuda:1"
    with pytest.raises(ValueError, match="'gpu' is no device"):
        RunConfig(device="0,gpu")


def test_devices_of_a_config_get_equal_shares_of_a_batch(known):
    uneven = CONFIG.model_copy(update={"device": "cpu,cpu"})
    assert uneven.check(known) == {
        "training.batch_size": "2 devices do not get equal shares of 65 images: take 64, say."
    }


@pytest.mark.slow
def test_the_devices_of_a_config_are_the_ranks_of_its_run(workspace):
    training = CONFIG.training.model_copy(update={"batch_size": 64, "epochs": 1})
    number = prepare_run(CONFIG.model_copy(update={"device": "cpu,cpu", "training": training}), workspace)
    ranks = []

    def count(event):
        if isinstance(event, Progress):
            ranks.append(len(other_ranks()))

    job = make_job(workspace, number, Control(), count)
    assert job.start().join(HANG)
    assert job.ended.status == "done", job.ended
    assert set(ranks) == {1}
