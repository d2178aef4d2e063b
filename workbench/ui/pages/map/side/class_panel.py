"""The Classes tab beside the map: the margin and the nearest class of each class. The table has the other columns."""

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHeaderView, QTableView, QWidget

from workbench.results.class_geometry import TITLES, ClassRow
from workbench.ui.models.sorted_rows import SortedRows
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.tables.row_table import head_width, select_rows

MARGIN = "Margin"
SHOWN = ("Class", MARGIN, "Nearest class")
SIDE = 12  # px beside the words
WIDEST = "−0.000"  # a margin


class ClassPanel(QWidget):
    """Draws the same rows as the table of classes; a click selects a class and shows it on the map."""

    class_chosen = Signal(int)  # label
    looked_at = Signal()

    def __init__(self, rows: SortedRows, button: QWidget) -> None:
        super().__init__()
        self._rows = rows
        self.view = QTableView()
        self.view.setModel(rows)
        select_rows(self.view, "Classes with margin and nearest class")
        self.view.setObjectName("map-classes")
        # Qt elides titles as if the sort arrow stood beside them; the arrow is above, and the columns are wide enough.
        self.view.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideNone)
        self.view.setEditTriggers(QTableView.EditTrigger.NoEditTriggers)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.view.setSortingEnabled(True)
        self.view.sortByColumn(TITLES.index(MARGIN), Qt.SortOrder.AscendingOrder)
        for number, title in enumerate(TITLES):
            self.view.setColumnHidden(number, title not in SHOWN)
        self.words = label("", "caption", wrap=True)
        self.words.setContentsMargins(SIDE, 0, SIDE, 0)
        in_column((self.view, 1), self.words, button, on=self, margins=(0, 0, 0, 8), spacing=8)
        self.view.clicked.connect(self._choose)
        self.view.activated.connect(self._choose)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit()
        self.looked_at.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Show every heading and number in full; the two columns of names are equally wide where their headings fit."""
        header = self.view.horizontalHeader()
        least = {title: head_width(header, TITLES.index(title)) for title in SHOWN}
        least[MARGIN] = max(least[MARGIN], self.view.fontMetrics().horizontalAdvance(WIDEST) + 2 * SIDE)
        room = self.view.viewport().width() - least[MARGIN]
        first, last = (title for title in SHOWN if title != MARGIN)
        widths = least | {first: max(least[first], min(room // 2, room - least[last]))}
        widths[last] = max(least[last], room - widths[first])
        for title, width in widths.items():
            self.view.setColumnWidth(TITLES.index(title), width)

    def _choose(self, index: QModelIndex) -> None:
        row = self._rows.row(index.row())
        if isinstance(row, ClassRow):
            self.class_chosen.emit(row.label)
