"""A frame around what has the keyboard focus and does not show that itself: plots, the map, what only scrolls."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QApplication, QGraphicsView, QScrollArea, QWidget
from shiboken6 import isValid

from workbench.ui.style import theme

WIDTH = 2  # px
PAINTED = "focusRing"  # the property of a widget that paints all of itself and takes the focus


class Ring(QWidget):
    """Lies above a widget, as large as that, and lets the mouse through."""

    def __init__(self, around: QWidget) -> None:
        super().__init__(around)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setGeometry(around.rect())
        around.installEventFilter(self)
        self.show()
        self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay as large as the widget."""
        if event.type() == QEvent.Type.Resize and isinstance(watched, QWidget):
            self.setGeometry(watched.rect())
        return super().eventFilter(watched, event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(QPen(QColor(theme.current().accent), WIDTH))
        half = WIDTH // 2
        painter.drawRect(self.rect().adjusted(half, half, -half - 1, -half - 1))
        painter.end()


class FocusRing(QObject):
    """Draws the ring where the focus goes, in the window and in its dialogs; not where a press of the mouse put it."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._ring: Ring | None = None
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._follow)

    def _follow(self, _before: QWidget | None, now: QWidget | None) -> None:
        if self._ring is not None and isValid(self._ring):
            self._ring.hide()
            self._ring.deleteLater()
        self._ring = None
        pressed = QApplication.mouseButtons() != Qt.MouseButton.NoButton
        if now is not None and not pressed and shows_no_focus(now):
            self._ring = Ring(now)


def shows_no_focus(widget: QWidget) -> bool:
    """Whether neither the style sheet nor the widget itself draws the focus."""
    return isinstance(widget, QGraphicsView | QScrollArea) or bool(widget.property(PAINTED))
