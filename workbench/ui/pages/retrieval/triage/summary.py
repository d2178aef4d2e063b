"""The summary of the answers of Label triage, and the buttons that export and import them."""

from PySide6.QtWidgets import QWidget

from workbench.numerals import percentage
from workbench.ui.pages.retrieval.triage.model import TriageModel
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.card import Card
from workbench.ui.widgets.flow import in_lines
from workbench.ui.widgets.labels import label
from workbench.workspace.choices.label_decisions import DROP, KEEP, RELABEL, UNSURE

ANSWERED = {KEEP: "kept", RELABEL: "relabelled", DROP: "dropped", UNSURE: "unsure"}


class TriageSummary(QWidget):
    """The precision of the queue and the counts of the answers; the panel connects its buttons."""

    def __init__(self, model: TriageModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.precision, self.precision_words = label("", "title"), label("", "muted", wrap=True)
        self.progress = label("", "muted", wrap=True)
        self.undo = button("Undo", "arrow-u-up-left")
        self.undo.setToolTip("Undo the last answer (Ctrl+Z)")
        self.export, self.import_ = button("Export…", "export"), button("Import…", "download-simple")
        judged, done, changes = Card("Precision"), Card("Progress"), Card("What it changes")
        judged.body.addWidget(self.precision)
        judged.body.addWidget(self.precision_words)
        done.body.addWidget(self.progress)
        changes.body.addWidget(label(
            "Images stay as they are. Export the answers, then choose the file under Label decisions in Set up.",
            "muted", wrap=True,
        ))  # fmt: skip
        changes.body.addLayout(in_lines(self.export, self.import_, self.undo))
        in_column(judged, done, changes, 1, on=self, spacing=12)

    def draw(self) -> None:
        """Redraw the counts."""
        counts, judged = self._model.counts(), self._model.judged()
        self.progress.setText(
            "\n".join(f"{ANSWERED.get(word, word).capitalize()}: {n:,}" for word, n in counts.items())
        )
        self.precision.setText(percentage(judged.right / judged.answered, 0) if judged.answered else "–")
        self.precision_words.setText(
            f"of {judged.answered:,} answered were wrong labels; 95%: {percentage(judged.low, 0)} to "
            f"{percentage(judged.high, 0)}"
            if judged.answered else "of the suspicion, as judged so far"
        )  # fmt: skip
        self.undo.setEnabled(bool(self._model.history))
