"""The parts of a curve plot: lines, what stands behind them, an axis of whole numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter

from workbench.numerals import grouped, minus, raised, same_decimals
from workbench.ui.plots.curve import drawable, lone_points, thinned
from workbench.ui.plots.value_scale import LINEAR, ValueScale, log_ticks
from workbench.ui.style import theme
from workbench.ui.style.theme import Tokens

FAINT, BOLD, DOT = 1, 2, 5  # px
SMOOTH_PX = 2  # distance between two points of a smoothed curve: bold lines take longest to draw
EDGED = 400  # points up to which bold lines have smooth edges: 20,000 thinned ones take six times as long with them
APART = 24  # px between two numbers of a logarithmic axis
ROOM = 3  # px beside an axis's title and numbers: the frame of the keyboard's focus takes 2 of them
END = 20  # px beyond an end of an axis that the number of a tick there may reach
Text = tuple[QRectF, Any, str]  # of a tick: place, alignment, number
FAINT_SHARE = 0.4  # share of the curve's colour in the raw curve behind its smoothed one


@dataclass(frozen=True, slots=True)
class Series:
    """The name, title and look of one curve."""

    name: str  # the scalar's name, "probe/ce"
    title: str  # in legend, read-out and table: "CE"
    colour: str  # "#0072B2"
    axis: Literal["left", "right"] = "left"
    dashed: bool = False
    dots: bool = False  # a dot at every point: for curves of few points
    exact: bool = False  # never smoothed: values that were set, or that are read against curves that are not smoothed
    may_be_undefined: bool = False  # NaN is a gap in the curve, not a problem to mark
    hidden: bool = False  # initially
    pen: Qt.PenStyle | None = None  # a style other than solid or dashed
    short: str = ""  # in the legend, where the title is too long for it

    @property
    def style(self) -> Qt.PenStyle:
        """The style of its line."""
        return self.pen or (Qt.PenStyle.DashLine if self.dashed else Qt.PenStyle.SolidLine)


class Line:
    """The pyqtgraph items of one series: raw, and smoothed above it.

    Args:
        series: what it draws.
        view: the plot or view that its items are added to, the smoothed one when it is drawn first.
    """

    def __init__(self, series: Series, view: Any) -> None:
        self.series, self._view = series, view
        self.raw = self._added()
        self.smooth: pg.PlotDataItem | None = None
        self.shown = True  # from the next `draw` on
        self._drawn: dict[pg.PlotDataItem, tuple[tuple[object, ...], np.ndarray, np.ndarray]] = {}

    def _added(self) -> pg.PlotDataItem:
        item = pg.PlotDataItem(connect="finite", antialias=False, symbol=None)
        self._view.addItem(item)
        return item

    def items(self) -> list[pg.PlotDataItem]:
        """What it has in the view."""
        return [self.raw] if self.smooth is None else [self.raw, self.smooth]

    def remove(self) -> None:
        """Take it out of the view."""
        for item in self.items():
            self._view.removeItem(item)

    def draw(
        self, steps: np.ndarray, values: np.ndarray, smoothed: np.ndarray | None, columns: int, scale: ValueScale
    ) -> None:
        """Show new values, thinned for a width of `columns` px; if `smoothed` is None, the raw curve is bold."""
        style = self.series.style
        full = colour = QColor(theme.drawn(self.series.colour))
        self.raw.setVisible(self.shown)
        if self.smooth is not None:
            self.smooth.setVisible(self.shown and smoothed is not None)
        if smoothed is not None:
            self._draw_smooth(*drawable(*thinned(steps, smoothed, columns // SMOOTH_PX), scale), colour)
            colour = blended(colour, QColor(theme.current().plot_background))
        steps, values = drawable(*thinned(steps, values, columns), scale)
        bold = smoothed is None
        width = BOLD if bold else FAINT
        if self._differs(self.raw, steps, values, colour.rgba(), width):
            dotted = lone_points(values) | self.series.dots
            dots = {"symbol": "o", "symbolSize": np.where(dotted, DOT, 0), "symbolBrush": full, "symbolPen": None}
            look = dots if dotted.any() else {"symbol": None}
            pen = pg.mkPen(colour, width=width, style=style)
            self.raw.setData(steps, values, pen=pen, antialias=bold and len(steps) <= EDGED, **look)

    def _draw_smooth(self, steps: np.ndarray, values: np.ndarray, colour: QColor) -> None:
        if self.smooth is None:
            self.smooth = self._added()
            self.smooth.setZValue(1)
            self.smooth.setVisible(self.shown)
        if self._differs(self.smooth, steps, values, colour.rgba(), BOLD):
            pen = pg.mkPen(colour, width=BOLD, style=self.series.style)
            self.smooth.setData(steps, values, pen=pen, antialias=len(steps) <= EDGED)

    def _differs(self, item: pg.PlotDataItem, steps: np.ndarray, values: np.ndarray, *look: object) -> bool:
        """Whether this item does not show these points yet, in that look: to set them takes longest of a redraw."""
        last = self._drawn.get(item)
        same = last is not None and last[0] == look and np.array_equal(last[1], steps)
        if same and last is not None and np.array_equal(last[2], values, equal_nan=True):
            return False
        self._drawn[item] = (look, steps.copy(), values.copy())  # what was given may be part of a growing array
        return True


def blended(colour: QColor, background: QColor) -> QColor:
    """A fainter, opaque colour: Qt takes ten times as long to draw translucent lines."""
    channels = (
        (colour.red(), background.red()),
        (colour.green(), background.green()),
        (colour.blue(), background.blue()),
    )
    return QColor(*(round(FAINT_SHARE * front + (1 - FAINT_SHARE) * back) for front, back in channels))


class Behind:
    """What stands behind the curves, in an item of pyqtgraph, and follows the scale of the left axis."""

    def values(self) -> np.ndarray:
        """What the axis must show, [n]."""
        raise NotImplementedError

    def take_scale(self, scale: ValueScale) -> None:
        """Draw on this scale from now on."""
        raise NotImplementedError


class Reach(pg.GraphicsObject):
    """An invisible item that makes the bottom axis include the series of the right axis, which have their own view."""

    def __init__(self) -> None:
        super().__init__()
        self._span: tuple[float, float] | None = None

    def cover(self, span: tuple[float, float] | None) -> None:
        """Set the first and last step; None if there is no series."""
        if span != self._span:
            self._span = span
            self.informViewBoundsChanged()

    def dataBounds(self, axis: int, *_: object, **__: object) -> tuple[float, float] | None:
        return self._span if axis == 0 else None

    def boundingRect(self) -> QRectF:
        return QRectF()

    def paint(self, *_: object) -> None:
        """Draws nothing; Qt requires the method."""


class Zero(Reach):
    """An invisible item that makes the left axis include 0."""

    def dataBounds(self, axis: int, *_: object, **__: object) -> tuple[float, float] | None:
        return (0.0, 0.0) if axis == 1 else None


class NumberAxis(pg.AxisItem):
    """An axis whose numbers have equally many decimals, separated thousands and, where negative, a sign of minus.

    Attributes:
        value_scale: where its numbers stand.
        whole: no tick between two whole numbers, for steps and epochs.
    """

    whole = False
    value_scale = LINEAR
    labelText: str
    _placing = False  # whether the numbers are being placed

    def labelString(self) -> str:
        # pyqtgraph makes it HTML, in which the title of a stored chart could name a picture of another computer
        title, self.labelText = self.labelText, escape(self.labelText or "", quote=False)
        shown: str = super().labelString()
        self.labelText = title
        return shown

    def updateAutoSIPrefix(self) -> None:
        """Without prefixes, there being no units: pyqtgraph would lay the title out anew for each new range."""
        self.picture = None
        self.update()

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        if not self.value_scale.log:
            levels: list[tuple[float, list[float]]] = super().tickValues(low, high, size)
            return levels
        self._written = dict(log_ticks(self.value_scale, low, high, max(2, int(size / theme.text_px(APART)))))
        return [(1.0, list(self._written))]

    def tickSpacing(self, low: float, high: float, size: float) -> list[tuple[float, float]]:
        levels: list[tuple[float, float]] = super().tickSpacing(low, high, size)
        return [level for level in levels if level[0] >= 1 or not self.whole] or [(1, 0)]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        if self.value_scale.log:
            return [self._written[value] for value in values]
        return [raised(minus(grouped(words))) for words in super().tickStrings(values, scale, spacing)]

    def boundingRect(self) -> QRectF:
        room: QRectF = super().boundingRect()
        return room.adjusted(0, -END, 0, END) if self._placing else room

    def generateDrawSpecs(self, painter: QPainter) -> Any:
        self._placing = self.orientation in ("left", "right")  # pyqtgraph drops numbers that reach beyond its bounds
        try:
            specs = super().generateDrawSpecs(painter)
        finally:
            self._placing = False
        if specs is None:
            return specs
        line, lines, texts = specs
        texts = within(texts, self.boundingRect())
        if self.value_scale.log:
            return line, lines, texts
        evened = same_decimals([words for _, _, words in texts])
        return line, lines, [(place, how, words) for (place, how, _), words in zip(texts, evened, strict=True)]


def within(texts: Sequence[Text], room: QRectF) -> list[Text]:
    """The numbers of a vertical axis, those at its ends moved inside; one that would then touch another is left out."""
    inside = []
    for number, (place, how, words) in enumerate(texts):
        up = max(0.0, place.bottom() - room.bottom()) - max(0.0, room.top() - place.top())
        moved = place.translated(0, -up)
        others = (other for at, (other, *_) in enumerate(texts) if at != number)
        if not up or not any(moved.intersects(other) for other in others):
            inside.append((moved, how, words))
    return inside


def number_axes(*sides: str, whole: bool = False) -> dict[str, NumberAxis]:
    """New axes, left, bottom and at more `sides`, as an argument for pyqtgraph, which shows all axes that it is given.

    `whole`: the bottom axis counts steps or epochs.
    """
    axes = {side: NumberAxis(side) for side in ("left", "bottom", *sides)}
    axes["bottom"].whole = whole
    return axes


def dress_axes(item: pg.PlotItem, font: QFont, tokens: Tokens) -> None:
    """Give every axis of a plot the colours of a theme, this font at the size of captions, and room beside it."""
    item.layout.setContentsMargins(ROOM, 1, ROOM, ROOM)
    for side in ("top", "right"):  # pyqtgraph's own where they are never shown: as NumberAxis.updateAutoSIPrefix
        item.getAxis(side).autoSIPrefix = False
    small = theme.caption_font(font)
    for side in ("left", "bottom", "right"):
        axis = item.getAxis(side)
        axis.setPen(pg.mkPen(tokens.plot_axis, width=1))
        axis.setTextPen(tokens.plot_axis)
        axis.setTickFont(small)
        axis.label.setFont(small)
        axis.setStyle(hideOverlappingLabels=True)
