"""Runs of this workspace at other places: followed while the window is open, and asked to end or to continue.

What knows of places is loaded when it is needed first: most workspaces have no such run, and the window comes first.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.control import Control
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.state.background.tasks import heard_by
from workbench.ui.state.background.work import Work
from workbench.ui.state.concern import EVERYWHERE
from workbench.workspace import Workspace
from workbench.workspace.rows import Run
from workbench.workspace.tables import placements

if TYPE_CHECKING:
    from workbench.places.contract import Ending
    from workbench.ui.state.runs.place_follower import PlaceControl, PlaceFollower


class PlacedRuns(QObject):
    """All of them in one workspace.

    Args:
        work: starts work on threads and shows what went wrong.
        workspace: whose runs they are.
    """

    kept_on = Signal(int)  # a run: the request to end it was cancelled, refused, or did not reach its place

    def __init__(self, work: Work, workspace: Workspace, parent: QObject) -> None:
        super().__init__(parent)
        self._work, self._workspace = work, workspace
        self._followers: dict[str, PlaceFollower] = {}
        self._controls: dict[int, PlaceControl] = {}
        self._shown: Run | None = None  # by the window, if it is at a place
        QTimer.singleShot(0, self, self.follow)

    def follow(self) -> None:
        """Follow every place that may have new data: at the start, and after a request to one."""
        self._work.read(self._places, self._follow)

    def show(self, run: Run | None) -> None:
        """Set the run that the window shows: its place is read more often."""
        self._shown = run if run is not None and run.placement is not None else None
        for follower in self._followers.values():
            self._tell_shown(follower)

    def _tell_shown(self, follower: "PlaceFollower") -> None:
        placement = None if self._shown is None else self._shown.placement
        follower.in_view = placement is not None and placement.place == follower.name
        follower.shown = self._shown.id if self._shown is not None and follower.in_view else 0

    def control(self, run: Run | None) -> Control | None:
        """The control of a run at a place; None for any other."""
        if run is None or run.placement is None or not run.live or not run.placement.job:
            if run is not None:
                self._controls.pop(run.id, None)
            return None
        if run.id not in self._controls:
            from workbench.ui.state.runs.place_follower import PlaceControl

            self._controls[run.id] = PlaceControl(self.end, run.id)
        return self._controls[run.id]

    def end(self, run_id: int, how: "Ending") -> None:
        """Ask a run's place to end it."""

        def ask(cancelled: Callable[[], bool]) -> None:
            from workbench.places import working

            working.end(self._workspace, run_id, how, cancelled)

        def failed(problem: Problem) -> None:
            keep_on()
            self._work.notify(problem, EVERYWHERE)

        def revoke() -> None:
            keep_on()
            self._work.notify(f"The request to end run {run_id} was cancelled. It may have reached the place before.")

        def keep_on() -> None:
            self._controls.pop(run_id, None)  # it is not about to end, and can be asked again
            self.kept_on.emit(run_id)

        self._ask(f"Asking run {run_id} to end", ask, revoke, failed)

    def resume(self, run_id: int) -> None:
        """Resume an ended run at its place."""

        def ask(cancelled: Callable[[], bool]) -> None:
            from workbench.places import working

            working.resume(self._workspace, run_id, cancelled)

        self._ask(f"Resuming run {run_id}", ask, self.follow)

    def fetch_checkpoints(self, run_id: int) -> None:
        """Bring the checkpoints of an ended run."""

        def ask(cancelled: Callable[[], bool]) -> None:
            from workbench.places import working

            working.fetch_checkpoints(self._workspace, run_id, cancelled)

        self._ask(f"Fetching the checkpoints of run {run_id}", ask, self.follow)

    def close(self) -> None:
        """Stop following; nothing waits for a place any longer."""
        for follower in self._followers.values():
            follower.close()

    def release(self) -> None:
        """Close what is open, when all threads have ended."""
        for follower in self._followers.values():
            follower.release()

    def _ask(
        self,
        title: str,
        work: Callable[[Callable[[], bool]], None],
        cancelled: Callable[[], None],
        failed: Callable[[Problem], None] | None = None,
    ) -> None:
        """Do `work(whether the user cancelled)`, which waits for a place, on a thread."""

        def asked(progress: Progress) -> None:
            progress("Waiting for the place", 0, 0)
            work(heard_by(progress, "Waiting for the place"))

        self._work.run_in_thread(title, asked, lambda _: self.follow(), failed, cancelled=cancelled, lasting=True)

    def _places(self) -> list[str]:
        with self._workspace.reading() as db:
            return placements.places_at_work(db)

    def _follow(self, names: list[str]) -> None:
        if not names:
            return
        from workbench.ui.state.runs.place_follower import PlaceFollower

        for name in names:
            if name not in self._followers:
                self._followers[name] = PlaceFollower(self._work, self._workspace, name, self)
                self._tell_shown(self._followers[name])
                self._followers[name].over.connect(self._over)
            self._followers[name].look()

    def _over(self, name: str) -> None:
        follower = self._followers.pop(name)
        follower.release()
        follower.deleteLater()
