"""Runs that a sweep's worker makes, played."""

import pytest

from tests.unit.sweeps.fake_runs import FakeRuns
from workbench.running import launch


@pytest.fixture
def runs(monkeypatch):
    made = FakeRuns()
    monkeypatch.setattr(launch, "make_job", made.make_job)
    monkeypatch.setattr(launch, "device_named", lambda name: "cpu")
    monkeypatch.setattr("workbench.sweeps.worker.POLL", 0.01)
    return made
