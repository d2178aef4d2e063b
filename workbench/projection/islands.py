"""Groups of points on a map that stand apart from the others: connected cells of a grid, diagonals included."""

import numpy as np

SIDE = 32  # cells along the longer side of a map


def islands(filled: np.ndarray) -> np.ndarray:
    """Number the connected parts of a bool grid [h, w] from 1; 0 where it is empty."""
    from scipy.ndimage import label

    numbered: np.ndarray = label(filled, np.ones((3, 3), int))[0]
    return numbered


def clusters(points: np.ndarray, whole: np.ndarray, side: int = SIDE) -> np.ndarray:
    """The cluster [n] of each point, 0 for the one with the most points; -1 without finite coordinates.

    Args:
        points: [n, 2], those that are grouped.
        whole: [m, 2], all points of the map: the longer side of their box holds `side` cells.
    """
    placed, all_placed = np.isfinite(points).all(1), whole[np.isfinite(whole).all(1)]
    numbers = np.full(len(points), -1)
    if not placed.any() or not len(all_placed):
        return numbers
    low, high = all_placed.min(0), all_placed.max(0)
    cell = float((high - low).max()) / side or 1.0
    columns, rows = np.clip(((points[placed] - low) / cell).astype(int), 0, side).T
    filled = np.zeros((side + 1, side + 1), bool)
    filled[rows, columns] = True
    island = islands(filled)[rows, columns] - 1
    by_size = np.argsort(-np.bincount(island), kind="stable")
    numbers[placed] = np.argsort(by_size)[island]
    return numbers
