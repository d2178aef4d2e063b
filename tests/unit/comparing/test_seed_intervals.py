"""Intervals over seeds and queries: against scipy, against the formula, and by simulation."""

from inspect import signature

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from workbench.comparing.statistics.intervals import Interval, paired_bootstrap, t_interval, welch_interval

CASES = 2_000
values = st.lists(st.floats(-100, 100), min_size=3, max_size=30)


@given(values)
def test_t_limits_are_those_of_scipy(given):
    found = t_interval(given)
    assert found.mean == pytest.approx(np.mean(given), abs=1e-9)
    error = stats.sem(given)
    if error > 1e-9:
        low, high = stats.t.interval(0.95, len(given) - 1, loc=np.mean(given), scale=error)
        np.testing.assert_allclose((found.low, found.high), (low, high), rtol=1e-9, atol=1e-9)


@given(values, values)
def test_welch_limits_are_those_of_scipy(first, second):
    found = welch_interval(first, second)
    if min(np.std(first), np.std(second)) > 1e-6:  # scipy warns of values that are nearly the same
        expected = stats.ttest_ind(second, first, equal_var=False).confidence_interval(0.95)
        np.testing.assert_allclose((found.low, found.high), expected, rtol=1e-7, atol=1e-7)


def test_bootstrap_limits_are_those_of_scipy():
    rng = np.random.default_rng(0)
    first = rng.beta(2, 3, 400)
    second = np.clip(first + rng.normal(0.05, 0.2, 400), 0, 1)
    found = paired_bootstrap(first, second, resamples=5_000)
    seed = "rng" if "rng" in signature(stats.bootstrap).parameters else "random_state"  # before scipy 1.15
    drawn = {"n_resamples": 5_000, "method": "percentile", seed: 1}
    expected = stats.bootstrap((second - first,), np.mean, **drawn)
    width = found.high - found.low
    assert found.mean == pytest.approx(np.mean(second - first))
    assert found.low == pytest.approx(expected.confidence_interval.low, abs=0.03 * width)
    assert found.high == pytest.approx(expected.confidence_interval.high, abs=0.03 * width)


def share_that_hold(intervals: list[Interval], truth: float) -> float:
    return float(np.mean([each.low <= truth <= each.high for each in intervals]))


@pytest.mark.parametrize("seeds", [3, 5, 10])
def test_t_intervals_cover_as_often_as_they_say(seeds):
    drawn = np.random.default_rng(seeds).normal(0.02, 0.01, (CASES, seeds))
    assert 0.93 <= share_that_hold([t_interval(row) for row in drawn], 0.02) <= 0.97


def test_welch_intervals_cover_as_often_as_they_say():
    rng = np.random.default_rng(4)
    first, second = rng.normal(0.8, 0.01, (CASES, 4)), rng.normal(0.83, 0.03, (CASES, 6))
    found = [welch_interval(a, b) for a, b in zip(first, second, strict=True)]
    assert 0.93 <= share_that_hold(found, 0.03) <= 0.97


def test_paired_bootstrap_intervals_cover_as_often_as_they_say():
    """Average precision of 300 queries in two runs: skewed, bounded, and alike because the query is the same."""
    rng, found = np.random.default_rng(5), []
    for _ in range(CASES // 2):  # each takes a millisecond
        hard = rng.beta(4, 2, 300)
        first, second = hard * rng.beta(8, 2, 300), hard * rng.beta(9, 2, 300)
        found.append(paired_bootstrap(first, second, resamples=600))
    truth = 4 / 6 * (9 / 11 - 8 / 10)
    assert 0.93 <= share_that_hold(found, truth) <= 0.97


def test_the_same_queries_make_the_interval_narrow():
    rng = np.random.default_rng(6)
    hard = rng.beta(1, 1, 500)
    shifted = hard + 0.01 + rng.normal(0, 0.001, 500)
    together, apart = paired_bootstrap(hard, shifted), paired_bootstrap(hard, rng.permutation(shifted))
    assert together.high - together.low < 0.02 * (apart.high - apart.low)
    assert not together.holds_zero
    assert apart.holds_zero


@pytest.mark.parametrize("n", [0, 1, 2])
def test_too_few_seeds_have_no_limits(n):
    found = t_interval([0.5] * n)
    assert found.n == n
    assert not found.known
    assert found.holds_zero
    for difference in (welch_interval([0.5] * n, [0.6] * 5), welch_interval([0.5] * 5, [0.6] * n)):
        assert not difference.known
        assert difference.n == n
        assert difference.mean == pytest.approx(0.1 if n else np.nan, nan_ok=True)


def test_values_that_do_not_vary_have_limits_without_width():
    assert t_interval([0.25] * 4) == Interval(0.25, 0.25, 0.25, 4)
    assert welch_interval([0.25] * 3, [0.5] * 3) == Interval(0.25, 0.25, 0.25, 3)


def test_no_queries_and_unequal_lengths():
    assert paired_bootstrap(np.zeros(0), np.zeros(0)).n == 0
    with pytest.raises(ValueError, match="3 values but 2"):
        paired_bootstrap(np.zeros(3), np.zeros(2))


def test_zero_on_a_limit_is_held():
    assert Interval(0.1, 0.0, 0.2, 5).holds_zero
    assert not Interval(0.1, 0.01, 0.2, 5).holds_zero
    assert not Interval(-0.1, -0.2, -0.01, 5).holds_zero
