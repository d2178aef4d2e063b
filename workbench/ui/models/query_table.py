"""The queries of one evaluation as a Qt table: all keys at once (small), rows by the page."""

import json
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from workbench.ui.widgets.pictures import PictureLoader
from workbench.ui.words import NO_VALUE, percent
from workbench.workspace import Workspace

TITLES = ("", "Class", "AP %", "First hit")
TIPS = (
    "The query",
    "Class of the query",
    "Average precision at R; higher is better",
    "Rank of the first neighbour of its class; lower is better",
)
ORDERS = ("label", "label", "ap", "first_hit")  # columns of the table `queries`, each with an index
FIELDS = "sample_id, class, ap, first_hit, r, path"
PAGE, PAGES_KEPT = 200, 20
THUMBNAIL = 36  # px
Index = QModelIndex | QPersistentModelIndex
Row = tuple[int, str, float | None, int, int, str]


@dataclass(frozen=True, slots=True)
class Filter:
    """Which queries are listed."""

    failures: bool = False  # first neighbour of another class
    label: int | None = None
    samples: tuple[int, ...] | None = None  # only these ids, as selected in the map


class QueryTable(QAbstractTableModel):
    """Sorting and filtering ask SQLite for the keys in a new order; a page of rows is read when it is looked at."""

    def __init__(
        self, workspace: Workspace, loader: PictureLoader | None = None, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._db = workspace.reader()
        self._loader = loader
        self._evaluation_id: int | None = None
        self._filter = Filter()
        self._column, self._down = 2, False
        self._keys = np.empty(0, np.int64)
        self._pages: OrderedDict[int, dict[int, Row]] = OrderedDict()
        self.total = 0  # queries of the evaluation, before filtering
        if loader is not None:
            loader.ready.connect(self._pictures_came)

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    def show(self, evaluation_id: int | None, chosen: Filter) -> None:
        """List the queries of an evaluation that pass the filter."""
        self._evaluation_id, self._filter = evaluation_id, chosen
        self._read()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._column, self._down = column, order == Qt.SortOrder.DescendingOrder
        self._read()

    def sample_id(self, row: int) -> int | None:
        """The query in a row, or None beyond the end."""
        return int(self._keys[row]) if 0 <= row < len(self._keys) else None

    def row_of(self, sample_id: int) -> int:
        """Where a query stands, or -1."""
        found = np.flatnonzero(self._keys == sample_id)
        return int(found[0]) if len(found) else -1

    def rows(self) -> list[Row]:
        """Every listed row in order, for export."""
        return [self._row(row) for row in range(len(self._keys))]

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._keys)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(TITLES)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        column = index.column()
        if role == Qt.ItemDataRole.DecorationRole and column == 0:
            return self._picture(index.row())
        if role == Qt.ItemDataRole.DisplayRole:
            _, name, ap, first_hit, _, _ = self._row(index.row())
            return ("", name, percent(ap), str(first_hit) if first_hit else NO_VALUE)[column]
        if role == Qt.ItemDataRole.ToolTipRole and column == 1:
            return self._row(index.row())[5]
        if role == Qt.ItemDataRole.AccessibleTextRole:
            _, name, ap, first_hit, _, _ = self._row(index.row())
            return f"{name}, AP {percent(ap)} %, first hit {first_hit}"
        if role == Qt.ItemDataRole.TextAlignmentRole and column > 1:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal:
            if role == Qt.ItemDataRole.DisplayRole:
                return TITLES[section]
            if role == Qt.ItemDataRole.ToolTipRole:
                return TIPS[section]
        return super().headerData(section, orientation, role)

    def _read(self) -> None:
        self.beginResetModel()
        self._pages.clear()
        self._keys = np.empty(0, np.int64)
        self.total = 0
        if self._evaluation_id is not None:
            where, values = ["evaluation_id = ?"], list[Any]([self._evaluation_id])
            (self.total,) = self._db.execute("select count(*) from queries where evaluation_id = ?", values).fetchone()
            if self._filter.failures:
                where.append('"right" = 0 and r > 0')
            if self._filter.label is not None:
                where.append("label = ?")
                values.append(self._filter.label)
            if self._filter.samples is not None:
                where.append("sample_id in (select value from json_each(?))")
                values.append(json.dumps(self._filter.samples))
            order = f'"{ORDERS[self._column]}" {"desc" if self._down else "asc"} nulls last, sample_id'
            sql = f"select sample_id from queries where {' and '.join(where)} order by {order}"
            self._keys = np.fromiter((row[0] for row in self._db.execute(sql, values).fetchall()), np.int64)
        self.endResetModel()

    def _row(self, row: int) -> Row:
        page = row // PAGE
        if page not in self._pages:
            keys = self._keys[page * PAGE : (page + 1) * PAGE].tolist()
            sql = (
                f"select {FIELDS} from query_rows where evaluation_id = ? "
                "and sample_id in (select value from json_each(?))"
            )
            found = self._db.execute(sql, (self._evaluation_id, json.dumps(keys))).fetchall()
            self._pages[page] = {each[0]: each for each in found}
            if len(self._pages) > PAGES_KEPT:
                self._pages.popitem(last=False)
        return self._pages[page][int(self._keys[row])]

    def _picture(self, row: int) -> Any:
        if self._loader is None:
            return None
        sample_id = int(self._keys[row])
        found = self._loader.pixmap(sample_id, THUMBNAIL)
        if found is None:
            around = self._keys[max(0, row - 20) : row + 40]
            self._loader.request(around.tolist(), THUMBNAIL)
        return found

    def _pictures_came(self, sample_ids: list[int]) -> None:
        rows = np.flatnonzero(np.isin(self._keys, sample_ids))
        if len(rows):
            first, last = self.index(int(rows[0]), 0), self.index(int(rows[-1]), 0)
            self.dataChanged.emit(first, last, [Qt.ItemDataRole.DecorationRole])
