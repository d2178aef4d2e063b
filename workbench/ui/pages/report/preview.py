"""The pages of the report as they will be printed, at the width of the page."""

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent, QPen, QPixmap, QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from workbench.ui import theme
from workbench.ui.widgets.labels import label

MARGIN = 12  # px around a page
WIDEST = 900  # px of a page
A4_SHAPE = 297 / 210


class Sheet(QWidget):
    """One page, as wide as its place; an empty sheet until it is painted."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._page = QPixmap()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMaximumWidth(WIDEST)

    def show_page(self, page: QPixmap, place: int, count: int) -> None:
        """Show page `place` (from 0) of `count`."""
        self._page = page
        self.setAccessibleName(f"Page {place + 1} of {count} of the report")
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.setFixedHeight(round(self.width() * A4_SHAPE))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.fillRect(self.rect(), QColor("white"))
        if not self._page.isNull():
            painter.drawPixmap(QRectF(self.rect()), self._page, QRectF(self._page.rect()))
        painter.setPen(QPen(QColor(theme.current().border)))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))


class Preview(QWidget):
    """White pages below each other, under a line that says how many there are or what is going on."""

    width_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.status = label("", "caption")
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self._area.setAccessibleName("Preview of the report")
        inside = QWidget()
        self._pages = QVBoxLayout(inside)
        self._pages.setContentsMargins(0, 0, MARGIN, MARGIN)
        self._pages.setSpacing(MARGIN)
        self._pages.addStretch(1)
        self._sheets: list[Sheet] = []
        self._area.setWidget(inside)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.status)
        column.addWidget(self._area, 1)

    @property
    def count(self) -> int:
        """Pages shown."""
        return len(self._sheets)

    @property
    def page_width(self) -> int:
        """Pixels of the screen across a page here."""
        width = min(WIDEST, max(200, self._area.viewport().width() - MARGIN))
        return round(width * self.devicePixelRatioF())

    def say(self, words: str) -> None:
        """A line over the pages."""
        self.status.setText(words)
        self.status.setToolTip(words)

    def show_page(self, place: int, count: int, image: QImage) -> None:
        """Put page `place` (from 0) of `count` in the place of the one before; the others stay until theirs come."""
        while len(self._sheets) <= place:
            sheet = Sheet()
            self._pages.insertWidget(len(self._sheets), sheet)
            self._sheets.append(sheet)
        self._sheets[place].show_page(QPixmap.fromImage(image), place, count)
        self._keep(max(count, place + 1))

    def clear(self) -> None:
        """Show no page."""
        self._keep(0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.width_changed.emit()

    def _keep(self, count: int) -> None:
        for sheet in self._sheets[count:]:
            self._pages.removeWidget(sheet)
            sheet.deleteLater()
        del self._sheets[count:]
