"""Work on threads. A job always ends with an Ended event, whatever happens."""

import contextlib
import logging
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from queue import SimpleQueue
from time import monotonic
from typing import TypeVar, cast

from workbench.control import Cancelled, Control
from workbench.events import Emit, Ended
from workbench.problem import Problem

log = logging.getLogger(__name__)
Work = Callable[[Control, Emit], None]
A = TypeVar("A")
B = TypeVar("B")
NICE = 10  # of a job's threads; the window's is 0


class Job:
    """Runs `work(control, emit)` on its own thread; `control` pauses and stops it.

    Args:
        behind_window: give the thread a lower priority than this process's window, if the system allows it.
    """

    def __init__(
        self, name: str, work: Work, emit: Emit, control: Control | None = None, *, behind_window: bool = False
    ) -> None:
        self.control = control or Control()
        self.ended: Ended | None = None  # how it ended, even if that could not be reported
        self.untold: Problem | None = None  # why the Ended event could not be emitted
        self._work, self._emit, self._behind_window = work, emit, behind_window
        self._thread = threading.Thread(target=self._run, name=name)
        self._begun = threading.Event()  # its thread has started, or never will

    def start(self) -> "Job":
        """Start the thread, without waiting for it."""
        _starter(self._behind_window).put(self)
        return self

    @property
    def alive(self) -> bool:
        """Whether its thread has not ended yet; call it after `start`."""
        return not self.join(0)

    def join(self, timeout: float | None = None) -> bool:
        """Wait for the end, after `start`; returns False if it has not come within `timeout` seconds."""
        asked = monotonic()
        if not self._begun.wait(timeout):
            return False
        if self._thread.ident is not None:
            self._thread.join(None if timeout is None else max(0.0, timeout - (monotonic() - asked)))
        return not self._thread.is_alive()

    def begin(self) -> None:
        """Start the thread and wait until it runs; called only by the thread of `_starter`."""
        try:
            self._thread.start()
        except RuntimeError as error:  # the system has no more threads, or the program is ending
            log.error("%s could not begin: %s", self._thread.name, error)
            self._say(Ended("failed", "The system could not start another thread. Close other programs and try again."))
        finally:
            self._begun.set()

    def _run(self) -> None:
        ended = Ended("failed", "The job ended for an unknown reason. See the log.")
        try:
            self._work(self.control, self._emit)
            ended = Ended("stopped" if self.control.stop_asked or self.control.interrupted else "done")
        except Cancelled:
            ended = Ended("stopped" if self.control.kept else "cancelled")
        except Problem as problem:  # not a defect: report it
            ended = Ended("failed", str(problem))
        except BaseException as error:  # noqa: BLE001 - a plug-in may raise SystemExit; Ctrl+C reaches the main thread
            ended = Ended("failed", self._told(error))
        finally:
            self._say(ended)

    def _told(self, error: BaseException) -> str:
        """The sentences of what is no Problem: too little memory, or a defect, here or in a plug-in."""
        from workbench.registry import fault_of_plugin  # late: it loads pydantic

        whose = fault_of_plugin(error)
        if isinstance(error, MemoryError) and not whose:
            return "There is not enough memory. What was saved is kept. Choose smaller batches or images."
        log.error("%s failed", self._thread.name, exc_info=error)
        return f"{whose or 'This is a defect in Workbench.'} What was saved is kept. See the log."

    def _say(self, ended: Ended) -> None:
        self.ended = ended
        try:
            self._emit(ended)
        except Problem as problem:  # if the disk failed the job, it may also fail its last event
            self.untold = problem
            log.error("%s ended as %s, which could not be recorded: %s", self._thread.name, ended.status, problem)


@cache
def _starter(behind_window: bool) -> "SimpleQueue[Job]":
    """A queue of jobs, whose threads are started by a thread of its own.

    Starting a thread waits until it runs, and the window's thread must not wait.
    """
    asked: SimpleQueue[Job] = SimpleQueue()

    def start_each() -> None:
        if behind_window:
            let_the_window_go_first()
        while True:
            asked.get().begin()

    start_daemon("starter", start_each)
    return asked


def let_the_window_go_first() -> None:
    """Lower the priority of this thread and those that it starts; only on Linux, where threads have a niceness."""
    if sys.platform == "linux":
        own = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, own, max(NICE, os.getpriority(os.PRIO_PROCESS, own)))  # only root may lower it


@contextlib.contextmanager
def repeating(name: str, every: float, work: Callable[[], None]) -> Iterator[None]:
    """Call `work` on its own thread, `every` seconds, while the block runs; a Problem is logged and does not end it."""
    over = threading.Event()

    def repeat() -> None:
        while not over.wait(every):
            try:
                work()
            except Problem as problem:
                log.info("%s: %s", name, problem)

    thread = threading.Thread(target=repeat, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def cores() -> int:
    """The number of CPU cores that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_threads(
    work: Callable[[A], B], items: Iterable[A], threads: int | None = None, ahead: int = 2
) -> Generator[B, None, None]:
    """The result of `work` for each item, in their order, computed by several threads.

    For work that releases the interpreter lock. All threads have ended once the iterator is exhausted or closed;
    close it if it is not read to its end.

    Args:
        items: read by the thread that reads the results, a little ahead of them.
        threads: by default the number of cores, but at most four.
        ahead: most results per thread that wait to be read.
    """
    count = threads or min(4, cores())
    pool = ThreadPoolExecutor(count)
    waiting: deque[Future[B]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > ahead * count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def read_ahead(items: Iterator[A], ahead: int = 1) -> Generator[A, None, None]:
    """The items in their order, read by one thread, a little before they are asked for.

    The thread has ended once the iterator is exhausted or closed; close it if it is not read to its end.

    Args:
        items: closed at the end if they are a generator; what reading them raises is raised here.
        ahead: most items that are read before they are asked for.
    """
    end, pool, waiting = object(), ThreadPoolExecutor(1), deque[Future[object]]()
    try:
        while True:
            while len(waiting) <= ahead:
                waiting.append(pool.submit(next, items, end))
            if (item := waiting.popleft().result()) is end:
                return
            yield cast(A, item)
    finally:
        pool.shutdown(cancel_futures=True)
        if isinstance(items, Generator):
            items.close()


@contextlib.contextmanager
def meanwhile(work: Callable[[], A]) -> Iterator[Callable[[], A]]:
    """Run `work` on a thread during the block; yields a function that waits for its result, or raises its error."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(work).result


def start_daemon(name: str, work: Callable[[], object]) -> None:
    """Run `work` on a daemon thread, which does not delay the end of the program; for warm-up and listening."""
    threading.Thread(target=work, name=name, daemon=True).start()
