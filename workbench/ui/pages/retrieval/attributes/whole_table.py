"""A table that is as large as its rows and columns: the page scrolls, and the table only sideways."""

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QTableView


class WholeTable(QTableView):
    """Shows all of its rows, and its columns as far as the width has room; its frame ends with the last of them."""

    def sizeHint(self) -> QSize:
        across, down = self.horizontalHeader(), self.verticalHeader()
        names, frame = 0 if down.isHidden() else down.sizeHint().width(), 2 * self.frameWidth()
        return QSize(names + across.length() + frame, across.sizeHint().height() + down.length() + frame)

    def fit_size(self) -> None:
        """Lay out again, for other rows, columns or sizes of text."""
        self._fit_height()
        self.updateGeometry()

    def _fit_height(self) -> None:
        whole = self.sizeHint()
        bar = self.horizontalScrollBar().sizeHint().height() if whole.width() > self.width() else 0
        self.setFixedHeight(whole.height() + bar)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_height()
