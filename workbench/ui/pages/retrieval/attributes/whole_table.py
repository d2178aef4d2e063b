"""A table that is as high as its rows: the page scrolls, and the table only sideways."""

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QTableView


class WholeTable(QTableView):
    """Shows all of its rows, and its columns as far as the width has room."""

    def fit_height(self) -> None:
        """Lay out again, for other rows, columns or sizes of text."""
        across, frame = self.horizontalHeader(), 2 * self.frameWidth()
        names = 0 if self.verticalHeader().isHidden() else self.verticalHeader().sizeHint().width()
        scrolls = names + across.length() + frame > self.width()
        bar = self.horizontalScrollBar().sizeHint().height() if scrolls else 0
        self.setFixedHeight(across.sizeHint().height() + self.verticalHeader().length() + frame + bar)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_height()
