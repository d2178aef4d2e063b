"""`workbench run --json`: a script learns the numbers, states and scores of runs, and by the status how they ended."""

import json
import os
import signal
import sys

import pytest
from click.testing import CliRunner

from workbench.cli import cli
from workbench.events import Status
from workbench.problem import Problem
from workbench.running import launch

SMALL = ("training.epochs=1", "backbone.width=4", "evaluation.probe_size=0", "evaluation.anatomy_every=0")
CHANGES = [word for change in SMALL for word in ("--set", change)]


class Trained:
    """In place of training: `ends` is called with the control of each run, which it may stop or fail."""

    def __init__(self):
        self.ends = lambda control: None

    def run(self, workspace, run_id, control, emit, recorder, *, resume=False, listed=None):
        emit(Status("Training"))
        self.ends(control)


@pytest.fixture
def trained(monkeypatch):
    made = Trained()
    monkeypatch.setattr(launch, "run", made.run)
    return made


@pytest.fixture
def start(tmp_path):
    def run(*words):
        return CliRunner().invoke(cli, ["run", "sample-digits", *words, "--json", "-w", str(tmp_path / "space")])

    return run


def failing(control):
    raise Problem("The data set is empty.")


def as_asked(control):
    control.stop()


def test_of_a_run_that_is_done(start, tmp_path):
    done = start(*CHANGES)
    document = json.loads(done.stdout)
    (run,) = document["runs"]
    assert (done.exit_code, run["run"], run["status"]) == (0, 1, "done")
    assert 0 < run["best"]["MAP@R"] <= 1
    assert (tmp_path / "space" / "runs" / "1").samefile(run["folder"])
    assert (document["experiment"], document["result"], document["reports"]) == (None, None, [])
    assert "Run 1 done." in done.stderr
    listed = CliRunner().invoke(cli, ["list", "runs", "--json", "-w", str(tmp_path / "space")])
    assert [{**run, "folder": ""}] == [{**listed, "folder": ""} for listed in json.loads(listed.stdout)]


@pytest.mark.parametrize(
    ("ends", "status", "state", "said"),
    [
        (failing, 1, "failed", "The data set is empty."),
        (as_asked, 130, "stopped", "Continue with: workbench run sample-digits --set seeds=2 --resume --workspace "),
    ],
)
def test_of_runs_of_which_one_fails_or_is_stopped(ends, status, state, said, trained, start):
    trained.ends = ends
    ended = start("--set", "seeds=2")
    document = json.loads(ended.stdout)
    assert (ended.exit_code, [run["status"] for run in document["runs"]]) == (status, [state, "queued"])
    assert document["experiment"] == 1
    assert said in ended.stderr


def test_nothing_is_printed_of_a_run_that_was_refused(start):
    refused = start("--set", "loss.name=nothing")
    assert (refused.exit_code, refused.stdout) == (2, "")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGHUP")
def test_a_closed_connection_ends_a_run_with_a_checkpoint_unless_it_is_ignored(trained, start):
    trained.ends = lambda control: signal.getsignal(signal.SIGHUP)(signal.SIGHUP, None)
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        assert start().exit_code == 130
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup sets it
        trained.ends = lambda control: os.kill(os.getpid(), signal.SIGHUP)
        assert start().exit_code == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_of_run_folders(tmp_path):
    folder = tmp_path / "alone"
    done = CliRunner().invoke(cli, ["run", "sample-digits", *CHANGES, "--json", "--folder", str(folder)])
    document = json.loads(done.stdout)
    (run,) = document["runs"]
    assert (done.exit_code, run["run"], run["status"], run["folder"]) == (0, None, "done", str(folder))
    assert 0 < run["best"]["MAP@R"] <= 1
    assert document["workspace"] is None
