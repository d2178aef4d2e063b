"""Requests of which only the newest is answered: the answers of older ones are dropped."""

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QObject

from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.session import Session
from workbench.ui.tasks import Task

Result = TypeVar("Result")


class Newest(QObject):
    """Work on a thread whose newest result counts: a new request cancels the one before and drops its answer."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._task: Task | None = None

    @property
    def busy(self) -> bool:
        """Whether an answer is to come; False already while `then` or `failed` of `ask` is called."""
        return self._task is not None

    def ask(
        self,
        title: str,
        work: Callable[[Progress], Result],
        then: Callable[[Result], None] | None = None,
        failed: Callable[[Problem], None] | None = None,
        *,
        quiet: bool = False,
    ) -> Task:
        """Do `work` on a thread in place of what was asked before; the arguments are those of `run_in_thread`."""
        self.cancel()
        task = self._session.run_in_thread(title, work, then, failed, quiet=quiet)
        if not self._session.closed:
            self._task = task
            task.ended.connect(self._ended)
        return task

    def cancel(self) -> None:
        """Ask the work to end and drop its answer; without work nothing happens."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def _ended(self, task: Task) -> None:
        if task is self._task:
            self._task = None
