"""The base of all recorders: events are collected, and stored five times a second."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from workbench.control import Control, insist
from workbench.events import (
    Charted,
    Ended,
    Evaluated,
    Event,
    Keep,
    Noted,
    Progress,
    Resumed,
    Saved,
    Scalar,
    Status,
    Waiting,
)
from workbench.numerals import percentage
from workbench.problem import Problem, RunTaken
from workbench.workspace.folders import journal
from workbench.workspace.folders.journal import Journal
from workbench.workspace.recorders.uncommitted import Uncommitted
from workbench.workspace.times import now

COMMIT_EVERY = 0.2  # seconds; a killed run loses at most this much of its curve


class Recording(ABC):
    """Call it with events, on one thread only, the run's.

    On a full disk an attended run is paused; what was not written is kept in memory and tried again.

    Args:
        run_id: the run's number in its workspace, 0 without one.
        folder: the run's; it must exist.
        seconds: for which the run has trained before.
        memory: bytes, the most that it has used before.
        control: of the run, to pause it; None raises the Problem instead.

    Attributes:
        device: where to train instead of the config's device, such as "cuda:1"; empty for the config's.

    Raises:
        Problem: the journal's place is taken by a link or by anything but a file.
    """

    def __init__(self, run_id: int, folder: Path, seconds: float, memory: int, control: Control | None) -> None:
        self.run_id, self.folder, self._control = run_id, folder, control
        self.device = ""
        self._journal = Journal(folder)
        self._new = Uncommitted(run_id)
        self._rows: dict[int, int] = {}  # row of the data set by sample id
        self._committed = monotonic()
        self._active_since: float | None = None
        self._started = False
        self._seconds, self._memory = seconds, memory
        self._ended_at = ""
        self.over = False  # since its Ended event, whether that could be stored or not: it takes no other

    def __call__(self, event: Event) -> None:
        match event:
            case Scalar(name, step, value):
                self._new.add_point(name, step, value)
            case Charted(step, charts):
                self._new.add_charts(step, charts)
            case Progress():
                self._progress(event)
            case Status(text, done, total):
                self._new.changes["phase"] = f"{text}, {percentage(done / total, 0)}" if total else text
                self._begin()
            case Waiting(reason):
                self._pause_clock()
                self._new.changes.update(status="waiting", problem=reason)
                self._commit()
            case Resumed():
                self._begin()
                self._new.changes.update(status="running", problem="")
                self._commit()
            case Evaluated():
                self._commit()
                self._insist(partial(self._evaluated, event))
            case Noted(text):
                self._insist(partial(self._note, text))
            case Saved(kind, path, epoch, step):
                self._new.changes["epoch"] = max(epoch, self._new.changes.get("epoch", 0))
                self._insist(partial(self._saved, kind, path, step))
            case Keep(epochs):
                self._insist(partial(self._keep, epochs))
            case Ended(status, problem):
                self.over = True
                self._pause_clock()
                self._new.changes.update(status=status, problem=problem, phase="", seconds_left=0.0)
                self._new.changes["ended"] = self._ended_at or now()
                self._new.changes.update(heartbeat=now(), seconds=self._seconds_so_far())
                try:
                    self._last_word()
                finally:
                    self._journal.close()
                    self._release()
                return
        if monotonic() - self._committed > COMMIT_EVERY:
            self._commit()

    def close(self) -> None:
        """Close the journal of a recorder that gets no Ended event; this process keeps the run."""
        self._journal.close()

    def took(self, ended: str, seconds: float) -> None:
        """Record when another program ended the run and how long it took, for an Ended event that follows.

        Args:
            ended: a moment as `times.moment` writes it.
            seconds: from its beginning to its end.
        """
        self._ended_at, self._seconds = ended, seconds

    def reached(self, epoch: int) -> None:
        """Record how far the run is when it saves no checkpoint."""
        self._new.changes["epoch"] = epoch

    def flush(self) -> None:
        """Store all events so far, before their checkpoint is written. Raises Problem; RunTaken on a lost run."""
        self._new.changes.update(heartbeat=now(), seconds=self._seconds_so_far())
        self._store()

    def has_saved(self) -> bool:
        """Whether the run has saved a checkpoint, wherever that is now. Raises Problem or OSError for its journal."""
        return journal.has_saved(self.folder)

    @abstractmethod
    def stop_asked(self) -> bool:
        """Whether a person has asked a training loop of the user's own to stop.

        From the first call on windows offer to ask it. Raises Problem.
        """

    @abstractmethod
    def environment(self, facts: dict[str, Any]) -> None:
        """Store versions, device and parameters of this run. Raises Problem."""

    @abstractmethod
    def forget_after(self, step: int) -> int:
        """Drop what an interrupted run recorded after the checkpoint it resumes from: it will be recorded again.

        Returns the number of points of curves that went. Raises Problem.
        """

    @abstractmethod
    def _start(self, started: str) -> None:
        """Store when the run began, unless it is stored already."""

    @abstractmethod
    def _store(self) -> None:
        """Store the collected events. Raises Problem; what was not written is kept."""

    @abstractmethod
    def _last_word(self) -> None:
        """Store the end of the run. Raises Problem."""

    @abstractmethod
    def _release(self) -> None:
        """Release the run from this process."""

    @abstractmethod
    def _evaluated(self, event: Evaluated) -> None: ...

    @abstractmethod
    def _note(self, text: str) -> None: ...

    @abstractmethod
    def _saved(self, kind: str, path: Path, step: int) -> None: ...

    @abstractmethod
    def _keep(self, epochs: tuple[int, ...]) -> None: ...

    def _begin(self) -> None:
        if self._active_since is None:
            self._active_since = monotonic()
            self._new.changes.update(status="running", problem="", ended=None)
            if not self._started:  # not again after a wait: a disk that still refuses it would end the run
                self._start(now())
                self._started = True

    def _pause_clock(self) -> None:
        if self._active_since is not None:
            self._seconds += monotonic() - self._active_since
            self._active_since = None

    def _progress(self, event: Progress) -> None:
        self._begin()
        self._memory = max(self._memory, event.memory_bytes)
        self._new.changes.update(
            done=event.done,
            total=event.total,
            images_per_second=event.images_per_second,
            memory_bytes=self._memory,
            seconds_left=event.seconds_left,
            phase="Training",
        )

    def _seconds_so_far(self) -> float:
        return self._seconds + (0.0 if self._active_since is None else monotonic() - self._active_since)

    def _commit(self) -> None:
        try:
            self.flush()
        except Problem as problem:
            self._meet(problem)

    def _insist(self, work: Callable[[], None]) -> None:
        """Store what must be recorded now; if it cannot be, an attended run waits for the user."""
        if self._control is None:
            work()
        else:
            insist(self._control, self, work)

    def _write_journal(self) -> None:
        self._append(self._new.lines())
        self._new.journaled()

    def _append(self, lines: list[str]) -> None:
        try:
            self._journal.write(lines)
        except OSError as error:
            raise _unwritten(error) from None

    def _sync(self) -> None:
        try:
            self._journal.sync()
        except OSError as error:
            raise _unwritten(error) from None

    def _meet(self, problem: Problem) -> None:
        """Handle a disk that cannot be written: wait for the user, or raise in an unattended run."""
        if self._control is None or not self._control.attended or isinstance(problem, RunTaken):
            raise problem
        self._control.reason = str(problem)
        self._control.pause()


def _unwritten(error: OSError) -> Problem:
    return Problem(
        f"The run's journal could not be written ({error.strerror}).",
        kept="Everything written before is kept.",
        todo="Free some space and continue.",
    )
