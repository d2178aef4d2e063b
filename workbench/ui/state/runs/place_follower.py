"""One place with runs of a workspace: read on a thread while it is followed, and asked to end them."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.control import Control
from workbench.places import records
from workbench.places.contract import Ending
from workbench.places.following import Following, Looked
from workbench.places.launching import launcher_of
from workbench.places.place import Place
from workbench.problem import Problem
from workbench.ui.state.background.tasks import Task
from workbench.ui.state.background.work import Work
from workbench.ui.state.concern import EVERYWHERE
from workbench.workspace import Workspace
from workbench.workspace.tables import placements

IN_VIEW, OUT_OF_VIEW = 1000, 3000  # ms between two looks at a place whose run is shown, or is not
LONGEST = 60_000  # ms between two looks at a place that does not answer
TROUBLED = 10_000  # ms to the next look after one without a record of the place, or a workspace that can be written


class PlaceControl(Control):
    """Passes the user's requests on to one run at a place, through `end`."""

    can_pause = False

    def __init__(self, end: Callable[[int, Ending], None], run_id: int) -> None:
        super().__init__(attended=True)
        self._end, self._run_id = end, run_id

    def stop(self) -> None:
        """As `Control.stop`."""
        super().stop()
        self._end(self._run_id, Ending.AFTER_EPOCH)

    def interrupt(self) -> None:
        """As `Control.interrupt`."""
        super().interrupt()
        self._end(self._run_id, Ending.SAVED)

    def stop_now(self) -> None:
        """As `Control.stop_now`, with a checkpoint."""
        self.kept = True
        self._end(self._run_id, Ending.SAVED)

    def cancel(self) -> None:
        """As `Control.cancel`."""
        super().cancel()
        self._end(self._run_id, Ending.AT_ONCE)


class PlaceFollower(QObject):
    """Looks at one place, on a thread, as long as runs of the workspace work there.

    Its rows are written through a connection of its own, as those of a run of this window are.
    """

    over = Signal(str)  # the place: nothing more is to come

    def __init__(self, work: Work, workspace: Workspace, name: str, parent: QObject) -> None:
        super().__init__(parent)
        self.name = name
        self.in_view = False
        self.shown = 0  # the run that the window shows, where it is of this place
        self._work, self._path = work, workspace.path
        self._own: Workspace | None = None
        self._following: Following | None = None
        self._place: Place | None = None  # as its record was at the last look
        self._silent_for = 0  # looks without an answer
        self._told: set[str] = set()
        self._failures: list[Problem] = []  # those told of looks that failed, until one does not
        self._closed = False
        self._task: Task | None = None
        self._look_again = False  # asked for while a look was under way, which may have come too early
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.look)

    def look(self) -> None:
        """Read the place now, or as soon as the read that is under way has ended."""
        self._timer.stop()
        self._look_again = self._task is not None
        if self._task is None and not self._closed:
            self._task = self._work.run_in_thread(
                f"Following {self.name}", lambda progress: self._look(), self._looked, self._failed, quiet=True
            )

    def close(self) -> None:
        """Stop following; nothing waits for the place any longer."""
        self._closed = True
        self._timer.stop()

    def release(self) -> None:
        """Close the connection, when no look is under way any more."""
        if self._own is not None:
            self._own.close()
            self._own = None

    def _look(self) -> Looked:
        place = records.existing(self.name)  # each time: its host or folder may be another one now
        if place is None:
            if self._has_runs():
                raise records.Removed(self.name)
            return Looked()  # the place has another name now, and its runs have, too
        if self._following is None or place != self._place:
            launcher = launcher_of(place, lambda: self._closed)
            self._own = self._own or Workspace(self._path)  # last: the others raise a Problem where the place is gone
            self._place, self._following = place, Following(self._own, place, launcher)
        return self._following.look(self.shown)

    def _has_runs(self) -> bool:
        """Whether runs that the place has, which has no record, are not over; it is noted of them."""
        with Workspace(self._path) as own:
            if own.read_only:
                with own.reading() as db:
                    return any(placement.job for placement in placements.at_work(db, self.name))
            with own.writing() as db:
                return placements.note_removed(db, self.name)

    def _looked(self, looked: Looked) -> None:
        self._task = None
        for problem in self._failures:
            self._told.discard(str(problem))
            self._work.settled.emit(problem)
        if self._failures:
            self._work.notify(f"Runs at {self.name} are followed again.", EVERYWHERE)
        self._failures.clear()
        self._silent_for = self._silent_for + 1 if looked.silent else 0
        for sentence in looked.problems:
            if sentence not in self._told:
                self._told.add(sentence)
                self._work.notify(sentence, EVERYWHERE)
        if self._look_again:
            self.look()
        elif looked.left or looked.busy:
            soon = IN_VIEW if self.in_view else OUT_OF_VIEW
            self._timer.start(min(LONGEST, soon * 2 ** min(self._silent_for, 6)))
        else:
            self.over.emit(self.name)

    def _failed(self, problem: Problem) -> None:
        """The place's record is gone, or the workspace cannot be written now."""
        self._task = None
        if str(problem) not in self._told:
            self._told.add(str(problem))
            self._failures.append(problem)
            self._work.notify(problem, EVERYWHERE)
        self._timer.start(TROUBLED)
