"""A table of texts whose rows have numbers: shown again, it keeps its choice and scroll position."""

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSignalBlocker, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QStyleOptionViewItem, QTableWidget, QTableWidgetItem

from workbench.ui.widgets.tables.row_table import NumberDelegate, fit_columns_to_words, select_rows

LEAST = 120  # px of a column that is shortened
MEASURED = 30  # rows, from the first in view, that set the width of a column with its longest text


class _LastDelegate(NumberDelegate):
    """Shortens at the end in the last column, which has a number or a sentence; elsewhere as the table says."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        super().initStyleOption(option, index)
        if index.column() == index.model().columnCount() - 1:
            option.textElideMode = Qt.TextElideMode.ElideRight


class NumberedTable(QTableWidget):
    """One row can be chosen; `name` is what a screen reader says. The widest column is shortened to fit them all."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._numbers: list[int] = []  # of the rows
        select_rows(self, name)
        self.setItemDelegate(_LastDelegate(self))
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # names of runs differ at their end
        header = self.horizontalHeader()
        header.setResizeContentsPrecision(MEASURED)
        header.setTextElideMode(Qt.TextElideMode.ElideNone)  # Qt elides as if the arrow of the order were there
        header.setStretchLastSection(True)
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)

    @property
    def chosen(self) -> int | None:
        """The number of the chosen row."""
        items = self.selectedItems()
        return self._numbers[items[0].row()] if items else None

    def show_rows(
        self, head: Sequence[str], rows: Sequence[tuple[int, Sequence[str]]], chosen: int | None, *, fits: bool = False
    ) -> None:
        """Show these rows (number, cells) with that number chosen, without `itemSelectionChanged`.

        Rows that are shown already, in another order, fit (`fits`): their texts are not measured again.
        """
        with QSignalBlocker(self):
            wider = self.columnCount() != len(head) or self.rowCount() != len(rows)
            self.setColumnCount(len(head))
            self.setRowCount(len(rows))
            self.setHorizontalHeaderLabels(list(head))
            self._numbers = [number for number, _ in rows]
            for row, (_, cells) in enumerate(rows):
                for column, text in enumerate(cells):
                    written = self._write(row, column, text)
                    wider = wider or (written and not fits and self._too_wide(row, column))
            if wider:
                self._fit_columns()
            if chosen not in self._numbers:
                self.clearSelection()
            elif chosen != self.chosen:
                self.selectRow(self._numbers.index(chosen))

    def _write(self, row: int, column: int, text: str) -> bool:
        """Whether the cell had another text."""
        item = self.item(row, column)
        if item is None:
            item = QTableWidgetItem()
            self.setItem(row, column, item)
        if item.text() == text:
            return False
        item.setText(text)
        item.setToolTip(f"<qt>{escape(text, quote=False)}</qt>")
        return True

    def _text(self, row: int, column: int) -> str:
        item = self.item(row, column)
        return "" if item is None else item.text()

    def _too_wide(self, row: int, column: int) -> bool:
        """Whether a text needs more room than its column has."""
        return self.sizeHintForIndex(self.model().index(row, column)).width() > self.columnWidth(column)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shorten the widest column to what is left, or show it in full again."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit_columns()

    def _fit_columns(self) -> None:
        header = self.horizontalHeader()
        header.setStretchLastSection(False)  # fitted to its words, it would stay so
        fit_columns_to_words(self)
        for column in range(self.columnCount() if self.rowCount() > MEASURED else 0):
            longest = max(range(self.rowCount()), key=lambda row: len(self._text(row, column)))
            if self._too_wide(longest, column):
                self.setColumnWidth(column, self.sizeHintForIndex(self.model().index(longest, column)).width())
        widths = [self.columnWidth(column) for column in range(self.columnCount())]
        over = sum(widths) - self.viewport().width()
        if over > 0:
            self.setColumnWidth(widths.index(max(widths)), max(LEAST, max(widths) - over))
        header.setStretchLastSection(True)
