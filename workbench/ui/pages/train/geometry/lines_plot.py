"""Some lines over common axes, as the Geometry tab draws them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from workbench.numerals import significant
from workbench.ui.pages.train.geometry.axes import (
    BETWEEN,
    BOTTOM,
    LEFT,
    LINE,
    RIGHT,
    STAR,
    TOP,
    numbers_below,
    paint_legend,
    place_of,
)
from workbench.ui.plots.painted_plot import Axes, PaintedPlot, Rows
from workbench.ui.plots.steady_view import NARROWEST, is_narrow
from workbench.ui.plots.value_scale import LINEAR, in_decimals, ticks, written
from workbench.ui.style import theme
from workbench.ui.style.theme import Tokens

BESIDE = 6  # px between a first point and the words beside it


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One line of a picture."""

    title: str
    x: np.ndarray  # [n]
    y: np.ndarray  # [n]
    colour: str
    dots: bool = False
    first: str = ""  # words beside its first point
    joined: bool = True  # False: the dots alone
    dashed: bool = False


class LinesPlot(PaintedPlot):
    """Some lines over common axes.

    Args:
        x_title, y_title: of the axes. log: whether the left axis is logarithmic.
    """

    def __init__(self, title: str, x_title: str, y_title: str = "", log: bool = False) -> None:
        self._lines: list[Line] = []
        self._limit: tuple[float, str] | None = None
        self._marked: float | None = None
        self._x_title, self._y_title, self._log = x_title, y_title, log
        super().__init__(title)

    def show_lines(
        self, lines: Sequence[Line], limit: tuple[float, str] | None = None, marked: float | None = None
    ) -> None:
        """Show other lines; `limit` is a dashed height with its words, `marked` a place with a star."""
        self._lines, self._limit, self._marked = list(lines), limit, marked
        self.refresh()

    def rows(self) -> Rows:
        """The points as a table with a head."""
        head: Rows = [["line", self._x_title, self._y_title or self.title]]
        return head + [
            [line.title, float(x), float(y)] for line in self._lines for x, y in zip(line.x, line.y, strict=True)
        ]

    def describe(self) -> str:
        """Where each line begins and ends."""
        ends = [
            f"{line.title} from {significant(line.y[0])} to {significant(line.y[-1])}"
            for line in self._lines
            if len(line.y)
        ]
        return f"{self.title}: {'; '.join(ends) or 'no values yet'}."

    def paint(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        """Draw axes, limit and lines."""
        known = [line for line in self._lines if np.isfinite(line.y).any()]
        if not known:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = area.adjusted(LEFT, TOP, -RIGHT, -BOTTOM)
        xs = np.concatenate([line.x for line in known])
        ys = self._heights(np.concatenate([line.y for line in known]))
        if self._limit is not None:
            ys = np.append(ys, self._heights(np.array([self._limit[0]])))
        spans = _span(xs), _span(ys[np.isfinite(ys)])
        self._paint_axes(painter, area, box, spans, tokens)
        if self._limit is not None:
            y = place_of(float(self._heights(np.array([self._limit[0]]))[0]), spans[1], box.bottom(), box.top())
            painter.setPen(QPen(QColor(tokens.wrong), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y))
        if self._marked is not None:
            x = place_of(self._marked, spans[0], box.left(), box.right())
            painter.setPen(QPen(QColor(STAR), 1.4, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom()))
            painter.drawText(QRectF(x - 8, box.top() - 14, 16, 14), int(Qt.AlignmentFlag.AlignCenter), "★")
        for line in known:
            across = [place_of(float(x), spans[0], box.left(), box.right()) for x in line.x]
            down = [place_of(float(y), spans[1], box.bottom(), box.top()) for y in self._heights(line.y)]
            points = [QPointF(x, y) for x, y in zip(across, down, strict=True) if math.isfinite(y)]
            painter.setBrush(Qt.BrushStyle.NoBrush)
            style = Qt.PenStyle.DashLine if line.dashed else Qt.PenStyle.SolidLine
            painter.setPen(QPen(QColor(theme.drawn(line.colour, tokens)), 1.6, style))
            if line.joined:
                painter.drawPolyline(QPolygonF(points))
            if line.dots:
                painter.setPen(QPen(QColor(theme.drawn(line.colour, tokens)), 1.6))
                painter.setBrush(QColor(theme.drawn(line.colour, tokens)))
                for point in points:
                    painter.drawEllipse(point, 2.5, 2.5)
            if line.first and points:
                painter.setPen(QColor(tokens.plot_axis))
                width = painter.fontMetrics().horizontalAdvance(line.first) + 2
                place = beside_first(points, QSizeF(width, LINE + 1), box)
                painter.drawText(place, int(Qt.AlignmentFlag.AlignCenter), line.first)
        limits = [] if self._limit is None else [(self._limit[1], tokens.wrong)]
        entries = [*((line.title, line.colour) for line in known), *limits]
        metrics = painter.fontMetrics()
        wide = sum(metrics.horizontalAdvance(title) + BETWEEN for title, _ in entries) + RIGHT
        crowded = bool(self._y_title) and wide + metrics.horizontalAdvance(self._y_title) > area.width()
        dashed = {line.title for line in known if line.dashed}
        paint_legend(painter, area.translated(0, LINE if crowded else 0), entries, tokens, dashed)

    def _heights(self, values: np.ndarray) -> np.ndarray:
        """Values as the left axis has them: their decimal logarithm, where it is logarithmic."""
        if not self._log:
            return LINEAR.heights(values)
        return np.asarray(np.log10(np.maximum(values, 1e-6)))

    def _paint_axes(
        self, painter: QPainter, area: QRectF, box: QRectF, spans: tuple[tuple[float, float], ...], tokens: Tokens
    ) -> None:
        axes = Axes(painter, area, box, tokens)
        heights = ticks(*spans[1], whole=self._log)
        across = ticks(*spans[0], most=numbers_below(box), whole=self._x_title == "epoch")
        words_of = [written(10.0 ** round(value)) for value in heights] if self._log else in_decimals(heights)
        for value, words in zip(heights, words_of, strict=True):
            axes.at_left(place_of(value, spans[1], box.bottom(), box.top()), words)
        for value, words in zip(across, in_decimals(across), strict=True):
            axes.below(place_of(value, spans[0], box.left(), box.right()), words)
        axes.name_below(self._x_title)
        painter.drawText(QRectF(area.left() + 4, area.top(), 120, 14), int(Qt.AlignmentFlag.AlignLeft), self._y_title)


def beside_first(points: Sequence[QPointF], size: QSizeF, box: QRectF) -> QRectF:
    """Where words of this size stand beside the first point of a line, inside the box: where the line passes least.

    Left of it is tried first, then right, above and below, the corners between them, and all of it further away.
    """
    first, wide, high = points[0], size.width(), size.height()
    centre = min(max(first.x() - wide / 2, box.left()), box.right() - wide)  # above and below it moves into the box
    corners: list[tuple[float, float]] = []
    for gap in (BESIDE, 3 * BESIDE, 5 * BESIDE):
        left, right = first.x() - gap - wide, first.x() + gap
        above, middle, below = first.y() - gap - high, first.y() - high / 2, first.y() + gap
        corners += [(left, middle), (right, middle), (centre, above), (centre, below)]
        corners += [(left, above), (right, above), (left, below), (right, below)]
    places = [QRectF(QPointF(*corner), size) for corner in corners]
    inside = [place for place in places if box.contains(place)] or places[:1]
    line = np.array([(point.x(), point.y()) for point in points])
    return min(inside, key=lambda place: _crossing(place, line))


def _crossing(place: QRectF, line: np.ndarray) -> int:
    """How many parts of a line [n, 2] lie in a rectangle or cross it: all at once, for a run may have 1,000 epochs."""
    starts, ways = line[:-1], np.diff(line, axis=0)
    ways[ways == 0] = 1e-12
    to_low = (np.array([place.left(), place.top()]) - starts) / ways  # shares of the part at which it meets the sides
    to_high = (np.array([place.right(), place.bottom()]) - starts) / ways
    enters, leaves = np.minimum(to_low, to_high).max(1), np.maximum(to_low, to_high).min(1)
    return int(np.count_nonzero((enters <= leaves) & (enters <= 1) & (leaves >= 0)))


def _span(values: np.ndarray) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    room = max(0.5, 10 * NARROWEST * max(abs(low), abs(high))) if is_narrow(low, high) else 0.04 * (high - low)
    return low - room, high + room
