"""The queries of one evaluation as a Qt table: all keys at once (small), rows by the page."""

from collections import OrderedDict
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from workbench.problem import Problem
from workbench.ui.models.sorted_rows import NUMBER, WORDS
from workbench.ui.widgets.labels import plain_tip
from workbench.ui.widgets.pictures import PictureLoader
from workbench.ui.words import NO_VALUE, percent
from workbench.workspace import Workspace
from workbench.workspace.query_listing import Filter, Listing, Row, count_by_class

TITLES = ("", "Class", "AP %", "First hit")
TIPS = (
    "The query",
    "Class of the query",
    "Average precision at R, in percent; higher is better",
    "Rank of the first neighbour of its class; lower is better",
)
PAGE, PAGES_KEPT = 200, 20
THUMBNAIL = 36  # px
AHEAD = 40  # rows below the one looked at whose pictures are loaded with it
PLACE = "query list"
Index = QModelIndex | QPersistentModelIndex


class QueryTable(QAbstractTableModel):
    """Sorting and filtering ask SQLite for the keys in a new order; a page of rows is read when it is looked at."""

    failed = Signal(object)  # Problem: the database could not be read

    def __init__(self, workspace: Workspace, loader: PictureLoader, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._loader = loader
        self._listing: Listing | None = None
        self._column, self._down = 2, False
        self._keys = np.empty(0, np.int64)
        self._pages: OrderedDict[int, dict[int, Row]] = OrderedDict()
        self.total = 0  # queries of the evaluation, before filtering
        self.labels: list[int] = []  # that occur in the evaluation, before filtering
        loader.ready.connect(self._pictures_came)

    def show(self, workspace: Workspace, evaluation_id: int | None, chosen: Filter) -> None:
        """List the queries of an evaluation that pass the filter; none for None."""
        before = (self._workspace, self._listing and self._listing.evaluation_id)
        if (workspace, evaluation_id) != before:
            self.labels, self.total = [], 0
        self._workspace = workspace
        self._listing = None if evaluation_id is None else Listing(evaluation_id, chosen)
        self._read()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._column, self._down = column, order == Qt.SortOrder.DescendingOrder
        self._read()

    def listing(self) -> Listing | None:
        """What is listed and in which order, to be read again elsewhere."""
        if self._listing is None:
            return None
        return Listing(self._listing.evaluation_id, self._listing.filter, self._column, self._down)

    def sample_id(self, row: int) -> int | None:
        """The query in a row, or None beyond the end."""
        return int(self._keys[row]) if 0 <= row < len(self._keys) else None

    def row_of(self, sample_id: int | None) -> int:
        """Where a query stands, or -1."""
        found = [] if sample_id is None else np.flatnonzero(self._keys == sample_id).tolist()
        return found[0] if found else -1

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._keys)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(TITLES)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row, column = index.row(), index.column()
        if role == Qt.ItemDataRole.DecorationRole and column == 0:
            return self._picture(row)
        if role == Qt.ItemDataRole.TextAlignmentRole and column > 1:
            return NUMBER
        if role == Qt.ItemDataRole.DisplayRole:
            return self._words(row)[column]
        if role == Qt.ItemDataRole.AccessibleTextRole:
            _, name, ap, first_hit = self._words(row)
            return f"{name}, AP {ap} %, first hit {first_hit}"
        if role == Qt.ItemDataRole.ToolTipRole:
            found = self._row(row)
            absent = self._loader.absent(int(self._keys[row])) if column == 0 else ""
            return plain_tip(absent or (found[5] if found is not None else ""))
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal:
            if role == Qt.ItemDataRole.DisplayRole:
                return TITLES[section]
            if role == Qt.ItemDataRole.ToolTipRole:
                return TIPS[section]
            if role == Qt.ItemDataRole.TextAlignmentRole:
                return NUMBER if section > 1 else WORDS
        return super().headerData(section, orientation, role)

    def _read(self) -> None:
        self.beginResetModel()
        self._pages.clear()
        self._keys = np.empty(0, np.int64)
        listing = self.listing()
        if listing is not None:
            try:
                self._count(listing.evaluation_id)
                self._keys = listing.keys(self._workspace)
            except Problem as problem:
                self.failed.emit(problem)
        self.endResetModel()

    def _count(self, evaluation_id: int) -> None:
        if not self.total:
            counts = count_by_class(self._workspace, evaluation_id)
            self.labels, self.total = list(counts), sum(counts.values())

    def _row(self, row: int) -> Row | None:
        """One row, with its page; None when another program took it away meanwhile."""
        page, listing = row // PAGE, self.listing()
        if page not in self._pages and listing is not None:
            try:
                self._pages[page] = listing.rows(self._workspace, self._keys[page * PAGE : (page + 1) * PAGE])
            except Problem as problem:
                self._pages[page] = {}
                self.failed.emit(problem)
            if len(self._pages) > PAGES_KEPT:
                self._pages.popitem(last=False)
        self._pages.move_to_end(page)
        return self._pages[page].get(int(self._keys[row]))

    def _words(self, row: int) -> tuple[str, str, str, str]:
        found = self._row(row)
        if found is None:
            return "", "gone", NO_VALUE, NO_VALUE
        _, name, ap, first_hit, _, _ = found
        return "", name, percent(ap), f"{first_hit:,}" if first_hit else NO_VALUE

    def _picture(self, row: int) -> Any:
        sample_id = int(self._keys[row])
        found = self._loader.pixmap(sample_id, THUMBNAIL)
        if found is None and not self._loader.absent(sample_id):
            self._loader.request(PLACE, self._keys[max(0, row - AHEAD // 2) : row + AHEAD].tolist(), THUMBNAIL)
        return found

    def _pictures_came(self, sample_ids: set[int]) -> None:
        rows = np.flatnonzero(np.isin(self._keys, list(sample_ids)))
        if len(rows):
            first, last = self.index(int(rows[0]), 0), self.index(int(rows[-1]), 0)
            self.dataChanged.emit(first, last, [Qt.ItemDataRole.DecorationRole, Qt.ItemDataRole.ToolTipRole])
