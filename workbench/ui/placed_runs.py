"""Runs of this workspace at other places: followed while the window is open, and asked to end or to go on."""

from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.control import Control
from workbench.places import records, working
from workbench.places.contract import Ending
from workbench.places.following import Following, Looked
from workbench.places.launching import launcher_of
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.tasks import Task
from workbench.ui.work import Work
from workbench.workspace import Workspace, placements
from workbench.workspace.rows import Run

IN_VIEW, OUT_OF_VIEW = 1000, 3000  # ms between two looks at a place whose run is shown, or is not
LONGEST = 60_000  # ms between two looks at a place that does not answer


class PlaceControl(Control):
    """Passes on what is asked of one run at a place."""

    can_pause = False

    def __init__(self, runs: "PlacedRuns", run_id: int) -> None:
        super().__init__(attended=True)
        self._runs, self._run_id = runs, run_id

    def stop(self) -> None:
        """As `Control.stop`."""
        super().stop()
        self._runs.end(self._run_id, Ending.AFTER_EPOCH)

    def interrupt(self) -> None:
        """As `Control.interrupt`."""
        super().interrupt()
        self._runs.end(self._run_id, Ending.SAVED)

    def stop_now(self) -> None:
        """As `Control.stop_now`, with a checkpoint."""
        self.kept = True
        self._runs.end(self._run_id, Ending.SAVED)

    def cancel(self) -> None:
        """As `Control.cancel`."""
        super().cancel()
        self._runs.end(self._run_id, Ending.AT_ONCE)


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
        self._silent_for = 0  # looks without an answer
        self._told: set[str] = set()
        self._closed = False
        self._task: Task | None = None
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.look)

    def look(self) -> None:
        """Look now; nothing happens while a look is under way."""
        self._timer.stop()
        if self._task is None and not self._closed:
            self._task = self._work.run_in_thread(
                f"Following {self.name}", lambda progress: self._look(), self._looked, self._failed, quiet=True
            )

    def close(self) -> None:
        """End: what waits for the place waits no longer."""
        self._closed = True
        self._timer.stop()

    def release(self) -> None:
        """Close the connection, when no look is under way any more."""
        if self._own is not None:
            self._own.close()
            self._own = None

    def _look(self) -> Looked:
        if self._following is None:
            self._own = Workspace(self._path)
            place = records.named(self.name)
            self._following = Following(self._own, place, launcher_of(place, lambda: self._closed))
        return self._following.look(self.shown)

    def _looked(self, looked: Looked) -> None:
        self._task = None
        self._silent_for = self._silent_for + 1 if looked.silent else 0
        for sentence in looked.problems:
            if sentence not in self._told:
                self._told.add(sentence)
                self._work.notify(sentence)
        if looked.left or looked.busy:
            soon = IN_VIEW if self.in_view else OUT_OF_VIEW
            self._timer.start(min(LONGEST, soon * 2 ** min(self._silent_for, 6)))
        else:
            self.over.emit(self.name)

    def _failed(self, problem: Problem) -> None:
        """The place's record is gone, or the workspace cannot be written now."""
        self._task = None
        if str(problem) not in self._told:
            self._told.add(str(problem))
            self._work.notify(problem)
        self._timer.start(LONGEST)


class PlacedRuns(QObject):
    """All of them in one workspace.

    Args:
        work: starts work on threads and shows what went wrong.
        workspace: whose runs they are.
    """

    def __init__(self, work: Work, workspace: Workspace, parent: QObject) -> None:
        super().__init__(parent)
        self._work, self._workspace = work, workspace
        self._followers: dict[str, PlaceFollower] = {}
        self._controls: dict[int, PlaceControl] = {}
        self._shown = ""
        QTimer.singleShot(0, self, self.follow)

    def follow(self) -> None:
        """Follow every place from which something may come: at the start, and after something was asked of one."""
        self._work.read(self._places, self._follow)

    def show(self, run: Run | None) -> None:
        """The run that the window shows: its place is looked at more often."""
        self._shown = run.placement.place if run is not None and run.placement is not None else ""
        for name, follower in self._followers.items():
            follower.in_view = name == self._shown
            follower.shown = run.id if run is not None and follower.in_view else 0

    def control(self, run: Run | None) -> Control | None:
        """What steers a run that works at a place; None for any other."""
        if run is None or run.placement is None or not run.live or not run.placement.job:
            if run is not None:
                self._controls.pop(run.id, None)
            return None
        return self._controls.setdefault(run.id, PlaceControl(self, run.id))

    def end(self, run_id: int, how: Ending) -> None:
        """Ask a run's place to end it."""
        self._ask(f"Asking run {run_id} to end", partial(working.end, self._workspace, run_id, how))

    def resume(self, run_id: int) -> None:
        """Have an ended run go on at its place."""
        self._ask(f"Resuming run {run_id}", partial(working.resume, self._workspace, run_id))

    def fetch_checkpoints(self, run_id: int) -> None:
        """Bring the checkpoints of an ended run."""
        self._ask(f"Fetching run {run_id}", partial(working.fetch_checkpoints, self._workspace, run_id))

    def close(self) -> None:
        """Look no more; what waits for a place ends."""
        for follower in self._followers.values():
            follower.close()

    def release(self) -> None:
        """Close what is open, when all threads have ended."""
        for follower in self._followers.values():
            follower.release()

    def _ask(self, title: str, work: "partial[None]") -> None:
        def asked(progress: Progress) -> None:
            work()

        self._work.run_in_thread(title, asked, lambda _: self.follow())

    def _places(self) -> list[str]:
        with self._workspace.reading() as db:
            return placements.places_at_work(db)

    def _follow(self, names: list[str]) -> None:
        for name in names:
            if name not in self._followers:
                self._followers[name] = PlaceFollower(self._work, self._workspace, name, self)
                self._followers[name].in_view = name == self._shown
                self._followers[name].over.connect(self._over)
            self._followers[name].look()

    def _over(self, name: str) -> None:
        follower = self._followers.pop(name)
        follower.release()
        follower.deleteLater()
