"""The list of a combo box with many entries, in groups, with a line to search by words."""

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFont, QKeyEvent
from PySide6.QtWidgets import QComboBox, QFrame, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout

from workbench.ui.style import theme
from workbench.ui.style.formula import rich
from workbench.ui.widgets.fields.choice_row import ASIDE_ROLE, FORMULA_ROLE, NOTE_ROLE, ChoiceRow
from workbench.ui.widgets.labels import plain_tip

GROUP_ROLE = Qt.ItemDataRole.UserRole + 1  # of an entry of the box: the title of its group
ROW_ROLE = Qt.ItemDataRole.UserRole  # of a line of the list: the entry's index in the box; None for a group
WIDEST, LINES = 640, 16  # px at 100% text, lines shown at once


class SearchPopup(QFrame):
    """Opens below a box and picks one of its entries; it closes itself."""

    def __init__(self, box: QComboBox) -> None:
        super().__init__(box, Qt.WindowType.Popup)
        self.setObjectName("palette")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._box = box
        self.line = QLineEdit(placeholderText="Search", clearButtonEnabled=True)
        self.line.setAccessibleName(f"Search {box.accessibleName()}")
        self.list = QListWidget()
        self.list.setAccessibleName(box.accessibleName())
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setItemDelegate(ChoiceRow(self.list))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setResizeMode(QListWidget.ResizeMode.Adjust)  # long formulas take more lines in a narrow list
        column = QVBoxLayout(self)
        column.setContentsMargins(4, 4, 4, 4)
        column.setSpacing(4)
        column.addWidget(self.line)
        column.addWidget(self.list)
        self.line.textChanged.connect(self.search)
        self.line.returnPressed.connect(self._take)
        self.line.installEventFilter(self)
        self.list.itemClicked.connect(self._take)
        self.search("")

    def open_below(self) -> None:
        """Show the list below its box, or above it where the screen ends, with the chosen entry in view."""
        height = self.line.sizeHint().height() + LINES * (self.fontMetrics().height() + 6)
        noted = any(self._box.itemData(row, ASIDE_ROLE) for row in range(self._box.count()))
        widest = theme.text_px(WIDEST)
        width = max(widest, self._box.width()) if noted else min(widest, max(self._box.width(), 320))
        box = QRect(self._box.mapToGlobal(QPoint(0, 0)), self._box.size())
        self.setGeometry(beside(box, QSize(width, height), self._box.screen().availableGeometry()))
        self.show()
        self.line.setFocus()

    def search(self, typed: str) -> None:
        """List the entries whose title, group or other search text contains every word of `typed`.

        Return picks the one whose title fits best, the first of several; without words the one of the box.
        """
        self.list.clear()
        words, last, best = typed.casefold().split(), "", 0
        for row in range(self._box.count()):
            title, group = self._box.itemText(row), self._box.itemData(row, GROUP_ROLE) or ""
            said = [self._box.itemData(row, role) or "" for role in (NOTE_ROLE, ASIDE_ROLE, FORMULA_ROLE)]
            if not all(word in f"{title} {group} {said[0]} {said[1]}".casefold() for word in words):
                continue
            if group != last:
                self._add_group(group)
                last = group
            item = QListWidgetItem(title)
            item.setData(ROW_ROLE, row)
            for role, text in zip((NOTE_ROLE, ASIDE_ROLE, FORMULA_ROLE), said, strict=True):
                item.setData(role, text)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, ", ".join(filter(None, (title, *said))))
            item.setToolTip(rich(said[2]) if said[2] else plain_tip(said[0]))
            self.list.addItem(item)
            fits = _fit(title, words) if words else int(row == self._box.currentIndex())
            if fits > best:
                self.list.setCurrentItem(item)
                best = fits

    def _add_group(self, group: str) -> None:
        item, font = QListWidgetItem(group), QFont(self.font())
        font.setBold(True)
        item.setFont(font)
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        self.list.addItem(item)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let Up and Down move through the entries while the cursor stays in the line."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()), 0)
            row = self.list.currentRow() + step
            while step and 0 <= row < self.list.count() and self.list.item(row).data(ROW_ROLE) is None:
                row += step
            if step:
                self.list.setCurrentRow(row if 0 <= row < self.list.count() else self.list.currentRow())
                return True
        return super().eventFilter(watched, event)

    def _take(self) -> None:
        item = self.list.currentItem()
        row = None if item is None else item.data(ROW_ROLE)
        if row is not None:
            self.close()
            self._box.setCurrentIndex(row)
            self._box.activated.emit(row)


def beside(box: QRect, size: QSize, room: QRect) -> QRect:
    """Where a list of that size is whole on the screen `room`: below its box, else above it, else over it."""
    size = size.boundedTo(room.size())
    left = max(room.left(), min(box.left(), room.left() + room.width() - size.width()))
    lowest = room.top() + room.height() - size.height()
    below, above = box.top() + box.height(), box.top() - size.height()
    top = below if below <= lowest else above if above >= room.top() else lowest
    return QRect(QPoint(left, max(room.top(), top)), size)


def _fit(title: str, words: list[str]) -> int:
    """How well a title fits what was typed, of an entry that has all words: 1 where they are in other text."""
    said, typed = title.casefold(), " ".join(words)
    return 1 + all(word in said for word in words) + said.startswith(typed) + (said == typed)
