"""One sentence at the top of the window: what happened, what is kept, what to do. It does not block the window.

A new message is shown at once. After another page or run was shown it is seen only where it belongs, until it is closed
or answered; of several the newest is seen.
"""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from workbench.names import visible
from workbench.problem import Problem
from workbench.ui.state.concern import EVERYWHERE, Concern
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.labels import IconLabel, label, restyle

DETAILS_HEIGHT = 160  # px


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """A sentence or Problem with what it is about, the text that Details shows, and what Undo does."""

    what: Problem | str
    concern: Concern
    details: str = ""
    undo: Callable[[], None] | None = None


class MessageBar(QFrame):
    """Keeps the newest message of each concern. Details are hidden at first, and can be copied."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("messageBar")
        self.setAccessibleName("Message")
        self._icon = IconLabel()
        self.what = label("", "strong", wrap=True)
        self.rest = label("", wrap=True)
        for text in (self.what, self.rest):
            text.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )
        self.unfold = button("Details", kind="quiet")
        self.unfold.setCheckable(True)
        self.copy = button("Copy", "copy", kind="quiet")
        self.undo = button("Undo", "arrow-u-up-left", kind="quiet")
        self._open: list[Message] = []  # oldest first
        self._shown: Message | None = None
        self._where: tuple[str, int | None] = ("", None)  # page and run that are shown
        self.close_button = icon_button("x", "Close this message")
        self.details = QPlainTextEdit(readOnly=True)
        self.details.setObjectName("details")
        self.details.setAccessibleName("Details")
        self.details.setFixedHeight(DETAILS_HEIGHT)
        self._build()
        self.unfold.toggled.connect(self.details.setVisible)
        self.copy.clicked.connect(self._copy)
        self.undo.clicked.connect(self._undo)
        self.close_button.clicked.connect(self._close)
        self.hide()

    def _build(self) -> None:
        words = in_column(self.what, self.rest, spacing=0)
        row = in_row((self._icon, Qt.AlignmentFlag.AlignTop), (words, 1), spacing=8)
        for control in (self.undo, self.unfold, self.copy, self.close_button):
            row.addWidget(control, 0, Qt.AlignmentFlag.AlignTop)
        in_column(row, self.details, on=self, margins=(12, 8, 8, 8))

    def show_message(
        self,
        message: Problem | str,
        details: str = "",
        undo: Callable[[], None] | None = None,
        concern: Concern = EVERYWHERE,
    ) -> None:
        """Show a Problem with its parts, or a plain notice; an older one of the same concern is forgotten.

        Args:
            message: the sentence or the Problem to show.
            details: the text that Details unfolds.
            undo: called by the Undo button, which is shown when this is given.
            concern: what it is about.
        """
        self.settle(concern)
        self._open.append(Message(message, concern, details, undo))
        self._show(self._open[-1])

    def turn(self, page: str, run: int | None) -> None:
        """Show the newest message that belongs to the page and run that are now shown, or none."""
        if self._where != (page, run):
            self._where = page, run
            self._show_newest()

    def settle(self, answered: Concern | Problem | str) -> None:
        """Forget the message about this, or with this Problem or notice: it is answered."""
        self._forget([message for message in self._open if answered in (message.concern, message.what)])

    def has(self, what: Problem | str) -> bool:
        """Whether a message with this Problem or notice is open, in sight or not."""
        return any(message.what == what for message in self._open)

    def clear(self) -> None:
        """Forget all messages: another workspace is shown."""
        self._forget(list(self._open))

    def _forget(self, answered: list[Message]) -> None:
        self._open = [message for message in self._open if message not in answered]
        if self._shown in answered:
            self._show_newest()

    def _show_newest(self) -> None:
        self._show(next((message for message in reversed(self._open) if message.concern.matches(*self._where)), None))

    def _show(self, message: Message | None) -> None:
        if message is self._shown:
            return
        self._shown = message
        self.setVisible(message is not None)
        if message is None:
            return
        problem = message.what if isinstance(message.what, Problem) else None
        rest = " ".join(part for part in (problem.kept, problem.todo) if part) if problem is not None else ""
        self.setProperty("kind", "notice" if problem is None else "problem")
        restyle(self)
        self._icon.show_icon(*(("info", "accent") if problem is None else ("warning-circle", "wrong")))
        self.what.setText(visible(str(message.what) if problem is None else problem.what))
        self.rest.setText(visible(rest))
        self.rest.setVisible(bool(rest))
        self.undo.setVisible(message.undo is not None)
        self.details.setPlainText(message.details)
        self.unfold.setChecked(False)
        self.unfold.setVisible(bool(message.details))
        self.details.setVisible(False)

    def _close(self) -> None:
        if self._shown is not None:
            self._forget([self._shown])

    def _undo(self) -> None:
        shown = self._shown
        self._close()
        if shown is not None and shown.undo is not None:
            shown.undo()

    def _copy(self) -> None:
        parts = (self.what.text(), self.rest.text(), self.details.toPlainText())
        QGuiApplication.clipboard().setText("\n\n".join(part for part in parts if part))
