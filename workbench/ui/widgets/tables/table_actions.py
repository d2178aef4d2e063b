"""Copy and save a table: the same words, keys, menu and messages wherever the window shows one."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QAbstractButton, QPushButton, QTableView, QToolButton

from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.dialogs.save_file import Make, Wish, ask_and_save, copy_text

COPY, SAVE = "Copy table", "Save CSV…"
TABLE = "the table"


class TableActions(QObject):
    """The actions `copy` and `save`, in the context menu of a table and on buttons; Ctrl+C in the table copies it.

    They are disabled while the table is empty.

    Args:
        fulfil: Session.fulfil, or a signal that leads to it.
        view: the table, with its model.
        name: of the file that is offered, or what gives it, with its ending.
        lines: gives titles and rows as they are shown, with tabs between the cells.
        content: gives what makes the CSV file on a thread, for what is shown now.
    """

    def __init__(
        self,
        fulfil: Callable[[Wish], object],
        view: QTableView,
        name: str | Callable[[], str],
        lines: Callable[[], Iterable[str]],
        content: Make,
    ) -> None:
        super().__init__(view)
        self._fulfil, self._view, self._name = fulfil, view, name
        self._lines, self._content = lines, content
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
        copy, save = button(COPY, "copy"), button(SAVE, "export")
        save.setToolTip(tip)
        _bind(copy, self.copy)
        _bind(save, self.save)
        return copy, save

    def icons(self) -> tuple[QToolButton, QToolButton]:
        """A bare icon for each action."""
        copy, save = icon_button("copy", COPY), icon_button("export", SAVE)
        _bind(copy, self.copy)
        _bind(save, self.save)
        return copy, save

    def save_to(self, path: Path) -> None:
        """Write the CSV file, on a thread; the message bar says where it is, or why not."""
        content = self._content()
        self._fulfil(lambda session: session.save_file(TABLE, path, content))

    def _copy(self) -> None:
        copy_text("\n".join(self._lines()), "The table", self._fulfil)

    def _ask_and_save(self) -> None:
        name = self._name if isinstance(self._name, str) else self._name()
        kinds = {".csv": ("CSV", self._content)}
        self._fulfil(partial(ask_and_save, parent=self._view.window(), what=TABLE, name=name, kinds=kinds))

    def _offer(self) -> None:
        for action in (self.copy, self.save):
            action.setEnabled(self._view.model().rowCount() > 0)


def _bind(widget: QAbstractButton, action: QAction) -> None:
    widget.clicked.connect(action.trigger)
    widget.setEnabled(action.isEnabled())
    action.enabledChanged.connect(widget.setEnabled)
