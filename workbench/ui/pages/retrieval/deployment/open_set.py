"""Queries of classes that are not stored: how many known ones are identified where so many unknown ones are let in."""

from dataclasses import dataclass
from math import log10
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QComboBox, QHeaderView, QTableView, QWidget

from workbench.colours import OKABE_ITO
from workbench.numerals import minus, percentage
from workbench.results.open_set import RULES, open_set_facts, open_set_sentence, stored_words
from workbench.ui.models.sorted_rows import Index, SortedRows
from workbench.ui.plots.painted_plot import LINE, Axes, PaintedPlot, Rows
from workbench.ui.plots.value_scale import ticks
from workbench.ui.style import theme
from workbench.ui.style.theme import Tokens
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.fields.captions import caption
from workbench.ui.widgets.labels import label, plain_tip
from workbench.ui.widgets.tables.row_table import head_width, select_rows, set_row_height

LEFT, RIGHT, TOP, BOTTOM = 46, 14, 22, 34  # px around the axes
DOT, TALL, ROW_PX = 3.0, 180, 24  # px; least height of the plot; a row at 100% text
ROOM = 0.06  # of the span above the highest and below the lowest share
COLOURS = {"by_nearest": OKABE_ITO[4], "by_mean": OKABE_ITO[1]}  # as in "New classes"
TITLES = ("Measure", "Nearest", "Mean")
TIPS = (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleDescriptionRole)
NOT_THEN = (
    "This evaluation was measured by an older version of Workbench, which did not measure open-set identification."
)
STORED = (
    "Images stored of each known class, in draws of half of the classes; of all images the query itself is left out"
)
DIR = "Known queries that are given their class with a similarity at or above the threshold"
THRESHOLD = (
    "Similarity from which {rate} of the unknown queries are accepted; with more classes stored it must be higher"
)
OTHERS = (
    ("oscr", "OSCR area", "Area under DIR against FPIR, both axes linear (Dhamija et al., 2018)"),
    ("auroc", "AUROC", "Share of pairs of a known and an unknown query in which the known one is more similar"),
    ("closed", "All accepted", "Known queries that are given their class where nothing is refused"),
)


@dataclass(frozen=True, slots=True)
class MeasureRow:
    """One measure by both rules."""

    title: str
    spreads: tuple[list[float], list[float]]  # mean, low, high; by the nearest image, by the class mean
    is_share: bool
    meaning: str

    @property
    def tip(self) -> str:
        """What it is, and the limits between which 95% of the draws lie."""
        limits = [
            f"{title}: {_written(low, self.is_share)} to {_written(high, self.is_share)}"
            for title, (_, low, high) in zip(RULES.values(), self.spreads, strict=True)
        ]
        return f"{self.meaning}. 95% of draws: {'; '.join(limits)}."


def measure_rows(point: dict[str, Any]) -> list[MeasureRow]:
    """The rows of one point of OpenSet in plain data."""
    nearest, mean = (point[rule] for rule in RULES)
    rows = []
    for one, two in zip(nearest["rates"], mean["rates"], strict=True):
        rate = f"{100 * one['fpir']:g}%"
        rows += [
            MeasureRow(f"DIR at {rate} FPIR", (one["dir"], two["dir"]), True, DIR),
            MeasureRow("  threshold", (one["threshold"], two["threshold"]), False, THRESHOLD.format(rate=rate)),
        ]
    return rows + [MeasureRow(title, (nearest[key], mean[key]), True, meaning) for key, title, meaning in OTHERS]


class MeasureRows(SortedRows):
    """The measures as a table, with their limits as tooltips."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(TITLES, _cells, _written_cell, parent)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a cell shows in a role; the limits of a row as its tooltip."""
        if role in TIPS and index.isValid():
            return plain_tip(self.rows[index.row()].tip)
        return super().data(index, role)


def _cells(row: MeasureRow) -> tuple[Any, ...]:
    return (row.title, *((spread[0], row.is_share) for spread in row.spreads))


def _written_cell(_column: int, value: Any) -> str:
    return value if isinstance(value, str) else _written(*value)


def _written(value: float, is_share: bool) -> str:
    return percentage(value) if is_share else minus(f"{value:.3f}")


class OpenSetPlot(PaintedPlot):
    """DIR against FPIR on a logarithmic axis, by the nearest image and by the class mean."""

    def __init__(self) -> None:
        self._curve: list[float] = []
        self._point: dict[str, Any] | None = None
        super().__init__("DIR by FPIR")
        self.picture.need_height(TALL)

    def show_point(self, curve: list[float], point: dict[str, Any] | None) -> None:
        """Show the FPIR of a curve and one point of it, as OpenSet in plain data; None empties the picture."""
        self._curve, self._point = (curve, point) if curve else ([], None)
        self.refresh()

    def rows(self) -> Rows:
        """The curves as a table with a head. Percent."""
        head: Rows = [["FPIR %", *(f"DIR %, {title.lower()}" for title in RULES.values())]]
        if self._point is None:
            return head
        curves = (self._point[rule]["curve"] for rule in RULES)
        return head + [[100 * share for share in shares] for shares in zip(self._curve, *curves, strict=True)]

    def describe(self) -> str:
        """The first and the last point of both curves."""
        if self._point is None:
            return f"{self.title}: nothing is measured yet."
        ends = (self._words(at) for at in sorted({0, len(self._curve) - 1}))
        return f"{self.title}: {'; '.join(ends)}."

    def words_at(self, position: QPointF) -> str:
        """What is identified at the FPIR nearest to a position of the picture (px on screen); empty without any."""
        if self._point is None:
            return ""
        box, place = self._box(self.picture.area), self.picture.at(position)
        if not box.contains(place):
            return ""
        return self._words(min(range(len(self._curve)), key=lambda at: abs(self._x(self._curve[at], box) - place.x())))

    def _words(self, at: int) -> str:
        point = self._point or {}
        shares = ", ".join(f"{percentage(point[rule]['curve'][at])} by {RULES[rule].lower()}" for rule in RULES)
        return f"FPIR {100 * self._curve[at]:.3g}%: DIR {shares}"

    def paint(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        """Draw axes, both curves, and the limits at the rates of the table."""
        point = self._point
        if point is None:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = self._box(area)
        shares = [share for rule in RULES for share in point[rule]["curve"]]
        shares += [share for rule in RULES for at in point[rule]["rates"] for share in at["dir"]]
        room = 100 * max(0.005, ROOM * (max(shares) - min(shares)))
        low, high = max(0.0, 100 * min(shares) - room), min(100.0, 100 * max(shares) + room)

        def y_of(share: float) -> float:
            return float(box.bottom() - (100 * share - low) / (high - low) * box.height())

        axes = Axes(painter, area, box, tokens)
        for share in ticks(low, high):
            axes.at_left(y_of(share / 100), f"{share:g}%")
        for rate in (10.0**power for power in range(round(log10(self._least) - 0.5), 1)):
            if rate >= self._least * 0.99:
                axes.below(self._x(rate, box), f"{100 * rate:g}%", line=True)
        axes.name_below("unknown queries accepted (FPIR), log")
        left = box.left()
        for number, (rule, title) in enumerate(RULES.items()):
            ink = QColor(theme.drawn(COLOURS[rule], tokens))
            painter.setPen(QPen(ink, 1.6, Qt.PenStyle.DashLine if number == 0 else Qt.PenStyle.SolidLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            curve = zip(self._curve, point[rule]["curve"], strict=True)
            painter.drawPolyline(QPolygonF([QPointF(self._x(rate, box), y_of(share)) for rate, share in curve]))
            painter.setPen(QPen(ink, 1.6))
            dots = [QPointF(left + DOT, area.top() + LINE / 2)]  # of the key
            for at in point[rule]["rates"]:
                x, (mean, least, most) = self._x(at["fpir"], box) + (2 * number - 1) * DOT, at["dir"]
                painter.drawLine(QPointF(x, y_of(least)), QPointF(x, y_of(most)))
                dots.append(QPointF(x, y_of(mean)))
            painter.setBrush(QColor(tokens.plot_background) if number == 0 else ink)  # told apart without colour, too
            for dot in dots:
                painter.drawEllipse(dot, DOT, DOT)
            painter.setPen(QColor(tokens.text))
            painter.drawText(QPointF(left + 4 * DOT, area.top() + LINE - 4), title)
            left += 7 * DOT + painter.fontMetrics().horizontalAdvance(title)

    @property
    def _least(self) -> float:
        """The FPIR at the left end of the axis."""
        return min(self._curve[0], 0.1)

    @staticmethod
    def _box(area: QRectF) -> QRectF:
        return area.adjusted(LEFT, TOP, -RIGHT, -BOTTOM)

    def _x(self, rate: float, box: QRectF) -> float:
        return float(box.right() + log10(rate) / -log10(self._least) * box.width())


class OpenSetSide(QWidget):
    """Beside the stores: queries of known classes that are identified, and those of unknown ones that are accepted."""

    asked = Signal()  # to measure what an older measurement lacks

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._measured: dict[str, Any] | None = None
        self.images = QComboBox()
        self.images.setToolTip(STORED)
        self.plot = OpenSetPlot()
        self.rows = MeasureRows(self)
        self.table = QTableView()
        self.table.setModel(self.rows)
        select_rows(self.table, "Open-set identification")
        set_row_height(self.table, ROW_PX)
        head = self.table.horizontalHeader()
        head.setTextElideMode(Qt.TextElideMode.ElideNone)
        head.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        head.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)  # the names get what the numbers leave
        self.said = label("", wrap=True)
        self.sentence = label("", "muted", wrap=True)
        self.measure = button("Measure the open set", "arrow-clockwise")
        self.measure.clicked.connect(self.asked)
        self.choice = QWidget()
        in_row(caption("Of each class", self.images), (self.images, 1), on=self.choice, spacing=8)
        in_column(
            self.choice, self.said, (self.plot, 1), self.table, self.sentence, self.measure, on=self, spacing=8
        )  # fmt: skip
        self.images.currentIndexChanged.connect(self._draw)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in theme.DRESSES and hasattr(self, "choice"):
            self._fit_table()

    def _fit_table(self) -> None:
        """Show all rows, without a scroll bar of the table's own, and each column of numbers as wide as these."""
        table, head = self.table, self.table.horizontalHeader()
        for column in range(1, len(TITLES)):
            head.resizeSection(column, max(head_width(head, column), table.sizeHintForColumn(column)))
        rows = self.rows.rowCount() * table.verticalHeader().defaultSectionSize()
        table.setFixedHeight(head.sizeHint().height() + rows + 2 * table.frameWidth())

    def show_open_set(self, measured: dict[str, Any] | None) -> None:
        """Show the "open_set" of a measurement; None: it has none."""
        self._measured = measured
        points = [] if measured is None else measured["points"]
        before = self.images.currentText()
        self.images.blockSignals(True)
        self.images.clear()
        self.images.addItems([stored_words(point["images"]) for point in points])
        self.images.setCurrentIndex(max(self.images.findText(before), 0) if before else len(points) - 1)
        self.images.blockSignals(False)
        for part in (self.choice, self.plot, self.table, self.said):
            part.setVisible(bool(points))
        self.measure.setVisible(measured is None)
        self.sentence.setText(NOT_THEN if measured is None else open_set_facts(measured))
        self._draw()

    def _draw(self) -> None:
        points = [] if self._measured is None else self._measured["points"]
        at = self.images.currentIndex()
        point = points[at] if 0 <= at < len(points) else None
        self.plot.show_point([] if self._measured is None else self._measured["curve"], point)
        self.rows.show([] if point is None else measure_rows(point))
        said = "" if self._measured is None or point is None else open_set_sentence(self._measured, point["images"])
        self.said.setText(said)
        self.said.setVisible(bool(said))
        self._fit_table()
