"""The cost of runs against their quality, and the symbol of a group."""

from collections.abc import Sequence
from html import escape
from statistics import fmean
from typing import Any

import pyqtgraph as pg
from pyqtgraph.graphicsItems.ScatterPlotItem import drawSymbol
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter, QPixmap

from workbench.numerals import significant
from workbench.ui.pages.compare.style.group_styles import GroupStyle
from workbench.ui.pages.compare.style.still_plot import StillPlot
from workbench.ui.plots.file_head import Entry

RUN_PX, MEAN_PX = 8, 14


class CostPlot(StillPlot):
    """Small symbols for runs and a large one for the mean of each group; cost on the x axis, quality on the y axis."""

    def __init__(self, title: str, x_title: str) -> None:
        self._groups: list[tuple[str, GroupStyle, list[tuple[float, float]]]] = []
        super().__init__(title)
        self._name, self._titles = title, (x_title, "")
        self.plot.setLabel("bottom", x_title)

    def show_groups(self, groups: Sequence[tuple[str, GroupStyle, list[tuple[float, float]]]], y_title: str) -> None:
        """Show other groups: title, style, and the (cost, quality) of each run."""
        self._groups = list(groups)
        known = any(points for _, _, points in groups)
        self.retitle(self._name if known else f"{self._name.partition(' ')[0]}: not known")
        self._titles = (self._titles[0], y_title)
        self.plot.setLabel("left", y_title)
        words = [
            f"{title}: {', '.join(f'({significant(x, 4)}, {significant(y, 4)})' for x, y in points)}"
            for title, _, points in groups
        ]
        self.plot.setAccessibleDescription("; ".join(words) or "Nothing is shown.")
        self.draw()
        self.plot.enableAutoRange()

    def rows(self) -> list[list[Any]]:
        """A row for each run: its group, cost and quality."""
        return [["group", *self._titles], *([title, x, y] for title, _, points in self._groups for x, y in points)]

    def entries(self) -> list[Entry]:
        """The legend of a file: the groups."""
        return [(title, style.colour, Qt.PenStyle.SolidLine) for title, style, points in self._groups if points]

    def draw(self) -> None:
        """Draw a symbol for each run, and a larger one at the mean of each group."""
        shown = self.look
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
