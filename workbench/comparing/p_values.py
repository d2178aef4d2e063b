"""p-values of differences over seeds: two-sided Student's and Welch's t-tests, and Holm's correction."""

from collections.abc import Sequence
from math import inf, sqrt

import numpy as np

from workbench.comparing.intervals import FEWEST_SEEDS, welch_error


def paired_p(by_seed: np.ndarray) -> float:
    """Two-sided p of the t-test that the mean of [s] differences is 0; 1 for fewer than three, or all of them 0."""
    count = len(by_seed)
    if count < FEWEST_SEEDS or not by_seed.any():
        return 1.0
    return _two_sided(float(by_seed.mean()), float(by_seed.std(ddof=1)) / sqrt(count), count - 1)


def welch_p(first: np.ndarray, second: np.ndarray) -> float:
    """Two-sided p that two independent means are the same, with unequal variances (Welch, 1947).

    Args:
        first, second: [n] and [m] finite numbers, one for each seed.

    Returns:
        p in 0..1; 1 where n or m is under three, or both means are the same.
    """
    if min(len(first), len(second)) < FEWEST_SEEDS or first.mean() == second.mean():
        return 1.0
    return _two_sided(float(second.mean() - first.mean()), *welch_error(first, second))


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values after Holm's step-down correction, in the order given: each at most 1, none before a smaller.

    Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6,
    1979.
    """
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for step, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - step) * p_values[place]))
        adjusted[place] = highest
    return adjusted


def _two_sided(mean: float, error: float, freedom: float) -> float:
    from scipy.special import stdtr

    return float(2 * stdtr(freedom, -abs(mean) / error if error else -inf))
