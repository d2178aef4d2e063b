"""The colouring "Neighbourhood kept": the share of a point's true neighbours that are near it on the map."""

import numpy as np

STEPS = 5
COLOURS = ("#B3261E", "#D55E00", "#E69F00", "#56B4E9", "#0072B2")  # few to all, distinct without red and green
NEUTRAL = "#8A8F98"  # not measured
UNKNOWN = "Not measured on this map"


def kept_groups(kept: np.ndarray | None, count: int) -> tuple[np.ndarray, list[str], tuple[str, ...]]:
    """Group numbers [n], names and colours; the last group contains the points that were not measured.

    Args:
        kept: [n] share of the true neighbours among those on the map, in 0..1 or NaN; None: none was measured.
        count: n.
    """
    share = np.full(count, np.nan) if kept is None else kept
    steps = np.minimum((np.nan_to_num(share) * STEPS).astype(int), STEPS - 1)
    names = [f"{100 * low // STEPS} to {100 * (low + 1) // STEPS}% kept" for low in range(STEPS)]
    return np.where(np.isnan(share), STEPS, steps), [*names, UNKNOWN], (*COLOURS, NEUTRAL)
