"""Runs of this window: one at a time on a worker thread, the others wait in line."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.control import Control
from workbench.events import Emit, Ended, Event
from workbench.problem import Problem, RunTaken
from workbench.ui.preferences import Preferences
from workbench.ui.tasks import Task
from workbench.workspace import Workspace

OWN_PROCESS = "runs/own_process"  # preference: whether runs train in a process of their own
WITHDRAWN = "It was withdrawn before it began."
UNRECORDED = "The run ended, but its end could not be recorded. What was saved before is kept. See the log."
WATCH_EVERY = 1000  # ms
SOON = 5  # ms until it is checked again whether the thread of an ended run is over
MOMENT = 0.15  # seconds in which a page is drawn


class Startable(Protocol):
    """What the queue needs of jobs.Job."""

    ended: Ended | None

    def start(self) -> object:
        """Start the job on its thread."""

    def join(self, timeout: float | None = None) -> bool:
        """Wait for the end of the thread, at most `timeout` seconds; False when it has not ended."""


MakeJob = Callable[[Workspace, int, Control, Emit, bool], Startable]


def experiment_job(workspace: Workspace, run_id: int, control: Control, listen: Emit, resume: bool) -> Startable:
    """The real job; torch is loaded on its thread only."""
    from workbench.running import launch

    return launch.make_job(workspace, run_id, control, listen, resume=resume)


def chosen_job(
    preferences: Preferences, workspace: Workspace, run_id: int, control: Control, listen: Emit, resume: bool
) -> Startable:
    """As `experiment_job`, in a process of its own where the person chose that."""
    if not preferences.flag(OWN_PROCESS):
        return experiment_job(workspace, run_id, control, listen, resume)
    from workbench.running import own_process

    return own_process.make_job(workspace, run_id, control, listen, resume=resume)


@dataclass(slots=True)
class Waiting:
    """A run in line, or the one that runs, with its control."""

    run_id: int
    control: Control
    resume: bool


class RunQueue(QObject):
    """Starts runs, keeps their Control by number, and begins the next when one ends.

    A run's thread writes through a workspace of its own, so that the window never waits for its transactions;
    opening one checks the whole database, which is done off the window's thread, too.
    """

    changed = Signal()  # what runs or waits
    ended = Signal(int, str, str)  # run, status, problem; on the window's thread, after its thread is over
    idle = Signal()  # nothing runs and nothing waits
    _heard = Signal(int, object)  # run, Ended; emitted on the run's thread

    def __init__(self, workspace: Workspace, make_job: MakeJob = experiment_job, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace, self._make_job = workspace, make_job
        self._waiting: list[Waiting] = []
        self._running: Waiting | None = None
        self._job: Startable | None = None
        self._opening: Task | None = None
        self._given_up = False  # closed while a workspace was being opened
        self._own: Workspace | None = None
        self._heard.connect(self._run_ended)
        self._seen_over = False
        self._watch = QTimer(self, interval=WATCH_EVERY)
        self._watch.timeout.connect(self._look_for_silent_end)

    @property
    def running(self) -> int | None:
        """The id of the run that works; None when there is none."""
        return self._running.run_id if self._running else None

    @property
    def waiting(self) -> list[int]:
        """Runs in line, next first."""
        return [entry.run_id for entry in self._waiting]

    @property
    def busy(self) -> bool:
        """Whether a run works or waits in line."""
        return self._running is not None or bool(self._waiting)

    def control(self, run_id: int) -> Control | None:
        """The Control of a run of this window that runs or waits; None for any other."""
        for entry in (self._running, *self._waiting):
            if entry is not None and entry.run_id == run_id:
                return entry.control
        return None

    def add(self, run_id: int, resume: bool = False) -> None:
        """Start a prepared run now, or when those before it have ended."""
        self._waiting.append(Waiting(run_id, Control(attended=True), resume))
        self._next()
        self.changed.emit()

    def end(self, run_id: int, *, keep: bool = True) -> None:
        """End a run before its next step, with `keep` as a stopped one; one that waits leaves the line at once."""
        if self._running is not None and self._running.run_id == run_id:
            control = self._running.control
            (control.stop_now if keep else control.cancel)()
            return
        if run_id in self.waiting:
            self._waiting = [entry for entry in self._waiting if entry.run_id != run_id]
            self._workspace.set_status(run_id, "cancelled", WITHDRAWN)
            self.changed.emit()

    def give_way(self) -> None:
        """Pause the run for a moment between two steps, so that the window can draw a page at full speed."""
        if self._running is not None:
            self._running.control.give_way(MOMENT)

    @property
    def stands_back(self) -> bool:
        """Nothing runs, or what runs waits for the window (or is paused)."""
        return self._running is None or self._running.control.standing_back or self._running.control.paused

    def withdraw_waiting(self) -> None:
        """Take every run out of the line; the one that runs goes on."""
        for run_id in self.waiting:
            self.end(run_id)

    def close(self, timeout: float) -> bool:
        """Wait for the end of what was cancelled; False when it has not come within `timeout` seconds."""
        if self._opening is not None:
            self._opening.join(timeout)
            self._given_up = True  # its answer may be on its way to `_begin`
            if self._opening.result is not None:
                self._opening.result.close()
            if self._running is not None:
                self._workspace.set_status(self._running.run_id, "cancelled", WITHDRAWN)
        ended = self._job is None or self._job.join(timeout)
        if ended:
            self._forget_job()
        return ended

    def _next(self) -> None:
        if self._running is None and self._waiting:
            self._running = self._waiting.pop(0)
            path = self._workspace.path
            self._opening = Task("open", lambda progress: Workspace(path), self._begin, self._fail, None, self)
            self._opening.start()

    def _begin(self, own: Workspace) -> None:
        if self._given_up:
            return
        self._opening = None
        assert self._running is not None
        first = self._running
        run_id = first.run_id

        def listen(event: Event) -> None:
            if isinstance(event, Ended):  # all else the window reads from the workspace
                self._heard.emit(run_id, event)

        self._own = own
        try:
            self._job = self._make_job(own, run_id, first.control, listen, first.resume)
        except Problem as problem:
            self._fail(problem)
        else:
            self._job.start()
            self._watch.start()
            self.changed.emit()

    def _fail(self, problem: Problem) -> None:
        """End the run that could not be started as failed."""
        if self._given_up:
            return
        self._opening = None
        assert self._running is not None
        run_id = self._running.run_id
        if not isinstance(problem, RunTaken):  # then the row is another's
            self._workspace.set_status(run_id, "failed", str(problem))
        self._run_ended(run_id, Ended("failed", str(problem)))

    def _look_for_silent_end(self) -> None:
        """End a run whose thread is over but whose end was not recorded (a full disk): the next can start."""
        over = self._job is not None and self._job.join(0)
        if over and self._seen_over and self._running is not None:  # twice: its word is not just on its way
            said = self._job.ended.problem if self._job is not None and self._job.ended is not None else ""
            self._run_ended(self._running.run_id, Ended("failed", f"{said} {UNRECORDED}".lstrip()))
        self._seen_over = over

    def _run_ended(self, run_id: int, ended: Ended) -> None:
        if run_id != self.running:
            return
        if self._job is not None and not self._job.join(0):  # its thread ends later, and yields to others
            QTimer.singleShot(SOON, self, lambda: self._run_ended(run_id, ended))
            return
        self._forget_job()
        self._next()
        self.changed.emit()
        self.ended.emit(run_id, ended.status, ended.problem)
        if not self.busy:
            self.idle.emit()

    def _forget_job(self) -> None:
        if self._own is not None:
            self._own.close()
        self._running, self._job, self._own = None, None, None
        self._seen_over = False
        self._watch.stop()
