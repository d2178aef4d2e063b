"""Digits trained by a real Slurm: sent as an array, requeued before a time limit, ended, resumed, and on two nodes."""

import contextlib
import os
import subprocess
from pathlib import Path

import psutil
import pytest

from tests.campaign import quick_python
from tests.clusters.there import there
from tests.clusters.training import digits, looked, python, steps, until
from tests.waits import HANG
from workbench.config import Choice
from workbench.places import records, sending, working
from workbench.places.contract import Ending, JobState
from workbench.places.following import Following
from workbench.places.launching import launcher_of
from workbench.places.place import SlurmPlace
from workbench.workspace import Workspace
from workbench.workspace.experiments import experiments


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """A place of the real Slurm of this machine, written down."""
    monkeypatch.setenv("SLURM_CONF", there("slurm")["SLURM_CONF"])
    monkeypatch.setenv("WORKBENCH_PLACES", str(tmp_path / "places"))

    def made(**fields):
        own = {"name": "cl", "folder": str(tmp_path / "runs there"), "python": python(tmp_path), "time": "10"}
        place = SlurmPlace(**own | fields)
        records.store(place)
        return place

    yield made
    with Workspace(tmp_path / "space") as workspace:
        jobs = [run.placement.job.partition("_")[0] for run in workspace.runs() if run.placement is not None]
    subprocess.run(["scancel", *jobs], check=False, capture_output=True)


@pytest.fixture
def quick(tmp_path):
    """A Python for the place that has torch loaded: each of the runs begins at once, and trains as any other."""
    folder = tmp_path / "quick"
    folder.mkdir()
    server = quick_python.start(folder / "door")
    yield str(quick_python.install(folder, folder / "door"))
    server.kill()
    server.wait(HANG)
    server.stdin.close()
    server.stdout.close()


@pytest.fixture
def forgets():
    """The controller forgets each job two seconds after its end, as others do after minutes."""
    conf = Path(there("slurm")["SLURM_CONF"])
    before = conf.read_text()

    def reconfigure(text: str) -> None:
        conf.write_text(text)
        subprocess.run(["scontrol", "reconfigure"], env={**os.environ, "SLURM_CONF": str(conf)}, check=True)

    reconfigure(f"{before}MinJobAge=2\n")
    yield
    reconfigure(before)


def known(task: str) -> bool:
    """Whether the controller knows a task of an array."""
    return subprocess.run(["scontrol", "-o", "show", "job", task], check=False, capture_output=True).returncode == 0


@pytest.fixture
def workspace(tmp_path):
    with Workspace(tmp_path / "space", create=True) as made:
        yield made


def test_an_array_is_requeued_ended_and_resumed(cluster, workspace, quick):
    place = cluster(python=quick)
    launcher = launcher_of(place)
    bare = launcher_of(place.model_copy(update={"python": "none"})).check()  # of Slurm alone: it loads no torch
    assert [(finding.what, finding.good) for finding in bare][:3] == [
        ("Slurm", True), ("Queue", True), ("Connection", True),
    ]  # fmt: skip
    requeued, saved = sending.prepare(workspace, digits("seeds=2"), place)
    sending.submit(workspace, [requeued, saved], place, launcher)
    following = Following(workspace, place, launcher)
    for run_id in (requeued, saved):
        looked(following, workspace, run_id, lambda run: steps(workspace, run.id) > 0)
    task = workspace.run(requeued).placement.job.partition(":")[0]
    subprocess.run(["scancel", "--batch", "--signal=USR1", task], check=True)  # what Slurm sends before the time limit
    working.end(workspace, saved, Ending.SAVED)
    run = looked(following, workspace, saved, lambda run: not run.placement.open)
    assert run.resumable
    assert run.placement.state == JobState.INTERRUPTED
    reached = {run_id: steps(workspace, run_id) for run_id in (requeued, saved)}
    working.resume(workspace, saved)
    for run_id in reached:
        looked(following, workspace, run_id, lambda run: steps(workspace, run.id) > reached[run.id] + 20)
        working.end(workspace, run_id, Ending.AFTER_EPOCH)
    said = subprocess.run(["scontrol", "-o", "show", "job", task], capture_output=True, text=True, check=True).stdout
    assert "Restarts=1 " in said
    for run_id in (requeued, saved):
        run = looked(following, workspace, run_id, lambda run: not run.placement.open)
        assert run.status in ("done", "stopped"), run.problem
        assert workspace.evaluations(run_id)


@pytest.mark.slow
def test_a_run_that_is_resumed_before_slurm_has_noticed_its_end_goes_on(cluster, workspace, quick):
    """Its journal says that it ended; its task still runs, and would be taken for the new one."""
    place = cluster(python=quick, before="trap 'sleep 3' EXIT")
    launcher = launcher_of(place)
    (run_id,) = sending.prepare(workspace, digits("training.epochs=2000"), place)
    sending.submit(workspace, [run_id], place, launcher)
    following = Following(workspace, place, launcher)
    looked(following, workspace, run_id, lambda run: steps(workspace, run.id) > 0)
    working.end(workspace, run_id, Ending.SAVED)
    run = looked(following, workspace, run_id, lambda run: run.resumable)
    assert run.placement.open, "its task has not ended"
    reached, first = steps(workspace, run_id), run.placement.job
    working.resume(workspace, run_id)
    assert workspace.run(run_id).placement.job != first
    looked(following, workspace, run_id, lambda run: steps(workspace, run.id) > reached + 20)
    working.end(workspace, run_id, Ending.AFTER_EPOCH)
    run = looked(following, workspace, run_id, lambda run: not run.placement.open)
    assert run.status == "stopped", run.problem


@pytest.mark.slow
def test_what_slurm_has_forgotten_meanwhile_is_told_of_what_its_tasks_wrote(cluster, workspace, quick, forgets):
    """The laptop was away while one run ended and another was killed; this cluster keeps no accounts (sacct)."""
    place = cluster(python=quick)
    launcher = launcher_of(place)
    changes = ("training.epochs=1", "training.epochs=2000")
    ended, killed = (run_id for change in changes for run_id in sending.prepare(workspace, digits(change), place))
    sending.submit(workspace, [ended, killed], place, launcher)
    first, second = (workspace.run(run_id).placement for run_id in (ended, killed))
    array = first.job.partition("_")[0]
    journal = Path(place.folder) / second.uid / "journal.jsonl"
    until(lambda: journal.exists() and b"batch/loss" in journal.read_bytes(), "no step came")
    until(lambda: not known(f"{array}_0"), "Slurm remembers")
    following = Following(workspace, place, launcher)
    run = looked(following, workspace, ended, lambda run: not run.placement.open)
    assert (run.status, run.problem) == ("done", "")
    assert workspace.run(killed).placement.state == JobState.RUNNING, "of the same array"
    for process in psutil.process_iter():  # its script first: it writes no exit status
        with contextlib.suppress(psutil.Error):
            if process.environ().get("SLURM_ARRAY_JOB_ID") == array:
                process.kill()
    until(lambda: not known(array), "Slurm remembers")
    run = looked(following, workspace, killed, lambda run: not run.placement.open)
    assert run.status == "interrupted"
    assert "Slurm does not know the job any more, and its task wrote no exit status" in run.problem
    assert steps(workspace, killed) > 0
    working.resume(workspace, killed)
    looked(following, workspace, killed, lambda run: run.live and run.placement.state == JobState.RUNNING)
    working.end(workspace, killed, Ending.SAVED)
    task = workspace.run(killed).placement.job.partition(":")[0]
    until(lambda: not known(task), "Slurm remembers")
    run = looked(following, workspace, killed, lambda run: not run.placement.open)
    assert (run.status, run.placement.state) == ("stopped", JobState.INTERRUPTED), "by the status that it wrote"


@pytest.mark.slow
def test_folds_are_one_array_with_account_and_gres(cluster, workspace, quick):
    place = cluster(python=quick, account="lab", gres="card:1", partition="debug", at_once=1)
    config = digits("training.epochs=1").model_copy(update={"split": Choice(name="mlrc", params={"folds": 3})})
    numbers = sending.prepare(workspace, config, place)
    sending.submit(workspace, numbers, place, launcher_of(place))
    jobs = [workspace.run(run_id).placement.job.partition(":")[0] for run_id in numbers]
    assert [job.partition("_")[2] for job in jobs] == ["0", "1", "2"]
    (array,) = {job.partition("_")[0] for job in jobs}
    said = subprocess.run(["scontrol", "-o", "show", "job", array], capture_output=True, text=True, check=True).stdout
    assert " Account=lab " in said
    assert "card:1" in said
    assert " Partition=debug " in said
    following = Following(workspace, place, launcher_of(place))
    for run_id in numbers:
        assert looked(following, workspace, run_id, lambda run: not run.placement.open).status == "done"
    (experiment,) = {workspace.run(run_id).experiment_id for run_id in numbers}
    assert next(one for one in experiments.every(workspace) if one.id == experiment).result


@pytest.mark.slow
def test_one_run_on_two_nodes_gives_the_losses_of_one_process(cluster, workspace):
    sent = []
    for nodes in (2, 1):
        place = cluster(nodes=nodes)
        sent += sending.prepare(workspace, digits("training.epochs=1"), place)
        sending.submit(workspace, sent[-1:], place, launcher_of(place))
    following = Following(workspace, place, launcher_of(place))
    curves = []
    for run_id in sent:
        run = looked(following, workspace, run_id, lambda run: not run.placement.open)
        assert run.status == "done", run.problem
        curves.append(workspace.scalars(run_id, "batch/loss")[1])
    two, one = curves
    assert two[:5] == pytest.approx(one[:5], rel=1e-5)
    assert two == pytest.approx(one, rel=0.1)
