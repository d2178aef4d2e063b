"""A layout that puts widgets side by side and goes to the next line when the line is full."""

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget, QWidgetItem


class FlowLayout(QLayout):
    """Lines of widgets, left to right, as high as its width needs. Hidden widgets take no space.

    Sizes are asked of the widgets, not of their layout items: an item's Python side can become invalid while the item
    lives on, and an exception in the middle of a layout ends the program.
    """

    def __init__(self, parent: QWidget | None = None, spacing: int = 8) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._widgets: list[QWidget] = []
        self._sizes: list[tuple[QWidget, QSize]] | None = None  # of what is shown; asked once for each change
        self._heights: dict[int, int] = {}  # for a width
        self._least: QSize | None = None
        self._placed: QRect | None = None
        self.setSpacing(spacing)
        self.setContentsMargins(0, 0, 0, 0)

    def addWidget(self, widget: QWidget) -> None:
        self.addChildWidget(widget)
        self._items.append(QWidgetItem(widget))
        self._widgets.append(widget)
        self.invalidate()

    def addItem(self, item: QLayoutItem) -> None:
        raise TypeError("a FlowLayout takes widgets only")

    def count(self) -> int:
        """How many items are laid out."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        if not 0 <= index < len(self._items):
            return None
        self.invalidate()
        self._widgets.pop(index)
        return self._items.pop(index)

    def clear(self) -> None:
        """Remove and delete every widget."""
        self._cut_to(0)

    def _cut_to(self, count: int) -> None:
        """Remove and delete all widgets but the first `count`."""
        widgets = self._widgets[count:]
        del self._widgets[count:], self._items[count:]
        self.invalidate()
        for widget in widgets:
            widget.hide()
            widget.deleteLater()

    def invalidate(self) -> None:
        """Something changed: sizes are asked for again."""
        self._sizes = self._least = self._placed = None
        self._heights.clear()
        super().invalidate()

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        if width not in self._heights:
            self._heights[width] = self._place(QRect(0, 0, width, 0), move=False)
        return self._heights[width]

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        if rect != self._placed:
            self._placed = rect
            self._place(rect, move=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        if self._least is None:
            size = QSize(0, 0)
            for widget in self._widgets:
                if not widget.isHidden():
                    size = size.expandedTo(_size(widget, widget.minimumSizeHint()))
            margins = self.contentsMargins()
            self._least = size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom())
        return self._least

    def _place(self, rect: QRect, move: bool) -> int:
        margins = self.contentsMargins()
        inner = rect.adjusted(margins.left(), margins.top(), -margins.right(), -margins.bottom())
        return self._place_lines(self._in_width(inner.width()), inner, move) + margins.top() + margins.bottom()

    def _place_lines(self, sized: list[tuple[QWidget, QSize]], inner: QRect, move: bool) -> int:
        """Place widgets with their sizes in lines, if `move`; the height of all lines."""
        x, y, line = inner.x(), inner.y(), 0
        for widget, size in sized:
            if x > inner.x() and x + size.width() > inner.right() + 1:
                x, y, line = inner.x(), y + line + self.spacing(), 0
            if move:
                widget.setGeometry(QRect(QPoint(x, y), size))
            x += size.width() + self.spacing()
            line = max(line, size.height())
        return y + line - inner.y()

    def _in_width(self, width: int) -> list[tuple[QWidget, QSize]]:
        """What is shown, with its sizes in lines of this width."""
        return self._shown()

    def _shown(self) -> list[tuple[QWidget, QSize]]:
        if self._sizes is None:
            shown = [widget for widget in self._widgets if not widget.isHidden()]
            self._sizes = [(widget, _size(widget, widget.sizeHint())) for widget in shown]
        return self._sizes


class OneLine(FlowLayout):
    """Widgets that wish to stand in one line, and take several where they have no room for that."""

    def sizeHint(self) -> QSize:
        sizes = [size for _, size in self._shown()]
        width = sum(size.width() + self.spacing() for size in sizes) - self.spacing()
        return self.minimumSize().expandedTo(QSize(width, 0))


class FilledFlow(FlowLayout):
    """Lines of widgets of one kind, which become narrower than their hint so that full lines fill the width.

    Where that would make them narrower than their minimum, they become wider instead. A widget says by
    `heightForWidth` how high it is then.
    """

    def _in_width(self, width: int) -> list[tuple[QWidget, QSize]]:
        shown, gap = self._shown(), self.spacing()
        if not shown:
            return shown
        first, hint = shown[0]
        columns = max(1, -(-(width + gap) // (hint.width() + gap)))
        if columns > 1 and (width + gap) // columns - gap < self.minimumSize().width():
            columns -= 1
        side = (width + gap) // columns - gap
        size = QSize(side, first.heightForWidth(side))
        return [(widget, size) for widget, _ in shown]


class EvenFlow(FlowLayout):
    """Equally full lines of widgets of one kind, as wide as the line allows: four of them stand 4, 2 or 1 in a line.

    All stand in one line if it has the width of their hints, otherwise as many as have their minimum. A widget says by
    `heightForWidth` how high it is then.
    """

    def _in_width(self, width: int) -> list[tuple[QWidget, QSize]]:
        shown, gap, least = self._shown(), self.spacing(), self.minimumSize().width()
        count, wished = len(shown), max((hint.width() for _, hint in self._shown()), default=0)
        for columns in (columns for columns in range(count, 0, -1) if count % columns == 0):
            side = (width + gap) // columns - gap
            if side >= (wished if columns == count else least) or columns == 1:
                return [(widget, QSize(side, widget.heightForWidth(side))) for widget, _ in shown]
        return shown


def _size(widget: QWidget, hint: QSize) -> QSize:
    """A hint within what the widget allows."""
    return hint.expandedTo(widget.minimumSize()).boundedTo(widget.maximumSize())


def in_lines(*widgets: QWidget, spacing: int = 8) -> FlowLayout:
    """The widgets side by side, in as many lines as the width needs."""
    layout = FlowLayout(spacing=spacing)
    for widget in widgets:
        layout.addWidget(widget)
    return layout
