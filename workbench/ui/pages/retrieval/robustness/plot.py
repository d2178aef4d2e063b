"""A metric against the strength of each change: one line for each, the chosen one with its intervals."""

from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPen, QPixmap, QPolygonF

from workbench.colours import BESIDE_THEM, NEUTRAL, OF_RUNS
from workbench.numerals import percentage
from workbench.robustness.kinds import NAMES
from workbench.robustness.table import UNCHANGED
from workbench.ui.plots.painted_plot import LINE, Axes, PaintedPlot, Rows
from workbench.ui.plots.value_scale import ticks
from workbench.ui.style import theme
from workbench.ui.style.theme import Tokens

LEFT, RIGHT, TOP, BOTTOM = 46, 46, 22, 34  # px around the axes
DOT, REACH = 3.5, 14  # px
ROOM = 0.06  # of the span above the highest and below the lowest value
FAINT = 130  # of 255, opacity of the lines that are not chosen
COLOURS = dict(zip(NAMES, (*OF_RUNS, *BESIDE_THEM, NEUTRAL), strict=True))
SHOWN = {"MAP@R": "MAP@R", "recall@1": "R@1"}  # metric -> how it is written


def colour_of(name: str, tokens: Tokens) -> QColor:
    """The colour of a change in a theme; one that this program does not know is grey."""
    return QColor(theme.drawn(COLOURS.get(name, NEUTRAL), tokens))


def dot(name: str, tokens: Tokens) -> QPixmap:
    """The colour of a change as a disc, for its rows of the table."""
    side = round(2 * DOT) + 2
    picture = QPixmap(side, side)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour_of(name, tokens))
    painter.drawEllipse(QPointF(side / 2, side / 2), DOT, DOT)
    painter.end()
    return picture


class StrengthPlot(PaintedPlot):
    """MAP@R or recall@1 by strength, from the unchanged queries to the last strength; a click chooses a change."""

    chosen = Signal(str)  # the name of a change

    def __init__(self) -> None:
        self._measured: dict[str, Any] | None = None
        self._metric, self._marked = "MAP@R", ""
        super().__init__("Scores by strength")
        self.picture.mousePressEvent = self._pressed  # type: ignore[method-assign]

    def show_measured(self, measured: dict[str, Any] | None, metric: str) -> None:
        """Show a measurement, as robustness.request.robustness gives it, by a metric: "MAP@R" or "recall@1"."""
        self._measured, self._metric = measured, metric
        self.refresh()

    def mark(self, name: str) -> None:
        """Draw the line of one change over the others, with its strengths and intervals."""
        self._marked = name
        self.refresh()

    def rows(self) -> Rows:
        """The scores as a table with a head, one row for each strength."""
        head: Rows = [["change", "strength", f"{SHOWN[self._metric]} %", "low", "high"]]
        if self._measured is None:
            return head
        rows: Rows = [[UNCHANGED, "", *self._numbers(self._measured["unchanged"]["metrics"])]]
        for change in self._changes:
            rows += [[change["title"], level["words"], *self._numbers(level["metrics"])] for level in change["levels"]]
        return head + rows

    def describe(self) -> str:
        """What the unchanged queries have, and each change with its last strength."""
        if self._measured is None:
            return f"{self.title}: nothing is measured yet."
        words = [
            f"{change['title']} ({change['levels'][-1]['words']}) "
            f"{percentage(change['levels'][-1]['metrics'][self._metric])}"
            for change in self._changes
        ]
        start = percentage(self._measured["unchanged"]["metrics"][self._metric])
        return f"{SHOWN[self._metric]} by strength: unchanged {start}; {'; '.join(words)}."

    @property
    def _changes(self) -> list[dict[str, Any]]:
        return [] if self._measured is None else self._measured["changes"]

    def _numbers(self, at: dict[str, float]) -> list[float]:
        return [100 * at[f"{self._metric}{end}"] for end in ("", "/low", "/high")]

    def _line(self, change: dict[str, Any]) -> list[list[float]]:
        """The scores of a change in percent with their limits, the unchanged queries first."""
        assert self._measured is not None
        parts = [self._measured["unchanged"], *change["levels"]]
        return [self._numbers(part["metrics"]) for part in parts]

    def paint(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        """Draw axes, all lines, and over them the chosen one."""
        if self._measured is None:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = self._box(area)
        self._paint_axes(painter, area, box, tokens)
        marked = [change for change in self._changes if change["name"] == self._marked]
        for change in [change for change in self._changes if change["name"] != self._marked] + marked:
            ink = colour_of(change["name"], tokens)
            is_marked = change in marked
            if marked and not is_marked:
                ink.setAlpha(FAINT)
            at = self._points(change, box)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(ink, 2.6 if is_marked else 1.4))
            painter.drawPolyline(QPolygonF(at))
            if not is_marked:
                continue
            painter.setPen(QPen(ink, 1.4))
            for (_, low, high), point in zip(self._line(change), at, strict=True):
                painter.drawLine(QPointF(point.x(), self._y(low, box)), QPointF(point.x(), self._y(high, box)))
            painter.setBrush(ink)
            for point in at:
                painter.drawEllipse(point, DOT, DOT)

    def _paint_axes(self, painter: QPainter, area: QRectF, box: QRectF, tokens: Tokens) -> None:
        assert self._measured is not None
        axes = Axes(painter, area, box, tokens)
        for value in ticks(*self._span()):
            axes.at_left(self._y(value, box), f"{value:g}")
        y = self._y(100 * self._measured["unchanged"]["metrics"][self._metric], box)
        painter.setPen(QPen(QColor(tokens.text), 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y))
        marked = next((change for change in self._changes if change["name"] == self._marked), None)
        wide = box.width() / max(1, self._most)
        for place in range(self._most + 1):
            named = marked is not None and place <= len(marked["levels"])
            text = "0" if place == 0 else marked["levels"][place - 1]["words"] if marked and named else str(place)
            text = text if painter.fontMetrics().horizontalAdvance(text) <= wide else str(place)
            axes.below(self._x(place, box), text, wide=wide)
        axes.name_below("strength; 0 is unchanged")
        title = f"{SHOWN[self._metric]} %" + (f", {marked['title']} with 95% intervals" if marked else "")
        painter.setPen(QColor(tokens.text))
        painter.drawText(QRectF(area.left() + 4, area.top(), area.width() - 8, LINE), 0, title)

    @property
    def _most(self) -> int:
        return max((len(change["levels"]) for change in self._changes), default=0)

    @staticmethod
    def _box(area: QRectF) -> QRectF:
        return area.adjusted(LEFT, TOP, -RIGHT, -BOTTOM)

    def _span(self) -> tuple[float, float]:
        """The lowest and the highest value that has room, percent."""
        values = [value for change in self._changes for point in self._line(change) for value in point]
        room = max(0.5, ROOM * (max(values) - min(values)))
        return max(0.0, min(values) - room), min(100.0, max(values) + room)

    def _x(self, place: int, box: QRectF) -> float:
        return float(box.left() + place * box.width() / max(1, self._most))

    def _y(self, value: float, box: QRectF) -> float:
        low, high = self._span()
        return float(box.bottom() - (value - low) / max(high - low, 1e-9) * box.height())

    def _points(self, change: dict[str, Any], box: QRectF) -> list[QPointF]:
        return [
            QPointF(self._x(place, box), self._y(mean, box)) for place, (mean, _, _) in enumerate(self._line(change))
        ]

    def words_at(self, position: QPointF) -> str:
        """A line for each score at this position of the picture (px on screen), the nearest first; empty without."""
        lines = []
        for change, place in self._near(position):
            mean, low, high = self._line(change)[place]
            words = change["levels"][place - 1]["words"]
            lines.append(f"{change['title']}, {words}: {mean:.1f}% ({low:.1f} to {high:.1f})")
        return "\n".join(lines)

    def _near(self, position: QPointF) -> list[tuple[dict[str, Any], int]]:
        """The changes with a strength at a position of the picture, the nearest first."""
        if self._measured is None:
            return []
        box, pointer = self._box(self.picture.area), self.picture.at(position)
        gaps = [
            ((point - pointer).manhattanLength(), number, place)
            for number, change in enumerate(self._changes)
            for place, point in enumerate(self._points(change, box))
            if place
        ]
        return [(self._changes[number], place) for gap, number, place in sorted(gaps) if gap <= REACH]

    def _pressed(self, event: QMouseEvent) -> None:
        for change, _ in self._near(event.position())[:1]:
            self.chosen.emit(change["name"])
