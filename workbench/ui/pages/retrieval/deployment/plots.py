"""Pictures of a deployment: quality against bytes or milliseconds, and the similarities of pairs with the threshold."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPen,
    QPixmap,
    QPolygonF,
)

from workbench.colours import BESIDE_THEM, OKABE_ITO
from workbench.numerals import minus
from workbench.ui.pages.retrieval.deployment.store_titles import DOT, Mark, placed
from workbench.ui.plots.painted_plot import WIDE, Axes, PaintedPlot, Rows
from workbench.ui.plots.value_scale import ticks
from workbench.ui.style import theme
from workbench.ui.style.theme import Tokens

LEFT, RIGHT, TOP, BOTTOM = 44, 16, 24, 34  # px around the axes
RING, REACH = 9, 14  # px
SQUARE = 4.25  # px, half the side of a square about as large as a disc
FORMATS = ("float16", "int8", "pca", "first", "pq", "binary")  # drawn as discs
INDICES = ("hnsw", "ivfpq")  # as squares
SEARCHES = ("float32+aqe", "float32+dba", "float32+reciprocal", "float32+candidates")  # as diamonds
COLOURS = {
    **dict(zip(FORMATS, OKABE_ITO, strict=False)), **dict(zip(INDICES, OKABE_ITO, strict=False)),
    **dict(zip(SEARCHES, BESIDE_THEM, strict=True)),
}  # fmt: skip
NEUTRAL = "#5A6372"
BEHIND = 210  # of 255, opacity of the ground behind a title
ONE_POINT = 1.0  # of MAP@R in percent, below the baseline: the dotted line


@dataclass(frozen=True, slots=True)
class Point:
    """One store in a picture."""

    name: str
    title: str
    cost: float
    quality: float  # percent
    low: float
    high: float


def family_of(name: str) -> str:
    """The family of a store, for its colour and mark: "pca" of "pca32", "binary" of "binary+int8"; else "float32"."""
    family = name if name in COLOURS else name.rstrip("0123456789")
    family = family if family in COLOURS else family.partition("+")[0]
    return family if family in COLOURS else "float32"


def colour_of(name: str, tokens: Tokens) -> QColor:
    """The colour of a store, by its family, in a theme; a format and an index that share it differ in their mark."""
    return QColor(theme.drawn(COLOURS.get(family_of(name), NEUTRAL), tokens))


def mark_of(name: str, at: QPointF) -> QPainterPath:
    """The outline of a store's mark around a point: a disc, of an index a square, of a search method a diamond."""
    path, family = QPainterPath(), family_of(name)
    if family in INDICES:
        path.addRect(QRectF(at.x() - SQUARE, at.y() - SQUARE, 2 * SQUARE, 2 * SQUARE))
    elif family in SEARCHES:
        path.addPolygon(QPolygonF([at + QPointF(x, y) for x, y in ((0, -DOT), (DOT, 0), (0, DOT), (-DOT, 0))]))
        path.closeSubpath()
    else:
        path.addEllipse(at, DOT, DOT)
    return path


def dot(name: str, is_baseline: bool, tokens: Tokens) -> QPixmap:
    """The mark of a store as its points are drawn, for its row of the table."""
    side = 2 * DOT
    picture = QPixmap(side, side)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    ink = QColor(tokens.text) if is_baseline else colour_of(name, tokens)
    painter.fillPath(mark_of(name, QPointF(DOT, DOT)), ink)
    painter.end()
    return picture


class TradePlot(PaintedPlot):
    """Quality of each store against what it costs, on a logarithmic axis; a click chooses a store."""

    chosen = Signal(str)

    def __init__(self, title: str, unit: str) -> None:
        self._points: list[Point] = []
        self._unit, self._marked = unit, ""
        super().__init__(title)
        self.picture.mousePressEvent = self._pressed  # type: ignore[method-assign]

    def show_points(self, points: Sequence[Point]) -> None:
        """Show other stores; the first is the one that was trained."""
        self._points = [point for point in points if point.cost > 0]
        self.refresh()

    def mark(self, name: str) -> None:
        """Draw a ring around the point of one store."""
        self._marked = name
        self.picture.update()

    def rows(self) -> Rows:
        """The points as a table with a head."""
        head: Rows = [["store", self._unit, "MAP@R %", "low", "high"]]
        return head + [[point.title, point.cost, point.quality, point.low, point.high] for point in self._points]

    def describe(self) -> str:
        """The title, and what each store costs and keeps."""
        words = [f"{point.title} {point.cost:.3g} {self._unit}, {point.quality:.1f}%" for point in self._points]
        return f"{self.title}: {'; '.join(words) or 'nothing is measured yet'}."

    def place_of(self, name: str, area: QRectF) -> QPointF | None:
        """Where a store is drawn in a picture of that size; None if it is not."""
        point = next((point for point in self._points if point.name == name), None)
        return None if point is None else self._at(point, area)

    def paint(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        """Draw axes, the best for each cost, and the stores."""
        if not self._points:
            painter.setPen(QColor(tokens.muted))
            painter.drawText(area, int(Qt.AlignmentFlag.AlignCenter), "Nothing is measured yet")
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = area.adjusted(LEFT, TOP, -RIGHT, -BOTTOM)
        self._paint_axes(painter, area, box, tokens)
        self._paint_best(painter, area, box, tokens)
        for point in self._points:
            at = self._at(point, area)
            colour = colour_of(point.name, tokens) if point is not self._points[0] else QColor(tokens.text)
            pen = QPen(colour, 1)
            painter.setPen(pen)
            painter.drawLine(QPointF(at.x(), self._y(point.low, box)), QPointF(at.x(), self._y(point.high, box)))
            painter.fillPath(mark_of(point.name, at), colour)
            if point.name == self._marked:
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(QPen(QColor(tokens.text), 2))
                painter.drawEllipse(at, RING, RING)
        painter.setPen(QColor(tokens.text))
        behind = QColor(tokens.plot_background)
        behind.setAlpha(BEHIND)
        for name, place in self.titles(painter.fontMetrics(), area).items():
            title = next(point.title for point in self._points if point.name == name)
            painter.fillRect(place, behind)  # the step line may pass there
            painter.drawText(place, int(Qt.AlignmentFlag.AlignCenter), title)

    def titles(self, metrics: QFontMetrics, area: QRectF) -> dict[str, QRectF]:
        """Where the titles of the stores stand, by name; the trained and the chosen store come first."""
        box = area.adjusted(LEFT, TOP, -RIGHT, -BOTTOM)
        marks = [
            Mark(point.name, point.title, self._at(point, area), self._y(point.high, box), self._y(point.low, box))
            for point in self._points
        ]
        beside_numbers = QRectF(area.left() + LEFT - 4, area.top(), area.width() - LEFT + 4, box.bottom() - area.top())
        return placed(marks, (self._points[0].name, self._marked), metrics, beside_numbers)

    def _paint_axes(self, painter: QPainter, area: QRectF, box: QRectF, tokens: Tokens) -> None:
        low, high = self._qualities()
        axes = Axes(painter, area, box, tokens)
        for quality in ticks(max(low, 0.0), min(high, 100.0)):
            axes.at_left(self._y(quality, box), f"{quality:g}")
        for cost in self._ticks(int(box.width() // WIDE)):
            axes.below(self._x(cost, box), f"{cost:g}", line=True)
        axes.name_below(axis_title(self._unit, painter.fontMetrics(), box.right() - area.left()))
        painter.drawText(QRectF(area.left() + 4, area.top(), 80, 14), int(Qt.AlignmentFlag.AlignLeft), "MAP@R %")
        trained = self._points[0].quality
        for quality, style, colour in (
            (trained, Qt.PenStyle.DashLine, tokens.text), (trained - ONE_POINT, Qt.PenStyle.DotLine, tokens.right)
        ):  # fmt: skip
            if low <= quality <= high:
                painter.setPen(QPen(QColor(colour), 1, style))
                y = self._y(quality, box)
                painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y))

    def _paint_best(self, painter: QPainter, area: QRectF, box: QRectF, tokens: Tokens) -> None:
        """The step line of the best quality for each cost."""
        path, best = QPainterPath(), -math.inf
        for point in sorted(self._points, key=lambda one: (one.cost, -one.quality)):
            if point.quality <= best:
                continue
            at = self._at(point, area)
            if best == -math.inf:
                path.moveTo(at)
            else:
                path.lineTo(at.x(), self._y(best, box))
                path.lineTo(at)
            best = point.quality
        path.lineTo(box.right(), self._y(best, box))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(tokens.accent), 1.5))
        painter.drawPath(path)

    def _at(self, point: Point, area: QRectF) -> QPointF:
        box = area.adjusted(LEFT, TOP, -RIGHT, -BOTTOM)
        return QPointF(self._x(point.cost, box), self._y(point.quality, box))

    def _qualities(self) -> tuple[float, float]:
        lows, highs = [point.low for point in self._points], [point.high for point in self._points]
        room = max(1.0, 0.08 * (max(highs) - min(lows)))
        return max(min(lows) - room, -room / 2), min(max(highs) + room, 100 + room / 2)  # a dot at an end has its place

    def _costs(self) -> tuple[float, float]:
        costs = [point.cost for point in self._points]
        return math.log(min(costs)) - 0.4, math.log(max(costs)) + 0.4

    def _x(self, cost: float, box: QRectF) -> float:
        low, high = self._costs()
        return box.left() + (math.log(cost) - low) / (high - low) * box.width()

    def _y(self, quality: float, box: QRectF) -> float:
        low, high = self._qualities()
        return box.bottom() - (quality - low) / (high - low) * box.height()

    def _ticks(self, most: int) -> list[float]:
        """Round costs between the ends, at most this many."""
        low, high = self._costs()
        ticks = [
            part * 10.0**power
            for power in range(math.floor(low / math.log(10)), math.ceil(high / math.log(10)) + 1)
            for part in (1, 2, 5)
            if low <= math.log(part * 10.0**power) <= high
        ]
        return ticks[:: max(1, -(-len(ticks) // max(1, most)))]

    def words_at(self, position: QPointF) -> str:
        """A line for each store at this position of the picture (px on screen), the nearest first; empty without."""
        return "\n".join(
            f"{point.title}: {point.quality:.1f}% ({point.low:.1f} to {point.high:.1f}), {point.cost:.3g} {self._unit}"
            for point in self._near(position)
        )

    def _near(self, position: QPointF) -> list[Point]:
        """The stores at a position of the picture, the nearest first."""
        area, place = self.picture.area, self.picture.at(position)
        gaps = [((self._at(point, area) - place).manhattanLength(), point) for point in self._points]
        return [point for gap, point in sorted(gaps, key=lambda pair: pair[0]) if gap <= REACH]

    def _pressed(self, event: QMouseEvent) -> None:
        for point in self._near(event.position())[:1]:
            self.chosen.emit(point.name)


class PairsPlot(PaintedPlot):
    """How similar pairs of one class and of two are, and the threshold with its interval."""

    def __init__(self) -> None:
        self._measured: dict[str, Any] | None = None
        super().__init__("Similarity of pairs")

    def show_threshold(self, measured: dict[str, Any] | None) -> None:
        """Show another threshold, as deploying.pairs.Limit in plain data; None empties the picture."""
        self._measured = measured
        self.refresh()

    def rows(self) -> Rows:
        """The histograms as a table with a head."""
        measured = self._measured
        head: Rows = [["from", "to", "of one class", "of two classes"]]
        if measured is None:
            return head
        bins = zip(measured["edges"][:-1], measured["edges"][1:], measured["same"], measured["other"], strict=True)
        return head + [list(row) for row in bins]

    def describe(self) -> str:
        """The threshold and what it accepts."""
        if self._measured is None:
            return f"{self.title}: nothing is measured yet."
        measured = self._measured
        return minus(
            f"{self.title}: at a threshold of {measured['similarity']:.3f}, {100 * measured['false_accepts']:.3g}% of "
            f"the pairs of two classes and {100 * measured['accepts']:.3g}% of those of one class are accepted."
        )

    def paint(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        """Draw both histograms and the threshold."""
        measured = self._measured
        if measured is None:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = area.adjusted(8, 18, -8, -20)
        edges, highest = measured["edges"], max(*measured["same"], *measured["other"], 1e-12)
        span = edges[-1] - edges[0] or 1.0

        def x_of(value: float) -> float:
            return float(box.left() + (value - edges[0]) / span * box.width())

        for shares, colour in ((measured["other"], NEUTRAL), (measured["same"], OKABE_ITO[1])):
            ink = QColor(theme.drawn(colour, tokens))
            path = QPainterPath(QPointF(box.left(), box.bottom()))
            for start, end, share in zip(edges[:-1], edges[1:], shares, strict=True):
                path.lineTo(x_of((start + end) / 2), box.bottom() - share / highest * box.height())
            path.lineTo(box.right(), box.bottom())
            fill = QColor(ink)
            fill.setAlpha(70)
            painter.setPen(QPen(ink, 1.2))
            painter.setBrush(fill)
            painter.drawPath(path)
        low, high = measured["similarity_range"]
        band, x = QColor(tokens.accent), x_of(measured["similarity"])
        band.setAlpha(50)
        painter.fillRect(QRectF(x_of(low), box.top(), max(1.0, x_of(high) - x_of(low)), box.height()), band)
        painter.setPen(QPen(QColor(tokens.accent), 2))
        painter.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom()))
        painter.setPen(QColor(tokens.text))
        for words, left in beside_threshold(x, area, painter.fontMetrics()).items():
            painter.drawText(QRectF(left, area.top(), 80, 16), 0, words)
        axes = Axes(painter, area, box, tokens)
        for value in ticks(edges[0], edges[-1]):
            axes.below(x_of(value), minus(f"{value:g}"))


def axis_title(unit: str, metrics: QFontMetrics, room: float) -> str:
    """The unit of a logarithmic axis, without what follows its comma where the room (px) is too narrow for all."""
    whole = f"{unit}, log"
    return whole if metrics.horizontalAdvance(whole) <= room else f"{unit.partition(',')[0]}, log"


def beside_threshold(x: float, area: QRectF, metrics: QFontMetrics) -> dict[str, float]:
    """Left edges, px, of the words at both sides of a threshold at `x`: whole, also near an edge of `area`."""
    same = min(x + 4, area.right() - metrics.horizontalAdvance("same") - 2)
    different = max(area.left(), min(x - 4, same - 8) - metrics.horizontalAdvance("different"))
    return {"different": different, "same": same}
