"""A run in a process of its own does what is asked of it, and a crash of that process ends the run alone."""

import io
import os
import signal
import sys
from time import monotonic, sleep

import pytest

from tests.waits import HANG
from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.jobs import ToldProcess
from workbench.running import launch
from workbench.running.launch import prepare_run
from workbench.running.processes import one_run, own_process
from workbench.workspace import Workspace

ENDLESS = RunConfig(
    device="cpu", backbone=Choice(name="conv4", params={"width": 4}), embedding=EmbeddingParams(dim=4),
    split=Choice(name="random"), evaluation=EvaluationParams(probe_size=0, neighbours=3, untrained=False, every=1000),
    training=TrainingParams(epochs=5000, batch_size=32),
)  # fmt: skip


def until(workspace, run_id, is_so):
    """Look at the run, as the window does, until it is so."""
    patience = monotonic() + HANG
    while not is_so(run := workspace.run(run_id)):
        assert monotonic() < patience, run
        assert run.status not in ("failed", "done"), run.problem
        sleep(0.02)


def trained_here(workspace, run_id, *, resume=False):
    """Train an epoch more in this process, where torch is loaded, and stop."""
    control, reached = Control(), workspace.run(run_id).epoch
    job = launch.make_job(workspace, run_id, control, resume=resume).start()
    until(workspace, run_id, lambda run: run.epoch > reached)
    control.stop_now()
    job.join()
    assert workspace.run(run_id).status == "stopped"
    workspace.take_over(run_id)
    return workspace.run(run_id).epoch


def test_it_resumes_pauses_goes_on_crashes_alone_and_can_be_resumed(workspace):
    run_id, control, heard = prepare_run(ENDLESS, workspace), Control(), []
    reached = trained_here(workspace, run_id)
    job = own_process.make_job(workspace, run_id, control, heard.append, resume=True).start()
    until(workspace, run_id, lambda run: run.epoch > reached)
    control.pause()
    until(workspace, run_id, lambda run: run.status == "waiting")
    control.resume()
    until(workspace, run_id, lambda run: run.status == "running")
    process = workspace.run(run_id).pid
    assert process != os.getpid()
    os.kill(process, signal.SIGTERM if sys.platform == "win32" else signal.SIGSEGV)
    job.join()
    run = workspace.run(run_id)
    assert (run.status, heard[-1].status) == ("failed", "failed")
    assert "SIGSEGV" in run.problem or sys.platform == "win32"
    workspace.take_over(run_id)
    assert trained_here(workspace, run_id, resume=True) > reached


class Told:
    """A process that notes what it is told, gives way when it has heard of it, and then ends."""

    def __init__(self, control):
        self.control, self.heard = control, []

    def take(self, words, log):
        return self

    def prepare(self):
        """No other is started."""

    def tell(self, message):
        self.heard.append(message)

    def join(self, timeout):
        if not self.heard:
            self.control.give_way(0.15)  # as the window does when a page is shown
            return None
        return 0

    def answers(self):
        return [{"event": "ended", "status": "done"}] if self.heard else []

    def close(self):
        """It has ended."""


def test_the_process_is_told_at_once_to_give_way_while_it_works(workspace):
    run_id, control = prepare_run(ENDLESS, workspace), Control()
    process = Told(control)
    own_process.make_job(workspace, run_id, control, spare=process).start().join()
    assert process.heard == [{"give_way": 0.15}]
    control.give_way(0.15)
    assert process.heard == [{"give_way": 0.15}], "it has ended"


@pytest.mark.skipif(sys.platform == "win32", reason="it has no signals")
def test_a_killed_process_leaves_its_run_failed_and_names_what_kills(workspace):
    run_id, process = prepare_run(ENDLESS, workspace), Told(Control())
    process.join, process.answers = lambda timeout: -signal.SIGKILL, list
    own_process.make_job(workspace, run_id, Control(), spare=process).start().join()
    said = workspace.run(run_id).problem
    assert f"The process of run {run_id} was ended by SIGKILL, as systems do when memory runs out." in said


def test_the_process_gives_way_between_two_steps_without_a_pause():
    control, passed_on = Control(), []
    control.pass_on = passed_on.append
    one_run.obey(io.BytesIO(b'{"give_way": 0.05}\n'), control)
    assert passed_on == [0.05]
    assert not control.paused
    assert control.interrupted, "its input has ended"


def test_a_process_whose_input_is_closed_can_be_told(tmp_path):
    process = ToldProcess("this", [], tmp_path / "log", {})
    process.close()
    process.tell({"give_way": 0.15})


def test_a_process_that_cannot_record_its_run_leaves_it_failed(workspace):
    run_id, heard = prepare_run(ENDLESS, workspace), []
    workspace.file(run_id, "journal.jsonl").mkdir(parents=True)
    own_process.make_job(workspace, run_id, Control(), heard.append).start().join()
    run = workspace.run(run_id)
    assert (run.status, run.problem) == ("failed", heard[-1].problem)
    assert "journal.jsonl" in run.problem


def test_a_run_that_is_handed_over_has_not_lost_its_program(workspace):
    """Another program looks for dead runs while the process of this one still loads torch."""
    run_id, process = prepare_run(ENDLESS, workspace), Told(Control())

    def taken(words, log):
        with Workspace(workspace.path) as other:
            process.swept = other.sweep_dead_runs()
        return process

    process.take = taken
    own_process.make_job(workspace, run_id, process.control, spare=process).start().join()
    assert process.swept == []
    assert workspace.run(run_id).status == "queued"
