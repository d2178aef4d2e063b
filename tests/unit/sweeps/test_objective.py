"""The value of a trial: of the best epoch, or the last point of a training curve, which must be a number."""

from math import inf, nan

import pytest

from workbench.config import RunConfig
from workbench.events import Scalar
from workbench.sweeps import objective
from workbench.workspace import Workspace
from workbench.workspace.recorder import Recorder


@pytest.fixture
def workspace(tmp_path):
    with Workspace(tmp_path / "space", create=True) as made:
        yield made


def trained(workspace: Workspace, values: list[float]) -> int:
    run_id = workspace.create_run(RunConfig())
    recorder = Recorder(workspace, run_id)
    for step, value in enumerate(values, 1):
        recorder(Scalar("probe/ce", step, value))
    recorder.flush()
    recorder.close()
    return run_id


def test_the_last_point_counts(workspace):
    run_id = trained(workspace, [2.0, nan, 0.5])
    assert objective.measured(workspace, run_id, "probe/ce") == 0.5


@pytest.mark.parametrize("last", [nan, inf])
def test_a_run_that_diverged_has_no_value_of_the_time_before(workspace, last):
    run_id = trained(workspace, [2.0, 0.001, last])
    assert objective.measured(workspace, run_id, "probe/ce") is None
    said = objective.reason_without(workspace, run_id, "probe/ce")
    assert said == "The run diverged: its last CE on the probe is not a number."


def test_a_run_without_the_curve_says_so(workspace):
    run_id = trained(workspace, [])
    assert objective.measured(workspace, run_id, "probe/ce") is None
    assert objective.reason_without(workspace, run_id, "probe/ce") == "The run has no CE on the probe."
