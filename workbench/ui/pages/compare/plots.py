"""Plots without zoom: the interval of each seed and over all seeds, and cost against quality."""

from collections.abc import Sequence
from html import escape
from math import nan
from statistics import fmean
from typing import Any

import numpy as np
import pyqtgraph as pg
from pyqtgraph.graphicsItems.ScatterPlotItem import drawSymbol
from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPixmap
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QWidget

from workbench.comparing.intervals import Interval
from workbench.numerals import significant
from workbench.ui.pages.compare.group_styles import GroupStyle
from workbench.ui.plots.curve import drawable
from workbench.ui.plots.items import dress_axes, number_axes
from workbench.ui.plots.one_by_one import OneByOne
from workbench.ui.style import theme
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.buttons import icon_button

LEAST = (220, 150)  # px, minimum width and height; the height is that at 100% text
CAP = 0.12  # rows: half the height of the strokes at both limits
RUN_PX, MEAN_PX = 8, 14


class Surface(OneByOne, pg.PlotWidget):
    """A plot that is painted in its own turn of the event loop and requests no more height than it needs."""

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), 0)


class StillPlot(QFrame):
    """Title, picture and a description for screen readers; a double-click shows everything."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "true")
        self.plot = Surface(axisItems=number_axes())
        self.plot.setMenuEnabled(False)
        self.plot.hideButtons()
        self.plot.showGrid(x=True, y=True)
        self.plot.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        for side in ("left", "bottom"):
            self.plot.getAxis(side).enableAutoSIPrefix(False)
        self._title = QLabel()
        self._title.setTextFormat(Qt.TextFormat.PlainText)
        self._title.setProperty("role", "strong")
        self._copy = icon_button("copy", "Copy the picture")
        self._copy.clicked.connect(self._copy_picture)
        head = QHBoxLayout()
        head.addWidget(self._title, 1)
        head.addWidget(self._copy)
        in_column(head, (self.plot, 1), on=self, margins=(8, 4, 8, 4))
        self.retitle(title)
        self._apply_theme()

    def retitle(self, title: str) -> None:
        """Show another title, also to a screen reader."""
        self._title.setText(title)
        self.plot.setAccessibleName(title)
        self._copy.setAccessibleName(f"Copy the picture of {title}")

    def draw(self) -> None:
        """Add the items to the plot; called again when the theme changes."""

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in theme.DRESSES and hasattr(self, "_copy") and theme.look() != self._dressed:
            self._apply_theme()

    def mouseDoubleClickEvent(self, _event: Any) -> None:
        self.plot.enableAutoRange()

    def _copy_picture(self) -> None:
        QGuiApplication.clipboard().setPixmap(self.grab())

    def _apply_theme(self) -> None:
        self._dressed, shown = theme.look(), theme.current()
        self.setMinimumSize(LEAST[0], theme.text_px(LEAST[1]))
        self.plot.setBackground(shown.plot_background)
        dress_axes(self.plot.getPlotItem(), self.font(), shown)
        for side in ("left", "bottom"):
            self.plot.getAxis(side).setGrid(shown.plot_grid_alpha)
        self.draw()


class IntervalPlot(StillPlot):
    """One row for each interval, with a dot at its mean; the row over all seeds is the lowest, in bold."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self._rows: list[tuple[str, Interval]] = []
        super().__init__("Difference with 95% interval", parent)
        self.plot.setMouseEnabled(x=True, y=False)

    def show_rows(self, rows: Sequence[tuple[str, Interval]], title: str) -> None:
        """Show rows of name and interval, the last one over all seeds; limits may be NaN."""
        self._rows = list(rows)
        self.retitle(title)
        words = [
            f"{name} {significant(interval.mean, 4)}"
            + (f", from {significant(interval.low, 4)} to {significant(interval.high, 4)}" if interval.known else "")
            for name, interval in rows
        ]
        self.plot.setAccessibleDescription(f"{title}: {'; '.join(words)}.")
        self.draw()
        self.plot.enableAutoRange()

    def draw(self) -> None:
        """Draw the interval of each row, the last row thicker, and a line at zero."""
        shown, last = theme.current(), len(self._rows) - 1
        self.plot.clear()
        self.plot.addItem(pg.InfiniteLine(0.0, angle=90, pen=pg.mkPen(shown.muted, width=1)))
        places = [float(last - row) for row in range(len(self._rows))]
        for part, colour, width, mark, size in (
            (slice(0, -1), shown.accent, 2, "o", 11),
            (slice(-1, None), shown.text, 3, "d", 15),
        ):
            rows, heights = self._rows[part], places[part]
            xs, ys = (np.array(ends) for ends in _strokes([interval for _, interval in rows], heights))
            xs, ys = drawable(xs, ys)
            self.plot.addItem(pg.PlotDataItem(xs, ys, pen=pg.mkPen(colour, width=width), connect="finite"))
            means = drawable(np.array([interval.mean for _, interval in rows]), np.array(heights))
            self.plot.addItem(pg.ScatterPlotItem(*means, symbol=mark, size=size, brush=QColor(colour), pen=None))
        ticks = [(float(last - row), name) for row, (name, _) in enumerate(self._rows)]
        self.plot.getAxis("left").setTicks([ticks, []])
        self.plot.setYRange(-0.6, last + 0.6 if self._rows else 1)


def _strokes(intervals: Sequence[Interval], places: Sequence[float]) -> tuple[list[float], list[float]]:
    """Lines from limit to limit with a cap at both ends, as the x and y of one line with gaps."""
    xs, ys = [nan], [nan]
    for interval, y in zip(intervals, places, strict=True):
        if interval.known:
            xs += [interval.low, interval.high, nan, interval.low, interval.low, nan, interval.high, interval.high, nan]
            ys += [y, y, nan, y - CAP, y + CAP, nan, y - CAP, y + CAP, nan]
    return xs, ys


class CostPlot(StillPlot):
    """Small symbols for runs and a large one for the mean of each group; cost on the x axis, quality on the y axis."""

    def __init__(self, title: str, x_title: str, parent: QWidget | None = None) -> None:
        self._groups: list[tuple[str, GroupStyle, list[tuple[float, float]]]] = []
        super().__init__(title, parent)
        self._name = title
        self.plot.setLabel("bottom", x_title)

    def show_groups(self, groups: Sequence[tuple[str, GroupStyle, list[tuple[float, float]]]], y_title: str) -> None:
        """Show other groups: title, style, and the (cost, quality) of each run."""
        self._groups = list(groups)
        known = any(points for _, _, points in groups)
        self.retitle(self._name if known else f"{self._name.partition(' ')[0]}: not known")
        self.plot.setLabel("left", y_title)
        words = [
            f"{title}: {', '.join(f'({significant(x, 4)}, {significant(y, 4)})' for x, y in points)}"
            for title, _, points in groups
        ]
        self.plot.setAccessibleDescription("; ".join(words) or "Nothing is shown.")
        self.draw()
        self.plot.enableAutoRange()

    def draw(self) -> None:
        """Draw a symbol for each run, and a larger one at the mean of each group."""
        shown = theme.current()
        self.plot.clear()
        spots, means = [], []
        for title, style, points in (group for group in self._groups if group[2]):
            spot = {"symbol": style.symbol, "brush": QColor(style.colour), "data": title}
            spots += [{**spot, "pos": point, "size": RUN_PX} for point in points]
            middle = tuple(fmean(column) for column in zip(*points, strict=True))
            means.append({**spot, "pos": middle, "size": MEAN_PX})
        for marks, pen in ((spots, None), (means, pg.mkPen(shown.text, width=1.5))):
            self.plot.addItem(pg.ScatterPlotItem(spots=marks, pen=pen, hoverable=True, tip=_tip))


def _tip(x: float, y: float, data: str) -> str:
    """The text of a tooltip, escaped: Qt would take some texts for markup."""
    return f"<qt>{escape(data)}: {significant(x, 4)}, {significant(y, 4)}</qt>"


def symbol(style: GroupStyle) -> QPixmap:
    """The symbol of a style, for a legend."""
    pixmap = QPixmap(MEAN_PX + 2, MEAN_PX + 2)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(pixmap.width() / 2, pixmap.height() / 2)
    drawSymbol(painter, style.symbol, MEAN_PX - 2, pg.mkPen(None), pg.mkBrush(style.colour))
    painter.end()
    return pixmap
