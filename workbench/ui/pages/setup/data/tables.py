"""Tables of the data dialog: shown up to a number of lines, copied and saved as a whole."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHeaderView, QLabel, QTableWidget, QTableWidgetItem, QVBoxLayout, QWidget

from workbench.files.spreadsheet import csv_text, pasted
from workbench.ui.style import theme
from workbench.ui.widgets.labels import label, plain_tip

MOST_ROWS = 5000  # that are shown
WIDEST = 400  # px at 100% text of a name before what is said of it
CAPPED = "The first {shown:,} of {count:,} lines are shown. Copy table and Save CSV… take all of them."
Rows = Sequence[Sequence[object]]
Table = tuple[Sequence[str], Rows]  # titles of its columns


class DataTable(QTableWidget):
    """Shows the first MOST_ROWS rows, which cannot be edited; copies and saves all of them.

    Args:
        names: the column that has the room that the others leave; None: the last one.
        whole: titles and rows that are copied and saved in place of those that are shown.
    """

    def __init__(
        self,
        titles: Sequence[str],
        rows: Rows,
        names: int | None = None,
        whole: Table | None = None,
    ) -> None:
        super().__init__(min(len(rows), MOST_ROWS), len(titles))
        self.whole = whole or (titles, rows)
        self.count = len(rows)
        self.setHorizontalHeaderLabels(list(titles))
        self.verticalHeader().hide()
        self.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)  # Tab leaves it
        self.setAccessibleName(", ".join(titles))
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # long names often differ at their ends
        self.setWordWrap(False)
        for row, values in enumerate(rows[:MOST_ROWS]):
            for column, value in enumerate(values):
                item = QTableWidgetItem(str(value))
                if isinstance(value, int):
                    item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                else:
                    item.setToolTip(plain_tip(str(value)))
                self.setItem(row, column, item)
        self.resizeColumnsToContents()
        header = self.horizontalHeader()
        if names is not None:
            header.setSectionResizeMode(names, QHeaderView.ResizeMode.Stretch)
        else:
            self.setColumnWidth(0, min(self.columnWidth(0), theme.text_px(WIDEST)))
            header.setStretchLastSection(True)

    def unwritten(self) -> Callable[[], list[str]]:
        """What writes titles and all rows as lines, with tabs between the cells."""
        return partial(_lines, *self.whole)

    def csv(self) -> Callable[[], str]:
        """What makes titles and all rows as CSV."""
        titles, rows = self.whole
        return lambda: csv_text(list(titles), map(list, rows))


def _lines(titles: Sequence[str], rows: Rows) -> list[str]:
    return ["\t".join(pasted(str(cell)) for cell in row) for row in (titles, *rows)]


def page_of(*widgets: QWidget) -> QWidget:
    """A tab with these widgets in a column; labels keep their height, and one says what a table does not show."""
    page = QWidget()
    column = QVBoxLayout(page)
    for widget in widgets:
        column.addWidget(widget, 0 if isinstance(widget, QLabel) else 1)
        if isinstance(widget, DataTable) and widget.count > MOST_ROWS:
            column.addWidget(label(CAPPED.format(shown=MOST_ROWS, count=widget.count), "muted", wrap=True))
    if all(isinstance(widget, QLabel) for widget in widgets):
        column.addStretch(1)
    return page
