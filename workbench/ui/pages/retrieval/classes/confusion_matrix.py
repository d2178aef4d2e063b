"""Confusions as a matrix: which class is taken for which, the most confused classes first; the user can sort it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QComboBox, QHeaderView, QTableView, QWidget

from workbench.files.spreadsheet import pasted
from workbench.numerals import percentage
from workbench.results.explanations import ConfusedPair
from workbench.ui.style import theme
from workbench.ui.style.words import percent
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.fields.captions import caption
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.numbers.heat import mixed

Index = QModelIndex | QPersistentModelIndex
MOST = 40  # classes on a side
CELL_PX, ROW_PX, NAME_PX = 46, 24, 150
HEAT = 0.75  # of the way to the hottest colour that values take; the first quarter says that there is one
TIMES, SHARE = "times", "share"
HINT = (
    "Rows: class of the query; columns: class of its nearest neighbour. Click a header to sort by that class; "
    "double-click a cell (or press Enter) to list its queries."
)


@dataclass(frozen=True, slots=True, eq=False)
class ConfusionGrid:
    """The most confused classes and how often one is taken for another."""

    labels: tuple[int, ...]  # [n] most confused first
    names: tuple[str, ...]  # [n]
    pairs: dict[tuple[int, int], ConfusedPair]  # by row and column, where one occurs
    classes: int  # that are confused at all

    def values(self, what: str) -> np.ndarray:
        """[n, n] float64 times or shares, by `what`; 0 if nothing is confused."""
        matrix = np.zeros((len(self.labels), len(self.labels)))
        for cell, pair in self.pairs.items():
            matrix[cell] = getattr(pair, what)
        return matrix


def most_confused(pairs: Sequence[ConfusedPair], what: str, most: int = MOST) -> ConfusionGrid:
    """The classes with the greatest sum of times or shares (`what`) as the class or as what it is taken for."""
    sums: dict[int, float] = {}
    names: dict[int, str] = {}
    for pair in pairs:
        for label_of, name in ((pair.label, pair.class_name), (pair.taken_label, pair.taken_for)):
            sums[label_of] = sums.get(label_of, 0.0) + getattr(pair, what)
            names[label_of] = name
    chosen = sorted(sums, key=lambda label: (-sums[label], label))[:most]
    number_of = {label: number for number, label in enumerate(chosen)}
    inside = {
        (number_of[pair.label], number_of[pair.taken_label]): pair
        for pair in pairs
        if pair.label in number_of and pair.taken_label in number_of
    }
    return ConfusionGrid(tuple(chosen), tuple(names[label] for label in chosen), inside, len(sums))


class ConfusionTable(QAbstractTableModel):
    """Cells of a grid in an order of rows and an order of columns."""

    def __init__(self) -> None:
        super().__init__()
        self.grid = ConfusionGrid((), (), {}, 0)
        self.what = TIMES
        self._values = np.zeros((0, 0))
        self._rows = self._columns = np.empty(0, np.int64)

    def show(self, grid: ConfusionGrid, what: str) -> None:
        """Show other confusions, as times or shares, the most confused classes first."""
        self.beginResetModel()
        self.grid, self.what, self._values = grid, what, grid.values(what)
        self._rows = self._columns = np.arange(len(grid.labels))
        self.endResetModel()

    def sort_rows(self, column: int) -> None:
        """The rows with the greatest values in a column first, of equals in the order of the grid."""
        self.beginResetModel()
        self._rows = np.argsort(-self._values[:, self._columns[column]], kind="stable")
        self.endResetModel()

    def sort_columns(self, row: int) -> None:
        """The columns with the greatest values in a row first."""
        self.beginResetModel()
        self._columns = np.argsort(-self._values[self._rows[row]], kind="stable")
        self.endResetModel()

    def pair(self, index: Index) -> ConfusedPair | None:
        """The confusion in a cell."""
        if not index.isValid():
            return None
        return self.grid.pairs.get((int(self._rows[index.row()]), int(self._columns[index.column()])))

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text, alignment, colours or tooltip of a cell; None for other roles."""
        pair = self.pair(index)
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self._written(index, pair)
            case Qt.ItemDataRole.TextAlignmentRole:
                return int(Qt.AlignmentFlag.AlignCenter)
            case Qt.ItemDataRole.BackgroundRole:
                return self._heat(index) if pair is not None else None
            case Qt.ItemDataRole.ToolTipRole | Qt.ItemDataRole.AccessibleTextRole if pair is not None:
                text = sentence_of(pair)
                plain = text.replace("&", "&amp;").replace("<", "&lt;")
                return text if role == Qt.ItemDataRole.AccessibleTextRole else f"<qt>{plain}</qt>"
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        order = self._columns if orientation == Qt.Orientation.Horizontal else self._rows
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole) and section < len(order):
            name = self.grid.names[int(order[section])]
            if role == Qt.ItemDataRole.ToolTipRole:
                return f"<qt>{name.replace('&', '&amp;').replace('<', '&lt;')}</qt>"
            return name
        if role == Qt.ItemDataRole.TextAlignmentRole and orientation == Qt.Orientation.Vertical:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None

    def lines(self) -> list[str]:
        """Head and rows as text, with tabs between the columns."""
        clean = [pasted(name) for name in self.grid.names]
        head = ["", *(clean[column] for column in self._columns)]
        body = [
            [clean[row], *(self._plain(row, column) for column in self._columns.tolist())]
            for row in self._rows.tolist()
        ]
        return ["\t".join(cells) for cells in (head, *body)]

    def _plain(self, row: int, column: int) -> str:
        if row == column:
            return ""
        return percent(self._values[row, column]) if self.what == SHARE else f"{self._values[row, column]:.0f}"

    def _written(self, index: Index, pair: ConfusedPair | None) -> str:
        if self._rows[index.row()] == self._columns[index.column()]:
            return "–"
        return "" if pair is None else percent(pair.share) if self.what == SHARE else f"{pair.times:,}"

    def _heat(self, index: Index) -> QColor:
        """Between the background and the accent, so that the text keeps its contrast in both themes."""
        most = float(self._values.max())
        value = float(self._values[self._rows[index.row()], self._columns[index.column()]])
        shown = theme.current()
        part = HEAT * value / most + (1 - HEAT) * (value > 0) if most else 0.0
        return mixed(shown.surface, shown.selection, part)


class ConfusionMatrix(QWidget):
    """The matrix and its choices. `pair_chosen` emits the confusion whose queries are requested."""

    pair_chosen = Signal(object)  # ConfusedPair

    def __init__(self) -> None:
        super().__init__()
        self._pairs: list[ConfusedPair] = []
        self.model = ConfusionTable()
        self.what = QComboBox()
        self.what.addItem("Times", TIMES)
        self.what.addItem("Share of class %", SHARE)
        self.what.setAccessibleName("What the cells show, and how the classes are chosen and sorted")
        self.order = button("Most confused first", kind="quiet")
        self.order.setToolTip("Sort rows and columns in the same order again")
        self.count = label("", "muted", wrap=True)
        self.table = self._view()
        head = in_row(caption("Cells", self.what), self.what, self.order, 1)
        in_column(head, self.count, (self.table, 1), on=self)
        self.what.activated.connect(self._fill)
        self.order.clicked.connect(self._fill)
        self.table.horizontalHeader().sectionClicked.connect(self.model.sort_rows)
        self.table.verticalHeader().sectionClicked.connect(self.model.sort_columns)
        self.table.activated.connect(self._choose)  # a double click, or Enter

    def _view(self) -> QTableView:
        view = QTableView()
        view.setModel(self.model)
        view.setAccessibleName("Confusions as a matrix")
        view.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        view.setTabKeyNavigation(False)
        view.setWordWrap(False)
        view.setCornerButtonEnabled(False)
        for header, size in ((view.horizontalHeader(), CELL_PX), (view.verticalHeader(), ROW_PX)):
            header.setSectionsClickable(True)
            header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
            header.setDefaultSectionSize(size)
        view.horizontalHeader().setMinimumSectionSize(CELL_PX)
        view.verticalHeader().setMaximumWidth(NAME_PX)
        view.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideMiddle)
        view.verticalHeader().setTextElideMode(Qt.TextElideMode.ElideMiddle)
        return view

    def show_pairs(self, pairs: Sequence[ConfusedPair]) -> None:
        """Show the confusions of another evaluation."""
        self._pairs = list(pairs)
        self._fill()

    def _fill(self) -> None:
        what = self.what.currentData()
        grid = most_confused(self._pairs, what)
        self.model.show(grid, what)
        shown = len(grid.labels)
        limited = f"The {shown:,} most confused of {grid.classes:,} classes. " if shown < grid.classes else ""
        self.count.setText(limited + HINT)

    def _choose(self, index: QModelIndex) -> None:
        pair = self.model.pair(index)
        if pair is not None:
            self.pair_chosen.emit(pair)


def sentence_of(pair: ConfusedPair) -> str:
    """One confusion as a sentence."""
    times = "once" if pair.times == 1 else f"{pair.times:,} times"
    return f"“{pair.class_name}” is taken for “{pair.taken_for}” {times}, {percentage(pair.share)} of its queries"
