"""A sweep in a process of its own, killed in the middle of a run and gone on with: the figures of one left alone."""

import time
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest
from click.testing import CliRunner

from tests.waits import HANG
from workbench.cli import cli
from workbench.sweeps.worker import Worker
from workbench.workspace import Workspace
from workbench.workspace.experiments import sweeps

START = [
    "sweep", "start", "sample-digits", "-p", "training.lr=0.01,0.05",
    *(word for change in (
        "training.epochs=6", "backbone.width=8", "device=cpu", "evaluation.probe_size=0", "evaluation.every=3",
    ) for word in ("--set", change)),
]  # fmt: skip


def asked(*words):
    result = CliRunner().invoke(cli, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return result.output


def figures(workspace):
    return [(trial.state, trial.setting, trial.objective) for trial in sweeps.trials(workspace, 1)]


def curve(workspace, run):
    return dict(zip(*(part.tolist() for part in workspace.scalars(run, "batch/loss")), strict=True))


def owner(place):
    with Workspace(place) as workspace, workspace.reading() as db:
        return db.execute("select pid from sweeps").fetchone()[0]


@pytest.fixture(autouse=True)
def _as_in_this_process(monkeypatch, tmp_path_factory):
    torch = pytest.importorskip("torch")
    with ThreadPoolExecutor(1) as pool:  # a run trains on a thread of its own; a library may have set this one's
        threads = pool.submit(torch.get_num_threads).result()
    monkeypatch.setenv("OMP_NUM_THREADS", str(threads))  # as many give the same sums


@pytest.mark.slow
def test_killed_in_its_first_run_it_ends_as_if_it_had_not_been(tmp_path):
    said = asked(*START, "-w", tmp_path / "whole")
    assert "Sweep 1: 2 settings, 2 runs, by MAP@R." in said
    assert "Optimistic: " in said
    assert "| 2 | 0.05 |" in said

    said = asked(*START, "-w", tmp_path / "cut", "--detach")
    assert "Its worker is started" in said
    end = time.monotonic() + HANG
    while not (tmp_path / "cut" / "runs" / "1" / "last.pt").exists():
        assert time.monotonic() < end, "it trains no first epoch"
        time.sleep(0.01)
    process = psutil.Process(owner(tmp_path / "cut"))
    assert "sweep" in process.cmdline()
    process.kill()
    process.wait(HANG)
    said = asked("sweep", "list", "-w", tmp_path / "cut")
    assert "Worker is gone" in said
    with Workspace(tmp_path / "cut") as cut, Workspace(tmp_path / "whole") as whole:
        assert [trial.state for trial in sweeps.trials(cut, 1)] == ["running", "queued"]
        assert Worker(cut, 1).run() == "done"
        assert figures(cut) == figures(whole)
        assert curve(cut, 2) == curve(whole, 2)
        # A kill may cost the last fifth of a second before it; what is there is the same, and nothing is there twice.
        assert curve(cut, 1).items() <= curve(whole, 1).items()
        assert len(curve(cut, 1)) == len(cut.scalars(1, "batch/loss")[0])
        assert max(curve(cut, 1)) == max(curve(whole, 1))
        assert [run.status for run in cut.runs()] == ["done", "done"]
