"""The values of a sweep's settings in the order of the proposals, and the best so far as a line."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QToolTip

from workbench.metric_names import metric_name
from workbench.sweeps.history import Reached
from workbench.sweeps.objective import least_is_best, written
from workbench.ui.plots.painted_plot import Axes, PaintedPlot, Rows
from workbench.ui.plots.value_scale import in_decimals, ticks
from workbench.ui.style.theme import Tokens
from workbench.ui.widgets.labels import plain_tip

LEFT, RIGHT, TOP, BOTTOM = 56, 16, 10, 36  # px around the axes
TALL, DOT, NEAR = 220, 3.0, 12.0  # px: height, radius of a dot, distance at which the pointer is at one
MARGIN = 0.05  # of the range of the values, above and below them
SETTINGS_PX = 80  # px of the axis for each number below it
TITLE = "Best so far"
HINT = "One dot per setting, hollow if a run did not finish training; click to select its run"


class BestSoFarPlot(PaintedPlot):
    """Dots of the settings over their numbers, and the best until each as steps. `chosen` emits a setting's number."""

    chosen = Signal(int)

    def __init__(self) -> None:
        self._reached: Sequence[Reached] = ()
        self._metric = ""
        super().__init__(TITLE)
        self.picture.need_height(TALL)
        self.picture.setToolTip(HINT)

    def show_values(self, reached: Sequence[Reached], metric: str) -> None:
        """Show other settings, of a sweep with that objective."""
        if (list(reached), metric) == (list(self._reached), self._metric):
            return
        self._reached, self._metric = reached, metric
        best = reached[-1].best if reached else None
        words = "" if best is None else f", {written(metric, best)}"
        self.retitle(f"{TITLE}: {metric_name(metric)} of {len(reached):,} settings{words}")
        self.refresh()

    def rows(self) -> Rows:
        """A row for each setting: its number, value, whether all its runs trained to their end, and the best so far."""
        head: Rows = [["setting", metric_name(self._metric), "finished training", "best so far"]]
        return head + [
            [one.point, one.value, "yes" if one.whole else "no", "" if one.best is None else one.best]
            for one in self._reached
        ]

    def describe(self) -> str:
        """The settings at which the best value changed."""
        steps = [
            f"{written(self._metric, one.best)} at setting {one.point}"
            for before, one in zip((None, *self._reached), self._reached, strict=False)
            if one.best is not None and (before is None or before.best != one.best)
        ]
        return f"{self.title}. The best so far: {', '.join(steps) or 'none yet'}."

    def spots(self, area: QRectF) -> list[QPointF]:
        """Where the dot of each setting is, in px of the area."""
        return [self._at(area, one.point, one.value) for one in self._reached]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Show the setting below the pointer, and choose its run with a click."""
        if watched is self.picture and isinstance(event, QMouseEvent):
            one = self._near(self.picture.at(event.position()))
            if event.type() == QEvent.Type.MouseMove:
                self.picture.setCursor(Qt.CursorShape.ArrowCursor if one is None else Qt.CursorShape.PointingHandCursor)
                words = "" if one is None else plain_tip(self._words(one))
                QToolTip.showText(event.globalPosition().toPoint(), words, self.picture)
            elif event.type() == QEvent.Type.MouseButtonPress and one is not None:
                self.chosen.emit(one.point)
        return super().eventFilter(watched, event)

    def _words(self, one: Reached) -> str:
        unlike = "" if one.whole else "; not every run finished training"
        return f"Setting {one.point}: {written(self._metric, one.value)}{unlike}"

    def _near(self, pointer: QPointF) -> Reached | None:
        """The setting whose dot is nearest to the pointer, if it is near."""
        apart = [
            (QPointF(spot - pointer).manhattanLength(), one)
            for spot, one in zip(self.spots(self.picture.area), self._reached, strict=True)
        ]
        least = min(apart, key=lambda pair: pair[0], default=None)
        return None if least is None or least[0] > NEAR else least[1]

    # Drawing

    def _range(self) -> tuple[float, float]:
        """The least and the greatest value, with a margin."""
        values = [one.value for one in self._reached]
        low, high = min(values), max(values)
        margin = MARGIN * ((high - low) or abs(high) or 1.0)
        return low - margin, high + margin

    def _at(self, area: QRectF, point: int, value: float) -> QPointF:
        box, (low, high) = _axes(area), self._range()
        first, last = self._reached[0].point, self._reached[-1].point
        across = (point - first) / (last - first) if last > first else 0.5
        return QPointF(box.left() + box.width() * across, box.bottom() - box.height() * (value - low) / (high - low))

    def paint(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        """Draw axes, dots and the line of the best into `area`."""
        if not self._reached:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_axes(painter, area, tokens)
        accent = QColor(tokens.accent)
        for one, spot in zip(self._reached, self.spots(area), strict=True):
            painter.setPen(QPen(QColor(tokens.muted), 1.2))
            painter.setBrush(QColor(tokens.muted) if one.whole else Qt.BrushStyle.NoBrush)
            painter.drawEllipse(spot, DOT, DOT)
        line = QPolygonF()
        for one in self._reached:
            if one.best is not None:
                spot = self._at(area, one.point, one.best)
                if not line.isEmpty():
                    line.append(QPointF(spot.x(), line.last().y()))
                line.append(spot)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(accent, 2.0))
        painter.drawPolyline(line)

    def _paint_axes(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        box, (low, high) = _axes(area), self._range()
        axes = Axes(painter, area, box, tokens)
        times = 1 if least_is_best(self._metric) else 100
        numbers = ticks(times * low, times * high)
        for number, words in zip(numbers, in_decimals(numbers), strict=True):
            y = self._at(area, self._reached[0].point, number / times).y()
            axes.at_left(y, words + ("" if times == 1 else "%"))
        painter.setPen(QColor(tokens.plot_axis))
        painter.drawLine(box.bottomLeft(), box.bottomRight())
        first, last = self._reached[0].point, self._reached[-1].point
        for point in ticks(first, last, max(1, int(box.width() / SETTINGS_PX)), whole=True):
            axes.below(self._at(area, int(point), low).x(), f"{point:,.0f}")
        axes.name_below("Number of the setting", Qt.AlignmentFlag.AlignHCenter)


def _axes(area: QRectF) -> QRectF:
    return area.adjusted(LEFT, TOP, -RIGHT, -BOTTOM)
