"""The question that is asked before a run of this window is ended."""

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from workbench.ui.state.session import Session
from workbench.ui.style.words import STOP_FIRST, STOP_NOW
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.dialogs.question import Question


class Ending(QObject):
    """Asks how to end a running or queued run, and ends it."""

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self.ask: Question | None = None
        session.end_asked.connect(self._open)

    def _open(self, run_id: int) -> None:
        control = self._session.control(run_id)
        if control is None or self.ask is not None:  # it has ended, or this is being asked
            return
        run = self._session.run(run_id)
        name = f"run {run_id}" if run is None else f"“{run.name}”"
        away = run is not None and run.placement is not None and run.status == "queued"
        waits = away or run_id in self._session.queue.waiting
        unfinished = run is not None and run.epoch == 0
        keeps = "Stopping now keeps the finished epochs with their checkpoint and map; the run can be resumed."
        if waits:
            keeps = "A run removed from the queue stays in the list of runs, and can be put back."
        elif unfinished:
            keeps = "No epoch is finished yet: stopping now keeps the curves, but the run cannot be resumed."
        stop = "Remove from queue" if waits else STOP_FIRST if unfinished else STOP_NOW
        self.ask = Question(
            "End the run",
            f"End {name}?",
            f"{keeps} Discarding moves the run to the trash with all its results.",
            {
                "keep": button("Keep in queue" if waits else "Keep training"),
                "discard": button("Discard", "trash", "danger"),
                "stop": button(stop, "stop", "primary"),
            },
            self._window,
        )
        self.ask.answered.connect(lambda answer: self._answered(run_id, answer))
        self._session.workspace_changed.connect(self.ask.reject)  # there another run may have its number
        self.ask.open()

    def _answered(self, run_id: int, answer: str) -> None:
        self.ask = None
        if self._session.control(run_id) is None:  # it ended while this was asked
            return
        if answer == "stop":
            self._session.end_run(run_id)
        elif answer == "discard":
            self._session.discard_run(run_id)
