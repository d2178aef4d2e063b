"""The curve of a range test against its formulas in float64: the smoothed loss, its end, and the suggested rates."""

import numpy as np
import pytest

from workbench.running.facts.rate_curve import diverged, rising_rates, smoothed, suggest, weight_of

STEPS = 100
RATES = rising_rates(1e-6, 10, STEPS)


def falling(rates):
    """A loss that falls most steeply at 0.001, by 2, and is least at 0.1, behind which it rises."""
    logs = np.log10(rates)
    return 3 - 2 / (1 + np.exp(-4 * (logs + 3))) + 0.5 * np.clip(logs + 1, 0, None) ** 2


@pytest.mark.parametrize(("losses", "said"), [([np.inf], "0 steps"), ([1.0, np.nan], "1 step"), ([1, 1], "2 steps")])
def test_a_loss_that_diverged_at_once_says_after_how_many_steps(losses, said):
    words = suggest(RATES[: len(losses)], np.array(losses), STEPS).reason
    assert words == f"The loss diverged after {said}, too few to see it fall. Begin at a smaller rate."


def test_rates_rise_by_the_same_factor():
    assert RATES[[0, -1]] == pytest.approx([1e-6, 10])
    assert np.ptp(np.diff(np.log(RATES))) < 1e-12


@pytest.mark.parametrize("weight", [0.0, 0.5, 0.8, 0.98])
def test_the_smoothed_loss_is_the_weighted_mean_of_all_before(weight):
    losses = np.random.default_rng(0).normal(size=60)
    expected = []
    for end in range(1, 61):
        weights = weight ** np.arange(end - 1, -1, -1.0)
        expected.append((weights * losses[:end]).sum() / weights.sum())
    assert smoothed(losses, weight) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("steps", [20, 100, 500])
def test_the_smoothed_loss_is_behind_by_the_same_part_of_the_range(steps):
    ramp = np.arange(10 * steps, dtype=np.float64)
    assert ramp[-1] - smoothed(ramp, weight_of(steps))[-1] == pytest.approx(steps / 25)


def test_the_rate_of_the_steepest_descent_and_a_tenth_of_that_of_the_least_loss():
    suggested = suggest(RATES, falling(RATES), STEPS)
    assert suggested.rate is not None
    assert 1e-3 < suggested.rate < 1e-3 * RATES[4] / RATES[0], "the smoothed loss is up to 4 steps behind"
    smooth = smoothed(falling(RATES), weight_of(STEPS))
    assert suggested.tenth == pytest.approx(RATES[smooth.argmin()] / 10, rel=0.05)
    assert (suggested.reason, suggested.note) == ("", "")


def test_the_rule_on_the_same_curve_by_finite_differences():
    losses = falling(RATES) + 0.01 * np.random.default_rng(1).normal(size=STEPS)
    smooth, logs = smoothed(losses, weight_of(STEPS)), np.log(RATES)
    slopes = (smooth[2:] - smooth[:-2]) / (logs[2:] - logs[:-2])
    begin = STEPS // 10
    steepest = begin + 1 + int(slopes[begin:].argmin())
    assert suggest(RATES, losses, STEPS).rate == float(f"{RATES[steepest]:.2g}")


def test_noise_suggests_nothing():
    wrong = sum(
        suggest(RATES, 2 + np.random.default_rng(seed).normal(size=STEPS), STEPS).rate is not None
        for seed in range(200)
    )  # fmt: skip
    assert wrong < 10


def test_a_loss_that_does_not_move_suggests_nothing():
    suggested = suggest(RATES, np.full(STEPS, 0.7), STEPS)
    assert suggested.rate is suggested.tenth is None
    assert suggested.reason.startswith("The loss does not fall by more than it differs from batch to batch.")


def test_a_loss_that_rises_from_the_start_suggests_a_smaller_rate():
    suggested = suggest(RATES, np.linspace(1, 3, STEPS), STEPS)
    assert (suggested.rate, suggested.reason) == (
        None, "The loss rises from the smallest rate on. Begin at a smaller rate.",
    )  # fmt: skip


def test_a_loss_that_diverges_at_once_suggests_nothing():
    suggested = suggest(RATES[:8], [2, 2, 2, 2, 2, 2, 9, np.nan], STEPS)
    assert suggested.rate is None
    assert suggested.reason.startswith("The loss diverged after 7 steps")


def test_a_loss_that_still_falls_at_the_end_says_so():
    suggested = suggest(RATES[:60], falling(RATES)[:60], 60)
    assert suggested.rate is not None
    assert suggested.note == "The loss still falls at the largest rate: end at a larger one to see where it rises."


def test_a_loss_whose_descent_began_before_says_so():
    suggested = suggest(RATES, 3 * np.exp(-np.arange(STEPS) / 12) + 1, STEPS)
    assert suggested.note.startswith("The loss falls from the smallest rate on")


def test_two_suggestions_that_differ_much_say_so():
    early = 3 - 2 / (1 + np.exp(-4 * (np.log10(RATES) + 4)))  # steepest at 0.0001
    slowly = early + np.where(RATES < 1, -0.05 * np.log10(RATES / 1e-6), 0.0)  # and least near 1
    suggested = suggest(RATES, slowly, STEPS)
    assert suggested.tenth > 10 * suggested.rate
    assert suggested.note.endswith("differ by more than ten times: try a rate between them, too.")


@pytest.mark.parametrize(
    ("smooth", "ends"),
    [
        ([2, 1, 3.9], False), ([2, 1, 4.1], True),  # 4 times the least one
        ([2, 0.1, 1.9], False), ([2, 0.1, 2.1], True),  # but not below the first
        ([1, np.nan], True), ([1, np.inf], True),
        ([3, -7, -6.5], False), ([3, -7, 13], False), ([3, -7, 15], True),  # a loss without a least value
        ([0.5, 0, 1.4], False), ([0.5, 0, 1.6], True),
        ([1], False),
    ],
)  # fmt: skip
def test_when_a_smoothed_loss_has_diverged(smooth, ends):
    assert diverged(smooth) is ends
