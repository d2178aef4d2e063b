"""Small writes of one kind, one after the other: of two the later one is what stays."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from workbench.progress import Progress
from workbench.ui.state.background.tasks import Task
from workbench.ui.state.background.work import GRACE, Work

Result = TypeVar("Result")


class InOrder:
    """Writes on threads, each after the one before; also those that are asked for while the workspace is left.

    Args:
        threads: starts the work, and shows what cannot be written.
        title: of the work, for the log.
    """

    def __init__(self, threads: Work, title: str) -> None:
        self._threads, self._title = threads, title
        self._last: Task | None = None
        self.written = 0  # how many writes were asked for

    def write(self, work: Callable[[], Result], then: Callable[[Result], None] | None = None) -> None:
        """Do `work` on a thread once the write before has ended; `then` gets its result."""
        self.written += 1
        self._last = self._after_it(work, then)

    def read(self, work: Callable[[], Result], then: Callable[[Result], None]) -> None:
        """Read after all writes that were asked for so far; `then` gets it, unless another write was asked since."""
        self._after_it(work, partial(self._take, self.written, then))

    def _take(self, written: int, then: Callable[[Result], None], read: Result) -> None:
        if self.written == written:
            then(read)

    def _after_it(self, work: Callable[[], Result], then: Callable[[Result], None] | None = None) -> Task:
        before = self._last

        def in_turn(progress: Progress) -> Result:
            if before is not None:
                before.join(GRACE)
            return work()

        return self._threads.run_in_thread(self._title, in_turn, then, quiet=True)
