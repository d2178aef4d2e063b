"""One sentence at the top of the window: what happened, what is kept, what to do. It does not block the window."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from workbench.problem import Problem
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.labels import IconLabel, label, restyle

DETAILS_HEIGHT = 160  # px


class MessageBar(QFrame):
    """Shows the newest message until it is closed. Details are folded, and can be copied."""

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
        self._undo_action: Callable[[], None] | None = None
        self.close_button = icon_button("x", "Close this message")
        self.details = QPlainTextEdit(readOnly=True)
        self.details.setObjectName("details")
        self.details.setAccessibleName("Details")
        self.details.setFixedHeight(DETAILS_HEIGHT)
        self._build()
        self.unfold.toggled.connect(self.details.setVisible)
        self.copy.clicked.connect(self._copy)
        self.undo.clicked.connect(self._undo)
        self.close_button.clicked.connect(self.hide)
        self.hide()

    def _build(self) -> None:
        words = in_column(self.what, self.rest, spacing=0)
        row = in_row((self._icon, Qt.AlignmentFlag.AlignTop), (words, 1), spacing=8)
        for control in (self.undo, self.unfold, self.copy, self.close_button):
            row.addWidget(control, 0, Qt.AlignmentFlag.AlignTop)
        in_column(row, self.details, on=self, margins=(12, 8, 8, 8))

    def show_message(self, message: Problem | str, details: str = "", undo: Callable[[], None] | None = None) -> None:
        """Show a Problem with its parts, or a plain notice.

        Args:
            message: the sentence or the Problem to show.
            details: the text that Details unfolds.
            undo: called by the Undo button, which is shown when this is given.
        """
        self._undo_action = undo
        self.undo.setVisible(undo is not None)
        problem = isinstance(message, Problem)
        what = message.what if isinstance(message, Problem) else message
        rest = " ".join(part for part in (message.kept, message.todo) if part) if isinstance(message, Problem) else ""
        self.setProperty("kind", "problem" if problem else "notice")
        restyle(self)
        self._icon.show_icon(*(("warning-circle", "wrong") if problem else ("info", "accent")))
        self.what.setText(what)
        self.rest.setText(rest)
        self.rest.setVisible(bool(rest))
        self.details.setPlainText(details)
        self.unfold.setChecked(False)
        self.unfold.setVisible(bool(details))
        self.details.setVisible(False)
        self.show()

    def _undo(self) -> None:
        self.hide()
        if self._undo_action is not None:
            self._undo_action()

    def _copy(self) -> None:
        parts = (self.what.text(), self.rest.text(), self.details.toPlainText())
        QGuiApplication.clipboard().setText("\n\n".join(part for part in parts if part))
