"""The queries of one evaluation as a Qt table: all keys at once (small), rows by the page."""

import json
from collections import OrderedDict
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from workbench.problem import Problem
from workbench.ui.models.sorted_rows import NUMBER, WORDS
from workbench.ui.widgets.labels import plain_tip
from workbench.ui.widgets.pictures import PictureLoader
from workbench.ui.words import NO_VALUE, percent
from workbench.workspace import Workspace, checksums
from workbench.workspace.connection import DatabaseError, explain, told

TITLES = ("", "Class", "AP %", "First hit")
TIPS = (
    "The query",
    "Class of the query",
    "Average precision at R, in percent; higher is better",
    "Rank of the first neighbour of its class; lower is better",
)
ORDERS = ("label", "label", "ap", "first_hit")  # columns of the table `queries`, each with an index
# A query whose class has no other image has no AP and no first hit: it comes last, whichever way the list goes.
VALUED = {"ap": "ap is not null", "first_hit": "first_hit > 0"}
UNVALUED = {"ap": "ap is null", "first_hit": "first_hit = 0"}
FIELDS = "sample_id, class, ap, first_hit, r, path"
PAGE, PAGES_KEPT = 200, 20
THUMBNAIL = 36  # px
AHEAD = 40  # rows below the one looked at whose pictures are loaded with it
PLACE = "query list"
Index = QModelIndex | QPersistentModelIndex
Row = tuple[int, str, float | None, int, int, str]


@dataclass(frozen=True, slots=True)
class Filter:
    """Which queries are listed."""

    failures: bool = False  # first neighbour of another class
    label: int | None = None
    samples: tuple[int, ...] | None = None  # only these ids, as selected in the map


@dataclass(frozen=True, slots=True)
class Listing:
    """One order of the queries of one evaluation. Safe to read on any thread."""

    evaluation_id: int
    filter: Filter = Filter()
    column: int = 2
    down: bool = False

    def keys(self, workspace: Workspace) -> np.ndarray:
        """Sample ids [n] int64 in order. Raises Problem when the database cannot be read.

        Every question is answered from an index alone: the rows themselves are wide.
        """
        name, way = ORDERS[self.column], "desc" if self.down else "asc"
        parts = (VALUED[name], UNVALUED[name]) if name in VALUED else ("1",)
        keys = np.concatenate([self._ids(workspace, f"{part} order by {name} {way}, sample_id") for part in parts])
        if self.filter.failures:
            keys = keys[np.isin(keys, self._ids(workspace, "first_hit > 1"))]
        if self.filter.label is not None:
            keys = keys[np.isin(keys, self._ids(workspace, "label = ?", self.filter.label))]
        if self.filter.samples is not None:
            keys = keys[np.isin(keys, self.filter.samples)]
        return keys

    def rows(self, workspace: Workspace, keys: np.ndarray) -> dict[int, Row]:
        """Rows by sample id, in any order; those that are gone are left out."""
        where = "evaluation_id = ? and sample_id in (select value from json_each(?))"
        values = [self.evaluation_id, json.dumps(keys.tolist())]
        with closing(workspace.reader()) as db, told(db):
            checksums.check_shown(db, self.evaluation_id, keys.tolist())
        return {row[0]: tuple(row) for row in read(workspace, FIELDS, f"query_rows where {where}", values)}

    def _ids(self, workspace: Workspace, rest: str, *values: int) -> np.ndarray:
        """One text of all ids: a third of the time of one Python object for each."""
        inner = f"select sample_id from queries where evaluation_id = ? and {rest}"
        source = f"(select group_concat(sample_id) as ids from ({inner}))"
        ((text,),) = read(workspace, "ids", source, [self.evaluation_id, *values])
        return np.fromstring(text or "", np.int64, sep=",")


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
            inner = "select label, count(*) as n from queries where evaluation_id = ? group by label order by label"
            found = read(self._workspace, "label, n", f"({inner})", [evaluation_id])
            self.labels, self.total = [row[0] for row in found], sum(row[1] for row in found)

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


def read(workspace: Workspace, fields: str, source: str, values: list[Any]) -> list[list[Any]]:
    """All rows of one question, on a connection of its own, as one JSON text.

    SQLite's Python module takes the interpreter anew for every row: beside a training thread 200 rows are 200 waits.

    Raises:
        Problem: the database cannot be read.
    """
    try:
        with closing(workspace.reader()) as db:
            ((text,),) = db.execute(f"select json_group_array(json_array({fields})) from {source}", values).fetchall()
    except DatabaseError as error:
        raise explain(error, workspace.database) from None
    found: list[list[Any]] = json.loads(text)
    return found
