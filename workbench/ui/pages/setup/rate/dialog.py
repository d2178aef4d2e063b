"""The dialog of a learning-rate range test: its range, the curve as it grows, and the rate that the form takes."""

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QProgressBar, QWidget

from workbench.config import RunConfig
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.running import rate_range
from workbench.running.facts.rate_curve import RULE, STEPS, TENTH_RULE, in_words
from workbench.ui.pages.setup.rate.plot import RatePlot
from workbench.ui.state.background.activity import ActivityItem
from workbench.ui.state.background.mailbox import Mailbox
from workbench.ui.state.background.tasks import Task
from workbench.ui.state.session import Session
from workbench.ui.style.words import how_far
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.dialogs.first_size import open_at
from workbench.ui.widgets.dialogs.main_button import MainButtonDialog
from workbench.ui.widgets.fields.captions import caption
from workbench.ui.widgets.fields.editors import LineEditor
from workbench.ui.widgets.labels import ElidedLabel, label, plain_tip, restyle

WIDTH, HEIGHT, BAR = 680, 560, 160  # px at 100% text
FINDING = "Finding a learning rate"
ABOUT = (
    "A range test: a new network of this config trains for a few batches, and the learning rate rises from batch to "
    "batch. Only training images are used, nothing is measured on the test set, and nothing is stored."
)
BUSY = "A run is training here, and a test beside it would slow both down. Start it when the run has ended."
WAITS = "Waits for Preflight: the test starts when it passes."
WORKING = "The learning rate is rising. Every group of weights keeps its multiple of it."
CANCELLED = "The test was cancelled. The form is unchanged."
FIELDS = {
    "steps": f"Batches that are trained. Empty: {STEPS}, or as many as {rate_range.EPOCHS} epochs have.",
    "first": "The rate of the first batch, so small that the loss hardly changes.",
    "last": "The rate of the last batch, unless the loss diverges before.",
}
USE = "Use this rate"


class RateDialog(MainButtonDialog):
    """Tests the config of Set up. One test works at a time, on a thread; closing the dialog cancels it.

    Args:
        session: says whether a run trains.
        config: that can start.

    Attributes:
        wait: whether a start has to wait for `start_now` or `refuse`.
    """

    used = Signal(float)  # the rate that the form is to take

    def __init__(self, session: Session, config: RunConfig, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Find a learning rate")
        self._session, self._config = session, config
        self.wait: Callable[[], bool] = lambda: False
        self._task: Task | None = None
        self._points = Mailbox(self._add_point, self)
        self._number = 0  # of the test; points of an earlier one are dropped
        self._asked: tuple[int | None, float, float] | None = None
        self._build()
        self._connect()
        open_at(self, session.theme.px(WIDTH), session.theme.px(HEIGHT))
        self._settle("", "muted")

    def _build(self) -> None:
        self.steps, self.first, self.last = LineEditor("integer"), LineEditor("number"), LineEditor("number")
        self.steps.setPlaceholderText(f"{STEPS} or fewer")
        least, most = rate_range.range_of(self._config)
        self.first.set_value(f"{least:g}")
        self.last.set_value(f"{most:g}")
        fields = []
        for title, line, name in (
            ("Batches", self.steps, "steps"), ("From", self.first, "first"), ("To", self.last, "last"),
        ):  # fmt: skip
            line.setToolTip(plain_tip(FIELDS[name]))
            line.setAccessibleName({"From": "Smallest rate", "To": "Largest rate"}.get(title, title))
            fields += [caption(title, line, ""), line]
        self.start, self.cancel = button("Start the test", "play"), button("Cancel the test", "x")
        self.bar, self.doing = QProgressBar(textVisible=False), ElidedLabel("", "muted")
        self.bar.setFixedWidth(BAR)
        self.bar.setAccessibleName("Progress of the test")
        for kept in (self.bar, self.doing):  # the curve stays where it is
            policy = kept.sizePolicy()
            policy.setRetainSizeWhenHidden(True)
            kept.setSizePolicy(policy)
        self.plot = RatePlot()
        self.said = label("", wrap=True)
        self.steepest, self.tenth = button("", kind="quiet"), button("", kind="quiet")
        self.close_button, self.use = button("Close"), button(USE, "check", "primary")
        in_column(
            label(ABOUT, "muted", wrap=True),
            in_row(*fields, self.start, self.cancel, spacing=8),
            in_row(self.bar, (self.doing, 1), spacing=8),
            (self.plot, 1),
            self.said,
            in_row(self.steepest, self.tenth, 1, self.close_button, self.use, spacing=8),
            on=self,
            margins=16,
            spacing=8,
        )

    def _connect(self) -> None:
        self.start.clicked.connect(self.start_test)
        self.cancel.clicked.connect(self.cancel_test)
        self.close_button.clicked.connect(self.reject)
        self.use.clicked.connect(self._use)
        self.plot.moved.connect(self._show_chosen)
        self.plot.wished.connect(self._session.fulfil)
        for suggested in (self.steepest, self.tenth):
            suggested.clicked.connect(partial(self._choose, suggested))

    # What the user does

    def start_test(self) -> None:
        """Begin the test of the range that was typed; a sentence says why it cannot."""
        if self._task is not None or self._asked is not None:
            return
        if self._session.busy:
            self._settle(BUSY, "error")
            return
        try:
            self._asked = self._typed()
        except Problem as problem:
            self._settle(str(problem), "error")
            return
        self._work(WAITS)
        if not self.wait():
            self.start_now()

    def start_now(self) -> None:
        """Begin the test that was asked for, whose config was checked."""
        if self._asked is None:
            return
        (steps, first, last), self._asked = self._asked, None
        if self._session.busy:
            self._settle(BUSY, "error")
            return
        self._number += 1
        number, config, session = self._number, self._config, self._session
        self.plot.begin(first, last)
        self._work(WORKING)

        def work(progress: Progress) -> rate_range.RateTest:
            with session.loading(progress):
                return rate_range.find_rate(
                    config, steps=steps, first=first, last=last, progress=progress,
                    point=partial(self._points.send, number),
                )  # fmt: skip

        self._task = session.run_in_thread(FINDING, work, self._show, self._fail, cancelled=self._tell_cancelled)
        if self._task.item is not None:
            self._task.item.changed.connect(self._tell_progress)

    def refuse(self, reason: str) -> None:
        """Say why the test that waits is given up; it can be asked for again."""
        self._asked = None
        self._settle(f"The test was not started. {reason}", "error")

    def cancel_test(self) -> None:
        """End the test, which hears it before its next batch."""
        if self._task is not None:
            self._task.ask_to_end()
        elif self._asked is not None:
            self._asked = None
            self._settle(CANCELLED, "muted")

    def done(self, result: int) -> None:
        """Close; a test that works is given up."""
        self._asked = None
        if self._task is not None:
            self._task.cancel()
            self._task = None
        super().done(result)

    def _use(self) -> None:
        if self.plot.chosen is not None:
            self.used.emit(self.plot.chosen)
            self.accept()

    def _choose(self, chosen: QWidget) -> None:
        self.plot.choose(float(chosen.property("value")))
        self._show_chosen()

    def _typed(self) -> tuple[int | None, float, float]:
        """Steps and ends of the range. Raises Problem for what is no number, or no such range."""
        steps = _number(self.steps, "Batches") if self.steps.text().strip() else None
        first, last = _number(self.first, "From"), _number(self.last, "To")
        rate_range.refuse_range(first, last, None if steps is None else int(steps))
        return None if steps is None else int(steps), first, last

    # What is shown

    def _work(self, words: str) -> None:
        self._tell(words, "muted")
        self._offer(False)
        waited = self.focusWidget()
        self.bar.setRange(0, 0)
        self.doing.setText("")
        self.start.hide()
        for part in (self.cancel, self.bar, self.doing):
            part.show()
        for line in (self.steps, self.first, self.last):
            line.setEnabled(False)
        if waited in (self.start, self.steps, self.first, self.last):
            self.cancel.setFocus()

    def _settle(self, words: str, role: str) -> None:
        """Offer a test again, and say how the last one ended."""
        waited = self.focusWidget() is self.cancel
        for line in (self.steps, self.first, self.last):
            line.setEnabled(True)
        for part in (self.cancel, self.bar, self.doing):
            part.hide()
        self.start.show()  # after the other: beside it the dialog would become wider
        self._tell(words, role)
        self._offer(self.plot.chosen is not None)
        if waited:
            (self.plot.picture if self.plot.chosen is not None else self.start).setFocus()

    def _tell(self, words: str, role: str) -> None:
        self.said.setText(words)
        self.said.setProperty("role", role)
        restyle(self.said)

    def _offer(self, on: bool) -> None:
        self.use.setEnabled(on)
        self.use.setText(f"Use {in_words(self.plot.chosen)}" if on and self.plot.chosen is not None else USE)
        self.main = self.use if on else self.start
        for suggested in (self.steepest, self.tenth):
            suggested.setVisible(on and bool(suggested.property("value")))

    def _add_point(self, number: int, rate: float, loss: float, smooth: float) -> None:
        if number == self._number and self._task is not None:
            self.plot.add(rate, loss, smooth)

    def _tell_progress(self, item: ActivityItem) -> None:
        """Show how far the test is: the dialog covers the status bar."""
        if item.state == "working":
            now = item.now
            self.bar.setRange(0, now.total)
            self.bar.setValue(now.done)
            self.doing.setText(how_far(now.text, now.done, now.total, item.seconds_left))

    def _show(self, test: rate_range.RateTest) -> None:
        self._task = None
        suggested = test.suggestion
        self.plot.end(suggested)
        for line, rate, words, rule in (
            (self.steepest, suggested.rate, "Steepest descent", RULE),
            (self.tenth, suggested.tenth, "Minimum / 10", TENTH_RULE),
        ):
            line.setProperty("value", rate)
            line.setText("" if rate is None else f"{words}: {in_words(rate)}")
            line.setToolTip(plain_tip(f"{rule[0].upper()}{rule[1:]}."))
        self._settle(_outcome(test), "muted" if suggested.rate is not None else "warning")

    def _show_chosen(self) -> None:
        self._offer(self.plot.chosen is not None)

    def _fail(self, problem: Problem) -> None:
        self._task = None
        self._settle(str(problem), "error")

    def _tell_cancelled(self) -> None:
        self._task = None
        self._settle(CANCELLED, "muted")


def _number(line: LineEditor, title: str) -> float:
    value: Any = line.value()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise Problem(f"“{title}” is not a number.", todo="Type one such as 0.001 or 1e-6.")


def _outcome(test: rate_range.RateTest) -> str:
    """What came out, in sentences."""
    ended = f"The loss diverged after {len(test.rates):,} of {test.steps:,} batches." if test.ended_early else ""
    suggested = test.suggestion
    if suggested.rate is None:
        said = f"No rate is suggested. {suggested.reason} Click the curve to choose one."
    else:
        said = f"{in_words(suggested.rate)} is suggested: {RULE}. {suggested.note}"
    return " ".join(filter(None, (said.strip(), ended)))
