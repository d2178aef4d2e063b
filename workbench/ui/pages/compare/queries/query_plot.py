"""Each query as a point: its score in the baseline against its score in the other group."""

from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QColor

from workbench.comparing.comparison_text import metric_title, queries_told
from workbench.comparing.measures import is_share
from workbench.comparing.queries.pairing import Comparison
from workbench.ui.pages.compare.style.still_plot import StillPlot
from workbench.ui.plots.curve import drawable
from workbench.ui.style import theme

TITLE = "Each query"
CELLS = 250  # of the picture along each axis: of the points in a cell one is drawn
POINT_PX, RING_PX, NEAR_PX = 5, 13, 12  # of a point, of the ring, and how far from a point a click may be
ALPHA = 170  # of 255
GAP = "\N{EN SPACE}"  # between a point, with its ring, and its number
FEW = 16  # places up to which each says how many queries it has: R@1 of one seed has four at most


class QueryPlot(StillPlot):
    """Points above the diagonal are better in the other group. A click emits the queries that are at a point."""

    picked = Signal(object)  # rows [n] of the comparison, all with the same two scores

    def __init__(self) -> None:
        self._scores = np.empty((0, 2))  # of the baseline and of the other group, as drawn
        self._ringed: int | None = None
        self._titles = ("baseline", "other")
        super().__init__(TITLE)
        self.plot.scene().sigMouseClicked.connect(self._click)

    def sizeHint(self) -> QSize:
        return QSize(self.minimumWidth(), super().sizeHint().height())  # the table beside it gets more of the room

    def show_comparison(self, comparison: Comparison | None) -> None:
        """Show other queries; none without a comparison of queries."""
        queries = None if comparison is None else comparison.queries
        self._ringed = None
        if comparison is None or queries is None:
            self._scores = np.empty((0, 2))
        else:
            unit = 100 if is_share(comparison.metric) else 1
            self._scores = unit * np.stack([queries.first, queries.second], 1)
            title = metric_title(comparison.metric)
            self._titles = (f"{title}, baseline", f"{title}, other")
            for side, words in zip(("bottom", "left"), self._titles, strict=True):
                self.plot.setLabel(side, words)
            self.plot.setAccessibleDescription(queries_told(comparison))
        self.draw()
        self.plot.enableAutoRange()

    def rows(self) -> list[list[Any]]:
        """A row for each query: its score in the baseline and in the other group."""
        return [list(self._titles), *self._scores.tolist()]

    def ring(self, row: int | None) -> None:
        """Draw a ring around the query of a row; None takes it away."""
        self._ringed = row
        self._draw_ring()

    def draw(self) -> None:
        """Draw the diagonal and the points: better, worse, and equal in grey."""
        shown = self.look
        self.plot.clear()
        self._ring = pg.ScatterPlotItem(size=RING_PX, brush=None, pen=pg.mkPen(shown.text, width=2))
        known = np.isfinite(self._scores).all(1)
        if known.any():
            low, high = self._scores[known].min(), self._scores[known].max()
            pen = pg.mkPen(shown.muted, width=1, style=Qt.PenStyle.DashLine)
            self.plot.addItem(pg.PlotDataItem([low, high], [low, high], pen=pen))
        signs = np.sign(self._scores[:, 1] - self._scores[:, 0])
        for sign, colour in ((0, shown.muted), (1, shown.right), (-1, shown.wrong)):
            points = _thinned(self._scores[known & (signs == sign)])
            brush = QColor(colour)
            brush.setAlpha(ALPHA)
            self.plot.addItem(pg.ScatterPlotItem(*drawable(*points.T), size=POINT_PX, brush=brush, pen=None))
        self._write_counts()
        self.plot.addItem(self._ring, ignoreBounds=True)  # choosing a query moves no point
        self._draw_ring()

    def _write_counts(self) -> None:
        """Beside each point the number of its queries, where they are at few places."""
        places, counts = np.unique(self._scores[np.isfinite(self._scores).all(1)], axis=0, return_counts=True)
        if not 0 < len(places) <= FEW or counts.max() == 1:
            return
        middle = places[:, 0].mean()
        for (across, up), count in zip(places.tolist(), counts.tolist(), strict=True):
            side = 1 if across > middle else 0  # towards the middle there is room
            words = pg.TextItem(f"{GAP}{count:,}{GAP}", color=self.look.text, anchor=(side, 0.5))
            words.setFont(theme.caption_font(self.font()))
            words.setPos(across, up)
            self.plot.addItem(words, ignoreBounds=True)

    def _draw_ring(self) -> None:
        rows = [] if self._ringed is None else [self._ringed]
        self._ring.setData(*drawable(*self._scores[rows].T))

    def _click(self, event: Any) -> None:
        """Choose the queries at the nearest point, if one is near."""
        view = self.plot.getPlotItem().vb
        place = view.mapSceneToView(event.scenePos())
        size = view.viewPixelSize()
        if not len(self._scores) or event.button() != Qt.MouseButton.LeftButton:
            return
        apart = np.hypot(*((self._scores - (place.x(), place.y())) / size).T)
        nearest = int(np.nanargmin(np.where(np.isfinite(apart), apart, np.inf)))
        if apart[nearest] <= NEAR_PX:
            self.picked.emit(np.flatnonzero((self._scores == self._scores[nearest]).all(1)))


def _thinned(points: np.ndarray) -> np.ndarray:
    """One of the points [n, 2] in each cell of the picture, so that sixty thousand are drawn as fast as a thousand."""
    if not len(points):
        return points
    low, high = points.min(0), points.max(0)
    cells = ((points - low) / np.maximum(high - low, 1e-12) * CELLS).astype(np.int64)
    _, first = np.unique(cells[:, 0] * (CELLS + 1) + cells[:, 1], return_index=True)
    chosen: np.ndarray = points[first]
    return chosen
