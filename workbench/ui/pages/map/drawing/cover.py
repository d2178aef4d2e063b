"""How much of the points a box on the screen would hide."""

import numpy as np
from PySide6.QtCore import QRectF

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
            pairs = np.unique(np.stack([group[seen], rows * width + columns]), axis=1)
            of_class = 1 / np.bincount(pairs[0])[pairs[0]]
            np.maximum.at(cost.ravel(), pairs[1], of_class)
        self._sums = np.pad(cost, ((1, 0), (1, 0))).cumsum(0).cumsum(1)

    def hidden(self, box: QRectF) -> float:
        """What a box costs: 0 if it hides nothing."""
        height, width = (side - 1 for side in self._sums.shape)
        left, right = (min(max(int(x // CELL), 0), width) for x in (box.left(), box.right() + CELL))
        top, bottom = (min(max(int(y // CELL), 0), height) for y in (box.top(), box.bottom() + CELL))
        sums = self._sums
        return float(sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left])
