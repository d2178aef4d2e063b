"""The card "What this shows": sentences computed from the curves."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from workbench.ui.pages.train.reading import Sentence
from workbench.ui.widgets.card import Card
from workbench.ui.widgets.labels import IconLabel, label

ICONS = {"note": ("info", "accent"), "warning": ("warning", "warning")}
NOTHING_YET = "Sentences about the curves appear here once there are enough points."


class Findings(QScrollArea):
    """Shows sentences, one below the other."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
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
        self.show_sentences([])

    def show_sentences(self, sentences: list[Sentence]) -> None:
        """Replace what is shown; the same sentences again change nothing."""
        if sentences == self._shown:
            return
        self._shown = sentences
        while (item := self._column.takeAt(0)) is not None:
            if (line := item.widget()) is not None:
                line.setParent(None)
                line.deleteLater()
        for sentence in sentences:
            self._column.addWidget(_line(sentence))
        if not sentences:
            self._column.addWidget(label(NOTHING_YET, "muted", wrap=True))

    def text(self) -> str:
        """What is shown, a sentence a line."""
        return "\n".join(sentence.text for sentence in self._shown or [])


def _line(sentence: Sentence) -> QWidget:
    line = QWidget()
    row = QHBoxLayout(line)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(8)
    row.addWidget(IconLabel(*ICONS[sentence.kind]), 0, Qt.AlignmentFlag.AlignTop)
    row.addWidget(label(sentence.text, wrap=True), 1)
    return line
