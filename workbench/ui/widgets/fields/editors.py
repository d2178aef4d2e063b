"""One editor for each kind of parameter. Each accepts a wrong value, so that the form can explain it."""

import time
from collections.abc import Sequence
from typing import Any, Protocol

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QDropEvent,
    QFocusEvent,
    QKeyEvent,
    QKeySequence,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QCompleter,
    QFileDialog,
    QLineEdit,
    QMenu,
    QPushButton,
    QWidget,
)

from workbench.ui.style.words import ARCHIVES
from workbench.ui.widgets.boxes import in_row
from workbench.ui.widgets.fields.choice_row import ASIDE_ROLE, FORMULA_ROLE
from workbench.ui.widgets.fields.elided_box import ElidedBox
from workbench.ui.widgets.fields.offered_names import OfferedNames
from workbench.ui.widgets.fields.path_line import PathLine
from workbench.ui.widgets.fields.search_popup import GROUP_ROLE, SearchPopup
from workbench.ui.widgets.fields.typed_word import TypedWord

Field = dict[str, Any]  # one property of a JSON Schema, as in the catalog
NARROW = 96  # px: the least that a number or a short word needs
COMMANDS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier


class Editor(Protocol):
    """What a row of a form asks of its editor. `edited` is sent for the user's own changes only."""

    edited: Any

    def value(self) -> Any:
        """What is entered; text that is not a valid number is returned as text."""

    def set_value(self, value: Any) -> None:
        """Show a value without sending `edited`."""


class LineEditor(QLineEdit):
    """Text, whole number or number. Text that is not a valid number is returned as text, which the check explains."""

    edited = Signal()

    def __init__(self, kind: str, suggestions: Sequence[str] = (), offered: str = "") -> None:
        super().__init__()
        self._kind = kind
        self.names = OfferedNames(offered, self) if offered else None
        self.setMinimumWidth(NARROW)
        if suggestions:
            completer = QCompleter(list(suggestions), self)
            completer.setFilterMode(Qt.MatchFlag.MatchContains)
            completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
            self._complete_by(completer)
            self.setPlaceholderText(f"{suggestions[0]}, …")
        if self.names is not None:
            self._complete_by(self.names)
        self.textEdited.connect(self.edited)

    def _complete_by(self, completer: QCompleter) -> None:
        completer.highlighted.connect(self._on_highlight)
        completer.activated.connect(self.edited)
        self.setCompleter(completer)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Down opens the list of names where there is one."""
        if event.key() == Qt.Key.Key_Down and self.names is not None:
            self.names.show_all()
            return
        super().keyPressEvent(event)

    def value(self) -> Any:
        """The number; the text itself where it cannot be read as one."""
        return parsed(self.text(), self._kind)

    def set_value(self, value: Any) -> None:
        """Show a number or a text; None is shown as an empty line."""
        if self.value() != value or not self.text():
            self.setText("" if value is None else str(value))
            self.setCursorPosition(0)  # a long text shows its beginning

    def event(self, event: QEvent) -> bool:
        """Leave Ctrl+Z to the page, which undoes edits of all fields in order."""
        if event.type() == QEvent.Type.ShortcutOverride:
            for key in (QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo):
                if event.matches(key):  # type: ignore[attr-defined]
                    event.ignore()
                    return False
        return super().event(event)

    def _on_highlight(self, text: str) -> None:
        """The arrows write a row of the list into the line, where it stays however the list is closed."""
        self.setText(text)
        self.edited.emit()


class ChoiceEditor(ElidedBox):
    """One of some words, shown by their titles. The wheel scrolls the page, never the choice.

    Args:
        values: what is chosen from.
        titles: of the values.
        groups: of the values, each with its neighbours; then the list has headings and can be searched.
        formulas: of the values, below their titles in a list that can be searched. asides: words beside them.
    """

    edited = Signal()

    def __init__(
        self,
        values: Sequence[str],
        titles: Sequence[str],
        parent: QWidget | None = None,
        groups: Sequence[str] = (),
        formulas: Sequence[str] = (),
        asides: Sequence[str] = (),
    ) -> None:
        super().__init__(parent)
        self.typed = TypedWord()  # at the closed list
        self._grouped = bool(groups)
        for value, title in zip(values, titles, strict=True):
            self.addItem(title, value)
        for role, words in ((GROUP_ROLE, groups), (FORMULA_ROLE, formulas), (ASIDE_ROLE, asides)):
            for row, text in enumerate(words):
                self.setItemData(row, text, role)
        self.setMinimumContentsLength(8)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.activated.connect(self.edited)

    def value(self) -> Any:
        """The value of the chosen entry."""
        return self.currentData()

    def set_value(self, value: Any) -> None:
        """Choose the entry of that value; a value that is not in the list is added to it."""
        index = self.findData(value)
        if index < 0:  # from a config file: shown, and explained by the check
            self.addItem(str(value), value)
            index = self.count() - 1
        self.setCurrentIndex(index)

    def showPopup(self) -> None:
        """Open the list; one in groups with a line to search by."""
        if self._grouped:
            SearchPopup(self).open_below()
        else:
            super().showPopup()

    def open_group(self, group: str) -> None:
        """Open the list at the entries of a group; the search line holds its title."""
        popup = SearchPopup(self)
        popup.line.setText(group)
        popup.open_below()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Letters choose the entry that begins with them, also where each choice makes this editor anew."""
        letters, at = event.text(), event.timestamp() or time.monotonic() * 1000  # made by hand it has no time
        pause = QApplication.keyboardInputInterval()
        opens = letters == " " and not self.typed.goes_on(at, pause)
        if not letters.isprintable() or not letters or event.modifiers() & COMMANDS or opens:
            super().keyPressEvent(event)
            return
        self.typed.add(letters, at, pause)
        row = self.typed.row([self.itemText(entry) for entry in range(self.count())], self.currentIndex())
        if row is not None and row != self.currentIndex():
            self.setCurrentIndex(row)
            self.activated.emit(row)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class TickEditor(QCheckBox):
    """A field that is on or off."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.clicked.connect(self.edited)

    def value(self) -> Any:
        """Whether the box is ticked."""
        return self.isChecked()

    def set_value(self, value: Any) -> None:
        """Tick the box for True, and clear it for anything else."""
        self.setChecked(value is True)


class PathEditor(QWidget):
    """A folder or file: typed, browsed for, dropped, or taken from the recent ones."""

    edited = Signal()

    def __init__(self, kind: str, recents: Sequence[str]) -> None:
        super().__init__()
        self._kind = kind  # "folder", "file", "place": a folder or an archive, or "any": a folder or a file
        words = {"place": "folder or archive", "any": "folder or file"}.get(kind, kind)
        self._paths = QComboBox(editable=True, insertPolicy=QComboBox.InsertPolicy.NoInsert)
        self._paths.setLineEdit(PathLine())
        self._paths.addItems(list(recents))
        self._paths.setMinimumContentsLength(8)
        self._paths.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._paths.wheelEvent = _ignored  # type: ignore[method-assign]
        self._paths.clearEditText()
        self.browse = QPushButton("Browse…")
        if kind in ("place", "any"):
            menu = QMenu(self.browse)
            menu.addAction("Folder…", self._browse_folder)
            menu.addAction("Archive…" if kind == "place" else "File…", self._browse_file)
            self.browse.setMenu(menu)
        else:
            self.browse.clicked.connect(self._browse_folder if kind == "folder" else self._browse_file)
        self.browse.setAccessibleName(f"Browse for a {words}")
        in_row((self._paths, 1), self.browse, on=self, spacing=4)
        self._line().setPlaceholderText(f"Drop a {words} here, or type its path")
        self._line().setAcceptDrops(False)  # its own drop would leave "file:///..."; ours is below
        self.setAcceptDrops(True)
        self._line().textEdited.connect(self.edited)
        self._paths.activated.connect(self.edited)

    def value(self) -> Any:
        """The path as it was typed or chosen, without spaces around it."""
        return self._paths.currentText().strip()

    def set_value(self, value: Any) -> None:
        """Show a path; None is shown as an empty one."""
        if self.value() != value:
            self._paths.setEditText("" if value is None else str(value))

    def setAccessibleName(self, name: str) -> None:
        super().setAccessibleName(name)
        self._paths.setAccessibleName(name)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Hand the focus to the field. A focus proxy would be another stop of Tab, wherever this editor was made."""
        self._paths.setFocus(event.reason())

    def setAccessibleDescription(self, description: str) -> None:
        super().setAccessibleDescription(description)
        self._paths.setAccessibleDescription(description)

    def minimumSizeHint(self) -> QSize:
        return QSize(2 * NARROW, super().minimumSizeHint().height())

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls() and event.mimeData().urls()[0].isLocalFile():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        self.take(event.mimeData().urls()[0].toLocalFile())
        event.acceptProposedAction()

    def take(self, path: str) -> None:
        """Enter a path that the user chose."""
        self._paths.setEditText(path)
        self.edited.emit()

    def _line(self) -> QLineEdit:
        line = self._paths.lineEdit()
        assert line is not None  # the box is editable
        return line

    def _browse_folder(self) -> None:
        if chosen := QFileDialog.getExistingDirectory(self, "Choose a folder", self.value()):
            self.take(chosen)

    def _browse_file(self) -> None:
        kinds = ARCHIVES if self._kind == "place" else ""
        if chosen := QFileDialog.getOpenFileName(self, "Choose a file", self.value(), kinds)[0]:
            self.take(chosen)


def parsed(text: str, kind: str) -> Any:
    """The text as the field's type, or unchanged when it cannot be parsed."""
    text = text.strip() if kind != "string" else text
    try:
        return {"integer": int, "number": float}.get(kind, str)(text)
    except ValueError:
        return text


def editor_of(field: Field, recents: Sequence[str] = ()) -> QWidget:
    """The editor that suits one described field."""
    if "enum" in field:
        beside = {words: field.get(words, ()) for words in ("groups", "formulas", "asides")}
        titles = field.get("titles") or [str(value).replace("_", " ") for value in field["enum"]]
        return ChoiceEditor(field["enum"], titles, **beside)
    if field["type"] == "boolean":
        return TickEditor()
    if field.get("path"):
        return PathEditor(field["path"], recents)
    return LineEditor(field["type"], field.get("suggestions", ()), field.get("offered", ""))


def _ignored(event: QWheelEvent) -> None:
    event.ignore()
