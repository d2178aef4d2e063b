"""How much of the points a box on the screen would hide."""

import numpy as np

from workbench.projection.coordinates import has_coordinates
from workbench.projection.islands import islands

CELL = 6  # px
MOST = 20_000  # points that are examined; of more, an even sample


def evenly(rows: np.ndarray) -> np.ndarray:
    """At most MOST of n rows, in equal steps from the first."""
    return rows[:: max(1, -(-len(rows) // MOST))]


class Cover:
    """Weights cells with points, each by its share of the smaller thing that it belongs to: a class, or an island of
    points on the screen. Hiding a whole cluster costs 1, however small it is; a part of a large one costs little.

    Args:
        places: [n, 2] px, points without coordinates NaN. group: [n] int. size: width and height of the screen in px.
    """

    def __init__(self, places: np.ndarray, group: np.ndarray, size: tuple[float, float]) -> None:
        width, height = (int(side // CELL) + 1 for side in size)
        places, group = evenly(places), evenly(group)
        seen = has_coordinates(places) & (places >= 0).all(1) & (places < size).all(1)
        columns, rows = (places[seen] // CELL).astype(int).T
        cost = np.zeros((height, width))
        if len(columns):
            filled = np.zeros((height, width), bool)
            filled[rows, columns] = True
            island = islands(filled)
            cost = np.where(filled, 1 / np.bincount(island.ravel())[island], 0)
            # Each pair of a class and a cell once; as one number, because pairs are sorted ten times as slowly.
            of, cell = np.divmod(np.unique(group[seen] * (width * height) + rows * width + columns), width * height)
            np.maximum.at(cost.ravel(), cell, 1 / np.bincount(of)[of])
        self._sums = np.pad(cost, ((1, 0), (1, 0))).cumsum(0).cumsum(1)

    def hidden(self, left: np.ndarray, top: np.ndarray, width: np.ndarray | float, height: float) -> np.ndarray:
        """What boxes at these places [...] px, of one size or of widths [...], cost: 0 where a box hides nothing."""
        sums = self._sums
        rows, columns = (side - 1 for side in sums.shape)
        first, last = (_cells(x, columns) for x in (left, left + width + CELL))
        upper, lower = (_cells(y, rows) for y in (top, top + height + CELL))
        result: np.ndarray = sums[lower, last] - sums[upper, last] - sums[lower, first] + sums[upper, first]
        return result


def _cells(places: np.ndarray, most: int) -> np.ndarray:
    cells: np.ndarray = np.clip(places // CELL, 0, most).astype(int)
    return cells
