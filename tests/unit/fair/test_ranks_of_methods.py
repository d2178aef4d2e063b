"""Ranks, their intervals and Holm's correction, against references written out here in float64."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from workbench.comparing.statistics.intervals import Interval
from workbench.comparing.statistics.p_values import holm, paired_p
from workbench.fair.ranking import Difference, alike, differences, ranks


def naive_holm(p_values):
    """Holm 1979 as statsmodels computes it: sorted p times (m - rank), a running maximum, at most 1."""
    order = np.argsort(p_values, kind="stable")
    times = np.arange(len(p_values), 0, -1)
    adjusted = np.minimum(np.maximum.accumulate(np.asarray(p_values, np.float64)[order] * times), 1)
    found = np.empty(len(p_values))
    found[order] = adjusted
    return found


def test_holm_is_the_step_down_correction():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    random = np.random.default_rng(0)
    for count in (1, 2, 7, 45):
        p_values = random.random(count) ** 3
        np.testing.assert_allclose(holm(p_values.tolist()), naive_holm(p_values), rtol=1e-15)
    assert holm([]) == []


def test_p_is_that_of_the_paired_t_test():
    random = np.random.default_rng(1)
    for seeds in (3, 5, 12):
        first, second = random.normal(0.5, 0.02, seeds), random.normal(0.52, 0.05, seeds)
        expected = stats.ttest_rel(first, second).pvalue
        assert paired_p(first - second) == pytest.approx(expected, rel=1e-12)
    assert paired_p(np.array([0.1, 0.2])) == 1, "two seeds say nothing"
    assert paired_p(np.zeros(5)) == 1
    one_alike = np.array([0.0, 0.01, 0.03])
    assert paired_p(one_alike) == pytest.approx(stats.ttest_1samp(one_alike, 0).pvalue, rel=1e-12)
    for same in (np.full(5, 0.25), np.array([0.3, 0.4, 0.5]) - np.array([0.2, 0.3, 0.4])):
        assert np.isnan(paired_p(same)), "without variance the test is undefined"


def test_an_undefined_test_is_not_significant_and_not_corrected_for():
    found = differences(np.array([[0.5, 0.6, 0.7], [0.4, 0.5, 0.6], [0.1, 0.4, 0.2]]))
    assert [pair.undefined for pair in found] == [True, False, False]
    assert [pair.significant for pair in found] == [False, False, False]
    assert found[1].adjusted == pytest.approx(2 * min(found[1].p, found[2].p))
    assert np.isnan(holm([np.nan, 0.01])[0])
    assert holm([np.nan, 0.01])[1] == 0.01


def test_differences_are_of_all_pairs_and_corrected_together():
    random = np.random.default_rng(2)
    means = np.array([0.60, 0.59, 0.40])[:, None] + random.normal(0, 0.01, (3, 5))
    found = differences(means)
    assert [(each.first, each.second) for each in found] == list(combinations(range(3), 2))
    np.testing.assert_allclose(
        [each.adjusted for each in found],
        naive_holm([stats.ttest_rel(means[a], means[b]).pvalue for a, b in combinations(range(3), 2)]), rtol=1e-12,
    )  # fmt: skip
    low, high = stats.ttest_rel(means[0], means[2]).confidence_interval(0.95)
    assert (found[1].interval.low, found[1].interval.high) == pytest.approx((low, high), rel=1e-9)
    assert [each.significant for each in found] == [False, True, True]


def naive_rank_limits(values, resamples, seed):
    """Percentiles of ranks of resampled seeds and queries, drawn one by one."""
    random = np.random.default_rng(seed)
    methods, seeds, queries = values.shape
    drawn = []
    for _ in range(resamples):
        some_seeds, some_queries = random.integers(0, seeds, seeds), random.integers(0, queries, queries)
        means = values[:, some_seeds][:, :, some_queries].mean((1, 2))
        drawn.append([1 + (means > means[each]).sum() for each in range(methods)])
    return np.quantile(drawn, [0.025, 0.975], axis=0)


def test_planted_scores_get_their_ranks_and_the_intervals_of_a_naive_bootstrap():
    random = np.random.default_rng(3)
    quality = np.array([0.50, 0.80, 0.505, 0.30])
    values = (
        quality[:, None, None]
        + random.normal(0, 0.01, (4, 5, 1))  # of the seed
        + random.normal(0, 0.2, (1, 1, 400))  # of the query, the same for every method
        + random.normal(0, 0.05, (4, 5, 400))
    )
    found = ranks(values, resamples=2000)
    assert [found[1].of_mean, found[3].of_mean] == [1, 4]
    assert (found[1].low, found[1].high) == (1, 1), "far ahead with every seed and query"
    assert (found[3].low, found[3].high) == (4, 4)
    assert (found[0].low, found[0].high) == (found[2].low, found[2].high) == (2, 3), "these two cannot be told apart"
    np.testing.assert_allclose(
        [[each.low for each in found], [each.high for each in found]], naive_rank_limits(values, 400, 0), atol=0.01
    )
    expected = stats.rankdata(-values.mean(2), axis=0).mean(1)
    np.testing.assert_allclose([each.mean for each in found], expected, rtol=1e-15)
    assert ranks(values, resamples=2000) == found, "the same draws again"


def test_equal_methods_share_their_rank():
    values = np.broadcast_to(np.array([0.5, 0.5, 0.2])[:, None, None], (3, 4, 6)).copy()
    assert [each.of_mean for each in ranks(values, resamples=10)] == [1.5, 1.5, 3]


def pair(first, second, adjusted):
    return Difference(first, second, Interval(0, 0, 0, 5), adjusted, adjusted)


def test_groups_are_the_largest_runs_of_neighbours_without_a_difference():
    apart = {(0, 2), (0, 3), (1, 3)}
    pairs = [pair(a, b, 0.01 if (a, b) in apart else 0.5) for a, b in combinations(range(5), 2)]
    assert alike([0, 1, 2, 3, 4], pairs) == [(0, 1), (1, 2), (2, 4)]
    assert alike([0, 3, 1, 2, 4], pairs) == [(2, 4)], "places in the order, not methods"
    assert alike([0, 1], [pair(0, 1, 0.01)]) == []
