"""Uncertainty of a mean over queries."""

import numpy as np

CHUNK = 2**18  # draws counted at once: 2 MB, which stay in the processor's cache
Z = 1.959964  # of the normal distribution at 97.5%
DEARER = 10  # how many draws of a query cost as much as one draw of the count of a value


def wilson_interval(share: float, count: int) -> tuple[float, float]:
    """The 95% Wilson interval (Wilson, 1927) of a share, 0..1, of `count` independent answers, at least one.

    It has a width at 0 and at 1, too, where a bootstrap gives none.
    """
    middle = (share + Z * Z / (2 * count)) / (1 + Z * Z / count)
    half = wilson_half(share, count)
    return max(0.0, middle - half), min(1.0, middle + half)


def wilson_half(share: float, count: int) -> float:
    """Half the width of the 95% Wilson interval before it is cut at 0 and 1; as `wilson_interval`."""
    spread = share * (1 - share) / count + Z * Z / (4 * count * count)
    return float(Z * spread**0.5 / (1 + Z * Z / count))


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
    values, times = _distinct(table.reshape(len(table), -1))
    alike = len(values) * DEARER <= len(table)  # of queries with the same values only their number matters
    means = np.empty((resamples, *table.shape[1:]))
    step = max(1, CHUNK // len(table))
    for start in range(0, resamples, step):
        chosen = slice(start, min(start + step, resamples))
        count = chosen.stop - start
        if alike:
            drawn = random.multinomial(len(table), times / len(table), size=count)
            means[chosen] = (drawn @ values / len(table)).reshape(count, *table.shape[1:])
        else:
            means[chosen] = _times_drawn(random, count, len(table)) @ table / len(table)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return low, high


def _distinct(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct rows [u, m], and their counts [u]."""
    ordered = table[np.lexsort(table.T)]
    first = np.flatnonzero(np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(1)]))
    return ordered[first], np.diff(first, append=len(ordered))


def _times_drawn(random: np.random.Generator, resamples: int, count: int) -> np.ndarray:
    """How often each of `count` items is among `count` draws with replacement [resamples, count]."""
    drawn = random.integers(0, count, size=(resamples, count))
    drawn += np.arange(resamples)[:, None] * count  # every resample counts in its own row
    return np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)
