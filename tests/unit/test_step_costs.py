"""What bounds a run, on planted times."""

import numpy as np
import pytest

from workbench.ui.pages.train.system.costs import read_costs

STEPS = np.arange(10, 60, 10)
NETWORK = {"system/forward": 0.02, "system/backward": 0.04, "system/optimiser": 0.005}


def curves(times):
    return {name: (STEPS, np.full(len(STEPS), seconds)) for name, seconds in times.items()}


def test_nothing_is_said_of_runs_without_times():
    assert read_costs({}) is None
    assert read_costs(curves({"batch/feed_wait": 0.01})) is None, "older runs have the wait alone"


@pytest.mark.parametrize(
    ("times", "bound"),
    [
        ({"batch/feed_wait": 0.001}, "the network (wait for data 2%)"),
        ({"batch/feed_wait": 0.05}, "the data feed (wait for data 43%)"),
        ({"system/probe": 0.05}, "the probe"),
        ({"system/loss": 0.2}, "the loss"),
    ],
)
def test_the_verdict_names_what_bounds_a_run(times, bound):
    cost = read_costs(curves(NETWORK | times))
    assert cost is not None
    assert bound in cost.verdict
    assert cost.advice.endswith(".")


def test_an_odd_step_does_not_count_and_the_probe_is_shared_by_all():
    times = curves(NETWORK)
    times["system/forward"] = (STEPS, np.array([0.02, 0.02, 9.0, 0.02, 0.02]))
    times["system/probe"] = (STEPS, np.array([0.0, 0.0, 0.0, 0.0, 0.05]))
    cost = read_costs(times)
    assert cost.seconds["system/forward"] == 0.02
    assert cost.seconds["system/probe"] == pytest.approx(0.01)
    assert cost.whole == pytest.approx(0.075)
