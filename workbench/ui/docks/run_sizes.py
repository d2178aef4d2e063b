"""How large the runs in the list are: read on a thread, only while the list is sorted or searched by it or shows it."""

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.jobs.newest import Newest
from workbench.progress import Progress
from workbench.ui.models.run_list import RunList
from workbench.ui.state.session import Session
from workbench.workspace.folders.run_folders import FolderSize, sizes_of_runs

TITLE = "Sizes of runs"
EVERY = 3000  # ms between the end of a reading and the next: a run that works changes twice a second


class RunSizes(QObject):
    """Reads the sizes of the runs in the list, and reads them again when something of the runs has changed."""

    changed = Signal()

    def __init__(self, session: Session, model: RunList, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._model, self._newest = session, model, Newest(session)
        self._known: dict[int, FolderSize] = {}
        self._asked: frozenset[int] = frozenset()  # the runs whose sizes were read last, or are being read
        self._stale = False  # something may have changed since
        self._cancelled = False  # by the user: the sizes are not read until the list is arranged or searched anew
        self._pause = QTimer(self, singleShot=True, interval=EVERY)
        self._pause.timeout.connect(self._look_again)
        session.workspace_changed.connect(self._forget)

    @property
    def bytes(self) -> dict[int, int]:
        """The bytes of the folders of runs, by their numbers, as far as they are known."""
        return {number: size.bytes for number, size in self._known.items()}

    def refresh(self, *, anew: bool = False) -> None:
        """Read the sizes, if the list wants them and something may have changed; soon, if they have just been read.

        Args:
            anew: the list is arranged or searched in another way, and no run has changed. Then they are read also after
                the user has cancelled the reading.
        """
        self._cancelled, self._stale = self._cancelled and not anew, self._stale or not anew
        if self._cancelled or not self._model.wants_sizes:
            return
        runs = frozenset(run.id for run in self._model.runs)
        if not self._stale and runs <= self._asked:
            return
        if self._newest.busy or (self._pause.isActive() and runs <= self._asked):
            self._stale = True
            return
        path, order, self._asked, self._stale = self._session.workspace.path, sorted(runs, reverse=True), runs, False
        working = {run.id for run in self._model.runs if run.live}
        known = {number: size for number, size in self._known.items() if number not in working}

        def work(progress: Progress) -> dict[int, FolderSize]:
            return sizes_of_runs(path, order, known, progress)

        self._newest.ask(TITLE, work, self._take, quiet=bool(known), cancelled=self._give_up)

    def _take(self, sizes: dict[int, FolderSize]) -> None:
        self._known |= sizes
        self._pause.start()
        self.changed.emit()

    def _give_up(self) -> None:
        self._cancelled, self._asked = True, frozenset()

    def _look_again(self) -> None:
        if self._stale:
            self.refresh()

    def _forget(self) -> None:
        """In another workspace the numbers are those of other runs."""
        self._newest.cancel()
        self._pause.stop()
        self._known, self._asked, self._stale, self._cancelled = {}, frozenset(), False, False
        self.changed.emit()
