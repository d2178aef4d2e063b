"""A workspace, the catalog, and runs that a sweep's worker makes, played."""

import pytest

from tests.unit.sweeps.fake_runs import FakeRuns
from workbench.entries import catalog
from workbench.running import launch
from workbench.workspace import Workspace


@pytest.fixture
def runs(monkeypatch):
    made = FakeRuns()
    monkeypatch.setattr(launch, "make_job", made.make_job)
    monkeypatch.setattr(launch, "device_named", lambda name: "cpu")
    monkeypatch.setattr("workbench.sweeps.worker.POLL", 0.01)
    return made


@pytest.fixture
def workspace(tmp_path):
    with Workspace(tmp_path / "w", create=True) as made:
        yield made


@pytest.fixture(scope="module")
def known():
    return catalog.current()
