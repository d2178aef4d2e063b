"""The message of a full disk goes once the disk has room again."""

from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from workbench.files.room import is_full
from workbench.jobs.newest import Newest
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.state.session import Session
from workbench.workspace.database.problems import LEAST_ROOM, Full

EVERY = 3000  # ms between two looks at the disk while such a message may be open


class FullDisk(QObject):
    """Looks at the disk, on a thread, from a Problem of a full one on; `session.settled` then takes its message away.

    What could not be stored is not done again: the person asks for it.
    """

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._problems: list[Full] = []
        self._looking = Newest(session, one_at_a_time=True)
        self._timer = QTimer(self, interval=EVERY)
        self._timer.timeout.connect(self.look)
        session.noticed.connect(self._hear)
        session.workspace_changed.connect(self._forget)

    def look(self) -> None:
        """Ask, on a thread, which of the disks have room now."""
        folders = {problem.folder for problem in self._problems}

        def with_room(_progress: Progress) -> set[Path]:
            return {folder for folder in folders if not is_full(folder, LEAST_ROOM)}

        self._looking.ask("Disk space", with_room, self._settle, quiet=True)

    def _hear(self, what: Problem | str) -> None:
        if isinstance(what, Full):
            self._problems.append(what)
            self._timer.start()

    def _settle(self, with_room: set[Path]) -> None:
        settled = [problem for problem in self._problems if problem.folder in with_room]
        self._problems = [problem for problem in self._problems if problem not in settled]
        for problem in settled:
            self._session.settled.emit(problem)
        if not self._problems:
            self._timer.stop()

    def _forget(self) -> None:
        """Another workspace was opened: the message bar is empty."""
        self._looking.cancel()
        self._problems.clear()
        self._timer.stop()
