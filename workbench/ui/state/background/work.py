"""Work off the window's thread, and the messages about it."""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from workbench import files
from workbench.jobs import given_up_by
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.state.background.activity import Activity
from workbench.ui.state.background.tasks import Task
from workbench.ui.state.concern import EVERYWHERE, Concern

log = logging.getLogger(__name__)
Result = TypeVar("Result")
GRACE = 30.0  # seconds that work on other threads gets to end after it was cancelled


class Work(QObject):
    """Starts work on threads and keeps it until its thread is over."""

    noticed = Signal(object)  # Problem or str
    said = Signal(object, object, str)  # the same with its Concern, for the message bar, and what Details shows
    mentioned = Signal(str)  # a sentence that asks for nothing
    settled = Signal(object)  # Concern or Problem whose message is answered

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.activity = Activity(self)
        self._tasks: set[Task] = set()
        self._awaited: set[QObject] = set()  # quiet tasks whose answers are still to come
        self._last_change: Task | None = None
        self._closed = self._ending = False  # the second: with the process

    def run_in_thread(
        self,
        title: str,
        work: Callable[[Progress], Result],
        then: Callable[[Result], None] | None = None,
        failed: Callable[[Problem], None] | None = None,
        *,
        quiet: bool = False,
        dropped: Callable[[Result], None] | None = None,
        cancelled: Callable[[], None] | None = None,
        lasting: bool = False,
    ) -> Task:
        """Do `work(progress)` on a thread; `then(result)` or `failed(problem)` follow on the window's thread.

        Args:
            title: the line in the Activity panel.
            work: gets `progress(text, done, total)`, which raises Cancelled once the user cancelled.
            then: called with the result; not when cancelled.
            failed: called with the Problem; by default it is shown in the message bar, as one about what is shown now.
            quiet: for work well under a second: no line in the Activity panel.
            dropped: called with a result that `then` does not get because of a cancel, to close what it holds open.
            cancelled: called after the user cancelled it in the Activity panel; not when whoever asked for it did.
            lasting: the work changes something that stays, such as a file: if it is done before it hears the user's
                cancel, `then` or `failed` is called all the same, and it is not said to be cancelled. They are called,
                too, where the part of the window that they belong to is gone; those of other work are not.

        After `close` nothing is done any more: the task is cancelled before it begins.
        """
        activity = None if quiet else self.activity
        task = Task(
            title, work, then, failed or self.tell_failure(lasting=lasting), activity, self, dropped, cancelled,
            lasting=lasting,
        )  # fmt: skip
        if self._closed:  # called by a timer of a page that is being closed
            task.cancel()
            return task
        self._tasks.add(task)
        task.over.connect(self._task_over)
        if quiet:
            self._awaited.add(task)
            task.ended.connect(self._awaited.discard)
        return task.start()

    def read(
        self,
        work: Callable[[], Result],
        then: Callable[[Result], None],
        failed: Callable[[Problem], None] | None = None,
    ) -> Task:
        """Read what takes well under a second, on a thread, without a line in the Activity panel.

        Args:
            work: reads. then: called with what it read, on the window's thread.
            failed: called with the Problem; by default it is shown in the message bar.
        """
        return self.run_in_thread("Reading", lambda progress: work(), then, failed, quiet=True)

    def change(
        self,
        work: Callable[[], Result],
        then: Callable[[Result], None] | None = None,
        failed: Callable[[Problem], None] | None = None,
    ) -> Task:
        """Write what takes well under a second, on a thread, once the changes that were asked before have ended.

        `failed` is called with a Problem; by default it is shown in the message bar, on every page. The changes after
        it are made all the same.
        """
        failed, before = failed or partial(self.notify, concern=EVERYWHERE), self._last_change

        def in_turn(progress: Progress) -> Result:
            while before is not None and not before.join(GRACE):
                log.warning("a change waits for the previous one")
            return work()

        self._last_change = self.run_in_thread("Writing", in_turn, then, failed, quiet=True, lasting=True)
        return self._last_change

    def save_file(self, what: str, path: Path, content: Callable[[], bytes | str]) -> Task:
        """Write a file that a person chose, on a thread and as a whole; the message bar says where it is, or why not.

        Args:
            what: is written, as "the table".
            content: makes it, on the thread.
        """

        def work(progress: Progress) -> str:
            progress("Writing the file", 0, 0)
            whole = content()
            progress("Writing the file", 0, 0)
            with files.chosen_file(path) as file:
                file.write(whole.encode() if isinstance(whole, str) else whole)
            return f"{what[:1].upper()}{what[1:]} was written to {path}."

        tell = partial(self.notify, concern=self.here())
        return self.run_in_thread(f"Save {what}", work, tell, tell, lasting=True)

    def loading(self, progress: Progress) -> AbstractContextManager[None]:
        """For work on a thread: a library that it imports inside the block is given up once the process ends.

        Otherwise the work loads on when it is cancelled, as by another workspace or by `close` in a process that opens
        another session later: half a library cannot be loaded again.
        """

        def ask() -> None:
            if self._ending:
                progress("Loading", 0, 0)

        return given_up_by(ask)

    def here(self) -> Concern:
        """What a message is about that arises now."""
        return EVERYWHERE

    def tell_failure(self, *, lasting: bool = False) -> Callable[[Problem], None]:
        """What shows the Problem of work that begins now; `lasting` as in `run_in_thread`."""
        return partial(self.notify, concern=self.here())

    def notify(self, what: Problem | str, concern: Concern | None = None, details: str = "") -> None:
        """Show a sentence in the window's message bar, at once; later only with the page or run that it is about.

        Args:
            what: the sentence, or a Problem.
            concern: what it is about; without it, what is shown now.
            details: text of any length that Details unfolds and Copy copies.
        """
        log.info("notice: %s", what)
        self.noticed.emit(what)
        self.said.emit(what, concern or self.here(), details)

    def mention(self, words: str) -> None:
        """Show for some seconds, where nothing moves, that what a person asked for is done; the log keeps it."""
        log.info("mentioned: %s", words)
        self.activity.log(words)
        self.mentioned.emit(words)

    @property
    def reading(self) -> bool:
        """Whether the answer of quiet work is still to come."""
        return bool(self._awaited)

    @property
    def closed(self) -> bool:
        """Whether `close` was called: a page that is being closed may still ask."""
        return self._closed

    def _cancel_tasks(self) -> list[Task]:
        for task in self._tasks:
            task.cancel()
        return list(self._tasks)

    def _wait_for_tasks(self) -> None:
        for task in self._cancel_tasks():
            if task.join(GRACE):
                task.drop()

    def _task_over(self, task: Task) -> None:
        self._tasks.discard(task)
        task.deleteLater()
