"""One chart that a method described as plain data, drawn with pyqtgraph."""

from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from workbench.charts import Chart, Marks
from workbench.ui import theme
from workbench.ui.theme import OKABE_ITO
from workbench.ui.widgets.buttons import icon_button

COLOURS = OKABE_ITO[:6]
SEE_THROUGH = 110  # of 255: bars of two histograms lie over each other
SYMBOLS = {"circles": "o", "boxes": "s"}
SYMBOL_PX = {"circles": 7, "boxes": 12}


class ChartView(QFrame):
    """Title, picture, note; the pointer's wheel zooms, a double-click shows all."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "true")
        self.setMinimumSize(220, 150)
        self._chart: Chart | None = None
        self.plot = pg.PlotWidget()
        self.plot.setMenuEnabled(False)
        self.plot.hideButtons()
        self.plot.setAccessibleName(title)
        self.plot.getAxis("bottom").enableAutoSIPrefix(False)
        self.plot.getAxis("left").enableAutoSIPrefix(False)
        self._legend = self.plot.addLegend(offset=(-8, 8))
        heading = QLabel(title)
        heading.setTextFormat(Qt.TextFormat.PlainText)
        heading.setProperty("role", "strong")
        copy = icon_button("copy", f"Copy the picture of {title}")
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setPixmap(self.grab()))
        head = QHBoxLayout()
        head.addWidget(heading, 1)
        head.addWidget(copy)
        self.note = QLabel()
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.note.setWordWrap(True)
        self.note.setProperty("role", "muted")
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 4, 8, 4)
        column.addLayout(head)
        column.addWidget(self.plot, 1)
        column.addWidget(self.note)
        self._apply_theme()

    def show_chart(self, chart: Chart) -> None:
        """Draw another chart in place of the last one."""
        self._chart = chart
        self.plot.clear()
        self._legend.clear()
        self.plot.setLabel("bottom", chart.x_title)
        for place, marks in enumerate(chart.marks):
            for item in _items(marks, QColor(COLOURS[place % len(COLOURS)])):
                self.plot.addItem(item)
            self._legend.addItem(_sample(marks, QColor(COLOURS[place % len(COLOURS)])), marks.title)
        self.note.setText(chart.note)
        self.note.setVisible(bool(chart.note))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "note"):
            self._apply_theme()

    def mouseDoubleClickEvent(self, _event: Any) -> None:
        self.plot.enableAutoRange()

    def _apply_theme(self) -> None:
        shown = theme.current()
        self.plot.setBackground(shown.plot_background)
        for side in ("left", "bottom"):
            axis = self.plot.getAxis(side)
            axis.setPen(pg.mkPen(shown.plot_axis))
            axis.setTextPen(shown.plot_axis)
        self._legend.setLabelTextColor(shown.text)
        if self._chart is not None:
            self.show_chart(self._chart)


def _items(marks: Marks, colour: QColor) -> list[Any]:
    x, y = np.asarray(marks.x, np.float64), np.asarray(marks.y, np.float64)
    match marks.look:
        case "line" | "dashed":
            style = Qt.PenStyle.DashLine if marks.look == "dashed" else Qt.PenStyle.SolidLine
            return [pg.PlotDataItem(x, y, pen=pg.mkPen(colour, width=2, style=style), connect="finite")]
        case "bars":
            filled = QColor(colour)
            filled.setAlpha(SEE_THROUGH)
            width = float(x[1] - x[0]) if len(x) > 1 else 1.0
            return [pg.BarGraphItem(x=x, height=y, width=width, brush=filled, pen=pg.mkPen(colour))]
        case "vertical":
            return [pg.InfiniteLine(pos=at, angle=90, pen=pg.mkPen(colour, width=2)) for at in x]
    brushes = [pg.mkBrush(QColor(OKABE_ITO[each % len(OKABE_ITO)])) for each in marks.classes] or pg.mkBrush(colour)
    outline = pg.mkPen(theme.current().text if marks.look == "boxes" else theme.current().plot_background)
    return [
        pg.ScatterPlotItem(x, y, symbol=SYMBOLS[marks.look], size=SYMBOL_PX[marks.look], brush=brushes, pen=outline)
    ]


def _sample(marks: Marks, colour: QColor) -> Any:
    """What stands in the legend."""
    if marks.look in SYMBOLS:
        grey = QColor(theme.current().muted) if marks.classes else colour
        return pg.ScatterPlotItem([0], [0], symbol=SYMBOLS[marks.look], size=9, brush=grey)
    return pg.PlotDataItem(pen=pg.mkPen(colour, width=2))
