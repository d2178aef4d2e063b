"""Small writes of one kind, one after the other: of two the later one is what stays."""

from collections.abc import Callable

from workbench.progress import Progress
from workbench.ui.state.background.tasks import Task
from workbench.ui.state.background.work import GRACE, Work


class InOrder:
    """Writes on threads, each after the one before; also those that are asked for while the workspace is left.

    Args:
        threads: starts the work, and shows what cannot be written.
        title: of the work, for the log.
    """

    def __init__(self, threads: Work, title: str) -> None:
        self._threads, self._title = threads, title
        self._last: Task | None = None

    def write(self, work: Callable[[], None]) -> None:
        """Do `work` on a thread once the write before has ended."""
        before = self._last

        def in_turn(progress: Progress) -> None:
            if before is not None:
                before.join(GRACE)
            work()

        self._last = self._threads.run_in_thread(self._title, in_turn, quiet=True)
