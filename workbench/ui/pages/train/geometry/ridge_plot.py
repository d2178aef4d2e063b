"""Histograms of the similarities of pairs, one row an epoch."""

import math
from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from workbench.ui.pages.train.geometry.axes import (
    BOTTOM,
    LEFT,
    NEGATIVE,
    POSITIVE,
    RIGHT,
    TOP,
    numbers_below,
    paint_legend,
    place_of,
)
from workbench.ui.plots.painted_plot import Axes, PaintedPlot, Rows
from workbench.ui.plots.value_scale import in_decimals, ticks
from workbench.ui.style import theme
from workbench.ui.style.theme import Tokens

OVERLAPPING = 2.6  # rows that the highest hill of a ridge covers


class RidgePlot(PaintedPlot):
    """Histograms of the cosines of pairs, one row an epoch: of one class and of two."""

    def __init__(self) -> None:
        self._hills: list[tuple[int, np.ndarray, np.ndarray, np.ndarray]] = []
        self._best: int | None = None
        super().__init__("Similarity of pairs, one row per epoch")

    def show_hills(self, hills: Sequence[tuple[int, np.ndarray, np.ndarray, np.ndarray]], best: int | None) -> None:
        """Show other histograms: (epoch, edges [b + 1], positives [b], negatives [b]) by epoch, and the best epoch."""
        self._hills, self._best = list(hills), best
        self.refresh()

    def rows(self) -> Rows:
        """The histograms as a table with a head."""
        head: Rows = [["epoch", "from", "to", "positives", "negatives"]]
        return head + [
            [epoch, float(low), float(high), float(positive), float(negative)]
            for epoch, edges, positives, negatives in self._hills
            for low, high, positive, negative in zip(edges[:-1], edges[1:], positives, negatives, strict=True)
        ]

    def describe(self) -> str:
        """The mean cosine of both kinds of pairs in the first and the last row."""
        if not self._hills:
            return f"{self.title}: no values yet."
        said = []
        for epoch, edges, positives, negatives in (self._hills[0], self._hills[-1]):
            middles = (edges[:-1] + edges[1:]) / 2
            said.append(
                f"at epoch {epoch} positives are at {(middles * positives).sum():.2f} and negatives at "
                f"{(middles * negatives).sum():.2f} on average"
            )
        return f"{self.title}: {'; '.join(said)}."

    def paint(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        """Draw the rows from the first epoch at the top."""
        if not self._hills:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = area.adjusted(LEFT, TOP + 6, -RIGHT, -BOTTOM)
        low = min(float(edges[0]) for _, edges, _, _ in self._hills)
        step = box.height() / (len(self._hills) + OVERLAPPING - 1)
        every = max(1, math.ceil(14 / max(step, 1e-9)))  # rows between two numbers
        for at, (epoch, edges, positives, negatives) in enumerate(self._hills):
            base = box.top() + (at + OVERLAPPING) * step
            highest = max(float(positives.max()), float(negatives.max()), 1e-9)
            for shares, colour in ((negatives, NEGATIVE), (positives, POSITIVE)):
                ink = theme.drawn(colour, tokens)
                path = QPainterPath(QPointF(place_of(float(edges[0]), (low, 1), box.left(), box.right()), base))
                for middle, share in zip((edges[:-1] + edges[1:]) / 2, shares, strict=True):
                    x = place_of(float(middle), (low, 1), box.left(), box.right())
                    path.lineTo(x, base - float(share) / highest * OVERLAPPING * step)
                path.lineTo(box.right(), base)
                fill = QColor(ink)
                fill.setAlpha(90)
                painter.setBrush(fill)
                painter.setPen(QPen(QColor(ink), 1.8 if epoch == self._best else 1))
                painter.drawPath(path)
            painter.setPen(QColor(tokens.text if epoch == self._best else tokens.plot_axis))
            if at % every == 0 or epoch == self._best:
                words = f"★ {epoch}" if epoch == self._best else str(epoch)
                at_left = QRectF(area.left(), base - 10, LEFT - 6, 14)
                painter.drawText(at_left, int(Qt.AlignmentFlag.AlignRight), words)
        axes = Axes(painter, area, box, tokens)
        across = ticks(low, 1, most=numbers_below(box))
        for value, words in zip(across, in_decimals(across), strict=True):
            axes.below(place_of(value, (low, 1), box.left(), box.right()), words)
        axes.name_below("cosine similarity")
        painter.drawText(QRectF(area.left(), area.top(), LEFT, 14), int(Qt.AlignmentFlag.AlignRight), "epoch")
        paint_legend(painter, area, [("positives", POSITIVE), ("negatives", NEGATIVE)], tokens)
