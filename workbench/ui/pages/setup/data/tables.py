"""Tables of the data dialog."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHeaderView, QLabel, QTableWidget, QTableWidgetItem, QVBoxLayout, QWidget

from workbench.files.spreadsheet import pasted

MOST_ROWS = 5000


def page_of(*widgets: QWidget) -> QWidget:
    """A tab with these widgets in a column; labels keep their height."""
    page = QWidget()
    column = QVBoxLayout(page)
    for widget in widgets:
        column.addWidget(widget, 0 if isinstance(widget, QLabel) else 1)
    if all(isinstance(widget, QLabel) for widget in widgets):
        column.addStretch(1)
    return page


def table_of(titles: Sequence[str], rows: Sequence[Sequence[object]]) -> QTableWidget:
    """A table of the first MOST_ROWS rows, which cannot be edited."""
    table = QTableWidget(min(len(rows), MOST_ROWS), len(titles))
    table.setHorizontalHeaderLabels(list(titles))
    table.verticalHeader().hide()
    table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
    table.setTabKeyNavigation(False)  # Tab leaves it
    table.setAccessibleName(", ".join(titles))
    for row, values in enumerate(rows[:MOST_ROWS]):
        for column, value in enumerate(values):
            item = QTableWidgetItem(str(value))
            if isinstance(value, int):
                item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            table.setItem(row, column, item)
    table.resizeColumnsToContents()
    if rows and isinstance(rows[0][-1], int):  # numbers stand side by side, the names take the rest
        table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
    else:
        table.horizontalHeader().setStretchLastSection(True)
    return table


def lines_of(table: QTableWidget) -> list[str]:
    """Titles and rows as lines, with tabs between the cells."""
    columns = range(table.columnCount())
    rows = [[_text(table.horizontalHeaderItem(column)) for column in columns]]
    for row in range(table.rowCount()):
        rows.append([_text(table.item(row, column)) for column in columns])
    return ["\t".join(cells) for cells in rows]


def _text(item: QTableWidgetItem | None) -> str:
    return "" if item is None else pasted(item.text())
