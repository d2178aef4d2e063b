"""Rows of values as a Qt table that sorts by what the cells mean, not by how they are written."""

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

Index = QModelIndex | QPersistentModelIndex
NUMBER = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)


class SortedRows(QAbstractTableModel):
    """Any kind of row.

    Args:
        titles: of the columns.
        cells: gives a row's values, one for each column: text, or numbers, which stand on the right.
        written: how a value of a column is written.
    """

    def __init__(
        self,
        titles: Sequence[str],
        cells: Callable[[Any], Sequence[Any]],
        written: Callable[[int, Any], str],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.titles = tuple(titles)
        self._cells, self._written = cells, written
        self._rows: list[Any] = []
        self._order: tuple[int, bool] | None = None

    def show(self, rows: Sequence[Any]) -> None:
        """Other rows, in the order that was chosen last."""
        self.beginResetModel()
        self._rows = list(rows)
        self._put_in_order()
        self.endResetModel()

    def row(self, place: int) -> Any:
        """The row at a place, or None beyond the end."""
        return self._rows[place] if 0 <= place < len(self._rows) else None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self.beginResetModel()
        self._order = (column, order == Qt.SortOrder.DescendingOrder)
        self._put_in_order()
        self.endResetModel()

    def lines(self) -> list[str]:
        """Header and rows as text, with tabs between the columns."""
        rows = ([self._written(column, value) for column, value in enumerate(self._cells(row))] for row in self._rows)
        clean = ([text.replace("\t", " ").replace("\n", " ") for text in row] for row in rows)
        return ["\t".join(row) for row in (self.titles, *clean)]

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.titles)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        value = self._cells(self._rows[index.row()])[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._written(index.column(), value)
        if role == Qt.ItemDataRole.TextAlignmentRole and not isinstance(value, str):
            return NUMBER
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self.titles[section]
        return super().headerData(section, orientation, role)

    def _put_in_order(self) -> None:
        if self._order is not None:
            column, down = self._order
            self._rows.sort(key=lambda row: self._cells(row)[column], reverse=down)
