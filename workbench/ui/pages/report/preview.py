"""The pages of the report as they will be printed, at the width of the page."""

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QImage, QPixmap, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from workbench.ui.widgets.labels import label

MARGIN = 12  # px around a page


class Preview(QScrollArea):
    """White pages below each other; a sentence while they are drawn."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setAccessibleName("Preview of the report")
        inside = QWidget()
        self._column = QVBoxLayout(inside)
        self._column.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        self._column.setSpacing(MARGIN)
        self.status = label("", "muted", wrap=True)
        self._column.addWidget(self.status)
        self._column.addStretch(1)
        self._pages: list[tuple[QLabel, QPixmap]] = []
        self._next = QTimer(self, singleShot=True, interval=0)
        self._next.timeout.connect(self._fit)
        self.setWidget(inside)

    @property
    def count(self) -> int:
        """Pages shown."""
        return len(self._pages)

    def say(self, words: str) -> None:
        """A sentence above the pages; empty hides it."""
        self.status.setText(words)
        self.status.setVisible(bool(words))

    def show_pages(self, images: list[QImage]) -> None:
        """Show these pages instead of those before, at the same scroll position."""
        for sheet, _ in self._pages:
            sheet.deleteLater()
        self._pages = []
        for number, image in enumerate(images, start=1):
            sheet = QLabel()
            sheet.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            sheet.setAccessibleName(f"Page {number} of {len(images)}")
            self._column.insertWidget(self._column.count() - 1, sheet)
            self._pages.append((sheet, QPixmap.fromImage(image)))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Scale the pages to the width, one for each turn of the event loop: all at once would stop the window."""
        width = self.viewport().width() - 2 * MARGIN
        for sheet, page in self._pages:
            if width > 0 and sheet.pixmap().width() != min(width, page.width()):
                mode = Qt.TransformationMode.SmoothTransformation
                sheet.setPixmap(page.scaledToWidth(min(width, page.width()), mode))
                self._next.start()
                return
