"""The user's places beside this machine, as a window knows them: read on threads, and again when they have changed."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.problem import Problem
from workbench.ui.state.background.work import Work
from workbench.ui.state.concern import EVERYWHERE

if TYPE_CHECKING:
    from workbench.places.place import Place

    Mark = tuple[tuple[str, int, int], ...]

EVERY = 3000  # ms between two looks at whether another window or a command has changed them


class KnownPlaces(QObject):
    """Empty until `read` is called.

    Args:
        work: reads on threads, and shows what cannot be read.
    """

    changed = Signal()  # `all` was read again

    def __init__(self, work: Work) -> None:
        super().__init__(work)
        self.all: list[Place] = []
        self._work = work
        self._unreadable: set[str] = set()  # what was said of records that could not be read the last time
        self._mark: Mark = ()
        self._looking = QTimer(self, interval=EVERY)
        self._looking.timeout.connect(self._look)

    def read(self) -> None:
        """Read them again, and from now on whenever they have changed; a record that cannot be read is told once."""

        def readable() -> "tuple[Mark, list[Place], list[Problem]]":
            from workbench.places import records  # late: the window is shown first

            return records.mark(), *records.readable()

        self._work.read(readable, self._take)

    def close(self) -> None:
        """Look no more."""
        self._looking.stop()

    def _take(self, read: "tuple[Mark, list[Place], list[Problem]]") -> None:
        self._mark, self.all, problems = read
        self._looking.start()
        self.changed.emit()
        for problem in problems:
            if str(problem) not in self._unreadable:
                self._work.notify(problem, EVERYWHERE)
        self._unreadable = {str(problem) for problem in problems}

    def _look(self) -> None:
        known = self._mark

        def changed() -> bool:
            from workbench.places import records

            return records.mark() != known

        self._work.read(changed, lambda again: self.read() if again else None)
