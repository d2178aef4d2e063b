"""What the curves of the Train page stand over."""

import numpy as np
import pytest

from workbench.ui.pages.train.plots.axis import EPOCH, STEP, TIME, StepAxis


@pytest.fixture
def axis():
    axis = StepAxis()
    axis.steps_per_epoch = 20
    axis.add_times([10, 20, 30], [2.0, 4.0, 6.0])
    return axis


def test_steps_stand_as_they_are_stored(axis):
    assert axis.of(STEP, "step") == ("step", None)
    assert axis.of(STEP, "epoch") == ("epoch", None)


def test_steps_become_epochs_and_seconds(axis):
    title, across = axis.of(EPOCH, "step")
    assert (title, across(np.array([0.0, 10.0, 40.0])).tolist()) == ("epoch", [0.0, 0.5, 2.0])
    title, across = axis.of(TIME, "step")
    assert title == "time, s"
    assert across(np.array([5.0, 30.0, 40.0])).tolist() == [1.0, 6.0, 8.0], "after the last time at the mean pace"


def test_epochs_become_seconds(axis):
    _, across = axis.of(TIME, "epoch")
    assert across(np.array([1.0])).tolist() == [4.0]


def test_the_clock_of_a_resumed_run_goes_on(axis):
    axis.add_times([40, 50], [1.0, 3.0])
    _, across = axis.of(TIME, "step")
    assert across(np.array([30.0, 40.0, 50.0])).tolist() == [6.0, 7.0, 9.0]


def test_long_runs_count_minutes_and_hours(axis):
    axis.add_times([100], [600.0])
    title, across = axis.of(TIME, "step")
    assert (title, across(np.array([100.0])).tolist()) == ("time, min", [10.0])
    axis.add_times([200], [36_000.0])
    assert axis.of(TIME, "step")[0] == "time, h"


def test_a_run_without_times_stays_over_its_steps(axis):
    axis.clear()
    axis.steps_per_epoch = 0
    assert not axis.has(TIME)
    assert not axis.has(EPOCH)
    assert axis.of(TIME, "step") == ("step", None)
