"""What the report says: which sections in which order, and the person's own words."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from workbench.reports.sections import SECTIONS
from workbench.ui.widgets.labels import label

MOST_NOTES = 100_000  # letters; more would be a book


class SectionChoices(QWidget):
    """Sections to tick and to bring into order by dragging or with Alt and the arrow keys; notes below."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.list = QListWidget()
        self.list.setAccessibleName("Sections of the report; tick to include, drag or Alt+arrow to order")
        self.list.setToolTip("Tick to include; drag, or press Alt+Up and Alt+Down, to order")
        self.list.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTabKeyNavigation(False)
        self.list.setSizeAdjustPolicy(QAbstractItemView.SizeAdjustPolicy.AdjustToContents)
        self.list.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        for key, word in SECTIONS.items():
            item = QListWidgetItem(word, self.list)
            item.setData(Qt.ItemDataRole.UserRole, key)
            item.setFlags((item.flags() | Qt.ItemFlag.ItemIsUserCheckable) & ~Qt.ItemFlag.ItemIsDropEnabled)
            item.setCheckState(Qt.CheckState.Checked)
        self.list.setCurrentRow(0)
        self._add_move("Move the section up", "Alt+Up", self.move_up)
        self._add_move("Move the section down", "Alt+Down", self.move_down)
        self.notes = QPlainTextEdit()
        self.notes.setPlaceholderText("What a colleague should know")
        self.notes.setAccessibleName("Your own text in the report")
        self.notes.setTabChangesFocus(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(label("Sections", "section"))
        column.addWidget(self.list)
        column.addWidget(label("Notes", "caption"))
        column.addWidget(self.notes, 1)
        self.list.itemChanged.connect(self._say)
        self.list.model().rowsMoved.connect(self._say)
        self.notes.textChanged.connect(self._say)

    def sections(self) -> list[str]:
        """The ticked sections in their order."""
        items = (self.list.item(row) for row in range(self.list.count()))
        return [
            str(item.data(Qt.ItemDataRole.UserRole)) for item in items if item.checkState() == Qt.CheckState.Checked
        ]

    def own_text(self) -> str:
        """The notes, without spaces around."""
        return self.notes.toPlainText().strip()[:MOST_NOTES]

    def move_up(self) -> None:
        """Put the current section one place higher."""
        self._move(-1)

    def move_down(self) -> None:
        """Put the current section one place lower."""
        self._move(1)

    def _move(self, by: int) -> None:
        row = self.list.currentRow()
        if row < 0 or not 0 <= row + by < self.list.count():
            return
        self.list.insertItem(row + by, self.list.takeItem(row))
        self.list.setCurrentRow(row + by)
        self._say()

    def _add_move(self, words: str, keys: str, do: object) -> None:
        action = QAction(words, self.list)
        action.setShortcut(QKeySequence(keys))
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.triggered.connect(do)
        self.list.addAction(action)

    def _say(self) -> None:
        self.changed.emit()
