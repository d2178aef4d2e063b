"""What scrolls if it lacks room, instead of being squeezed."""

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QWidget


class Scrolled(QScrollArea):
    """Shows one widget at the width of the area, and at its own height if that is more than the area's."""

    def __init__(self, content: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidget(content)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)


class ScrolledPart(Scrolled):
    """Part of a column: as high as its content if there is room, otherwise it scrolls."""

    def __init__(self, content: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(content, parent)
        self._content = content
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        content.installEventFilter(self)

    def sizeHint(self) -> QSize:
        return self._content.sizeHint()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Update the height when the content's height changes."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)


class ScrolledAcross(Scrolled):
    """Parts side by side: as high as the area, and scrolled sideways where they need more width than it has."""

    def __init__(self, content: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(content, parent)
        self._content = content
        self.setWidgetResizable(False)  # would make the content as high as its texts ask for, and cut off its foot
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        content.installEventFilter(self)

    def minimumSizeHint(self) -> QSize:
        return QSize(super().minimumSizeHint().width(), self._content.minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        room = self.viewport().size()
        self._content.resize(max(room.width(), self._content.minimumSizeHint().width()), room.height())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Update the sizes when what the content needs changes."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
            self._fit()
        return super().eventFilter(watched, event)
