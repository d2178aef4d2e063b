"""Where the words of a vertical line stand, so that they cover no curve."""

from collections.abc import Sequence

import numpy as np

LOOKS = 16  # places across the words at which a curve is looked at
PLACES = (0.78, 0.64, 0.5, 0.36, 0.22, 0.92, 0.08)  # of the middle of the words, as shares of the height: 0 is below

Points = tuple[np.ndarray, np.ndarray]  # across and up, both [n], as shares of the width and of the height


def free_place(curves: Sequence[Points], span: tuple[float, float], height: float, first: int) -> float:
    """The place of PLACES, tried from number `first` on, at which words cover the fewest curves.

    Args:
        curves: what is drawn; points that are not finite are gaps.
        span: the left and the right end of the words.
        height: of the words.
        first: neighbouring lines begin at different places.
    """
    across = np.linspace(*span, LOOKS)
    heights = [_heights(points, across) for points in curves if len(points[0])]
    order = [PLACES[(first + place) % 5] for place in range(5)] + list(PLACES[5:])
    covered = [sum(bool(np.any(np.abs(curve - place) < height / 2)) for curve in heights) for place in order]
    return order[int(np.argmin(covered))]


def _heights(points: Points, across: np.ndarray) -> np.ndarray:
    """Heights of a curve [m] at the places `across` [m]; NaN where it has none."""
    finite = np.isfinite(points[0]) & np.isfinite(points[1])
    if not finite.any():
        return np.full(len(across), np.nan)
    heights: np.ndarray = np.interp(across, points[0][finite], points[1][finite], left=np.nan, right=np.nan)
    return heights
