"""The smoothed line of a curve: one formula for the window and the reports."""

import numpy as np

BATCH_LOSS = 0.9  # weight for the loss of single batches where no weight can be chosen
AT_FIRST = 0.6  # weight in the window
NEGLIGIBLE = 1e-12


def exponential_mean(values: np.ndarray, weight: float) -> np.ndarray:
    """The debiased exponential moving mean: sum of weight^j x[t-j] over the sum of weight^j, j from 0 to t.

    It follows a curve from its first point on, without the pull towards zero (Adam, Kingma and Ba 2015, section 3).
    Numbers that are not finite count as missing, and stay NaN.

    Args:
        values: [n] float64.
        weight: of the past, 0 (no smoothing) up to but not including 1.

    Returns:
        [n] float64.

    Raises:
        ValueError: a weight outside of [0, 1).
    """
    if not 0 <= weight < 1:
        raise ValueError(f"weight {weight} is not in [0, 1)")
    good = np.isfinite(values)
    sums, counts = np.where(good, values, 0.0), good.astype(np.float64)
    reach, share = 1, weight  # each pass doubles how many points back are summed
    while reach < len(values) and share > NEGLIGIBLE:
        for cumulated in (sums, counts):
            cumulated[reach:] += share * cumulated[:-reach].copy()
        reach, share = 2 * reach, share * share
    return np.where(good, sums / np.maximum(counts, 1.0), np.nan)
