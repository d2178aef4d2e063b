"""The card "What this shows": sentences computed from the curves."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from workbench.ui.pages.train.findings.reading import Sentence
from workbench.ui.widgets.card import Card
from workbench.ui.widgets.labels import IconLabel, label

ICONS = {"note": ("info", "accent"), "warning": ("warning", "warning")}
NOTHING_YET = "Sentences about the curves appear here once there are enough points."
NOTHING = "This run has too few points for a sentence about its curves."


class Findings(QScrollArea):
    """Shows sentences, one below the other."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("What this shows")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._card = Card("What this shows")
        self._card.body.setContentsMargins(12, 8, 12, 12)
        self._column = QVBoxLayout()
        self._column.setSpacing(8)
        self._card.body.addLayout(self._column)
        self._card.body.addStretch(1)
        self.setWidget(self._card)
        self._shown: list[Sentence] | None = None
        self._lines: list[_Line] = []  # those beyond the sentences are hidden
        self._nothing = label(NOTHING_YET, "muted", wrap=True)
        self._column.addWidget(self._nothing)
        self.show_sentences([])

    def show_sentences(self, sentences: list[Sentence]) -> None:
        """Replace what is shown; lines of the same kind get their new words, the same sentences change nothing."""
        if sentences == self._shown:
            return
        self._shown = sentences
        while len(self._lines) < len(sentences):
            self._lines.append(_Line())
            self._column.addWidget(self._lines[-1])
        for index, line in enumerate(self._lines):
            line.setVisible(index < len(sentences))
            if index < len(sentences):
                line.show_sentence(sentences[index])
        self._nothing.setVisible(not sentences)

    def expect_more(self, more: bool) -> None:
        """Say, where there is no sentence, whether one may still come."""
        self._nothing.setText(NOTHING_YET if more else NOTHING)

    def text(self) -> str:
        """What is shown, a sentence a line."""
        return "\n".join(sentence.text for sentence in self._shown or [])


class _Line(QWidget):
    """A sentence behind the icon of its kind."""

    def __init__(self) -> None:
        super().__init__()
        self._icon, self._words = IconLabel(*ICONS["note"]), label("", wrap=True)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._words, 1)

    def show_sentence(self, sentence: Sentence) -> None:
        self._icon.show_icon(*ICONS[sentence.kind])
        if self._words.text() != sentence.text:
            self._words.setText(sentence.text)
