"""Work off the window's thread: one job, its progress in the Activity panel, its result back on the window's thread."""

import logging
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.control import Cancelled, Control
from workbench.events import Emit, Ended, Event
from workbench.jobs import Job
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.state.background.activity import Activity, ActivityItem
from workbench.ui.state.background.mailbox import Mailbox
from workbench.ui.state.background.receivers import is_there

log = logging.getLogger(__name__)
LOOK_EVERY = 20  # ms


def heard_by(progress: Progress, text: str) -> Callable[[], bool]:
    """Whether work is to end, as a question for what waits for another program; `text` is reported meanwhile."""

    def cancelled() -> bool:
        try:
            progress(text, 0, 0)
        except Cancelled:
            return True
        return False

    return cancelled


class Task(QObject):
    """One piece of work on its own thread. Ask it to end with `cancel`; then none of its callbacks is called.

    A cancel by the user, in the Activity panel, calls `cancelled` once the work has ended. A callback is not called
    either where the object of Qt that it belongs to was deleted meanwhile, as with its page. `lasting` work changes
    something that stays: where it is done before it hears the user's cancel, it counts as done, and `then` is called;
    its callbacks are always called, as that of a dialog that is closed.

    Attributes:
        item: its line in the Activity panel; None for quiet work.
    """

    ended = Signal(object)  # this task, on the window's thread, before any of its callbacks
    over = Signal(object)  # this task: its thread is gone, too, and it may be deleted

    def __init__(
        self,
        title: str,
        work: Callable[[Progress], Any],
        then: Callable[[Any], None] | None,
        failed: Callable[[Problem], None],
        activity: Activity | None,
        parent: QObject | None = None,
        dropped: Callable[[Any], None] | None = None,
        cancelled: Callable[[], None] | None = None,
        *,
        lasting: bool = False,
    ) -> None:
        super().__init__(parent)
        self._lasting, self._forgotten = lasting, False
        self._work: Callable[[Progress], Any] | None = work
        self._then, self._failed, self._dropped, self._cancelled = then, failed, dropped, cancelled
        self.result: Any = None
        self._problem: Problem | None = None
        self.item: ActivityItem | None = activity.add(title, self.ask_to_end) if activity is not None else None
        self._mailbox = Mailbox(self._receive, self)
        self._job = Job(title, self._run, self._say, behind_window=True)

    def start(self) -> "Task":
        """Start the work on its thread and return this task."""
        self._job.start()
        return self

    def cancel(self) -> None:
        """Ask the work to end at its next report of progress, and forget its result."""
        self._cancelled, self._forgotten = None, True
        self._job.control.cancel()

    def ask_to_end(self) -> None:
        """As the user's Cancel: ask the work to end at its next report of progress; its callbacks say how it ended."""
        self._job.control.cancel()

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called, by the user or by whoever asked for the work."""
        return self._job.control.cancelled

    def join(self, timeout: float) -> bool:
        """Wait for the end of the thread, at most `timeout` seconds; False when it has not ended."""
        return self._job.join(timeout)

    def drop(self) -> None:
        """Pass a result that `then` did not get, and will not get, to `dropped`; call it when the thread has ended."""
        result, self.result = self.result, None
        if result is not None and self._dropped is not None:
            self._dropped(result)

    def _run(self, control: Control, emit: Emit) -> None:
        def progress(text: str, done: int = 0, total: int = 0) -> None:
            control.gate()
            if self.item is not None:
                self.item.progress(done, total, text)

        assert self._work is not None
        try:
            self.result = self._work(progress)
        except Problem as problem:
            self._problem = problem
            raise

    def _say(self, event: Event) -> None:
        self._mailbox.send(event, self.result)

    def _receive(self, ended: Ended, result: Any) -> None:
        try:
            self._tell(ended, result)
        finally:
            self._look_for_end()

    def _tell(self, ended: Ended, result: Any) -> None:
        too_late = self._lasting and not self._forgotten
        cancelled = ended.status == "cancelled" or (self.cancelled and not too_late)
        if self.item is not None:
            if cancelled:
                self.item.cancelled()
            elif ended.status == "failed":
                self.item.fail(ended.problem)
            else:
                self.item.finish()
        self.ended.emit(self)
        if cancelled:
            self.drop()
            if self._cancelled is not None and self._hears(self._cancelled):
                self._cancelled()
            return
        if ended.status == "failed":
            problem = self._problem or Problem(ended.problem)
            if self._hears(self._failed):
                self._failed(problem)
            else:
                log.warning("what was to be told of it is gone: %s", problem)
        elif self._then is not None and not self._hears(self._then):
            self.drop()
        else:
            self.result = None  # it is `then`'s
            if self._then is not None:
                self._then(result)

    def _hears(self, callback: Callable[..., None]) -> bool:
        return self._lasting or is_there(callback)

    def _look_for_end(self) -> None:
        """The thread may end long after its result arrived; the window does not wait for it."""
        if self._job.alive:
            QTimer.singleShot(LOOK_EVERY, self, self._look_for_end)
        else:
            self._let_go()
            self.over.emit(self)

    def _let_go(self) -> None:
        """Release the work and its result: the task is part of a cycle, and a result may hold an open file."""
        self.result = self._work = self._then = self._dropped = self._cancelled = None
