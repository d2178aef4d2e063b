"""p-values of differences over seeds: two-sided Student's and Welch's t-tests, and Holm's correction."""

from collections.abc import Sequence
from math import isnan, nan, sqrt

import numpy as np

from workbench.comparing.statistics.intervals import FEWEST_SEEDS, welch_error

ALIKE = 1e-9  # spread of differences relative to them, below which it is that of rounding


def paired_p(by_seed: np.ndarray) -> float:
    """Two-sided p of the t-test that the mean of [s] differences is 0; 1 for fewer than three, or all of them 0.

    NaN where all are the same and not 0: without variance the test is undefined.
    """
    count = len(by_seed)
    if count < FEWEST_SEEDS or not by_seed.any():
        return 1.0
    if np.ptp(by_seed) <= ALIKE * np.abs(by_seed).max():
        return nan
    return _two_sided(float(by_seed.mean()), float(by_seed.std(ddof=1)) / sqrt(count), count - 1)


def welch_p(first: np.ndarray, second: np.ndarray) -> float:
    """Two-sided p that two independent means are the same, with unequal variances (Welch, 1947).

    Args:
        first, second: [n] and [m] finite numbers, one for each seed.

    Returns:
        p in 0..1; 1 where n or m is under three, or both means are the same. NaN where they differ and neither group
        has variance: the test is undefined.
    """
    if min(len(first), len(second)) < FEWEST_SEEDS or first.mean() == second.mean():
        return 1.0
    if all(np.ptp(values) <= ALIKE * np.abs(values).max() for values in (first, second)):
        return nan
    return _two_sided(float(second.mean() - first.mean()), *welch_error(first, second))


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values after Holm's step-down correction, in the order given: each at most 1, none before a smaller.

    NaN, of a test that is undefined, stays NaN; it is none of the tests that are corrected for.

    Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6,
    1979.
    """
    adjusted = [nan] * len(p_values)
    defined = [place for place, p in enumerate(p_values) if not isnan(p)]
    highest = 0.0
    for step, place in enumerate(sorted(defined, key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(defined) - step) * p_values[place]))
        adjusted[place] = highest
    return adjusted


def _two_sided(mean: float, error: float, freedom: float) -> float:
    from scipy.special import stdtr

    return float(2 * stdtr(freedom, -abs(mean) / error))
