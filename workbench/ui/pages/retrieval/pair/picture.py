"""An image in large, in a part that its partner shows, too: the wheel enlarges both, dragging moves both."""

from PySide6.QtCore import QObject, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPaintEvent, QPixmap, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.ui.style import theme

LEAST, WANTED = 160, 420  # px of a side at 100% text
MOST_ZOOM, STEP = 16.0, 1.25  # of the scale, and by one notch of the wheel
FEW = 3  # px of the widget for a pixel, from which an image is small
NOTCH = 120  # of the wheel, in eighths of a degree


class Zoom(QObject):
    """The part of both images that is shown: its scale, and its centre as a share of width and height."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.scale, self.centre = 1.0, QPointF(0.5, 0.5)

    def enlarge(self, notches: float, at: QPointF) -> None:
        """Enlarge (or shrink) so that the place `at`, in shares of the image, stays where it is."""
        scale = min(MOST_ZOOM, max(1.0, self.scale * STEP**notches))
        self.move_to(at + (self.centre - at) * (self.scale / scale), scale)

    def move_to(self, centre: QPointF, scale: float) -> None:
        """Show another part; it stays within the image."""
        rest = 0.5 / scale
        self.scale = scale
        self.centre = QPointF(min(1 - rest, max(rest, centre.x())), min(1 - rest, max(rest, centre.y())))
        self.changed.emit()

    def reset(self) -> None:
        """Show the whole images."""
        self.move_to(QPointF(0.5, 0.5), 1.0)


class PairPicture(QWidget):
    """One image of the pair, with a layer of colours over it on request."""

    def __init__(self, zoom: Zoom) -> None:
        super().__init__()
        self._zoom = zoom
        self._picture: QPixmap | None = None
        self._layer: QImage | None = None
        self._words = ""
        self._held: QPointF | None = None  # where a drag was
        self.setMinimumSize(theme.text_px(LEAST), theme.text_px(LEAST))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        zoom.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(theme.text_px(WANTED), theme.text_px(WANTED))

    def show_picture(self, picture: QPixmap | None, words: str, layer: QImage | None = None) -> None:
        """Show an image with a layer over it; `words` in place of an image that is not there."""
        self._picture, self._words, self._layer = picture, words, layer
        self.setToolTip("" if picture is None else "Turn the wheel to enlarge both images, drag to move them")
        self.update()

    @property
    def place(self) -> QRectF:
        """Where the whole image would be, also outside the widget when it is enlarged."""
        if self._picture is None:
            return QRectF()
        size = self._picture.deviceIndependentSize().scaled(self.size().toSizeF(), Qt.AspectRatioMode.KeepAspectRatio)
        size *= self._zoom.scale
        middle = QRectF(self.rect()).center()
        left = middle.x() - self._zoom.centre.x() * size.width()
        return QRectF(left, middle.y() - self._zoom.centre.y() * size.height(), size.width(), size.height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, tokens = QPainter(self), theme.current()
        painter.fillRect(self.rect(), QColor(tokens.surface))
        if self._picture is None:
            painter.setPen(QColor(tokens.muted))
            wrap = int(Qt.AlignmentFlag.AlignCenter) | int(Qt.TextFlag.TextWordWrap)
            painter.drawText(self.rect().adjusted(12, 12, -12, -12), wrap, self._words)
            return
        few = max(self._picture.width(), self._picture.height()) <= max(self.width(), self.height()) // FEW
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, not few)  # pixels of small ones stay sharp
        painter.drawPixmap(self.place, self._picture, QRectF(self._picture.rect()))
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        if self._layer is not None:
            painter.drawImage(self.place, self._layer)

    def wheelEvent(self, event: QWheelEvent) -> None:
        place = self.place
        if place.isEmpty():
            event.ignore()
            return
        at = event.position() - place.topLeft()
        self._zoom.enlarge(event.angleDelta().y() / NOTCH, QPointF(at.x() / place.width(), at.y() / place.height()))
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._held = event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = self.place
        if self._held is None or place.isEmpty():
            return
        moved, self._held = event.position() - self._held, event.position()
        by = QPointF(moved.x() / place.width(), moved.y() / place.height())
        self._zoom.move_to(self._zoom.centre - by, self._zoom.scale)

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:
        self._held = None

    def mouseDoubleClickEvent(self, _event: QMouseEvent) -> None:
        self._zoom.reset()
