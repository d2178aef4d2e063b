"""Queries that win and lose between two groups, the greatest loss first; a row opens it on the Retrieval page."""

from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QPixmap, QResizeEvent
from PySide6.QtWidgets import QComboBox, QWidget

from workbench.comparing.comparison_text import number, queries_told
from workbench.comparing.pairing import Comparison
from workbench.ui.pages.compare.model import Named
from workbench.ui.pages.compare.open_buttons import OpenButtons
from workbench.ui.pages.compare.tables import LEFT, RIGHT, fit_columns, table_view
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.labels import label, plain_tip
from workbench.ui.widgets.pictures import PictureLoader

Index = QModelIndex | QPersistentModelIndex
THUMBNAIL, AHEAD = 36, 40  # px; rows below a visible one whose pictures are loaded with it
PLACE = "compared queries"
ALL, BETTER, WORSE = "All queries", "Better than the baseline", "Worse than the baseline"


class QueryDifferenceTable(QAbstractTableModel):
    """Rows of a comparison's queries; only visible rows are formatted."""

    def __init__(self, loader: PictureLoader, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._loader = loader
        self.comparison: Comparison | None = None
        self._rows: np.ndarray = np.empty(0, np.int64)
        self._of: Named = {}
        loader.ready.connect(self._pictures_came)

    def show(self, comparison: Comparison | None, named: Named, kind: str) -> None:
        """Show queries of kind `ALL`, `BETTER` or `WORSE`; `named` holds class and path of each sample id."""
        self.beginResetModel()
        self.comparison = comparison
        self._rows = np.empty(0, np.int64)
        if comparison is not None and comparison.queries is not None:
            difference = comparison.queries.difference
            self._rows = np.arange(len(difference))
            if kind == BETTER:
                self._rows = np.flatnonzero(difference > 0)[::-1]
            elif kind == WORSE:
                self._rows = np.flatnonzero(difference < 0)
        self._of = named
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else 6

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text, alignment or thumbnail of a cell; None for other roles."""
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(index.row(), index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return LEFT if index.column() < 2 else RIGHT
        if role == Qt.ItemDataRole.DecorationRole and index.column() == 0:
            return self._picture(index.row())
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return LEFT if section < 2 else RIGHT
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return None
        if role == Qt.ItemDataRole.ToolTipRole and section in (2, 3) and self.comparison is not None:
            return plain_tip((self.comparison.first if section == 2 else self.comparison.second).title)
        return ("Query", "Class", "Baseline % ↑", "Other % ↑", "Difference", "Pairs n")[section]

    def position(self, row: int) -> int:
        """The row of the comparison's columns behind a row of the table."""
        return int(self._rows[row])

    def _picture(self, row: int) -> QPixmap | None:
        assert self.comparison is not None  # there are rows
        assert self.comparison.queries is not None
        ids = self.comparison.queries.sample_ids
        sample_id = int(ids[self._rows[row]])
        picture = self._loader.pixmap(sample_id, THUMBNAIL)
        if picture is None and not self._loader.absent(sample_id):
            near = self._rows[max(0, row - AHEAD // 2) : row + AHEAD]
            self._loader.request(PLACE, ids[near].tolist(), THUMBNAIL)
        return picture

    def _pictures_came(self, _: set[int]) -> None:
        if len(self._rows):
            first, last = self.index(0, 0), self.index(len(self._rows) - 1, 0)
            self.dataChanged.emit(first, last, [Qt.ItemDataRole.DecorationRole])

    def _text(self, row: int, column: int) -> str:
        assert self.comparison is not None  # there are rows
        assert self.comparison.queries is not None
        queries, at = self.comparison.queries, self._rows[row]
        sample_id, metric = int(queries.sample_ids[at]), self.comparison.metric
        class_name, path = self._of.get(sample_id, ("", str(sample_id)))
        match column:
            case 0:
                return path
            case 1:
                return class_name
            case 2:
                return number(float(queries.first[at]), metric)
            case 3:
                return number(float(queries.second[at]), metric)
            case 4:
                return number(float(queries.difference[at]), metric, signed=True)
        return str(queries.runs[at])


class QueryDifferences(QWidget):
    """The Queries tab. `opened` (run, sample id) asks to show the query in that run."""

    opened = Signal(int, object)

    def __init__(self, loader: PictureLoader, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._named: Named = {}
        self.model = QueryDifferenceTable(loader)
        self.kind = QComboBox()
        self.kind.addItems([ALL, BETTER, WORSE])
        self.kind.setAccessibleName("Which queries are listed")
        self.count = label("", "muted", wrap=True)
        self.table = table_view(self.model, "Queries with their difference")
        self.table.setIconSize(QSize(THUMBNAIL, THUMBNAIL))
        self.table.verticalHeader().setDefaultSectionSize(THUMBNAIL + 6)
        self.table.setToolTip("Double-click shows the query in a run of the other group")
        self.hint = label("", "muted", wrap=True)
        self.openers = OpenButtons(self.table)
        head = in_row(self.kind, 1, self.openers)
        in_column(head, self.count, self.hint, (self.table, 1), on=self, margins=8)
        self.kind.currentTextChanged.connect(self._filter)
        self.openers.asked.connect(self._open)
        self.show_comparison(None, {}, "")

    def show_comparison(self, comparison: Comparison | None, named: Named, hint: str) -> None:
        """Show other queries, or `hint` where there are none."""
        self._named = named
        self.model.show(comparison, named, self.kind.currentText())
        self.count.setVisible(comparison is not None)
        self.count.setText("" if comparison is None else queries_told(comparison))
        self.hint.setText(hint)
        self.hint.setVisible(bool(hint))
        self.table.setVisible(not hint)
        self.kind.setEnabled(not hint)
        fit_columns(self.table)
        self.openers.check()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        fit_columns(self.table)

    def _filter(self) -> None:
        self.model.show(self.model.comparison, self._named, self.kind.currentText())
        self.openers.check()

    def _open(self, side: int) -> None:
        index, comparison = self.table.currentIndex(), self.model.comparison
        if not index.isValid() or comparison is None or comparison.queries is None:
            return
        at = self.model.position(index.row())
        pair = comparison.queries.paired[int(comparison.queries.seen[at])]
        self.opened.emit(pair[side], int(comparison.queries.sample_ids[at]))
