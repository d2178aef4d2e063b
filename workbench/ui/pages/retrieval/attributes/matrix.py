"""The matrix of an attribute: value of the query against value of the searched images, as numbers on colours."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QHeaderView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTableView

from workbench.files.spreadsheet import pasted
from workbench.names import visible
from workbench.numerals import counted, minus, percentage, signed
from workbench.results.by_attribute import ByAttribute, CellScores
from workbench.results.by_class_size import MAP, TITLES, cells_of
from workbench.ui.pages.retrieval.attributes.whole_table import WholeTable
from workbench.ui.style import theme
from workbench.ui.widgets.labels import plain_tip
from workbench.ui.widgets.numbers.heat import mixed
from workbench.ui.widgets.tables.row_table import head_width

Index = QModelIndex | QPersistentModelIndex
SCORE, ABOVE = "score", "above"  # what a cell shows
SHOWN = {SCORE: "Score", ABOVE: "Above chance"}
CELL_PX, MOST_PX, NAME_PX, ROW_PX = 68, 130, 190, 28  # at 100% text: narrowest and widest column, names, height
BOLD_PX, FRAME = 16, 2  # that the title of the chosen column needs in addition, and the frame of the chosen cell
MOST_NAMED = 20  # values of a group in a tooltip
HEAT = 0.75  # of the way to the hottest colour that values take; the first quarter says that there is one


class MatrixTable(QAbstractTableModel):
    """One metric of every cell, in percent, or in points above chance."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.measured: ByAttribute | None = None
        self.metric, self.what = MAP, SCORE
        self._values = np.empty((0, 0))  # what the cells show, as fractions

    def show(self, measured: ByAttribute | None, metric: str, what: str) -> None:
        """Show another measurement, metric, or what of it."""
        self.beginResetModel()
        self.measured, self.metric, self.what = measured, metric, what
        cells = () if measured is None else measured.cells
        self._values = np.array([[self._value(cell) for cell in row] for row in cells]).reshape(len(cells), len(cells))
        self.endResetModel()

    def _value(self, cell: CellScores) -> float:
        score = cell.scores[self.metric].value
        return score if self.what == SCORE else score - cell.chance[self.metric]

    def cell(self, index: Index) -> CellScores | None:
        """The cell at an index."""
        if self.measured is None or not index.isValid():
            return None
        return self.measured.cells[index.row()][index.column()]

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._values)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._values)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text, alignment, colour or tooltip of a cell; None for other roles."""
        cell = self.cell(index)
        if cell is None:
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self._written(index.row(), index.column())
            case Qt.ItemDataRole.TextAlignmentRole:
                return int(Qt.AlignmentFlag.AlignCenter)
            case Qt.ItemDataRole.BackgroundRole:
                return self._heat(float(self._values[index.row(), index.column()]))
            case Qt.ItemDataRole.AccessibleTextRole:
                return visible(self._words(index, cell))
            case Qt.ItemDataRole.ToolTipRole:
                return plain_tip(self._words(index, cell))
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if self.measured is not None and section < len(self._values):
            title = visible(self.measured.titles[section])
            if role == Qt.ItemDataRole.DisplayRole:
                return title
            if role == Qt.ItemDataRole.ToolTipRole:
                return plain_tip(_named(self.measured.values[section]))
        if role == Qt.ItemDataRole.TextAlignmentRole and orientation == Qt.Orientation.Vertical:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None

    def lines(self) -> list[str]:
        """Head and rows as text, with tabs between the columns."""
        if self.measured is None:
            return []
        titles = [pasted(visible(title)) for title in self.measured.titles]
        rows = range(len(self._values))
        body = [[titles[row], *(self._written(row, column) for column in rows)] for row in rows]
        unit = "%" if self.what == SCORE else "points above chance"
        return ["\t".join(cells) for cells in ([f"{TITLES[self.metric]} {unit}", *titles], *body)]

    def _written(self, row: int, column: int) -> str:
        value = float(self._values[row, column])
        if value != value:
            return "–"
        return f"{100 * value:.1f}" if self.what == SCORE else minus(signed(100 * value, ".1f"))

    def _words(self, index: Index, cell: CellScores) -> str:
        """A cell in full: its values, score, interval, chance and numbers."""
        assert self.measured is not None
        query, gallery = self.measured.titles[index.row()], self.measured.titles[index.column()]
        score, limits, _ = cells_of(cell.scores[self.metric], cell.chance[self.metric])
        between = f" (95%: {limits})" if cell.queries and limits != "–" else ""
        return (
            f"Queries {query}, images {gallery}\n"
            f"{TITLES[self.metric]} {score}%{between}; chance {percentage(cell.chance[self.metric])}\n"
            if cell.queries
            else f"Queries {query}, images {gallery}: no query has a match there\n"
        ) + (
            f"{counted(cell.queries, 'query', 'queries')}, {cell.left_out:,} left out without a match; "
            f"{counted(cell.images, 'image')}"
        )

    def _heat(self, value: float) -> QColor | None:
        """Between the background and the selection, so that the text keeps its contrast in both themes."""
        if value != value:
            return None
        known = self._values[np.isfinite(self._values)]
        most, shown = max(float(known.max()), 1e-9), theme.current()
        return mixed(shown.surface, shown.selection, (1 - HEAT) * (value > 0) + HEAT * max(0.0, value) / most)


def _named(values: Sequence[str]) -> str:
    """The values of a group for a tooltip: there may be as many as images."""
    others = len(values) - MOST_NAMED
    return ", ".join(values[:MOST_NAMED]) + (f" and {others:,} more" if others > 0 else "")


class Framed(QStyledItemDelegate):
    """Draws a frame around the chosen cell, which keeps its own colour."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw a cell."""
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        option.state &= ~QStyle.StateFlag.State_Selected
        super().paint(painter, option, index)
        if chosen:
            painter.save()
            painter.setPen(QPen(QColor(theme.current().accent), FRAME))
            painter.drawRect(option.rect.adjusted(1, 1, -FRAME, -FRAME))
            painter.restore()


class MatrixView(WholeTable):
    """Shows all rows of a matrix; columns are as wide as their titles, within limits."""

    def __init__(self, model: MatrixTable) -> None:
        super().__init__()
        self.setModel(model)
        self.setAccessibleName("Scores by the value of the query and of the searched images")
        self.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setItemDelegate(Framed(self))
        self.setCornerButtonEnabled(False)
        for header in (self.horizontalHeader(), self.verticalHeader()):
            header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
            header.setTextElideMode(Qt.TextElideMode.ElideMiddle)
            header.setHighlightSections(True)

    def fit(self) -> None:
        """Lay out again, for other cells or another size of text."""
        across, down = self.horizontalHeader(), self.verticalHeader()
        for column in range(across.count()):
            wished = max(theme.text_px(CELL_PX), head_width(across, column) + theme.text_px(BOLD_PX))
            self.setColumnWidth(column, min(wished, theme.text_px(MOST_PX)))
        down.setDefaultSectionSize(theme.text_px(ROW_PX))
        down.setMaximumWidth(theme.text_px(NAME_PX))
        self.fit_size()
