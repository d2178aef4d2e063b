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

    def __init__(self, content: QWidget) -> None:
        super().__init__(content)
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


class Room(Scrolled):
    """Shows one widget in the size that `room_for` says, which is asked when the area or the content changes."""

    def __init__(self, content: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(content, parent)
        self._content = content
        self.setWidgetResizable(False)  # would make the content as high as its texts ask for, and cut off its foot
        content.installEventFilter(self)

    def room_for(self, content: QWidget, area: QSize) -> QSize:
        """The size of the content in an area of this size."""
        raise NotImplementedError

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self._content.resize(self.room_for(self._content, self.viewport().size()))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Update the sizes when what the content needs changes."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
            self._fit()
        return super().eventFilter(watched, event)


class ScrolledAcross(Room):
    """Parts side by side: as high as the area, and scrolled sideways where they need more width than it has."""

    def __init__(self, content: QWidget) -> None:
        super().__init__(content)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def minimumSizeHint(self) -> QSize:
        return QSize(super().minimumSizeHint().width(), self._content.minimumSizeHint().height())

    def room_for(self, content: QWidget, area: QSize) -> QSize:
        """As high as the area, and at least as wide as the content must be."""
        return QSize(max(area.width(), content.minimumSizeHint().width()), area.height())


class ScrolledDown(Room):
    """Parts in a column: as wide as the area, and scrolled where they need more height than it has.

    Unlike `Scrolled`, it does not scroll while what can be smaller than it asks for, as a list or a plot, has its
    minimum.
    """

    def __init__(self, content: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(content, parent)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def minimumSizeHint(self) -> QSize:
        return QSize(self._content.minimumSizeHint().width(), super().minimumSizeHint().height())

    def sizeHint(self) -> QSize:
        return self._content.sizeHint()

    def room_for(self, content: QWidget, area: QSize) -> QSize:
        """As wide as the area, and at least as high as the content must be in that width."""
        layout = content.layout()
        needs = -1 if layout is None else layout.minimumHeightForWidth(area.width())
        return QSize(area.width(), max(area.height(), needs, content.minimumSizeHint().height() if needs < 0 else 0))
