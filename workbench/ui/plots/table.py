"""The numbers of a plot as a table, to read, to copy, and for screen readers."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtWidgets import QDialogButtonBox, QTableView, QVBoxLayout, QWidget

from workbench.files.spreadsheet import csv_cell, csv_text, pasted
from workbench.numerals import words_of
from workbench.ui.plots.curve import Curve
from workbench.ui.style import theme
from workbench.ui.widgets.dialogs.first_size import open_at
from workbench.ui.widgets.dialogs.main_button import MainButtonDialog
from workbench.ui.widgets.dialogs.save_file import file_name
from workbench.ui.widgets.tables.row_table import NumberDelegate, fit_columns_to_words
from workbench.ui.widgets.tables.table_actions import TableActions

Index = QModelIndex | QPersistentModelIndex
LEAST = 80  # px of a column at 100% text
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class CurveNumbers:
    """One row per step that any curve has; a cell is empty if its curve has no point there.

    Args:
        x_title: of the first column.
        curves: titles of the others, and their points.
    """

    def __init__(self, x_title: str, curves: Sequence[tuple[str, Curve]]) -> None:
        self.titles = [x_title, *(title for title, _ in curves)]
        self.steps = np.unique(np.concatenate([np.empty(0), *(curve.steps for _, curve in curves)]))
        self.values = np.full((len(self.steps), len(curves)), np.nan)
        self.known = np.zeros(self.values.shape, bool)  # which cells have a value, which may be NaN
        for column, (_, curve) in enumerate(curves):
            rows = np.searchsorted(self.steps, curve.steps)
            self.values[rows, column], self.known[rows, column] = curve.values, True

    def text(self, row: int, column: int, digits: int | None = None) -> str:
        """One cell with this many significant digits, a dash for NaN; None: as for a file, with all digits or empty."""
        if column == 0:
            return f"{self.steps[row]:.15g}"
        if not self.known[row, column - 1]:
            return ""
        value = float(self.values[row, column - 1])
        if digits is None:
            return str(csv_cell(value))
        return f"{value:.{digits}g}" if isfinite(value) else words_of(value)

    def lines(self) -> list[str]:
        """Header and rows with all digits, separated by tabs; a spreadsheet does not read a title as a formula."""
        return ["\t".join(cells) for cells in [map(pasted, self.titles), *self._rows()]]

    def csv(self) -> str:
        """Header and rows with all digits as CSV. Only titles are quoted against formulas, not numbers such as -1."""
        return csv_text(self.titles, []) + "".join(f"{','.join(cells)}\n" for cells in self._rows())

    def _rows(self) -> list[list[str]]:
        return [[self.text(row, column) for column in range(len(self.titles))] for row in range(len(self.steps))]


class CurveTable(QAbstractTableModel):
    """Shows the numbers of a plot with 4 digits."""

    def __init__(self, numbers: CurveNumbers) -> None:
        super().__init__()
        self.numbers = numbers

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.numbers.steps)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.numbers.titles)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The number in a cell, with 4 digits, or its alignment."""
        if role == Qt.ItemDataRole.DisplayRole:
            return self.numbers.text(index.row(), index.column(), digits=4)
        return int(RIGHT) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.DisplayRole and orientation == Qt.Orientation.Horizontal:
            return self.numbers.titles[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(RIGHT)
        return super().headerData(section, orientation, role)


class TableDialog(MainButtonDialog):
    """The table, which can be copied and saved."""

    wished = Signal(object)  # Wish, for Session.fulfil

    def __init__(self, title: str, table: CurveTable, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.table = table
        table.setParent(self)
        self.view = QTableView()
        self.view.setModel(table)
        self.view.setItemDelegate(NumberDelegate(self.view))
        self.view.verticalHeader().hide()
        self.view.setAccessibleName(f"Table of {title}")
        self.view.horizontalHeader().setMinimumSectionSize(theme.text_px(LEAST))
        fit_columns_to_words(self.view)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        numbers, name = table.numbers, f"{file_name(title)}.csv"
        actions = TableActions(self.wished.emit, self.view, name, lambda: numbers.lines, lambda: numbers.csv)
        self.copy, self.save = actions.add_to(buttons)
        layout = QVBoxLayout(self)
        layout.addWidget(self.view)
        layout.addWidget(buttons)
        open_at(self, theme.text_px(420), theme.text_px(480))
