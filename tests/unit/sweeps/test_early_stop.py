"""A trial below the median of the others at its epoch is stopped, unless it is too early to say."""

from math import nan

import pytest

from workbench.sweeps.early_stop import Curve, reason_to_stop

# At epoch 3 the best values so far are 0.3, 0.4, 0.5, 0.6 and 0.7.
OTHERS = [Curve(point, {1: 0.1, 2: 0.1 * point + 0.2, 3: 0.2, 4: 0.9}) for point in range(1, 6)]


def curve(*values, point=9, since=1):
    return Curve(point, dict(enumerate(values, since)))


def test_a_trial_whose_best_value_is_below_the_median_is_stopped():
    assert reason_to_stop(curve(0.2, 0.49, 0.1), OTHERS, 10) == "below the median of 5 trials at epoch 3"
    assert reason_to_stop(curve(0.2, 0.51, 0.1), OTHERS, 10) == "", "its best value counts, not its last"
    assert reason_to_stop(curve(0.2, 0.5, 0.1), OTHERS, 10) == "", "as good as the median"


def test_later_values_of_the_others_do_not_count():
    assert reason_to_stop(curve(0.6, 0.6, 0.6), OTHERS, 10) == "", "at epoch 4 all others have 0.9"
    assert reason_to_stop(curve(0.6, 0.6, 0.6, 0.6), OTHERS, 10) == "below the median of 5 trials at epoch 4"


def test_the_median_of_an_even_number_is_between_the_middle_two():
    six = [*OTHERS, curve(0.9, 0.9, 0.9, point=6)]  # 0.5 and 0.6 are in the middle
    assert reason_to_stop(curve(0.1, 0.1, 0.54), six, 10) == "below the median of 6 trials at epoch 3"
    assert reason_to_stop(curve(0.1, 0.1, 0.56), six, 10) == ""


def test_of_a_loss_the_greater_value_is_stopped():
    assert reason_to_stop(curve(0.3, 0.2), OTHERS, 8, least=True) == "above the median of 5 trials at epoch 2"
    assert reason_to_stop(curve(0.3, 0.05), OTHERS, 8, least=True) == ""
    assert reason_to_stop(curve(0.3, 0.1), OTHERS, 8, least=True) == "", "as good as the median"


@pytest.mark.parametrize(("epochs", "stopped"), [(4, True), (8, True), (9, False), (2, False), (1, False)])
def test_it_is_judged_after_a_quarter_of_its_epochs_and_before_the_last(epochs, stopped):
    assert bool(reason_to_stop(curve(0.0, 0.0), OTHERS, epochs)) is stopped


def test_of_four_epochs_it_is_judged_after_the_first():
    assert reason_to_stop(curve(0.0), OTHERS, 4) == "below the median of 5 trials at epoch 1"


def test_without_enough_others_at_its_epoch_none_is_stopped():
    bad = curve(0.0, 0.0, 0.0)
    assert reason_to_stop(bad, OTHERS[1:], 10) == ""
    behind = [*OTHERS[1:], curve(0.9, 0.9, point=6)]
    assert reason_to_stop(bad, behind, 10) == "", "one of them is not at epoch 3 yet"
    unmeasured = [*OTHERS[1:], curve(nan, nan, nan, point=6)]
    assert reason_to_stop(bad, unmeasured, 10) == ""


def test_trials_of_one_setting_are_not_compared_with_each_other():
    seeds = [Curve(9, other.values) for other in OTHERS]
    assert reason_to_stop(curve(0.0, 0.0, 0.0), seeds, 10) == ""
    assert reason_to_stop(curve(0.0, 0.0, 0.0), [*seeds, *OTHERS], 10) == "below the median of 5 trials at epoch 3"
    twice = reason_to_stop(curve(0.0, 0.0, 0.0), [*OTHERS, *OTHERS], 10)
    assert twice == "below the median of 10 runs at epoch 3", "of two seeds of each setting"


def test_values_from_before_training_do_not_count():
    assert reason_to_stop(curve(0.9, 0.0, 0.0, 0.0, since=0), OTHERS, 10) == "below the median of 5 trials at epoch 3"
    before = [Curve(other.point, {0: 0.95, **other.values}) for other in OTHERS]
    assert reason_to_stop(curve(0.2, 0.51, 0.1), before, 10) == ""
    assert reason_to_stop(curve(0.0, since=0), [Curve(point, {0: 0.9}) for point in range(6)], 1) == ""


def test_a_trial_without_a_number_is_not_judged():
    assert reason_to_stop(curve(nan, nan, nan), OTHERS, 10) == ""
    assert reason_to_stop(Curve(9, {}), OTHERS, 10) == ""
