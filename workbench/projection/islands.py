"""Separate groups of points on a map: connected cells of a grid, diagonals included."""

from dataclasses import dataclass

import numpy as np

from workbench.projection.coordinates import corners, has_coordinates

SIDES = {2: 32, 3: 12}  # cells along the longest side of a map, by its dimensions


def load() -> None:
    """Load what `islands` needs, a quarter of a second; for a thread, before the window's thread needs it."""
    import scipy.ndimage  # noqa: F401


def islands(filled: np.ndarray) -> np.ndarray:
    """Number the connected parts of a bool grid of any dimension from 1; 0 if it is empty."""
    from scipy.ndimage import label

    numbered: np.ndarray = label(filled, np.ones((3,) * filled.ndim, int))[0]
    return numbered


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The cell of a grid over the map in which each point lies."""

    points: np.ndarray  # [n, k], k being 2 or 3
    number: np.ndarray  # [n] int32; -1 without finite coordinates
    shape: tuple[int, ...]  # of the grid, k numbers


def cells_of(points: np.ndarray, whole: np.ndarray, side: int = 0) -> Cells:
    """The cells of points [n, k] of a map whose points are `whole` [m, k].

    Args:
        side: cells along the longer side of the box of all points; of SIDES unless given.
    """
    width = whole.shape[1]
    side = side or SIDES[width]
    shape = (side + 1,) * width
    placed, all_placed = has_coordinates(points), has_coordinates(whole)
    number = np.full(len(points), -1, np.int32)
    if placed.any() and all_placed.any():
        low, high = corners(whole if all_placed.all() else whole[all_placed])
        cell = float((high - low).max()) / side or 1.0
        along = tuple(np.clip(((points[placed] - low) / cell).astype(int), 0, side).T[::-1])
        number[placed] = np.ravel_multi_index(along, shape)
    return Cells(points, number, shape)


def clusters_in(cells: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The cluster [n] of each point, 0 for the one with the most points; -1 without finite coordinates.

    Args:
        cells: [n] number of each point's cell in a grid of this shape, -1 for none, as of `cells_of`.
    """
    placed = cells >= 0
    if not placed.any():
        return np.full(len(cells), -1)
    points_in = np.bincount(cells if placed.all() else cells[placed], minlength=int(np.prod(shape)))
    island = islands(points_in.reshape(shape) > 0).ravel()  # from 1
    sizes = np.bincount(island, points_in)[1:]
    number = np.argsort(np.argsort(-sizes, kind="stable"))  # by island
    of_cell = np.where(island > 0, number[island - 1], -1)
    numbers: np.ndarray = of_cell[cells]
    if not placed.all():
        numbers[~placed] = -1
    return numbers
