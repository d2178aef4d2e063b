"""Rows of values as a Qt table that sorts by what the cells mean, not by how they are written."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import starmap
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QPixmap

from workbench.files.spreadsheet import pasted
from workbench.names import numbers_in_order

Index = QModelIndex | QPersistentModelIndex
NUMBER = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
WORDS = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


class SortedRows(QAbstractTableModel):
    """Any kind of row.

    Args:
        titles: of the columns.
        cells: gives a row's values, one for each column: text, or numbers, which stand on the right.
        written: how a value of a column is written.
        picture: a row's picture for the first column, or None while there is none.
    """

    def __init__(
        self,
        titles: Sequence[str],
        cells: Callable[[Any], Sequence[Any]],
        written: Callable[[int, Any], str],
        parent: QObject | None = None,
        picture: Callable[[Any], QPixmap | None] | None = None,
    ) -> None:
        super().__init__(parent)
        self.titles = tuple(titles)
        self._cells, self._written, self._picture = cells, written, picture
        self.rows: list[Any] = []  # in the order shown
        self._as_shown: list[Any] = []  # in their own order
        self._order: tuple[int, bool] | None = None

    def show(self, rows: Sequence[Any]) -> None:
        """Other rows, in the order that was chosen last."""
        self.beginResetModel()
        self.rows, self._as_shown = list(rows), list(rows)
        self._put_in_order()
        self.endResetModel()

    def row(self, index: int) -> Any:
        """The row at a place, or None beyond the end."""
        return self.rows[index] if 0 <= index < len(self.rows) else None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort the rows by the values of a column; by none, -1, they have their own order again."""
        self.beginResetModel()
        self._order = (column, order == Qt.SortOrder.DescendingOrder) if column >= 0 else None
        if self._order is None:
            self.rows = list(self._as_shown)
        self._put_in_order()
        self.endResetModel()

    def lines(self) -> list[str]:
        """Header and rows as text, with tabs between the columns; no name is a formula where it is pasted."""
        return self.unwritten()()

    def unwritten(self) -> Callable[[], list[str]]:
        """What writes the lines of the rows as they are now."""
        return partial(lines_of, self.titles, list(self.rows), self._cells, self._written)

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.titles)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a cell shows in a role: text, picture or alignment."""
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.DecorationRole and index.column() == 0 and self._picture is not None:
            return self._picture(self.rows[index.row()])
        value = self._cells(self.rows[index.row()])[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._written(index.column(), value)
        if role == Qt.ItemDataRole.TextAlignmentRole and not isinstance(value, str):
            return NUMBER
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal:
            if role == Qt.ItemDataRole.DisplayRole:
                return self.titles[section]
            if role == Qt.ItemDataRole.TextAlignmentRole:  # as the cells below
                words = not self.rows or isinstance(self._cells(self.rows[0])[section], str)
                return WORDS if words else NUMBER
        return super().headerData(section, orientation, role)

    def pictures_came(self, _: set[int]) -> None:
        """Ask for the pictures again."""
        if self.rows:
            last = self.index(len(self.rows) - 1, 0)
            self.dataChanged.emit(self.index(0, 0), last, [Qt.ItemDataRole.DecorationRole])

    def _put_in_order(self) -> None:
        if self._order is not None:
            column, down = self._order
            self.rows.sort(key=lambda row: _in_order(self._cells(row)[column]), reverse=down)


def lines_of(
    titles: Sequence[str],
    rows: Sequence[Any],
    cells: Callable[[Any], Sequence[Any]],
    written: Callable[[int, Any], str],
) -> list[str]:
    """Titles and rows as text, with tabs between the columns; arguments as those of SortedRows."""

    def plain(column: int, value: Any) -> str:
        text = written(column, value)
        return pasted(text) if isinstance(value, str) else text

    return ["\t".join(titles), *("\t".join(starmap(plain, enumerate(cells(row)))) for row in rows)]


def _in_order(cell: Any) -> Any:
    return (numbers_in_order(cell), cell) if isinstance(cell, str) else cell
