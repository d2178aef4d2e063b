"""A list whose rows have bars: what the lists of classes and of confusions share."""

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter
from PySide6.QtWidgets import QFrame, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from workbench.ui.style import theme
from workbench.ui.style.mirrored import mirrored

SIDE, GAP = 8, 8  # px: left and right of a row, between its parts
FAINT = 150  # of 255: bars of rows that are not chosen
KEYS = (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)


class BarList(QListView):
    """`picked` (QModelIndex): a row was clicked, or Space or Enter was pressed on it.

    Args:
        name: for screen readers.
    """

    picked = Signal(QModelIndex)

    def __init__(self, model: QAbstractItemModel, row: QStyledItemDelegate, name: str) -> None:
        super().__init__()
        self.setModel(model)
        self.setUniformItemSizes(True)
        row.setParent(self)
        self.setItemDelegate(row)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(name)
        self.clicked.connect(self.picked)

    def sizeHint(self) -> QSize:
        """As high as its minimum: a column takes the hint, not the minimum, of what has text that folds beside it."""
        return QSize(super().sizeHint().width(), self.minimumHeight())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Space and Enter do what a click does."""
        if event.key() in KEYS and self.currentIndex().isValid():
            self.picked.emit(self.currentIndex())
        else:
            super().keyPressEvent(event)


def paint_ground(painter: QPainter, option: QStyleOptionViewItem) -> None:
    """Paint what is below a row: whether it is chosen, or under the pointer."""
    if option.widget is not None:
        panel = QStyle.PrimitiveElement.PE_PanelItemViewItem
        option.widget.style().drawPrimitive(panel, option, painter, option.widget)


def paint_bar(painter: QPainter, option: QStyleOptionViewItem, track: QRectF, share: float, colour: str) -> None:
    """Paint a bar over that share (0 to 1; NaN for none) of a track; strong in a row that is chosen."""
    painter.fillRect(mirrored(option, track), QColor(theme.current().divider))
    if share == share:
        filled = QColor(colour)
        filled.setAlpha(255 if option.state & QStyle.StateFlag.State_Selected else FAINT)
        width = track.width() * min(1.0, max(0.0, share))
        painter.fillRect(mirrored(option, QRectF(track.left(), track.top(), width, track.height())), filled)
