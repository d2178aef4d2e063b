"""Notices how the runs of this window, its runs at places and the sweeps of its workspace end."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.jobs.newest import Newest
from workbench.progress import Progress
from workbench.ui.state.session import Session
from workbench.workspace import Workspace
from workbench.workspace.experiments import sweeps as stored
from workbench.workspace.rows import Run

if TYPE_CHECKING:
    from workbench.ui.window.runs.outcomes import Outcome

SWEEPS_EVERY = 5000  # ms between two looks at the sweeps, while one goes on
RECORDED_WITHIN = 3000  # ms in which the end of a run that failed is read from the workspace


class WatchedEnds(QObject):
    """Compares the runs that worked with what the follower reads now; sweeps are read on a thread.

    Runs of other programs are not watched, and those of a sweep only as one.
    """

    happened = Signal(object)  # outcomes.Outcome

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._working: set[int] = set()  # runs that this window steers, and that had not ended at the last look
        self._asked: dict[int, str] = {}  # by run that waits for the user: why
        self._sweeps: set[int] = set()  # that have a run at work
        self._told: dict[int, str] = {}  # by sweep: the last sentence, until it goes on
        self._reading = Newest(session, one_at_a_time=True)
        self._timer = QTimer(self, interval=SWEEPS_EVERY)
        self._timer.timeout.connect(self.look_at_sweeps)
        session.runs_changed.connect(self.refresh)
        session.workspace_changed.connect(self._forget)
        session.run_ended.connect(self._run_ended)
        self.refresh()

    def refresh(self) -> None:
        """Emit what happened to runs since the last call."""
        live: list[Run] = []
        ended: dict[int, Run] = {}
        for run in self._session.runs():
            if run.live:
                live.append(run)
            elif run.id in self._working:
                ended[run.id] = run
        steered, self._working = self._working, set()  # a run that is in the trash now is not told
        for run in live:
            self._watch(run, run.id in steered)
        if ended:
            from workbench.ui.window.runs.outcomes import outcome_of  # late: the window is shown first

            for run in ended.values():
                outcome = outcome_of(run)
                if outcome is not None:
                    self.happened.emit(outcome)

    def _watch(self, run: Run, steered: bool) -> None:
        sweep = self._sweep_of(run)
        if sweep is not None:
            self._sweeps.add(sweep)
            if not self._timer.isActive():
                self._timer.start()
        elif steered or self._session.control(run.id) is not None:  # which is gone before its end is read
            self._working.add(run.id)
            self._notice_wait(run)

    def _notice_wait(self, run: Run) -> None:
        asked = run.problem if run.status == "waiting" else ""
        if asked and asked != self._asked.get(run.id):
            from workbench.ui.window.runs.outcomes import waiting

            self.happened.emit(waiting(run))
        self._asked[run.id] = asked

    def _sweep_of(self, run: Run) -> int | None:
        """The number of the sweep that made a run; None for any other."""
        if run.experiment_id is None:
            return None
        experiments = self._session.follower.experiments
        result = next((one.result for one in experiments if one.id == run.experiment_id), {})
        number = result.get("sweep")
        return number if isinstance(number, int) else None

    @property
    def reading(self) -> bool:
        """Whether the sweeps are being read."""
        return self._reading.busy

    def look_at_sweeps(self) -> None:
        """Read the sweeps that go on, on a thread, and emit what happened to them."""
        if not self.reading:
            read = partial(_read, self._session.workspace, tuple(self._sweeps))
            self._reading.ask("Sweeps", read, self._take, lambda _: None, quiet=True)

    def _take(self, looks: dict[int, tuple[bool, "Outcome | None"]]) -> None:
        for number, (goes_on, outcome) in looks.items():
            if goes_on:
                self._told.pop(number, None)
                continue
            self._sweeps.discard(number)
            if outcome is not None and self._told.get(number) != outcome.text:
                self._told[number] = outcome.text
                self.happened.emit(outcome)
        if not self._sweeps:
            self._timer.stop()

    def _run_ended(self, run_id: int, status: str) -> None:
        if status == "failed" and run_id in self._working:
            QTimer.singleShot(RECORDED_WITHIN, self, partial(self._tell_unrecorded, run_id))

    def _tell_unrecorded(self, run_id: int) -> None:
        run = self._session.run(run_id)
        if run is not None and run.live and self._session.control(run_id) is None:
            from workbench.ui.window.runs.outcomes import unrecorded

            self._working.discard(run_id)
            self.happened.emit(unrecorded(run))

    def _forget(self) -> None:
        """Another workspace was opened: what was watched is not shown any more."""
        self._reading.cancel()
        self._timer.stop()
        for known in (self._working, self._asked, self._sweeps, self._told):
            known.clear()


def _read(
    workspace: Workspace, numbers: tuple[int, ...], progress: Progress
) -> dict[int, tuple[bool, "Outcome | None"]]:
    """By sweep: whether it goes on, and what to tell of it if it does not; for a thread."""
    from workbench.ui.window.runs.outcomes import goes_on, outcome_of_sweep

    looks: dict[int, tuple[bool, Outcome | None]] = {}
    for sweep in stored.every(workspace):
        if sweep.id in numbers:
            going = goes_on(sweep)
            looks[sweep.id] = going, None if going else outcome_of_sweep(sweep, stored.trials(workspace, sweep.id))
    return looks
