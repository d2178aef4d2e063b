"""The table of commands and their keys, to read and to change."""

from PySide6.QtCore import QObject, QSignalBlocker, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QHeaderView,
    QKeySequenceEdit,
    QLineEdit,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from workbench.ui.state.commands import Commands
from workbench.ui.style import theme
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.dialogs.first_size import open_at
from workbench.ui.widgets.dialogs.main_button import MainButtonDialog
from workbench.ui.widgets.labels import label


class _Row(QObject):
    """Keeps one command's editor and its command together."""

    def __init__(self, key: str, dialog: "ShortcutsDialog") -> None:
        super().__init__(dialog)
        self.key, self._dialog = key, dialog
        title = dialog.commands.name(key)
        self.edit = QKeySequenceEdit(dialog.commands.shortcut(key))
        self.edit.setMaximumSequenceLength(1)
        self.edit.setClearButtonEnabled(True)
        self.edit.setAccessibleName(f"Shortcut of {title}")
        self.reset = icon_button("arrow-counter-clockwise", f"Reset the shortcut of {title}")
        self.edit.keySequenceChanged.connect(self._edited)
        self.reset.clicked.connect(self._reset)

    def _edited(self, sequence: QKeySequence) -> None:
        self._dialog.commands.set_shortcut(self.key, sequence)

    def _reset(self) -> None:
        self._dialog.commands.set_shortcut(self.key, self._dialog.commands.default(self.key))


class ShortcutsDialog(MainButtonDialog):
    """Every command with an editor for its keys; keys that two commands share are named.

    Tab passes the table in one step; in it Enter goes to the editor of the row, and Delete gives its first keys back.
    """

    def __init__(self, commands: Commands, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keyboard shortcuts")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.commands = commands
        self._replaced: dict[str, QKeySequence] = {}  # by the last Reset all
        self.rows = [_Row(key, self) for key in sorted(commands, key=lambda key: (commands.group(key), key))]
        self.search = QLineEdit(placeholderText="Find a command or a key")
        self.search.setAccessibleName("Find a command")
        self.table = QTableWidget(len(self.rows), 5)
        self.table.setAccessibleName("Keyboard shortcuts")
        self.table.setHorizontalHeaderLabels(["Where", "Command", "Keys", "", "Also used by"])
        self._build()
        self.search.textChanged.connect(self._filter)
        commands.changed.connect(self._refresh)
        self._refresh()

    def _build(self) -> None:
        self.table.verticalHeader().hide()
        self.table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.table.verticalHeader().setDefaultSectionSize(theme.text_px(36))
        self.table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.table.setSelectionMode(QTableWidget.SelectionMode.SingleSelection)
        self.table.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
        self.table.setTabKeyNavigation(False)
        self.table.activated.connect(lambda index: self.rows[index.row()].edit.setFocus())
        self.table.setShowGrid(False)
        for index, row in enumerate(self.rows):
            self.table.setItem(index, 0, QTableWidgetItem(self.commands.group(row.key)))
            self.table.setItem(index, 1, QTableWidgetItem(self.commands.name(row.key)))
            self.table.setCellWidget(index, 2, row.edit)
            self.table.setCellWidget(index, 3, row.reset)
            self.table.setItem(index, 4, QTableWidgetItem())
            for part in (row.edit, row.reset):
                part.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        header = self.table.horizontalHeader()
        for index, width in enumerate((88, 240, 160, 36)):
            self.table.setColumnWidth(index, theme.text_px(width))
        header.setSectionResizeMode(4, QHeaderView.ResizeMode.Stretch)
        self.reset_all, close = button("Reset all", "arrow-counter-clockwise"), button("Close", kind="primary")
        self.undo = button("Undo reset")
        self.undo.setToolTip("Give all commands the keys back that they had before Reset all")
        self.undo.hide()
        self.reset_all.clicked.connect(self._reset_all)
        self.undo.clicked.connect(self._undo_reset)
        close.clicked.connect(self.accept)
        hint = label(
            "Press Enter or click the keys, then press the new ones. Delete restores the default.", "muted", wrap=True
        )
        foot = in_row((hint, 1), self.undo, self.reset_all, close)
        in_column(self.search, (self.table, 1), foot, on=self, margins=16)
        open_at(self, theme.text_px(760), theme.text_px(560))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Delete in the table; all other keys as in every dialog."""
        row = self.table.currentRow()
        if event.key() == Qt.Key.Key_Delete and self.table.hasFocus() and row >= 0:
            self.rows[row].reset.click()
        else:
            super().keyPressEvent(event)

    def _reset_all(self) -> None:
        self._replaced = self.commands.reset_shortcuts()
        self.undo.show()
        self.undo.setFocus()  # its own button is disabled now

    def _undo_reset(self) -> None:
        """Give the replaced keys back, except to commands that have got others since."""
        commands = self.commands
        untouched = {key: old for key, old in self._replaced.items() if commands.shortcut(key) == commands.default(key)}
        self._replaced = {}
        commands.set_shortcuts(untouched)
        self.reset_all.setFocus()
        self.undo.hide()

    def _refresh(self) -> None:
        for index, row in enumerate(self.rows):
            if row.edit.keySequence() != self.commands.shortcut(row.key):
                with QSignalBlocker(row.edit):  # its command has these keys already
                    row.edit.setKeySequence(self.commands.shortcut(row.key))
            row.reset.setEnabled(self.commands.shortcut(row.key) != self.commands.default(row.key))
            item = self.table.item(index, 4)
            if item is not None:
                item.setText(", ".join(self.commands.name(other) for other in self.commands.conflicts(row.key)))
        self.reset_all.setEnabled(any(row.reset.isEnabled() for row in self.rows))

    def _filter(self, typed: str) -> None:
        words = typed.casefold().split()
        for index, row in enumerate(self.rows):
            keys = self.commands.shortcut(row.key).toString(QKeySequence.SequenceFormat.NativeText)
            text = f"{self.commands.group(row.key)} {self.commands.name(row.key)} {keys}".casefold()
            self.table.setRowHidden(index, not all(word in text for word in words))
