"""One chart that a method described as plain data, drawn with pyqtgraph."""

from itertools import cycle, zip_longest
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPoint, QSize, Qt, Slot
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from workbench.charts import Chart, Marks
from workbench.colours import OKABE_ITO
from workbench.numerals import raised
from workbench.ui.plots.curve import drawable, lone_points
from workbench.ui.plots.file_head import Entry, RenderedPlot
from workbench.ui.plots.items import dress_axes, number_axes
from workbench.ui.style import theme
from workbench.ui.style.theme import Tokens
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.flow import FlowLayout
from workbench.ui.widgets.labels import ElidedLabel, label

COLOURS = OKABE_ITO[:6]
SEE_THROUGH = 110  # alpha, of 255: bars of two histograms overlap
COUNTS = ("step", "epoch", "projection", "classes, largest first")  # titles of bottom axes that have whole numbers only
SYMBOLS = {"circles": "o", "boxes": "s"}
SWATCH = 12  # px
LEAST_WIDTH, LEAST_PX = 220, 96  # px, width of the whole and height of the plot
SYMBOL_PX = {"circles": 7, "boxes": 12}


class Drawn(pg.PlotWidget):
    """Asks for its least height; its layout gives it more."""

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self.minimumHeight())


class ChartView(RenderedPlot):
    """Title, picture, note; the pointer's wheel zooms, a double-click shows all."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title
        self.setProperty("card", "true")
        self.setMinimumWidth(LEAST_WIDTH)
        self._chart: Chart | None = None
        self.plot = Drawn(axisItems=number_axes("right"), enableMenu=False)
        self.plot.hideAxis("right")
        self.plot.hideButtons()
        self.plot.setAccessibleName(title)
        self.right: pg.ViewBox | None = None  # of lines with an axis of their own; made when the first one comes
        self.legend = QWidget()  # outside the plot, so that it covers no data
        self._entries = FlowLayout(self.legend, spacing=12)
        heading = ElidedLabel(title, "strong")
        more = self.menu_button()
        more.setAccessibleName(f"Menu of {title}")
        head = QHBoxLayout()
        head.addWidget(heading, 1)
        head.addWidget(more)
        self.note = label("", "muted", wrap=True)
        in_column(head, self.legend, (self.plot, 1), self.note, on=self, margins=(8, 4, 8, 4))
        self._apply_theme()

    def show_chart(self, chart: Chart) -> None:
        """Draw another chart in place of the last one."""
        self._chart = chart
        self.dress(theme.current())
        self._entries.clear()
        self.plot.getAxis("bottom").whole = chart.x_title in COUNTS
        self.plot.setLabel("bottom", chart.x_title)
        for marks, colour in zip(chart.marks, cycle(COLOURS), strict=False):
            self._entries.addWidget(_entry(marks, QColor(theme.drawn(colour))))
        on_right = [marks.title for marks in chart.marks if marks.axis == "right"]
        if on_right:
            self.plot.setLabel("right", ", ".join(on_right))  # shows the axis, too
        self.plot.showAxis("right", bool(on_right))
        self.legend.setVisible(len(chart.marks) > 1)  # of one, the title says it
        self.note.setText(raised(chart.note))
        self.note.setVisible(bool(chart.note))

    def dress(self, look: Tokens) -> None:
        """Draw the marks and axes in the colours of a theme."""
        self.plot.setBackground(look.plot_background)
        dress_axes(self.plot.getPlotItem(), self.font(), look)
        self.plot.clear()
        if self.right is not None:
            self.right.clear()
        for marks, colour in zip(self._chart.marks if self._chart is not None else (), cycle(COLOURS), strict=False):
            for item in _items(marks, QColor(theme.drawn(colour, look)), look):
                (self._second_view() if marks.axis == "right" else self.plot).addItem(item)

    def rows(self) -> list[list[Any]]:
        """A row for each point of each mark: its title, and its place on both axes."""
        marks = self._chart.marks if self._chart is not None else ()
        places = [[mark.title, *place] for mark in marks for place in zip_longest(mark.x, mark.y, fillvalue="")]
        return [["marks", self._chart.x_title if self._chart is not None else "", "value"], *places]

    def surface(self) -> Drawn:
        """The marks with their axes."""
        return self.plot

    def entries(self) -> list[Entry]:
        """The legend of a file; of one kind of marks, the title says it."""
        marks = self._chart.marks if self._chart is not None else ()
        strokes = {"dashed": Qt.PenStyle.DashLine}
        entries = [
            (mark.title, colour, strokes.get(mark.look, Qt.PenStyle.SolidLine))
            for mark, colour in zip(marks, cycle(COLOURS), strict=False)
        ]
        return entries if len(entries) > 1 else []

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in theme.DRESSES and hasattr(self, "note") and theme.look() != self._dressed:
            self._apply_theme()

    def mouseDoubleClickEvent(self, _event: Any) -> None:
        self.plot.enableAutoRange()
        if self.right is not None:
            self.right.enableAutoRange(axis="y")

    def _second_view(self) -> pg.ViewBox:
        if self.right is None:
            item = self.plot.getPlotItem()
            self.right = pg.ViewBox(enableMenu=False)
            self.right.setMouseEnabled(x=False, y=False)  # the wheel zooms the picture below it
            item.scene().addItem(self.right)
            item.getAxis("right").linkToView(self.right)
            self.right.setXLink(item)
            item.vb.sigResized.connect(self._fit_second_view)
            self._fit_second_view()
        return self.right

    @Slot()  # see PlotCanvas
    def _fit_second_view(self) -> None:
        if self.right is not None:
            self.right.setGeometry(self.plot.getPlotItem().vb.sceneBoundingRect())

    def _apply_theme(self) -> None:
        self._dressed = theme.look()
        self.plot.setMinimumHeight(theme.text_px(LEAST_PX))
        if self._chart is not None:
            self.show_chart(self._chart)
        else:
            self.dress(theme.current())


def _items(marks: Marks, colour: QColor, look: Tokens) -> list[Any]:
    x, y = np.asarray(marks.x, np.float64), np.asarray(marks.y, np.float64)
    seen = np.isfinite(x) if marks.look == "vertical" else np.isfinite(x) & np.isfinite(y)
    match marks.look:
        case "line" | "dashed":
            style = Qt.PenStyle.DashLine if marks.look == "dashed" else Qt.PenStyle.SolidLine
            x, y = drawable(x, y)
            alone = lone_points(y)
            dots = {"symbol": "o", "symbolSize": np.where(alone, SYMBOL_PX["circles"], 0), "symbolBrush": colour}
            shape: dict[str, Any] = dots | {"symbolPen": None} if alone.any() else {"symbol": None}
            return [pg.PlotDataItem(x, y, pen=pg.mkPen(colour, width=2, style=style), connect="finite", **shape)]
        case "bars":
            filled = QColor(colour)
            filled.setAlpha(SEE_THROUGH)
            width = float(x[1] - x[0]) if len(x) > 1 else 1.0
            return [pg.BarGraphItem(x=x[seen], height=y[seen], width=width, brush=filled, pen=pg.mkPen(colour))]
        case "vertical":
            return [pg.InfiniteLine(pos=at, angle=90, pen=pg.mkPen(colour, width=2)) for at in x[seen]]
    brushes = [
        pg.mkBrush(QColor(OKABE_ITO[class_index % len(OKABE_ITO)]))
        for class_index, drawn in zip(marks.classes, seen.tolist(), strict=False)
        if drawn
    ] or pg.mkBrush(colour)
    outline = pg.mkPen(look.text if marks.look == "boxes" else look.plot_background)
    return [
        pg.ScatterPlotItem(
            x[seen], y[seen], symbol=SYMBOLS[marks.look], size=SYMBOL_PX[marks.look], brush=brushes, pen=outline
        )
    ]


def _entry(marks: Marks, colour: QColor) -> QWidget:
    """One line of the legend: how the marks look, and what they are."""
    if marks.look in SYMBOLS and marks.classes:
        colour = QColor(theme.current().muted)
    picture = QPixmap(SWATCH, SWATCH)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    middle = SWATCH // 2
    if marks.look == "circles":
        painter.setBrush(colour)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawEllipse(QPoint(middle, middle), 4, 4)
    elif marks.look in ("boxes", "bars"):
        painter.fillRect(1, 1, SWATCH - 2, SWATCH - 2, colour)
    elif marks.look == "vertical":
        painter.fillRect(middle - 1, 0, 2, SWATCH, colour)
    else:
        style = Qt.PenStyle.DotLine if marks.look == "dashed" else Qt.PenStyle.SolidLine
        painter.setPen(QPen(colour, 2, style))
        painter.drawLine(0, middle, SWATCH, middle)
    painter.end()
    entry = QWidget()
    row = QHBoxLayout(entry)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(4)
    swatch, words = QLabel(), QLabel(marks.title)
    swatch.setPixmap(picture)
    words.setTextFormat(Qt.TextFormat.PlainText)
    words.setProperty("role", "caption")
    row.addWidget(swatch)
    row.addWidget(words)
    return entry
