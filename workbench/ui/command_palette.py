"""Find and run any command by a few of its letters."""

from PySide6.QtCore import QAbstractListModel, QEvent, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QDialog, QFrame, QLineEdit, QListView, QVBoxLayout, QWidget

from workbench.ui.commands import Commands, score

Index = QModelIndex | QPersistentModelIndex
WIDTH, HEIGHT = 480, 360  # px


class CommandList(QAbstractListModel):
    """Commands that can be run now and fit what was typed, best first."""

    def __init__(self, commands: Commands, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._commands = commands
        self.keys: list[str] = []
        self.find("")

    def find(self, typed: str) -> None:
        self.beginResetModel()
        scored = [(score(typed, self._line(key)), key) for key in self._commands if self._can_run(key)]
        fitting = [(points, key) for points, key in scored if points is not None]
        ordered = sorted(fitting, key=lambda each: -each[0]) if typed.strip() else fitting
        self.keys = [key for _, key in ordered]
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.keys)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> str | None:
        if not index.isValid() or role != Qt.ItemDataRole.DisplayRole:
            return None
        key = self.keys[index.row()]
        keys = self._commands.shortcut(key).toString(QKeySequence.SequenceFormat.NativeText)
        return f"{self._line(key)}    {keys}" if keys else self._line(key)

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
        self.list = QListView()
        self.list.setModel(self.model)
        self.list.setUniformItemSizes(True)
        self.list.setAccessibleName("Commands that fit")
        self._build()
        self.line.installEventFilter(self)
        self.line.textChanged.connect(self._find)
        self.line.returnPressed.connect(self.run_chosen)
        self.list.activated.connect(self.run_chosen)
        self._find("")

    def _build(self) -> None:
        frame = QFrame(self)
        frame.setObjectName("palette")
        inner = QVBoxLayout(frame)
        inner.setContentsMargins(8, 8, 8, 8)
        inner.addWidget(self.line)
        inner.addWidget(self.list)
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
            self.list.setCurrentIndex(self.model.index(row % count))
