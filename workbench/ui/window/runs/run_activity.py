"""Every run that works, of this window or of another program, as a line of the Activity panel."""

from functools import partial

from PySide6.QtCore import QObject

from workbench.control import Control
from workbench.ui.state.background.activity import ActivityItem, Progressed
from workbench.ui.state.session import Session
from workbench.ui.style.words import state_word, work_word
from workbench.workspace.rows import Run


class RunActivity(QObject):
    """Reads the runs whenever the follower reports a change; a line is touched only where its run changed."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._items: dict[int, ActivityItem] = {}
        self._told: dict[int, Progressed] = {}  # what the line of a run says
        session.runs_changed.connect(self.refresh)
        session.workspace_changed.connect(self._forget)
        self.refresh()

    def refresh(self) -> None:
        """Bring the lines up to date."""
        runs = {run.id: run for run in self._session.runs()}
        for run in runs.values():
            if run.status in ("running", "waiting") and run.id not in self._items:
                self._items[run.id] = self._add(run)
        for run_id, item in list(self._items.items()):
            now = runs.get(run_id)
            if now is not None and now.live:
                self._tell(item, now)
            else:
                self._end(run_id, item, now)

    def _tell(self, item: ActivityItem, run: Run) -> None:
        away = self._session.follower.away
        rests = away or run.status == "waiting"
        left = None if rests else run.seconds_left or None
        progress = Progressed(run.done, run.total, _words(run, self._session.control(run.id), away), left, rests)
        if self._told.get(run.id) != progress:
            self._told[run.id] = progress
            item.progress(progress.done, progress.total, progress.text, progress.seconds_left, rests=rests)

    def _add(self, run: Run) -> ActivityItem:
        own = self._session.control(run.id) is not None
        return self._session.activity.add(run.name, partial(self._session.end_asked.emit, run.id) if own else None)

    def _end(self, run_id: int, item: ActivityItem, run: Run | None) -> None:
        del self._items[run_id]
        self._told.pop(run_id, None)
        if run is None or run.status == "cancelled":
            item.cancelled()
        elif run.status in ("failed", "interrupted"):
            item.fail(run.problem or state_word(run.status))
        else:
            item.finish(state_word(run.status))

    def _forget(self) -> None:
        for item in self._items.values():
            item.cancelled("Another workspace was opened")
        self._items.clear()
        self._told.clear()


def _words(run: Run, control: Control | None, away: bool) -> str:
    word = work_word(run, control, away)
    if word != state_word(run.status):  # it is being ended, or cannot be read
        return f"{word}: {run.phase}" if run.phase else word
    if run.status == "waiting":
        return f"Paused: {run.problem.removesuffix('.')}" if run.problem else "Paused"
    return run.phase or word
