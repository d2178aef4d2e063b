"""Separate groups of points on a map: connected cells of a grid, diagonals included."""

import numpy as np

from workbench.projection.coordinates import corners, has_coordinates

SIDES = {2: 32, 3: 12}  # cells along the longest side of a map, by its dimensions


def islands(filled: np.ndarray) -> np.ndarray:
    """Number the connected parts of a bool grid of any dimension from 1; 0 if it is empty."""
    from scipy.ndimage import label

    numbered: np.ndarray = label(filled, np.ones((3,) * filled.ndim, int))[0]
    return numbered


def clusters(points: np.ndarray, whole: np.ndarray, side: int = 0) -> np.ndarray:
    """The cluster [n] of each point, 0 for the one with the most points; -1 without finite coordinates.

    Args:
        points: [n, k], those that are grouped, k being 2 or 3.
        whole: [m, k], all points of the map: the longer side of their box holds `side` cells.
        side: of SIDES unless given.
    """
    placed, all_placed = has_coordinates(points), whole[has_coordinates(whole)]
    numbers = np.full(len(points), -1)
    if not placed.any() or not len(all_placed):
        return numbers
    side = side or SIDES[whole.shape[1]]
    low, high = corners(all_placed)
    cell = float((high - low).max()) / side or 1.0
    cells = tuple(np.clip(((points[placed] - low) / cell).astype(int), 0, side).T[::-1])
    filled = np.zeros((side + 1,) * len(cells), bool)
    filled[cells] = True
    island = islands(filled)[cells] - 1
    by_size = np.argsort(-np.bincount(island), kind="stable")
    numbers[placed] = np.argsort(by_size)[island]
    return numbers
