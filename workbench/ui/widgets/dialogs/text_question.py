"""Questions for a line or for several lines of text, with a button that says what becomes of it."""

from PySide6.QtWidgets import QDialog, QLineEdit, QPlainTextEdit, QPushButton, QWidget

from workbench.ui.style.words import own_keys
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.buttons import button, button_row
from workbench.ui.widgets.dialogs.main_button import MainButtonDialog
from workbench.ui.widgets.fields.captions import caption
from workbench.ui.widgets.labels import label

WIDTH = 400  # px of the field, at least


class TextQuestion(MainButtonDialog):
    """A labelled field, below it Cancel and the main button. In a field of several lines Ctrl+Enter presses it.

    Args:
        parent: the window that waits for the answer.
        title: of the dialog.
        words: above the field.
        verb: on the main button.
        field: holds the text that is there at first.
        explanation: a sentence below the field, or nothing.
    """

    main: QPushButton

    def __init__(
        self, parent: QWidget, title: str, words: str, verb: str, field: QLineEdit | QPlainTextEdit, explanation: str
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.field, self.words = field, caption(words, field, "")
        self.cancel, self.main = button("Cancel"), button(verb, kind="primary")
        self.words.setWordWrap(True)
        field.setAccessibleName(words)
        field.setMinimumWidth(WIDTH)
        self._build(explanation)
        self.cancel.clicked.connect(self.reject)
        self.main.clicked.connect(self.accept)
        field.setFocus()
        self._adds = False

    def add_to_text(self) -> None:
        """Begin with the cursor behind the text of a line, not with all of it selected: typing then adds to it."""
        self._adds = True

    def setVisible(self, visible: bool) -> None:
        """Show or hide the dialog; Qt selects the line of one that it shows."""
        super().setVisible(visible)
        if visible and self._adds and isinstance(self.field, QLineEdit):
            self.field.end(False)

    def _build(self, explanation: str) -> None:
        column = in_column(self.words, self.field, on=self, margins=16, spacing=8)
        if explanation:
            column.addWidget(label(explanation, "muted", wrap=True))
        column.addSpacing(8)
        column.addLayout(button_row(self.cancel, self.main))

    def agreed(self) -> bool:
        """Wait for the answer: whether the text is to be taken."""
        accepted = self.exec() == QDialog.DialogCode.Accepted
        self.deleteLater()
        return accepted


def ask_line(
    parent: QWidget, title: str, words: str, *, text: str = "", verb: str = "Save", explanation: str = "",
    adds: bool = False,
) -> str | None:  # fmt: skip
    """The line that the user types; None when the dialog is cancelled.

    The arguments are those of `TextQuestion`; where typing `adds`, it does not replace the text that is there.
    """
    line = QLineEdit(text)
    dialog = TextQuestion(parent, title, words, verb, line, explanation)
    if adds:
        dialog.add_to_text()
    return line.text() if dialog.agreed() else None


def ask_name(
    parent: QWidget, title: str, words: str, longest: int, *, text: str = "", verb: str = "Save"
) -> str | None:
    """As `ask_line`, for 1 to `longest` characters; spaces alone are no name."""
    line = QLineEdit(text)
    line.setMaxLength(longest)
    dialog = TextQuestion(parent, title, words, verb, line, "")
    dialog.main.setEnabled(bool(text.strip()))
    line.textChanged.connect(lambda typed: dialog.main.setEnabled(bool(typed.strip())))
    return line.text() if dialog.agreed() else None


def ask_lines(
    parent: QWidget, title: str, words: str, *, text: str = "", verb: str = "Save", explanation: str = ""
) -> str | None:
    """As `ask_line`, for a text of several lines."""
    lines = QPlainTextEdit(text)
    lines.setTabChangesFocus(True)
    question = TextQuestion(parent, title, words, verb, lines, explanation or own_keys("Ctrl+Enter saves it."))
    return lines.toPlainText() if question.agreed() else None
