"""A question with a sentence and some answers; the first answer is the safe one, which Enter and Esc choose."""

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLayout, QPushButton, QWidget

from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.labels import label

WORDS_WIDTH = 400  # px


class Question(QDialog):
    """Shown with `open`; `answered` is sent once.

    Args:
        title: of the dialog.
        question: its heading.
        words: what each answer does.
        answers: key -> button, from left to right; the first changes nothing.
        parent: the window that waits for the answer.
    """

    answered = Signal(str)  # the key of an answer

    def __init__(self, title: str, question: str, words: str, answers: dict[str, QPushButton], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.answers = answers
        self._answer = next(iter(answers))
        column = in_column(label(question, "section", wrap=True), on=self, margins=(24, 24, 24, 16), spacing=8)
        self.words = label(words, wrap=True)
        self.words.setMinimumWidth(WORDS_WIDTH)
        column.addWidget(self.words)
        row = QHBoxLayout()
        row.addStretch(1)
        for key, button in answers.items():
            row.addWidget(button)
            button.clicked.connect(partial(self._give, key))
        column.addSpacing(8)
        column.addLayout(row)
        column.setSizeConstraint(QLayout.SizeConstraint.SetMinimumSize)
        answers[self._answer].setDefault(True)
        self.finished.connect(self._say)

    def _give(self, key: str, _checked: bool = False) -> None:
        self._answer = key
        self.accept()

    def _say(self) -> None:
        self.answered.emit(self._answer)
