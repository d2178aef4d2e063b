"""Digits trained by a real Ray: sent, ended with a checkpoint, resumed, ended after an epoch."""

import pytest

from tests.clusters.there import there
from tests.clusters.training import digits, looked, python, steps
from workbench.places import records, sending, working
from workbench.places.contract import Ending, JobState
from workbench.places.following import Following
from workbench.places.launching import launcher_of
from workbench.places.place import RayPlace
from workbench.workspace import Workspace


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_PLACES", str(tmp_path / "places"))
    made = RayPlace(name="ray", url=there("ray")["URL"], folder=str(tmp_path / "runs"), python=python(tmp_path))
    records.store(made)
    return made


def test_a_run_is_sent_ended_and_resumed(place, tmp_path):
    launcher = launcher_of(place)
    assert [finding.said for finding in launcher.check() if not finding.good] == []
    with Workspace(tmp_path / "space", create=True) as workspace:
        (run_id,) = sending.prepare(workspace, digits(), place)
        sending.submit(workspace, [run_id], place, launcher)
        following = Following(workspace, place, launcher)
        looked(following, workspace, run_id, lambda run: steps(workspace, run_id) > 0)
        working.end(workspace, run_id, Ending.SAVED)
        run = looked(following, workspace, run_id, lambda run: not run.placement.open)
        assert run.resumable
        assert run.placement.state == JobState.INTERRUPTED
        reached = steps(workspace, run_id)
        working.resume(workspace, run_id)
        looked(following, workspace, run_id, lambda run: steps(workspace, run_id) > reached)
        working.end(workspace, run_id, Ending.AFTER_EPOCH)
        run = looked(following, workspace, run_id, lambda run: not run.placement.open)
        assert run.status in ("done", "stopped")
        assert workspace.evaluations(run_id)
