"""Uncertainty of a mean over queries."""

import numpy as np

CHUNK = 2**18  # draws counted at once: 2 MB, so that the counters stay in the processor's cache


def bootstrap_interval(
    values: np.ndarray, *, resamples: int = 1000, level: float = 0.95, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Percentile bootstrap limits of the mean (Efron, 1979): the same queries are drawn for every column.

    Args:
        values: [n] or [n, m] finite numbers, one row per query.
        resamples: how many times n queries are drawn with replacement.
        level: share of resampled means between the limits, in 0..1.
        seed: of the draws; the same seed gives the same limits.

    Returns:
        low, high: scalars or [m]; NaN when there are no queries.
    """
    table = np.asarray(values, dtype=np.float64)
    if len(table) == 0:
        nothing = np.full(table.shape[1:], np.nan)
        return nothing, nothing
    random = np.random.default_rng(seed)
    means = np.empty((resamples, *table.shape[1:]))
    step = max(1, CHUNK // len(table))
    for start in range(0, resamples, step):
        stop = min(start + step, resamples)
        drawn = random.integers(0, len(table), size=(stop - start, len(table)))
        drawn += np.arange(stop - start)[:, None] * len(table)  # every resample counts in a row of its own
        times = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)
        means[start:stop] = times @ table / len(table)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return low, high
