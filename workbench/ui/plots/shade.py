"""The area between two curves of a plot, one colour where the second is above the first and another where below."""

from collections.abc import Iterator

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QPainterPath, QPolygonF

SHADE = 0.15  # opacity


class Shade(pg.FillBetweenItem):
    """The area between two curves where the second is above the first, or where it is below.

    Args:
        first: a line of a plot. second: another of the same axis. above: which of the two areas.
    """

    def __init__(self, first: pg.PlotDataItem, second: pg.PlotDataItem, *, above: bool) -> None:
        self._above = above
        super().__init__(first, second)

    def colour(self, colour: str) -> None:
        """Fill the area faintly with this colour."""
        faint = QColor(colour)
        faint.setAlphaF(SHADE)
        self.setBrush(faint)

    def updatePath(self) -> None:
        (at, first), (other_at, second) = (curve.getOriginalDataset() for curve in self.curves)
        path = QPainterPath()
        if at is not None and other_at is not None:
            steps, rows, other_rows = np.intersect1d(at, other_at, return_indices=True)
            for polygon in areas(steps, first[rows], second[other_rows], above=self._above):
                path.addPolygon(QPolygonF([QPointF(x, y) for x, y in polygon]))
        self.setPath(path)


def areas(steps: np.ndarray, first: np.ndarray, second: np.ndarray, *, above: bool) -> Iterator[np.ndarray]:
    """Polygons [m, 2] between two curves, all [n], where the second is above the first, or below; a gap ends one."""
    known = np.isfinite(first) & np.isfinite(second)
    for stretch in np.flatnonzero(known) if known.any() else ():
        if stretch and known[stretch - 1]:
            continue  # not the first point of a stretch
        end = stretch + int(np.argmin(np.append(known[stretch:], False)))
        x, low, high = _with_crossings(steps[stretch:end], first[stretch:end], second[stretch:end])
        edge = np.maximum(low, high) if above else np.minimum(low, high)
        if len(x) > 1 and (edge != low).any():
            yield np.column_stack([np.concatenate([x, x[::-1]]), np.concatenate([edge, low[::-1]])])


def _with_crossings(x: np.ndarray, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same curves with a point at each place where they cross."""
    x, first, second = (np.asarray(values, np.float64) for values in (x, first, second))
    gap = second - first
    crossed = np.flatnonzero(gap[:-1] * gap[1:] < 0)
    share = gap[crossed] / (gap[crossed] - gap[crossed + 1])
    places = x[crossed] + share * (x[crossed + 1] - x[crossed])
    heights = first[crossed] + share * (first[crossed + 1] - first[crossed])
    after = crossed + 1
    return np.insert(x, after, places), np.insert(first, after, heights), np.insert(second, after, heights)
