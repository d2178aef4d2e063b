"""The summary of the answers of Label triage, and the buttons that export and import them."""

from PySide6.QtWidgets import QVBoxLayout, QWidget

from workbench.numerals import percentage
from workbench.results.label_overlay import Precision, answers_to_narrow
from workbench.ui.pages.retrieval.triage.model import TODO, TriageModel
from workbench.ui.pages.retrieval.triage.precision_plot import PrecisionPlot
from workbench.ui.style.words import THIN, counted, duration, own_keys
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.card import Card
from workbench.ui.widgets.flow import in_lines
from workbench.ui.widgets.labels import IconLabel, label, plain_tip
from workbench.ui.widgets.numbers.shares_bar import SharesBar
from workbench.workspace.choices.label_decisions import DROP, KEEP, RELABEL, UNSURE

MARGINS = (16, 8, 16, 12)  # px around the parts of a card
COARSE = 60.0  # s; a time left is said in whole minutes from here on
BAR_PX, SQUARE = 6, 12
COLOURS = {RELABEL: "accent", KEEP: "right", DROP: "wrong", UNSURE: "warning", TODO: "divider"}  # tokens of the theme
ANSWERED = {KEEP: "kept", RELABEL: "relabelled", DROP: "dropped", UNSURE: "unsure"}


class TriageSummary(QWidget):
    """The precision of the queue and the counts of the answers; the panel connects its buttons."""

    def __init__(self, model: TriageModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.precision, self.precision_words = label("", "title"), label("", "muted", wrap=True)
        self.plot, self.narrowing = PrecisionPlot(), label("", "caption", wrap=True)
        self.bar, self.left = SharesBar(BAR_PX), label("", "caption", wrap=True)
        self.counts = {word: label("0") for word in COLOURS}
        self.left.setToolTip("At the pace of your last answers, without breaks")
        self.undo = button("Undo", "arrow-u-up-left")
        self.undo.setToolTip(own_keys("Undo the last answer (Ctrl+Z)"))
        self.export, self.import_ = button("Export…", "export"), button("Import…", "download-simple")
        self.set_up = button("Set up a run…", "sliders")
        self.set_up.setToolTip(
            "Export the answers and open Set up with the settings of this run and with the file in two fields: Label "
            "decisions, for training images, and Score with label decisions, for the test set"
        )
        done, changes = Card("Progress"), Card("What it changes")
        self._fill_plot()
        done.body.addWidget(self.bar)
        for word, count in self.counts.items():
            square = IconLabel("square-fill", COLOURS[word], SQUARE)
            done.body.addLayout(in_row(square, (label(words_of(word), "muted"), 1), count, spacing=8))
        done.body.addWidget(self.left)
        changes.body.addWidget(label(
            "Images stay as they are. A run is trained, and scored, with the answers about its images.",
            "muted", wrap=True,
        ))  # fmt: skip
        changes.body.addLayout(in_lines(self.set_up, self.export, self.import_, self.undo))
        in_column(self.plot, done, changes, 1, on=self, spacing=12)

    def _fill_plot(self) -> None:
        """Put the number and its words into the card of the plot."""
        column = self.plot.layout()
        assert isinstance(column, QVBoxLayout)
        column.setContentsMargins(*MARGINS)
        column.insertWidget(1, self.precision)
        column.insertWidget(2, self.precision_words)
        column.addWidget(self.narrowing)

    def draw(self) -> None:
        """Redraw the counts, the curve and the time left."""
        counts, judged = self._model.counts(), self._model.judged()
        self.plot.show_path(self._model.judged_so_far(), sum(counts.values()))
        self._say_narrowing(judged, counts[TODO])
        seconds = self._model.seconds_left()
        self.left.setText("" if seconds is None else time_left(seconds))
        self.left.setVisible(seconds is not None)
        self.bar.show_parts([(counts[word], COLOURS[word]) for word in COLOURS])
        for word, count in self.counts.items():
            count.setText(f"{counts[word]:,}")
        self.precision.setText(percentage(judged.right / judged.answered, 0) if judged.answered else "–")
        self.precision_words.setText(
            f"of {judged.answered:,} answered were wrong labels; 95%: {percentage(judged.low, 0)} to "
            f"{percentage(judged.high, 0)}"
            if judged.answered else "of the suspicion, as judged so far"
        )  # fmt: skip
        self.undo.setEnabled(bool(self._model.history))

    def _say_narrowing(self, judged: Precision, to_do: int) -> None:
        """What more answers would do to the interval; nothing where too few are left."""
        more, half = answers_to_narrow(judged) or (0, 0.0)
        self.narrowing.setVisible(0 < more <= to_do)
        points = f"{100 * half:.0f}{THIN}points"
        self.narrowing.setText(f"{more:,} more with this share: under ±{THIN}{points}")
        after = f"After {counted(more, 'more answer')} with the same share of wrong labels"
        self.narrowing.setToolTip(plain_tip(f"{after}, half of the 95% interval is under {points}"))


def words_of(answer: str) -> str:
    """What images with this answer are called, "To do" for those without."""
    return ANSWERED.get(answer, answer).capitalize()


def time_left(seconds: float) -> str:
    """How long the rest takes, as far as a pace can say: "about 3 min left", "under 1 min left"."""
    if seconds < COARSE:
        return f"under 1{THIN}min left"
    whole = COARSE * max(1, round(seconds / COARSE))
    words = duration(whole).removesuffix(f" 0{THIN}s").removesuffix(f" 0{THIN}min")
    return f"about {words} left"
