"""Copy and save a table: the same words, keys, menu and messages wherever the window shows one."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QAbstractButton, QDialogButtonBox, QPushButton, QTableView, QToolButton
from shiboken6 import isValid

from workbench.files.spreadsheet import csv_text, number_or_text, pasted, plain_cell
from workbench.progress import Progress
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.dialogs.save_file import Content, Make, Wish, ask_and_save, copy_text

COPY, SAVE = "Copy table", "Save CSV…"
TABLE = "the table"
AT_ONCE = 2_000  # rows
SIGNED = re.compile(r"[+-]\d[\d., +\-\u2212\u00b1\[\]%]*")  # a value, alone or with its limits: it runs nothing
Button = TypeVar("Button", bound=QAbstractButton)
Lines = Callable[[], Sequence[str]]


class TableActions(QObject):
    """The actions `copy` and `save`, in the context menu of a table and on buttons; Ctrl+C in the table copies it.

    They are disabled while the table is empty.

    Args:
        fulfil: Session.fulfil, or a signal that leads to it.
        view: the table, with its model.
        name: of the file that is offered, or what gives it, with its ending.
        lines: gives what writes titles and rows as they are shown now, with tabs between the cells; on a thread where
            there are more than AT_ONCE. By default the model is read at once, which takes long for many thousands.
        content: gives what makes the CSV file on a thread, for what is shown now; by default of those lines.
    """

    def __init__(
        self,
        fulfil: Callable[[Wish], object],
        view: QTableView,
        name: str | Callable[[], str],
        lines: Callable[[], Lines] | None = None,
        content: Make | None = None,
    ) -> None:
        super().__init__(view)
        self._fulfil, self._view, self._name = fulfil, view, name
        self._lines, self._content = lines or partial(_shown_lines, view), content or self._as_shown
        self.copy, self.save = QAction(COPY, view), QAction(SAVE, view)
        self.copy.setShortcut(QKeySequence.StandardKey.Copy)
        self.copy.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self.copy.triggered.connect(self._copy)
        self.save.triggered.connect(self._ask_and_save)
        view.addActions([self.copy, self.save])
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        model = view.model()
        for changed in (model.modelReset, model.rowsInserted, model.rowsRemoved):
            changed.connect(self._offer)
        self._offer()

    def buttons(self, tip: str = "") -> tuple[QPushButton, QPushButton]:
        """A button with words for each action; `tip` says what a saved file has in it."""
        copy, save = _bound(button(COPY, "copy"), self.copy), _bound(button(SAVE, "export"), self.save)
        save.setToolTip(tip)
        return copy, save

    def icons(self) -> tuple[QToolButton, QToolButton]:
        """A bare icon for each action."""
        return _bound(icon_button("copy", COPY), self.copy), _bound(icon_button("export", SAVE), self.save)

    def add_to(self, box: QDialogButtonBox) -> tuple[QPushButton, QPushButton]:
        """Add a button for each action to those of a dialog."""
        copy, save = _added(box)
        return _bound(copy, self.copy), _bound(save, self.save)

    def save_to(self, path: Path) -> None:
        """Write the CSV file, on a thread; the message bar says where it is, or why not."""
        content = self._content()
        self._fulfil(lambda session: session.save_file(TABLE, path, content))

    def _copy(self) -> None:
        lines = self._written()
        then = partial(copy_text, what="The table", fulfil=self._fulfil)
        if self._view.model().rowCount() <= AT_ONCE:
            then("\n".join(lines()))
        else:
            work = partial(_joined, lines)
            self._fulfil(lambda session: session.run_in_thread("Copy the table", work, then))

    def _ask_and_save(self) -> None:
        name = self._name if isinstance(self._name, str) else self._name()
        content = self._content()  # now: while the file is chosen a run may bring another table, or none
        kinds = {".csv": ("CSV", lambda: content)}
        self._fulfil(partial(ask_and_save, parent=self._view.window(), what=TABLE, name=name, kinds=kinds))

    def _as_shown(self) -> Content:
        return partial(_csv, self._written())

    def _written(self) -> Lines:
        """What writes the lines; of few rows they are written now."""
        lines = self._lines()
        if self._view.model().rowCount() > AT_ONCE:
            return lines
        now = lines()
        return lambda: now

    def _offer(self) -> None:
        if not isValid(self._view):  # a QTableWidget empties its model while it is destroyed
            return
        for action in (self.copy, self.save):
            action.setEnabled(self._view.model().rowCount() > 0)


class ShownTableButtons(QObject):
    """Buttons of a dialog whose tabs have tables, or none: they copy and save the one that is shown.

    Args:
        box: gets the buttons.
        shown: gives the actions of that table, or None.
    """

    def __init__(self, box: QDialogButtonBox, shown: Callable[[], TableActions | None]) -> None:
        super().__init__(box)
        self._shown = shown
        self.copy, self.save = _added(box)
        self.copy.clicked.connect(self.copy_shown)
        self.save.clicked.connect(self._save_shown)

    def refresh(self) -> None:
        """Enable the buttons if a table with rows is shown."""
        actions = self._shown()
        for widget in (self.copy, self.save):
            widget.setEnabled(actions is not None and actions.copy.isEnabled())

    def copy_shown(self) -> None:
        """Copy the shown table; nothing happens where none is."""
        if (actions := self._shown()) is not None:
            actions.copy.trigger()

    def _save_shown(self) -> None:
        if (actions := self._shown()) is not None:
            actions.save.trigger()


def _shown_lines(view: QTableView) -> Lines:
    """Titles and rows of a table with tabs between the cells; no text is a formula where it is pasted."""
    model = view.model()
    columns, rows = range(model.columnCount()), range(model.rowCount())
    head = [model.headerData(column, Qt.Orientation.Horizontal) for column in columns]
    cells = [[model.index(row, column).data() for column in columns] for row in rows]
    return lambda: ["\t".join(map(_pasted, row)) for row in (head, *cells)]


def _pasted(cell: object) -> str:
    text = "" if cell is None else str(cell)
    return text if SIGNED.fullmatch(text) else pasted(text)


def _joined(lines: Lines, progress: Progress) -> str:
    progress("Writing the lines", 0, 0)
    return "\n".join(lines())


def _csv(lines: Lines) -> str:
    head, *rows = (line.split("\t") for line in lines())
    return csv_text(list(map(plain_cell, head)), [list(map(_in_csv, row)) for row in rows])


def _in_csv(cell: str) -> float | str:
    plain = plain_cell(cell)
    return plain if plain != cell else number_or_text(cell)  # only a name gets the apostrophe: "-05" is one then


def _added(box: QDialogButtonBox) -> tuple[QPushButton, QPushButton]:
    role = QDialogButtonBox.ButtonRole.ActionRole
    return box.addButton(COPY, role), box.addButton(SAVE, role)


def _bound(widget: Button, action: QAction) -> Button:
    widget.clicked.connect(action.trigger)
    widget.setEnabled(action.isEnabled())
    action.enabledChanged.connect(widget.setEnabled)
    return widget
