"""The drawing area of a curve plot: pyqtgraph items that are created once and then updated."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QPainter, QPixmap
from PySide6.QtWidgets import QGraphicsItem, QLabel

from workbench.ui.plots.free_place import Points, free_place
from workbench.ui.plots.items import Behind, Line, Reach, Series, Zero, dress_axes, number_axes
from workbench.ui.plots.one_by_one import OneByOne
from workbench.ui.plots.rings import Ring, Rings
from workbench.ui.plots.shade import Shade
from workbench.ui.plots.steady_view import PERCENT, SteadyView
from workbench.ui.plots.value_scale import LINEAR, ValueScale
from workbench.ui.style import theme
from workbench.ui.style.theme import Tokens

MOST_MARKS = 12
LEFT = [(0.0, 0.0), (0.0, 1.0)]  # anchors of the label of a level line: below the line, or above it near the bottom
BEST = "#E69F00"  # colour of the line and star of the best epoch
BOTTOM_PX = 34  # height of the tick labels and title of the bottom axis
REST = 1000  # ms after the last new point until the range fits exactly
LEAST_PX = 96  # minimum height, axes included


class PlotCanvas(OneByOne, pg.PlotWidget):
    """Lines on one or two vertical axes, marks of problems, and a crosshair that follows the pointer."""

    zoomed = Signal()
    full_size_asked = Signal()  # a double-click while all of the curves is in view
    pointed = Signal(object)  # the step under the pointer (float), or None once the pointer has left
    follows_room = False  # whether it requests no more than its minimum height

    def __init__(self, series: Sequence[Series], x_title: str) -> None:
        view = SteadyView(enableMenu=False)  # pyqtgraph's own menu takes a sixth of the time of making a plot
        super().__init__(axisItems=number_axes("right", whole=True), viewBox=view, enableMenu=False)
        self.item = self.getPlotItem()
        self.item.hideAxis("right")  # until a series uses it
        self.item.hideButtons()
        self.item.setLabel("bottom", x_title)
        for side in ("left", "bottom", "right"):  # ticks and grid take longest to draw and change least
            self.item.getAxis(side).setCacheMode(QGraphicsItem.CacheMode.DeviceCoordinateCache)
            self.item.getAxis(side).setStyle(maxTickLevel=1)  # grid lines only at labels: more take three times
        self.lines: dict[str, Line] = {}
        self._right: Any = None
        self._reach = Reach()
        self._rest = QTimer(self, singleShot=True, interval=REST)
        self._rest.timeout.connect(self._settle)
        for entry in series:
            self.add_line(entry)
        self._crosshair = pg.InfiniteLine(angle=90, movable=False)
        self._crosshair.setVisible(False)
        self.item.addItem(self._crosshair, ignoreBounds=True)
        self._best: pg.InfiniteLine | None = None  # created when there is one
        self._best_at: float | None = None
        self._has_axes = False
        self.scale = LINEAR  # of the left axis
        self._percent = False  # whether its values are percentages
        self._limit: pg.InfiniteLine | None = None  # created when there is one
        self._limit_at: float | None = None
        self._rings = Rings(self.item)
        self._shades: tuple[Shade, ...] = ()
        self._shaded: set[str] = set()  # series
        self._marks: list[pg.InfiniteLine] = []  # created when needed: even hidden ones cost time at every redraw
        self.item.vb.sigXRangeChanged.connect(self._range_changed)
        self.scene().sigMouseMoved.connect(self._mouse_moved)

    def sizeHint(self) -> QSize:
        hint: QSize = super().sizeHint()
        return QSize(hint.width(), self.minimumHeight()) if self.follows_room else hint

    def add_line(self, series: Series) -> None:
        """Add a line for another series."""
        self.lines[series.name] = Line(series, self._view_of(series))

    def drop_lines(self) -> None:
        """Remove every series."""
        for line in self.lines.values():
            line.remove()
        self.lines.clear()

    def apply(self, tokens: Tokens) -> None:
        """Apply the colours of a theme and the current text size."""
        self.setBackground(tokens.plot_background)
        dress_axes(self.item, self.font(), tokens)
        self.item.getAxis("bottom").setHeight(theme.text_px(BOTTOM_PX))
        self.setMinimumHeight(theme.text_px(LEAST_PX))
        self.item.getAxis("left").setGrid(tokens.plot_grid_alpha)
        self._crosshair.setPen(pg.mkPen(tokens.muted, width=1))
        for mark in [*self._marks, *([self._limit] if self._limit is not None else [])]:
            self._style_mark(mark)
        self._style_shades()
        self._rings.style(self.font())

    def _style_mark(self, mark: pg.InfiniteLine) -> None:
        tokens = theme.current()
        mark.setPen(pg.mkPen(tokens.wrong, width=1, style=Qt.PenStyle.DashLine))
        mark.label.setColor(tokens.wrong)
        mark.label.fill = pg.mkBrush(tokens.plot_background)
        mark.label.setFont(theme.caption_font(self.font()))

    def shade_between(self, first: str, second: str) -> None:
        """Fill the gap between two series of the left axis faintly: as right where the second is above, else as wrong.

        It is hidden if either of them is.
        """
        self._shaded = {first, second}
        lines = self.lines[first].raw, self.lines[second].raw
        self._shades = (Shade(*lines, above=True), Shade(*lines, above=False))
        for shade in self._shades:
            self.item.addItem(shade, ignoreBounds=True)
        self._style_shades()

    def show_line(self, name: str, on: bool) -> None:
        """Show or hide a series from the next time it is drawn on, and what is filled beside it."""
        self.lines[name].shown = on
        for shade in self._shades:
            shade.setVisible(all(self.lines[line].shown for line in self._shaded))

    def _style_shades(self) -> None:
        for shade, colour in zip(self._shades, (theme.current().right, theme.current().wrong), strict=False):
            shade.colour(colour)

    def start_at_zero(self) -> None:
        """Make the left axis include 0, and begin there where all values are 0."""
        self.item.addItem(Zero())
        self.item.vb.from_zero = True

    def show_percent(self, on: bool = True, *, right: bool = False) -> None:
        """Say whether the values of the left or the right axis are percentages: none is outside 0 to 100."""
        if right:
            self._right.ends = PERCENT if on else None
        else:
            self._percent = on
            self.item.vb.ends = PERCENT if on and not self.scale.log else None

    def show_limit(self, value: float | None, words: str = "") -> None:
        """Draw a dashed line with a label at this value, which the left axis then includes; None removes it."""
        if self._limit is None and value is not None:
            self._limit = pg.InfiniteLine(
                angle=0, movable=False, label="", labelOpts={"position": 0.05, "anchors": LEFT}
            )
            self._style_mark(self._limit)
            self.item.addItem(self._limit)
        if self._limit is not None:
            self._limit_at = value
            self._limit.setVisible(value is not None)
            self._limit.label.setFormat(words)
            self._place_limit()

    def show_axes(self, shown: bool, right: bool) -> None:
        """Show or hide ticks, grid and title of the left and bottom axes (`shown`) and of the right axis (`right`)."""
        self._has_axes = shown
        self.show_best(self._best_at)
        for side in ("left", "bottom"):
            self.item.getAxis(side).setVisible(shown)
        if self._right is not None:
            self.item.getAxis("right").setVisible(right)

    def show_rings(self, rings: Sequence[Ring]) -> None:
        """Draw rings with their letters, and no others."""
        if rings:
            self.take_range()  # a letter near the right end is left of its ring
        self._rings.show(list(rings))

    def show_marks(self, marks: Sequence[tuple[float, str]]) -> None:
        """Draw vertical lines with labels, for values that are not finite and other problems; at most the first 12."""
        while len(self._marks) < min(len(marks), MOST_MARKS):
            line = pg.InfiniteLine(angle=90, movable=False, label="")
            self.item.addItem(line, ignoreBounds=True)
            self._style_mark(line)
            self._marks.append(line)
        if marks:
            self.take_range()  # the places of the words are shares of what is shown
        curves = self._drawn_curves() if marks else []
        for index, mark in enumerate(self._marks):
            mark.setVisible(index < len(marks))
            if index < len(marks):
                step, text = marks[index]
                mark.setValue(step)
                mark.label.setFormat(text)
                mark.label.setPosition(free_place(curves, *self._room_of(mark), index % 5))

    def _drawn_curves(self) -> list[Points]:
        """The visible curves as shares of the width and of the height of their view."""
        curves: list[Points] = []
        for line in self.lines.values():
            for item in line.items():
                across, up = item.getData() if item.isVisible() else (None, None)
                if across is not None and up is not None:
                    x_ends, y_ends = self._view_ends(line.series)
                    curves.append((_shares(across, *x_ends), _shares(up, *y_ends)))
        return curves

    def _view_ends(self, series: Series) -> Any:
        view = self.item.vb if series.axis == "left" else self._right
        return view.viewRange()

    def _room_of(self, mark: pg.InfiniteLine) -> tuple[tuple[float, float], float]:
        """Where the words of a mark begin and end, and their height, as shares of the view."""
        box, words = self.item.vb.boundingRect(), mark.label.boundingRect()
        at, width = self.fraction_of(mark.value()), words.width() / max(1.0, box.width())
        on_right = at <= 0.5  # as pyqtgraph puts them
        return ((at, at + width) if on_right else (at - width, at)), words.height() / max(1.0, box.height())

    def show_best(self, at: float | None) -> None:
        """Draw the line of the best epoch at this place on the bottom axis; None hides it, and so do missing values."""
        self._best_at = at
        if self._best is None and at is not None:
            pen = pg.mkPen(BEST, width=1, style=Qt.PenStyle.DashLine)
            star = {"position": 0.95, "color": BEST}
            self._best = pg.InfiniteLine(angle=90, movable=False, pen=pen, label="★", labelOpts=star)
            self.item.addItem(self._best, ignoreBounds=True)
        if self._best is not None:
            if at is not None:
                self._best.setValue(at)
            self._best.setVisible(at is not None and self._has_axes)

    def set_scale(self, scale: ValueScale) -> None:
        """Set the scale of the left axis for its limit and what stands behind the curves; lines get it when drawn."""
        for item in self.behind():
            item.take_scale(scale)
        if scale == self.scale:
            return
        self.scale, axis = scale, self.item.getAxis("left")
        self.show_percent(self._percent)
        axis.value_scale, axis.picture = scale, None
        axis.update()
        self._place_limit()

    def behind(self) -> list[Behind]:
        """What stands behind the curves of the left axis."""
        return [item for item in self.item.items if isinstance(item, Behind)]

    def values(self) -> list[np.ndarray]:
        """The values besides those of the curves that the left axis shows; arrays of any lengths."""
        limit = [] if self._limit_at is None else [np.array([self._limit_at])]
        return [item.values() for item in self.behind()] + limit

    def _place_limit(self) -> None:
        if self._limit is not None and self._limit_at is not None:
            self._limit.setValue(self.scale.height(self._limit_at))

    def grow(self) -> None:
        """Handle new points: if they come more than once a second, ranges change rarely, and fit exactly at the end."""
        for view in self._views():
            view.steady = self._rest.isActive()
        self._rest.start()

    def _settle(self) -> None:
        self._rest.stop()
        for view in self._views():
            view.settle()

    def _views(self) -> list[SteadyView]:
        return [self.item.vb] if self._right is None else [self.item.vb, self._right]

    def fit(self) -> None:
        """Show all points, including new ones."""
        self._settle()
        self.item.enableAutoRange()
        if self._right is not None:
            self._right.enableAutoRange(axis="y")

    def reach_over(self, steps: Sequence[np.ndarray]) -> None:
        """Make the bottom axis include the steps of the series on the right axis; each [n], ascending."""
        ends = [(float(column[0]), float(column[-1])) for column in steps if len(column)]
        self._reach.cover((min(low for low, _ in ends), max(high for _, high in ends)) if ends else None)

    def take_range(self) -> None:
        """Fit to the current points if the plot fits itself: otherwise the next paint would do it, and be repeated."""
        for view in self._views():
            view.prepareForPaint()

    def take_axes(self) -> None:
        """Lay out the axes before the next paint, because their labels may change the room for the curves."""
        sheet = QPixmap(self.size())
        painter = QPainter(sheet)
        for side in ("left", "bottom"):
            self.item.getAxis(side).paint(painter, None, None)
        painter.end()
        self.item.layout.activate()

    def point_at(self, step: float | None) -> None:
        """Move the crosshair to a step; None hides it."""
        self._crosshair.setVisible(step is not None)
        if step is not None:
            self._crosshair.setValue(step)

    def span(self) -> tuple[float, float]:
        """The range of steps to draw: all, or the range that the user zoomed to and half of it on both sides."""
        if self.item.vb.autoRangeEnabled()[0]:
            return float("-inf"), float("inf")
        low, high = self.item.vb.viewRange()[0]
        return low - (high - low) / 2, high + (high - low) / 2

    def fraction_of(self, step: float) -> float:
        """Position of a step in the shown range: 0 left, 1 right."""
        low, high = self.item.vb.viewRange()[0]
        return float((step - low) / (high - low)) if high > low else 0.0

    def mouseDoubleClickEvent(self, event: Any) -> None:
        if self.item.vb.autoRangeEnabled()[0]:
            self.full_size_asked.emit()
        else:
            self.fit()
        event.accept()

    def leaveEvent(self, event: Any) -> None:
        super().leaveEvent(event)
        self.pointed.emit(None)

    def _view_of(self, series: Series) -> Any:
        if series.axis == "left":
            return self.item
        if self._right is None:
            self._right = self._add_right_axis()
        return self._right

    def _add_right_axis(self) -> Any:
        view = SteadyView(enableMenu=False)
        view.setMouseEnabled(x=False, y=False)
        self.item.showAxis("right")
        self.item.scene().addItem(view)
        self.item.getAxis("right").linkToView(view)
        self.item.getAxis("right").setGrid(False)
        self.item.getAxis("right").setStyle(maxTickLevel=0)  # no grid, no ticks between labels
        self.item.addItem(self._reach)
        view.setXLink(self.item)
        self.item.vb.sigResized.connect(self._resize_right)
        return view

    def _range_changed(self, *_range: object) -> None:
        if not self.item.vb.autoRangeEnabled()[0]:
            self.zoomed.emit()

    @Slot()  # on Python 3.12 PySide6 crashes when it calls it undeclared (6.11.3 now and then, 6.12.0 always)
    def _resize_right(self) -> None:
        self._right.setGeometry(self.item.vb.sceneBoundingRect())

    @Slot(object)
    def _mouse_moved(self, position: Any) -> None:
        if self.item.vb.sceneBoundingRect().contains(position):
            self.pointed.emit(float(self.item.vb.mapSceneToView(position).x()))
        else:
            self.pointed.emit(None)


def _shares(values: np.ndarray, low: float, high: float) -> np.ndarray:
    return (np.asarray(values, np.float64) - low) / (high - low or 1.0)


class ReadOut(QLabel):
    """Text at the top of a canvas, on the side away from the pointer."""

    def __init__(self, canvas: PlotCanvas) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        self.setProperty("role", "readOut")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def show_at(self, step: float, words: str) -> None:
        """Show the text for this step of the bottom axis."""
        self.setText(words)
        self.adjustSize()
        on_left = self._canvas.fraction_of(step) > 0.5
        self.move(48 if on_left else max(48, self._canvas.width() - self.width() - 8), 4)
        self.show()
