"""A table of evaluations whose heads are whole."""

from itertools import accumulate

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHeaderView, QTableView

from workbench.ui.pages.train.curves.epoch_table import EpochTable
from workbench.ui.style import theme
from workbench.ui.widgets.tables.row_table import head_width, select_rows

ROW_PX, ANY_PX = 24, 16_777_215  # height of a row; no limit, as Qt has it
TABLE_ROWS = 5  # with its head


class WideTable(QTableView):
    """A table whose heads are whole: its columns fill the width, and it scrolls where they have no room.

    As a card it is as high as its place, and shows only the columns that matter most where not all have room; otherwise
    it is TABLE_ROWS high.
    """

    left_out_changed = Signal()

    def __init__(self, model: EpochTable, name: str) -> None:
        super().__init__()
        self.card = False
        self.left_out: list[str] = []  # titles of the columns that have no room in the card
        self._epochs = model
        self._least: dict[int, int] = {}  # px that each column needs; empty until it is measured
        self.setModel(model)
        select_rows(self, name)
        self.setHorizontalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setStretchLastSection(True)
        header.setTextElideMode(Qt.TextElideMode.ElideNone)  # Qt elides as if an arrow stood beside the words
        model.modelReset.connect(self._fit_anew)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in theme.DRESSES:
            self._fit_anew()

    def _fit_anew(self) -> None:
        self._least = {}
        self.fit()

    def fit(self) -> None:
        """Give the first column the width of its words; the others share what is left, at least that of theirs."""
        header, bar = self.horizontalHeader(), self.verticalScrollBar()  # which takes no column when it comes
        least = self._least = self._least or {
            column: max(head_width(header, column), self.sizeHintForColumn(column)) for column in range(header.count())
        }
        room = self.viewport().width()
        narrow = room - (0 if bar.isVisible() else bar.sizeHint().width())
        shown = self._that_fit(least, narrow) if self.card and sum(least.values()) > narrow else set(least)
        for column in least:
            self.setColumnHidden(column, column not in shown)
        behind = {column: width for column, width in least.items() if column in shown and column}
        room, others = room - least[0], max(1, len(behind))
        equal, spare = room // others, max(0, room - sum(behind.values())) // others
        alike = equal >= max(behind.values(), default=0)
        header.resizeSection(0, least[0])
        for column, width in behind.items():
            header.resizeSection(column, equal if alike else width + spare)
        titles = [str(self._epochs.headerData(column, Qt.Orientation.Horizontal)) for column in least]
        left_out = [title for column, title in enumerate(titles) if column not in shown]
        if left_out != self.left_out:
            self.left_out = left_out
            self.left_out_changed.emit()
        below = self.horizontalScrollBar().sizeHint().height() if room < sum(behind.values()) else 0
        self.setMinimumHeight(TABLE_ROWS * theme.text_px(ROW_PX) + below)
        self.setMaximumHeight(ANY_PX if self.card else self.minimumHeight())

    def _that_fit(self, least: dict[int, int], room: int) -> set[int]:
        """As many of the columns that matter most as have room beside the epoch, one at least."""
        first = self._epochs.first_columns()
        widths = accumulate((least[column] for column in first), initial=least[0])
        fit = sum(width <= room for width in widths) - 1
        return {0, *first[: max(1, fit)]}
