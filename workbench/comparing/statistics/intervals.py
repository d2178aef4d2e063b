"""95% intervals: over seeds by Student's t, over queries by the paired bootstrap."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan, sqrt

import numpy as np

from workbench.evaluation.intervals import bootstrap_interval

LEVEL = 0.95
FEWEST_SEEDS = 3  # with fewer an interval over seeds is unreliable
RESAMPLES = 1000
ALIKE = 1e-8  # width of an interval relative to its mean, below which it is that of rounding


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its limits, in the units of the values; limits are NaN if there are too few values."""

    mean: float
    low: float
    high: float
    n: int

    @property
    def known(self) -> bool:
        """Whether there are limits."""
        return isfinite(self.low) and isfinite(self.high)

    @property
    def holds_zero(self) -> bool:
        """Whether zero is between the limits or equal to one; True if there are no limits."""
        return not self.known or self.low <= 0 <= self.high

    @property
    def decides(self) -> bool:
        """Whether it excludes zero and has a width: values that are all the same have no variance to judge them by."""
        return not self.holds_zero and self.high - self.low > ALIKE * abs(self.mean)


def t_interval(values: Sequence[float]) -> Interval:
    """Mean of independent values with Student's limits: mean ± t(n - 1) s / sqrt(n).

    Args:
        values: [n] finite numbers, one for each seed.

    Returns:
        Interval; NaN limits for fewer than `FEWEST_SEEDS` values, a NaN mean for none.
    """
    table = np.asarray(values, np.float64)
    n = len(table)
    if n == 0:
        return Interval(nan, nan, nan, 0)
    mean = float(table.mean())
    if n < FEWEST_SEEDS:
        return Interval(mean, nan, nan, n)
    half = _quantile(n - 1) * float(table.std(ddof=1)) / sqrt(n)
    return Interval(mean, mean - half, mean + half, n)


def welch_interval(first: Sequence[float], second: Sequence[float]) -> Interval:
    """Difference of two independent means, second minus first, with unequal variances (Welch, 1947).

    Args:
        first, second: [n] and [m] finite numbers, one for each seed.

    Returns:
        Interval with the smaller of n and m; NaN limits when that is under `FEWEST_SEEDS`.
    """
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    n = min(len(a), len(b))
    if n == 0:
        return Interval(nan, nan, nan, 0)
    difference = float(b.mean() - a.mean())
    if n < FEWEST_SEEDS:
        return Interval(difference, nan, nan, n)
    error, freedom = welch_error(a, b)
    half = _quantile(freedom) * error
    return Interval(difference, difference - half, difference + half, n)


def welch_error(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """Standard error of the difference of two independent means, and its degrees of freedom (Welch, 1947).

    Args:
        first, second: [n] and [m] finite numbers, n and m at least 2.

    Returns:
        Error, 0 if no value varies, and the degrees of freedom, then 1.
    """
    parts = first.var(ddof=1) / len(first), second.var(ddof=1) / len(second)
    variance = float(sum(parts))
    if variance == 0:
        return 0.0, 1.0
    shares = parts[0] / variance, parts[1] / variance
    return sqrt(variance), float(1 / (shares[0] ** 2 / (len(first) - 1) + shares[1] ** 2 / (len(second) - 1)))


def paired_bootstrap(first: np.ndarray, second: np.ndarray, *, resamples: int = RESAMPLES, seed: int = 0) -> Interval:
    """Mean of second minus first over the same queries, with percentile limits of resampled queries (Efron, 1979).

    Args:
        first, second: [n] finite numbers; row i of both is the same query.
        resamples: how many times n queries are drawn with replacement.
        seed: of the draws; the same seed gives the same limits.

    Raises:
        ValueError: the lengths differ.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} values but {len(second)}")
    difference = np.asarray(second, np.float64) - np.asarray(first, np.float64)
    if len(difference) == 0:
        return Interval(nan, nan, nan, 0)
    low, high = bootstrap_interval(difference, resamples=resamples, seed=seed)
    return Interval(float(difference.mean()), float(low), float(high), len(difference))


def _quantile(freedom: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + LEVEL) / 2))
