"""Ranks of methods with bootstrap intervals, and differences of all pairs after Holm's correction."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isnan

import numpy as np

from workbench.comparing.statistics.intervals import Interval, t_interval
from workbench.comparing.statistics.p_values import holm, paired_p

LEVEL = 0.95
RESAMPLES = 1000
AT_ONCE = 50  # resamples: bounds the memory of many queries


@dataclass(frozen=True, slots=True)
class Rank:
    """The place of one method among all, 1 for the best."""

    of_mean: float  # by the mean over seeds and queries
    mean: float  # mean over seeds of its rank among the methods with that seed
    low: float  # 95% limits of `of_mean`
    high: float


@dataclass(frozen=True, slots=True)
class Difference:
    """The paired difference of two methods over seeds, first minus second."""

    first: int  # places in the order of the input
    second: int
    interval: Interval
    p: float  # two-sided, of the paired t-test; 1 for too few seeds, NaN if all differences are the same: undefined
    adjusted: float  # p after Holm's correction for all pairs that are tested

    @property
    def undefined(self) -> bool:
        """Whether it is the same with every seed, so that its test has no variance to go by."""
        return isnan(self.p)

    @property
    def significant(self) -> bool:
        """Whether it differs from 0 at 5% after correction for all pairs."""
        return self.adjusted < 1 - LEVEL


def ranks(values: np.ndarray, *, resamples: int = RESAMPLES, seed: int = 0) -> list[Rank]:
    """Rank each method, with percentile limits of resampled seeds and queries, the same ones for every method.

    Args:
        values: [m, s, q] finite; higher is better.
        resamples: how often s seeds and q queries are drawn with replacement.
        seed: of the draws.
    """
    methods, seeds, queries = values.shape
    random = np.random.default_rng(seed)
    drawn = []
    for start in range(0, resamples, AT_ONCE):
        count = min(AT_ONCE, resamples - start)
        of_seeds = random.multinomial(seeds, np.full(seeds, 1 / seeds), size=count) / seeds  # [r, s]
        of_queries = random.multinomial(queries, np.full(queries, 1 / queries), size=count) / queries  # [r, q]
        by_seed = (values.reshape(-1, queries) @ of_queries.T).reshape(methods, seeds, count)
        drawn.append(_ranked(np.einsum("msr,rs->mr", by_seed, of_seeds)))
    low, high = np.quantile(np.concatenate(drawn, 1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=1)
    of_mean, by_seed_ranks = _ranked(values.mean((1, 2))[:, None])[:, 0], _ranked(values.mean(2)).mean(1)
    return [
        Rank(float(of_mean[method]), float(by_seed_ranks[method]), float(low[method]), float(high[method]))
        for method in range(methods)
    ]


def differences(means: np.ndarray) -> list[Difference]:
    """All pairs of methods by the paired t-test over seeds, with Holm's correction.

    Args:
        means: [m, s] finite, one column for each seed.
    """
    pairs = list(combinations(range(len(means)), 2))
    by_seed = [means[first] - means[second] for first, second in pairs]
    p_values = [paired_p(difference) for difference in by_seed]
    return [
        Difference(first, second, t_interval(values.tolist()), p, adjusted)
        for (first, second), values, p, adjusted in zip(pairs, by_seed, p_values, holm(p_values), strict=True)
    ]


def alike(order: Sequence[int], pairs: Sequence[Difference]) -> list[tuple[int, int]]:
    """Groups of neighbours in a ranking of which no pair differs: (first, last) position of each in `order`.

    Only the largest groups of two or more; `order` holds the methods from the best to the worst.
    """
    apart = {frozenset((pair.first, pair.second)) for pair in pairs if pair.significant}
    groups: list[tuple[int, int]] = []
    for first in range(len(order)):
        last = first
        while last + 1 < len(order) and not any(
            frozenset((order[last + 1], order[position])) in apart for position in range(first, last + 1)
        ):
            last += 1
        if last > first and not any(start <= first and last <= end for start, end in groups):
            groups.append((first, last))
    return groups


def _ranked(values: np.ndarray) -> np.ndarray:
    """Ranks of the rows of [m, r] in each column, 1 for the highest; equal ones share their mean rank."""
    from scipy.stats import rankdata

    ranked: np.ndarray = rankdata(-values, axis=0)
    return ranked
