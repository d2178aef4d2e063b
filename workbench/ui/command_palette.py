"""Find and run any command by a few of its letters."""

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QEvent, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QFrame,
    QHeaderView,
    QLineEdit,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from workbench.ui.commands import Commands, score
from workbench.ui.widgets.boxes import in_column

Index = QModelIndex | QPersistentModelIndex
WIDTH, HEIGHT = 480, 360  # px
GROUPS = {"View": 1, "File": 2, "Edit": 3, "Run": 4, "Help": 5}  # in this order after the page's own


class CommandList(QAbstractTableModel):
    """Commands that can be run now and fit what was typed, best first: their words, and their keys."""

    def __init__(self, commands: Commands, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._commands = commands
        self.keys: list[str] = []
        self.find("")

    def find(self, typed: str) -> None:
        """List the enabled commands that fit what was typed, best first; all of them for an empty line."""
        self.beginResetModel()
        scored = [(score(typed, self._line(key)), key) for key in self._commands if self._can_run(key)]
        fitting = [(points, key) for points, key in scored if points is not None]
        if typed.strip():
            fitting.sort(key=lambda pair: -pair[0])
        else:
            fitting.sort(key=lambda pair: GROUPS.get(self._commands.group(pair[1]), 0))
        self.keys = [key for _, key in fitting]
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.keys)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else 2

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The command's words (column 0) or its shortcut (column 1)."""
        if not index.isValid():
            return None
        key = self.keys[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            keys = self._commands.shortcut(key).toString(QKeySequence.SequenceFormat.NativeText)
            return self._line(key) if index.column() == 0 else keys
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() == 1:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def _line(self, key: str) -> str:
        return f"{self._commands.group(key)}: {self._commands.title(key)}"

    def _can_run(self, key: str) -> bool:
        return self._commands[key].isEnabled() and self._commands[key].isVisible()


class CommandPalette(QDialog):
    """A line to type in and the commands under it; Up and Down choose, Enter runs, Esc closes."""

    def __init__(self, commands: Commands, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Dialog | Qt.WindowType.FramelessWindowHint)
        self.setWindowTitle("Commands")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._commands = commands
        self.line = QLineEdit(placeholderText="Type a command")
        self.line.setAccessibleName("Command")
        self.model = CommandList(commands, self)
        self.list = QTableView()
        self.list.setModel(self.model)
        self.list.setAccessibleName("Commands that fit")
        self._build()
        self.line.installEventFilter(self)
        self.line.textChanged.connect(self._find)
        self.line.returnPressed.connect(self.run_chosen)
        self.list.activated.connect(self.run_chosen)
        self._find("")

    def _build(self) -> None:
        self.list.verticalHeader().hide()
        self.list.horizontalHeader().hide()
        self.list.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.list.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.list.verticalHeader().setDefaultSectionSize(self.list.fontMetrics().height() + 8)
        self.list.setShowGrid(False)
        self.list.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.setTabKeyNavigation(False)
        frame = QFrame(self)
        frame.setObjectName("palette")
        in_column(self.line, self.list, on=frame, margins=8)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(frame)
        self.resize(WIDTH, HEIGHT)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
            if step is not None:
                self._choose(self.list.currentIndex().row() + step)
                return True
        return super().eventFilter(watched, event)

    def run_chosen(self) -> None:
        """Close, then run the command in the list's current row."""
        row = self.list.currentIndex().row()
        if not 0 <= row < len(self.model.keys):
            return
        action = self._commands[self.model.keys[row]]
        self.close()
        action.trigger()

    def _find(self, typed: str) -> None:
        self.model.find(typed)
        self._choose(0)

    def _choose(self, row: int) -> None:
        count = self.model.rowCount()
        if count:
            self.list.setCurrentIndex(self.model.index(row % count, 0))
