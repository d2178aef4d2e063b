"""How large the runs in the trash are: read on a thread, again only when other runs are in it."""

from PySide6.QtCore import QObject, Signal

from workbench.jobs.newest import Newest
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.state.session import Session
from workbench.ui.style.words import memory
from workbench.workspace.folders.run_folders import bytes_of_runs

TITLE = "Size of the trash"


class TrashSize(QObject):
    """Follows the trash of the session's workspace."""

    changed = Signal()

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._newest = session, Newest(session)
        self._asked: object = None  # workspace and runs in the trash
        self._bytes: int | None = None  # None while it is not known
        session.runs_changed.connect(self._look)
        self._look()

    @property
    def words(self) -> str:
        """ "1.3 GB"; empty while nothing is in the trash, or its size is not known."""
        return "" if self._bytes is None else memory(self._bytes)

    def _look(self) -> None:
        workspace, runs = self._session.workspace, [run.id for run in self._session.trashed_runs()]
        if (workspace, runs) == self._asked:
            return
        self._asked = (workspace, runs)
        self._newest.cancel()
        self._take(None)
        if runs:

            def work(progress: Progress) -> int:
                return bytes_of_runs(workspace.path, runs, progress)

            self._newest.ask(TITLE, work, self._take, self._unknown, quiet=True)

    def _take(self, size: int | None) -> None:
        self._bytes = size
        self.changed.emit()

    def _unknown(self, problem: Problem) -> None:
        """A folder that cannot be read has no size; its run says what is wrong when it is shown."""
