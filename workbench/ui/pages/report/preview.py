"""The pages of the report as they will be printed, at reading width, with zoom."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QImage, QKeySequence, QPixmap, QResizeEvent, QShortcut
from PySide6.QtWidgets import QBoxLayout, QComboBox, QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from workbench.numerals import percentage
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import icon_button
from workbench.ui.widgets.labels import label

MARGIN = 12  # px around a page
READING = 760  # px of a page at 100%
FIT = 0.0  # the zoom at which a page is as wide as the preview, and at most READING
ZOOMS = (0.5, 0.75, 1.0, 1.25, 1.5, 2.0)


class Preview(QWidget):
    """White pages below each other, under a row of tools; a sentence while they are drawn."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.back, self.on = icon_button("caret-left", "Previous page"), icon_button("caret-right", "Next page")
        self.smaller, self.larger = icon_button("minus", "Zoom out"), icon_button("plus", "Zoom in")
        self.page_word, self.status = label("", "muted"), label("", "muted", wrap=True)
        self.zoom_box = QComboBox()
        self.zoom_box.setAccessibleName("Zoom of the preview")
        self.zoom_box.addItem("Fit width", FIT)
        for zoom in ZOOMS:
            self.zoom_box.addItem(percentage(zoom, 0), zoom)
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.area.setAccessibleName("Preview of the report")
        inside = QWidget()
        self._column = QVBoxLayout(inside)
        self._column.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        self._column.setSpacing(MARGIN)
        self._column.addStretch(1)
        self.area.setWidget(inside)
        self._turning, self._zooming = QWidget(), QWidget()
        in_row(self.back, self.page_word, self.on, on=self._turning, spacing=4)
        in_row(self.smaller, self.zoom_box, self.larger, on=self._zooming, spacing=4)
        self._tools = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._tools.setSpacing(4)
        self._tools.addWidget(self._turning, 1, Qt.AlignmentFlag.AlignLeft)
        self._tools.addWidget(self._zooming, 0, Qt.AlignmentFlag.AlignRight)
        in_column(self._tools, self.status, (self.area, 1), on=self, spacing=8)
        self._pages: list[tuple[QLabel, QImage]] = []
        self._next = QTimer(self, singleShot=True, interval=0)
        self._connect()
        self._tell_page()

    def _connect(self) -> None:
        self._next.timeout.connect(self._fit)
        self.back.clicked.connect(partial(self._turn, -1))
        self.on.clicked.connect(partial(self._turn, 1))
        self.smaller.clicked.connect(self.zoom_out)
        self.larger.clicked.connect(self.zoom_in)
        self.zoom_box.currentIndexChanged.connect(self._fit)
        self.area.verticalScrollBar().valueChanged.connect(self._tell_page)
        keys: tuple[tuple[QKeySequence.StandardKey, Callable[[], None]], ...] = (
            (QKeySequence.StandardKey.ZoomIn, self.zoom_in), (QKeySequence.StandardKey.ZoomOut, self.zoom_out),
        )  # fmt: skip
        for key, action in keys:
            shortcut = QShortcut(QKeySequence(key), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(action)

    @property
    def count(self) -> int:
        """Pages shown."""
        return len(self._pages)

    @property
    def page(self) -> int:
        """The number of the page at the top, from 1; 0 without pages."""
        above = self.area.verticalScrollBar().value() + self.area.viewport().height() // 3
        return max(min(1, self.count), sum(top <= above for top in self._tops()))

    @property
    def page_width(self) -> int:
        """Px of a page at the chosen zoom."""
        zoom = float(self.zoom_box.currentData())
        room = max(1, self.area.viewport().width() - 2 * MARGIN)
        return round(zoom * READING) if zoom != FIT else min(READING, room)

    def zoom_in(self) -> None:
        """Show the pages one step larger."""
        self._choose(next((zoom for zoom in ZOOMS if zoom * READING > self.page_width), ZOOMS[-1]))

    def zoom_out(self) -> None:
        """Show the pages one step smaller."""
        self._choose(next((zoom for zoom in ZOOMS[::-1] if zoom * READING < self.page_width), ZOOMS[0]))

    def show_page(self, number: int) -> None:
        """Scroll to the top of a page, numbered from 1."""
        if 1 <= number <= self.count:
            self.area.verticalScrollBar().setValue(self._tops()[number - 1] - MARGIN // 2)

    def say(self, words: str) -> None:
        """Show a sentence above the pages; an empty one hides it."""
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
            self._pages.append((sheet, image))
        self._fit()
        self._tell_page()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_tools()
        self._next.start()

    def _fit_tools(self) -> None:
        """Put the zoom below the page number where the row has no room for both."""
        both = self._turning.sizeHint().width() + self._tools.spacing() + self._zooming.sizeHint().width()
        below = QBoxLayout.Direction.TopToBottom
        self._tools.setDirection(below if both > self.width() else QBoxLayout.Direction.LeftToRight)

    def _choose(self, zoom: float) -> None:
        self.zoom_box.setCurrentIndex(self.zoom_box.findData(zoom))

    def _turn(self, by: int) -> None:
        self.show_page(self.page + by)

    def _tops(self) -> list[int]:
        """Where each page begins at the chosen zoom, in px, also while sheets wait for their turn to be scaled."""
        top, tops = self._column.contentsMargins().top(), []
        for _, page in self._pages:
            tops.append(top)
            top += round(page.height() * self.page_width / page.width()) + self._column.spacing()
        return tops

    def _tell_page(self) -> None:
        self.page_word.setText(f"Page {self.page} of {self.count}" if self.count else "")
        self.back.setEnabled(self.page > 1)
        self.on.setEnabled(self.page < self.count)
        if (layout := self._turning.layout()) is not None:
            layout.activate()  # else the row now and then keeps the width that it had without words
        self._fit_tools()

    def _fit(self) -> None:
        """Scale the pages to the zoom, one for each turn of the event loop: all at once would stop the window."""
        ratio = self.devicePixelRatioF()
        width = round(self.page_width * ratio)
        for sheet, page in self._pages:
            if sheet.pixmap().width() != width:
                scaled = QPixmap.fromImage(page.scaledToWidth(width, Qt.TransformationMode.SmoothTransformation))
                scaled.setDevicePixelRatio(ratio)
                sheet.setPixmap(scaled)
                self._next.start()
                return
        self._tell_page()
