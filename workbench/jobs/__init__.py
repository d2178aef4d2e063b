"""The one place that starts threads and processes. A job always ends with an Ended event, whatever happens."""

import contextlib
import json
import logging
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from time import monotonic
from typing import Any, TypeVar

from workbench.control import Cancelled, Control
from workbench.events import Emit, Ended
from workbench.problem import Problem

log = logging.getLogger(__name__)
Work = Callable[[Control, Emit], None]
Answer = dict[str, Any]
A = TypeVar("A")
B = TypeVar("B")
NICE = 10  # of a job's threads; the window's is 0
GRACE = 5.0  # seconds that a process gets to end by itself


class Job:
    """Runs `work(control, emit)` on its own thread; ask it to stop through `.control`.

    Args:
        behind_window: a window of this process goes first, where the system can do that.
    """

    def __init__(
        self, name: str, work: Work, emit: Emit, control: Control | None = None, *, behind_window: bool = False
    ) -> None:
        self.control = control or Control()
        self.ended: Ended | None = None  # how it ended, whether or not that could be told
        self.untold: Problem | None = None  # why `emit` did not take its last word
        self._work, self._emit, self._behind_window = work, emit, behind_window
        self._thread = threading.Thread(target=self._run, name=name)
        self._begun = threading.Event()  # its thread has started, or never will

    def start(self) -> "Job":
        """Have the thread started, without waiting for it."""
        _starter(self._behind_window).put(self)
        return self

    @property
    def alive(self) -> bool:
        """Whether its work, or the end of its thread, is still to come; asked after `start`."""
        return not self.join(0)

    def join(self, timeout: float | None = None) -> bool:
        """Wait for the end, after `start`; False when it has not come within `timeout` seconds."""
        asked = monotonic()
        if not self._begun.wait(timeout):
            return False
        if self._thread.ident is not None:
            self._thread.join(None if timeout is None else max(0.0, timeout - (monotonic() - asked)))
        return not self._thread.is_alive()

    def begin(self) -> None:
        """Start the thread and wait until it runs; called by the thread that does nothing else."""
        try:
            self._thread.start()
        except RuntimeError as error:  # the system gives no more threads, or the program is ending
            log.error("%s could not begin: %s", self._thread.name, error)
            self._say(Ended("failed", "The system gave no thread for this. Close other programs and try again."))
        finally:
            self._begun.set()

    def _run(self) -> None:
        ended = Ended("failed", "The job ended in an unknown way. See the log.")
        try:
            self._work(self.control, self._emit)
            ended = Ended("stopped" if self.control.stop_asked or self.control.interrupted else "done")
        except Cancelled:
            ended = Ended("stopped" if self.control.kept else "cancelled")
        except Problem as problem:  # the world's fault: say it
            ended = Ended("failed", str(problem))
        except MemoryError:
            ended = Ended(
                "failed", "There is not enough memory. What was saved is kept. Choose smaller batches or images."
            )
        except Exception:  # ours: keep the traceback, tell the person where it is
            log.exception("%s failed", self._thread.name)
            ended = Ended("failed", "This is a defect in Workbench. What was saved is kept. See the log.")
        finally:
            self._say(ended)

    def _say(self, ended: Ended) -> None:
        self.ended = ended
        try:
            self._emit(ended)
        except Problem as problem:  # the disk that failed the job may fail its last word, too
            self.untold = problem
            log.error("%s ended as %s, which could not be recorded: %s", self._thread.name, ended.status, problem)


@cache
def _starter(behind_window: bool) -> "SimpleQueue[Job]":
    """Jobs to begin. A thread that starts another waits for its first turn at the interpreter: not the window's."""
    asked: SimpleQueue[Job] = SimpleQueue()

    def start_each() -> None:
        if behind_window:
            _let_the_window_go_first()
        while True:
            asked.get().begin()

    start_daemon("starter", start_each)
    return asked


def _let_the_window_go_first() -> None:
    """On Linux each thread has its own niceness, and the threads that are started from this one inherit it."""
    if sys.platform == "linux":
        own = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, own, max(NICE, os.getpriority(os.PRIO_PROCESS, own)))  # only root may lower it


@contextlib.contextmanager
def repeating(name: str, every: float, work: Callable[[], None]) -> Iterator[None]:
    """Do `work` every so many seconds on a thread of its own while the block runs, whatever Problem it meets."""
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
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def in_threads(
    work: Callable[[A], B], items: Iterable[A], threads: int | None = None, ahead: int = 2
) -> Generator[B, None, None]:
    """What `work` gives for each item, in their order, made by several threads.

    For work that frees the interpreter. All threads have ended when the iterator has, however it does: close it where
    it is not read to its end.

    Args:
        items: drawn by the thread that reads the results, a little ahead of them.
        threads: by default as many as there are cores, four at most.
        ahead: results for each thread that may wait to be read.
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


@contextlib.contextmanager
def meanwhile(work: Callable[[], A]) -> Iterator[Callable[[], A]]:
    """`work` on a thread beside the body, which gets a function that waits for it and gives its result, or raises."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(work).result


def start_daemon(name: str, work: Callable[[], None]) -> None:
    """Run `work` on a thread that never holds up the program's end: warming up and listening."""
    threading.Thread(target=work, name=name, daemon=True).start()


def start_detached(words: list[str], log: Path) -> None:
    """Start `python -m workbench WORDS` as a process that outlives this one; what it says goes to the end of `log`.

    Raises:
        Problem: the log cannot be written or the process cannot be started.
    """
    # getattr: the flags are there on Windows only.
    flags = getattr(subprocess, "DETACHED_PROCESS", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as out:
            process = subprocess.Popen(
                [sys.executable, "-m", "workbench", *words],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=os.name == "posix",
                creationflags=flags,
            )
    except OSError as error:
        raise Problem(f"The background process cannot be started ({error.strerror}).") from None
    start_daemon("end of a worker", lambda: _wait(process))  # who does not wait for a child leaves a zombie


def _wait(process: "subprocess.Popen[bytes]") -> None:
    process.wait()


class AnalysisProcess:
    """An interpreter beside this one, for UMAP and scikit-learn or for reports: JSON lines, one job at a time.

    Answers arrive on a listening thread, so `on_answer` must be safe to call from there. The process starts at the
    first request, ends with `close` or with this program, and is started anew after it died.

    Args:
        on_answer: called with each answer {"id", "event": "progress" | "result" | "error", ...}.
        module: what runs there, by serving.py.
    """

    def __init__(self, on_answer: Callable[[Answer], None], module: str = "workbench.projection.server") -> None:
        self._on_answer, self._module = on_answer, module
        self._numbers = count(1)
        self._lock = threading.Lock()
        self._waiting: set[int] = set()
        self._process: subprocess.Popen[str] | None = None

    def request(self, op: str, **fields: Any) -> int:
        """Ask for `op`; returns the number that its answers will carry."""
        with self._lock:
            number = next(self._numbers)
            self._waiting.add(number)
            self._tell({"id": number, "op": op, **fields})
            return number

    def cancel(self, number: int) -> None:
        """Discard a request: one that runs ends with its process, which is started anew at the next request."""
        with self._lock:
            if number not in self._waiting:
                return
            self._waiting.discard(number)
            if self._process is not None and not self._waiting:
                self._process.kill()
                self._process = None
            elif self._process is not None:
                self._tell({"id": number, "op": "cancel"})

    def close(self) -> None:
        """End the process: ask, wait, then kill."""
        with self._lock:
            process, self._process = self._process, None
            self._waiting.clear()
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _tell(self, message: Answer) -> None:
        for _ in range(2):  # a process that died since the last request is started anew, once
            if self._process is None or self._process.poll() is not None:
                self._process = self._start()
            try:
                assert self._process.stdin is not None
                self._process.stdin.write(json.dumps(message) + "\n")
                self._process.stdin.flush()
            except (BrokenPipeError, OSError):
                self._process = None
            else:
                return
        raise Problem("The analysis process cannot be started.", todo="See the log; restart Workbench.")

    def _start(self) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-m", self._module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        start_daemon("analysis answers", lambda: self._listen(process))
        return process

    def _listen(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        assert process.stdin is not None
        for line in process.stdout:
            answer = json.loads(line)
            if answer["event"] in ("result", "error"):
                with self._lock:
                    wanted = answer["id"] in self._waiting
                    self._waiting.discard(answer["id"])
            else:
                wanted = answer["id"] in self._waiting
            if wanted:
                self._on_answer(answer)
        process.stdout.close()
        process.wait()
        with contextlib.suppress(OSError):  # what was never read by a dead process cannot be flushed
            process.stdin.close()
        with self._lock:
            orphans = sorted(self._waiting) if self._process is process else []
            self._waiting.difference_update(orphans)
        for number in orphans:
            self._on_answer(
                {
                    "id": number,
                    "event": "error",
                    "what": "The analysis process ended unexpectedly.",
                    "kept": "Everything stored is kept.",
                    "todo": "Ask again; it is started anew.",
                }
            )
