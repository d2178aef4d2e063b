"""A run in a process of its own does what is asked of it, and a crash of that process ends the run alone."""

import os
import signal
import sys
from time import monotonic, sleep

import pytest

from tests.waits import HANG
from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.running import own_process
from workbench.running.launch import prepare_run
from workbench.workspace import Workspace

ENDLESS = RunConfig(
    device="cpu", backbone=Choice(name="conv4", params={"width": 4}), embedding=EmbeddingParams(dim=4),
    split=Choice(name="random"), evaluation=EvaluationParams(probe_size=0, neighbours=3, untrained=False, every=1000),
    training=TrainingParams(epochs=5000, batch_size=32),
)  # fmt: skip


@pytest.fixture
def workspace(tmp_path):
    with Workspace(tmp_path / "space", create=True) as made:
        yield made


def until(workspace, run_id, is_so):
    """Look at the run, as the window does, until it is so."""
    patience = monotonic() + HANG
    while not is_so(run := workspace.run(run_id)):
        assert monotonic() < patience, run
        assert run.status not in ("failed", "done"), run.problem
        sleep(0.02)


def test_it_pauses_goes_on_crashes_alone_and_can_be_resumed(workspace):
    run_id, control, heard = prepare_run(ENDLESS, workspace), Control(), []
    job = own_process.make_job(workspace, run_id, control, heard.append).start()
    until(workspace, run_id, lambda run: run.epoch >= 1)
    control.pause()
    until(workspace, run_id, lambda run: run.status == "waiting")
    control.resume()
    until(workspace, run_id, lambda run: run.status == "running")
    os.kill(workspace.run(run_id).pid, signal.SIGTERM if sys.platform == "win32" else signal.SIGSEGV)
    job.join()
    run = workspace.run(run_id)
    assert (run.status, heard[-1].status) == ("failed", "failed")
    assert "SIGSEGV" in run.problem or sys.platform == "win32"
    workspace.take_over(run_id)
    control = Control()
    job = own_process.make_job(workspace, run_id, control, resume=True).start()
    reached = run.epoch
    until(workspace, run_id, lambda run: run.epoch > reached)
    control.stop()
    job.join()
    run = workspace.run(run_id)
    assert run.status == "stopped"
    assert run.pid != os.getpid()
