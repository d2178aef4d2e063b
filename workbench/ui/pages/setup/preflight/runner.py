"""The preflight of Set up: a check of the run on a thread, once edits have stopped; only the newest counts."""

import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.config import RunConfig
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.state.background.mailbox import Mailbox
from workbench.ui.state.background.tasks import Task
from workbench.ui.state.session import Session

if TYPE_CHECKING:
    from workbench.running.preflight import Preflight

SETTLES_AFTER = 700  # ms without an edit
OFTEN = 0.1  # s between two counts of the same work


class PreflightRunner(QObject):
    """Starts a check when edits have stopped, and drops every check but the newest."""

    waits = Signal()  # for the config to settle
    began = Signal()
    doing = Signal(str)  # what is being done
    done = Signal(object)  # Preflight
    failed = Signal(object)  # Problem
    cancelled = Signal()  # by the user, in the Activity panel
    counted = Signal(object, int)  # RunConfig, its training classes: as soon as they are known
    held = Signal()  # a run is working: the check waits until it is asked for; classes that decide are counted

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._config: RunConfig | None = None
        self._task: Task | None = None
        self._number = 0
        self._held = False  # a run works, and the check waits for its end
        self._timer = QTimer(self, singleShot=True, interval=SETTLES_AFTER)
        self._timer.timeout.connect(self.look)
        self._text, self._classes = Mailbox(self._hear, self), Mailbox(self._count, self)

    @property
    def waiting_or_working(self) -> bool:
        """Whether a check is about to start or is under way."""
        return self._timer.isActive() or self._task is not None

    @property
    def checking(self) -> bool:
        """As `waiting_or_working`, of a check that can refuse the config: not while a run that trains holds it."""
        return self.waiting_or_working and not self._held

    def hurry(self) -> None:
        """Begin the check that waits for the end of edits, or one whose work has been dropped with its workspace."""
        if self._task is None or self._task.cancelled:
            self.look()

    def settle(self, config: RunConfig | None) -> None:
        """Check the current config; None while it cannot start, which ends a running check."""
        if config == self._config:
            return
        self.drop()
        self._config = config
        if config is not None:
            self._timer.start()
            self.waits.emit()

    def take_up(self) -> None:
        """Start the check now if it was held for a run that has ended."""
        if self._held and not self._session.busy:
            self.look()

    def drop(self) -> None:
        """Drop the check that waits or works."""
        self._held = False
        self._timer.stop()
        self._number += 1
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def give_way(self) -> None:
        """A run is started: a check that has not ended begins again when the page is shown or the run has ended."""
        unfinished = self._held or self.waiting_or_working
        self.drop()
        if unfinished:
            self._config = None

    def pause(self) -> None:
        """The page is hidden: a check that has not begun waits until it is shown again."""
        if self._timer.isActive():
            self._timer.stop()
            self._config = None

    def look(self, even_if_busy: bool = False) -> None:
        """Start the check now. A run that trains is not disturbed unless `even_if_busy`: no step is tried."""
        self.drop()
        if self._config is None:
            return
        if self._session.busy and not even_if_busy:
            self._held = True
            self.held.emit()
            if self._held and self._size_hangs_on_classes(self._config):
                self._count_classes(self._config)
            return
        self.began.emit()
        self._look_at(self._config)

    def _size_hangs_on_classes(self, config: RunConfig) -> bool:
        return any(config.fact(self._session.catalog, "loss", of) for of in ("dimensions", "spans"))

    def _count_classes(self, config: RunConfig) -> None:
        def work(progress: Progress) -> int:
            from workbench.running import preflight

            return preflight.count_classes(config, progress)

        self._start("Counting the classes", work, partial(self._count, self._number))

    def _look_at(self, config: RunConfig) -> None:
        number, workspace = self._number, self._session.workspace.path

        def work(progress: Progress) -> "Preflight":
            from workbench.running import preflight

            last, since = "", 0.0

            def tell(text: str, done: int, total: int) -> None:
                nonlocal last, since
                progress(text, done, total)
                if text != last or monotonic() - since >= OFTEN:  # a scan of files tells of thousands a second
                    last, since = text, monotonic()
                    self._text.send(number, f"{text}: {done:,} of {total:,}" if done and total else text)

            def cancelled() -> bool:
                progress("Trying a few steps", 0, 0)  # raises Cancelled
                return False

            with self._session.loading(progress):
                result = preflight.preflight(config, tell, cancelled, partial(self._classes.send, number))
            free = 0  # not known
            with suppress(OSError):  # of a workspace that is gone, which whoever writes there says
                free = shutil.disk_usage(workspace).free
            return replace(result, spare_bytes=self._session.spare.memory(), free_bytes=free)

        self._start("Preflight", work, self.done.emit)

    def _start(self, title: str, work: Callable[[Progress], Any], then: Callable[[Any], None]) -> None:
        """Do the check on a thread, as the newest; its result is dropped when another has begun by then."""
        number = self._number

        def take(result: Any) -> None:
            if number == self._number:
                self._task = None
                then(result)

        def fail(problem: Problem) -> None:
            if number == self._number:
                self._task = None
                self.failed.emit(problem)

        def cancelled() -> None:
            if number == self._number:
                self._task = None
                self.cancelled.emit()

        self._task = self._session.run_in_thread(title, work, take, fail, cancelled=cancelled)

    def _count(self, number: int, classes: int) -> None:
        if number == self._number and self._config is not None:
            self.counted.emit(self._config, classes)

    def _hear(self, number: int, text: str) -> None:
        if number == self._number and self._task is not None:
            self.doing.emit(text)
