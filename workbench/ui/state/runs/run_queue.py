"""Runs of this window: one at a time, or one on each device that the user gave the queue; the others are queued."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.control import Control
from workbench.events import Ended, Event
from workbench.problem import Problem, RunTaken
from workbench.sweeps.device_lock import DeviceLock
from workbench.ui.state.background.mailbox import Mailbox
from workbench.ui.state.background.tasks import Task
from workbench.ui.state.runs.run_jobs import MakeJob, Startable, job_in_this_process
from workbench.workspace import Workspace

log = logging.getLogger(__name__)
WITHDRAWN = "It was removed from the queue before it began."
UNRECORDED = "The run ended, but its end could not be recorded."
KEPT = "What was saved before is kept. See the log."
WATCH_EVERY = 1000  # ms
SOON = 5  # ms until it is checked again whether the thread of an ended run is over
MOMENT = 0.15  # seconds in which a page is drawn


@dataclass(slots=True)
class Waiting:
    """A queued run, with its control."""

    run_id: int
    control: Control
    resume: bool
    alone: bool  # it needs several devices: nothing else trains at the same time


@dataclass(slots=True, eq=False)
class AtWork:
    """A run that has left the queue."""

    run_id: int
    control: Control
    resume: bool
    index: int  # of its device among those of the queue
    device: str  # overrides the config's; empty for that one
    opening: Task | None = None
    own: Workspace | None = None
    job: Startable | None = None
    seen_over: bool = False


class RunQueue(QObject):
    """Starts runs, keeps their Control by number, and begins the next when one ends.

    A run's thread writes through a workspace of its own, so that the window never waits for its transactions;
    opening one checks the whole database, which is done off the window's thread, too. A device that the queue was
    given is locked while a run has it, against sweeps and other windows of this machine.

    Args:
        devices: gives the devices that the queue may use now; none for one run at a time on its config's device.
    """

    changed = Signal()  # what runs or waits
    stood_still = Signal()  # a run began to wait for the user, or goes on: a full disk cannot store that
    ended = Signal(int, str, str)  # run, status, problem; on the window's thread, after its thread is over
    unstored = Signal(object)  # Problem: the state of a run that never began could not be written
    idle = Signal()  # nothing runs and nothing waits

    def __init__(
        self, workspace: Workspace, make_job: MakeJob = job_in_this_process, parent: QObject | None = None,
        devices: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._workspace, self._make_job, self._devices = workspace, make_job, devices
        self._waiting: list[Waiting] = []
        self._at_work: list[AtWork] = []
        self._locks: dict[str, DeviceLock] = {}
        self._reasons: dict[int, str] = {}  # by run that waits for the user, at the last look
        self._given_up = False  # closed while a workspace was being opened
        self._mailbox = Mailbox(self._run_ended, self)
        self._watch = QTimer(self, interval=WATCH_EVERY)
        self._watch.timeout.connect(self._look)

    @property
    def running(self) -> list[int]:
        """Runs that work, the one that began first before the others."""
        return [work.run_id for work in self._at_work]

    @property
    def waiting(self) -> list[int]:
        """Queued runs, next first."""
        return [entry.run_id for entry in self._waiting]

    @property
    def busy(self) -> bool:
        """Whether a run works or is queued."""
        return bool(self._at_work or self._waiting)

    def device_of(self, run_id: int) -> str:
        """The device of the queue that a run has, "cuda:1"; "" for one that waits or trains on its config's."""
        return next((work.device for work in self._at_work if work.run_id == run_id), "")

    def control(self, run_id: int) -> Control | None:
        """The Control of a run of this window that runs or waits; None for any other."""
        entries: list[AtWork | Waiting] = [*self._at_work, *self._waiting]
        return next((entry.control for entry in entries if entry.run_id == run_id), None)

    def reasons(self) -> dict[int, str]:
        """Why runs of this window wait for the user, by number; those that the user paused are not among them."""
        controls = ((work.run_id, work.control) for work in self._at_work)
        return {run_id: control.reason for run_id, control in controls if control.paused and control.reason}

    def add(self, run_id: int, resume: bool = False, alone: bool = False) -> None:
        """Start a prepared run now, or when there is a device for it; `alone` for one that names several itself."""
        self._waiting.append(Waiting(run_id, Control(attended=True), resume, alone))
        self._next()
        self.changed.emit()

    def go_on(self) -> None:
        """Use other devices for the queue: the user chose them."""
        self._next()
        self.changed.emit()

    def end(self, run_id: int, *, keep: bool = True) -> None:
        """End a run before its next step, with `keep` as a stopped one; one that waits leaves the queue at once."""
        if run_id in self.waiting:
            self._waiting = [entry for entry in self._waiting if entry.run_id != run_id]
            self._store_end(run_id, "cancelled", WITHDRAWN)
            self.changed.emit()
        elif (control := self.control(run_id)) is not None:
            (control.stop_now if keep else control.cancel)()

    def give_way(self) -> None:
        """Pause all runs for a moment between two steps, so that the window can draw a page at full speed."""
        for work in self._at_work:
            work.control.give_way(MOMENT)

    @property
    def stands_back(self) -> bool:
        """Whether nothing trains, or every run waits for the window (or is paused)."""
        return all(work.control.standing_back or work.control.paused for work in self._at_work)

    def withdraw_waiting(self) -> None:
        """Remove every queued run; running ones continue."""
        for run_id in self.waiting:
            self.end(run_id)

    def close(self, timeout: float) -> bool:
        """Wait for the end of what was cancelled; False when it has not come within `timeout` seconds."""
        self._given_up = self._given_up or any(work.opening for work in self._at_work)  # an answer may be on its way
        ended = True
        for work in list(self._at_work):
            if work.opening is not None:
                work.opening.join(timeout)
                if work.opening.result is not None:
                    work.opening.result.close()
                self._store_end(work.run_id, "cancelled", WITHDRAWN)
            if work.job is None or work.job.join(timeout):
                self._forget(work)
            else:
                ended = False
        return ended

    def _next(self) -> None:
        """Give each free device the first run in the queue."""
        devices, path = self._devices(), self._workspace.path
        while self._waiting and (index := self._free_index(devices)) is not None:
            entry = self._waiting.pop(0)
            device = devices[index] if devices and not entry.alone else ""
            work = AtWork(entry.run_id, entry.control, entry.resume, index, device)
            self._at_work.append(work)
            begin, fail = partial(self._begin, work), partial(self._fail, work)
            work.opening = Task("open", lambda progress: Workspace(path), begin, fail, None, self)
            work.opening.start()
        if self._waiting:
            self._watch.start()  # another program may free a device

    def _free_index(self, devices: tuple[str, ...]) -> int | None:
        """The index of a device for the first run in the queue; None if it must wait."""
        if not self._at_work and (not devices or self._waiting[0].alone):
            return 0
        if self._waiting[0].alone or any(not work.device for work in self._at_work):
            return None
        taken = {work.index for work in self._at_work}
        return next((index for index, name in enumerate(devices) if index not in taken and self._take(name)), None)

    def _take(self, device: str) -> bool:
        """Whether this queue has the device now; without locks where the system has none."""
        lock = self._locks.setdefault(device, DeviceLock(device))
        try:
            return lock.take()
        except OSError as error:
            log.warning("%s cannot be locked: %s", lock.path, error)
            return True

    def _begin(self, work: AtWork, own: Workspace) -> None:
        if self._given_up:
            return
        work.opening = None
        run_id = work.run_id

        def listen(event: Event) -> None:
            if isinstance(event, Ended):  # all else the window reads from the workspace
                self._mailbox.send(run_id, event)

        work.own = own
        options = {"device": work.device} if work.device else {}
        try:
            work.job = self._make_job(own, run_id, work.control, listen, work.resume, **options)
        except Problem as problem:
            self._fail(work, problem)
        else:
            work.job.start()
            self._watch.start()
            self.changed.emit()

    def _fail(self, work: AtWork, problem: Problem) -> None:
        """End a run that could not be started as failed."""
        if self._given_up:
            return
        work.opening = None
        if not isinstance(problem, RunTaken):  # then the row is another's
            self._store_end(work.run_id, "failed", str(problem))
        self._run_ended(work.run_id, Ended("failed", str(problem)))

    def _store_end(self, run_id: int, status: str, why: str) -> None:
        """Store how a run ended that never began; the queue goes on where that is not possible."""
        try:
            self._workspace.set_status(run_id, status, why)
        except Problem as problem:
            log.error("run %d ended as %s, which could not be recorded: %s", run_id, status, problem)
            self.unstored.emit(problem)

    def _look(self) -> None:
        """End a run whose thread is over but whose end was not recorded (a full disk), and look for free devices."""
        reasons = self.reasons()
        if reasons != self._reasons:
            self._reasons = reasons
            self.stood_still.emit()
        for work in list(self._at_work):
            over = work.job is not None and work.job.join(0)
            if over and work.seen_over:  # twice: its Ended event is not just on its way
                self._run_ended(work.run_id, Ended("failed", _unrecorded(work.job)))
            work.seen_over = over
        before = len(self._waiting)
        self._next()
        if len(self._waiting) != before:
            self.changed.emit()

    def _run_ended(self, run_id: int, ended: Ended) -> None:
        work = next((work for work in self._at_work if work.run_id == run_id), None)
        if work is None:
            return
        if work.job is not None and not work.job.join(0):  # its thread ends later, and yields to others
            QTimer.singleShot(SOON, self, lambda: self._run_ended(run_id, ended))
            return
        self._forget(work)
        self._next()
        self.changed.emit()
        self.ended.emit(run_id, ended.status, ended.problem)
        if not self.busy:
            self.idle.emit()

    def _forget(self, work: AtWork) -> None:
        if work.own is not None:
            work.own.close()
        self._at_work.remove(work)
        if work.device in self._locks and all(other.device != work.device for other in self._at_work):
            self._locks[work.device].free()
        if not self.busy:
            self._watch.stop()


def _unrecorded(job: Startable | None) -> str:
    """How a run ended of which the workspace knows no end, and why it does not."""
    said = "" if job is None or job.ended is None else job.ended.problem
    untold = None if job is None else job.untold
    if untold is None:
        return " ".join(part for part in (said, UNRECORDED, KEPT) if part)
    if said in ("", str(untold)):
        return f"{UNRECORDED} {untold}"
    return f"{said} {UNRECORDED} {untold.what}"  # what is kept and what to do is said already
