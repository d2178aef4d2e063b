"""Closing the window while a run works: the user chooses how the run ends. No thread is killed."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QDialog, QLayout, QProgressBar, QWidget

from workbench.control import Control
from workbench.ui.state.session import Session
from workbench.ui.style.words import STOP, STOP_FIRST, STOP_NOW
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.dialogs.question import WORDS_WIDTH, Question
from workbench.ui.widgets.labels import label


class WaitDialog(QDialog):
    """Shown until the run has ended; the window keeps painting."""

    now_chosen = Signal()

    def __init__(self, words: str, can_hurry: bool, stop_now: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Closing")
        self.setModal(True)
        self.words = label(words, wrap=True)
        bar = QProgressBar(textVisible=False)
        bar.setRange(0, 0)
        bar.setAccessibleName("Waiting for the run to end")
        self.now = button(stop_now, "stop")
        self.now.setVisible(can_hurry)
        self.now.clicked.connect(self.now_chosen)
        column = in_column(
            self.words, bar, (self.now, Qt.AlignmentFlag.AlignRight), on=self, margins=(24, 24, 24, 16), spacing=12
        )
        self.words.setMinimumWidth(WORDS_WIDTH)
        column.setSizeConstraint(QLayout.SizeConstraint.SetMinimumSize)

    def reject(self) -> None:
        """Ignore Esc: the dialog closes when the run has ended."""


class Closing(QObject):
    """Decides whether the window may close now, and closes it when the last run has ended."""

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self.ask: Question | None = None
        self.wait: WaitDialog | None = None

    def may_close(self) -> bool:
        """True when no run works; otherwise the user is asked, and the window closes later."""
        if not self._session.busy:
            return True
        if self.ask is None and self.wait is None:
            self._open_question()
        return False

    def _open_question(self) -> None:
        queue = self._session.queue
        run = self._session.run([*queue.running, *queue.waiting][0])
        controls = [self._session.control(run_id) for run_id in queue.running]
        if run is not None and len(queue.running) > 1:
            works = "and others are still training"
        else:
            works = (
                "is paused" if controls and all(one is not None and one.paused for one in controls) else "is training"
            )
        in_line = {0: "", 1: " The queued run is removed from the queue, and can be put back on the Train page."}.get(
            len(queue.waiting),
            f" The {len(queue.waiting)} queued runs are removed from the queue, and can be put back on the Train page.",
        )
        self.ask = Question(
            "A run is training",
            f"{'A run' if run is None else f'“{run.name}”'} {works}",
            "Save and close ends before the next step and writes a checkpoint: Resume continues from there. Stopping "
            "after this epoch finishes the epoch first. Either way the curves and evaluations are kept."
            f"{in_line}",
            {
                "keep": button("Keep the window open"),
                "stop": button(STOP, "stop"),
                "save": button("Save and close", "floppy-disk", "primary"),
            },
            self._window,
        )
        self.ask.answered.connect(self._answered)
        self.ask.open()

    def _answered(self, answer: str) -> None:
        self.ask = None
        if answer == "stop":
            self._end(lambda control: control.stop(), "The run finishes this epoch. The window closes then.")
        elif answer == "save":
            words = "The run ends before its next step, with a checkpoint. The window closes then."
            self._end(lambda control: control.interrupt(), words)

    def _end(self, how: Callable[[Control], None], words: str) -> None:
        """End every run as `how` asks its control to, and say so in the meantime."""
        self._session.queue.withdraw_waiting()
        for run_id in self._session.queue.running:
            control = self._session.control(run_id)
            if control is not None:
                how(control)
        self._wait(words, can_hurry=True)

    def _stop_now(self) -> None:
        self._session.queue.withdraw_waiting()
        for run_id in self._session.queue.running:
            self._session.end_run(run_id)
        self._wait("The run ends. The window closes then.", can_hurry=False)

    def _wait(self, words: str, can_hurry: bool) -> None:
        if not self._session.busy:
            self._close()
            return
        if self.wait is None:
            runs = map(self._session.run, self._session.queue.running)
            finished = any(run is not None and run.epoch for run in runs)
            self.wait = WaitDialog(words, can_hurry, STOP_NOW if finished else STOP_FIRST, self._window)
            self.wait.now_chosen.connect(self._stop_now)
            self._session.queue.idle.connect(self._close)
            self.wait.open()
        self.wait.words.setText(words)
        self.wait.now.setVisible(can_hurry)

    def _close(self) -> None:
        if self.wait is not None:
            self.wait.hide()
            self.wait.deleteLater()
            self.wait = None
        self._window.close()
