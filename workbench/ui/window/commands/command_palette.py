"""Find and run any command, or go to any run, class or field, by a few of its letters."""

from collections.abc import Iterable
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

from workbench.ui.state.commands import Commands, score
from workbench.ui.style import theme
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.dialogs.first_size import open_at
from workbench.ui.widgets.labels import label
from workbench.ui.window.commands.finding import Finding

Index = QModelIndex | QPersistentModelIndex
WIDTH, HEIGHT = 480, 360  # px
GROUPS = {"View": 1, "File": 2, "Edit": 3, "Run": 4, "Help": 5}  # in this order after the page's own


MOST = 200  # rows


class FindingList(QAbstractTableModel):
    """Commands that can be run now, runs, classes and fields that fit what was typed, best first.

    Args:
        commands: all commands of the window; without a word only they are listed.
        others: what else can be found.
    """

    def __init__(self, commands: Commands, others: Iterable[Finding] = (), parent: QObject | None = None) -> None:
        super().__init__(parent)
        ordered = sorted(commands, key=lambda key: GROUPS.get(commands.group(key), 0))
        self._commands = [self._of_command(commands, key) for key in ordered if can_run(commands, key)]
        self._others = list(others)
        self.rows: list[Finding] = []
        self.find("")

    def find(self, typed: str) -> None:
        """List the matches, best first; all commands for an empty line."""
        self.beginResetModel()
        self.rows = self._commands
        if typed.strip():
            scored = [(score(typed, row.words), row) for row in (*self._commands, *self._others)]
            fitting = [(points, row) for points, row in scored if points is not None]
            fitting.sort(key=lambda pair: -pair[0])
            self.rows = [row for _, row in fitting[:MOST]]
        self.endResetModel()

    @staticmethod
    def _of_command(commands: Commands, key: str) -> Finding:
        keys = commands.shortcut(key).toString(QKeySequence.SequenceFormat.NativeText)
        return Finding(f"{commands.group(key)}: {commands.title(key)}", keys, commands[key].trigger)

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else 2

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The words of a row (column 0) or its note (column 1)."""
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            row = self.rows[index.row()]
            return row.words if index.column() == 0 else row.note
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() == 1:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None


def can_run(commands: Commands, key: str) -> bool:
    """Whether a command can be run now."""
    return commands[key].isEnabled() and commands[key].isVisible()


class CommandPalette(QDialog):
    """A text field with its matches below; Up and Down choose, Enter runs or opens a match, Esc closes."""

    def __init__(self, commands: Commands, parent: QWidget, others: Iterable[Finding] = ()) -> None:
        super().__init__(parent, Qt.WindowType.Dialog | Qt.WindowType.FramelessWindowHint)
        self.setWindowTitle("Commands")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.line = QLineEdit(placeholderText="Command, run, class or field")
        self.line.setAccessibleName("Command, run, class or field")
        self.model = FindingList(commands, others, self)
        self.nothing = label("No command, run, class or field has these letters in this order.", "muted", wrap=True)
        self.list = QTableView()
        self.list.setModel(self.model)
        self.list.setAccessibleName("Matches")
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
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.setTabKeyNavigation(False)
        frame = QFrame(self)
        frame.setObjectName("palette")
        in_column(self.line, self.nothing, self.list, on=frame, margins=8)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(frame)
        open_at(self, theme.text_px(WIDTH), theme.text_px(HEIGHT))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
            if step is not None:
                self._choose(self.list.currentIndex().row() + step)
                return True
        return super().eventFilter(watched, event)

    def run_chosen(self) -> None:
        """Close, then run or go to what is in the list's current row."""
        row = self.list.currentIndex().row()
        if not 0 <= row < len(self.model.rows):
            return
        chosen = self.model.rows[row]
        self.close()
        chosen.go()

    def _find(self, typed: str) -> None:
        self.model.find(typed)
        self.nothing.setVisible(self.model.rowCount() == 0)
        self._choose(0)

    def _choose(self, row: int) -> None:
        count = self.model.rowCount()
        if count:
            self.list.setCurrentIndex(self.model.index(row % count, 0))
