"""Work in other processes: one that outlives this program, one that answers requests, ranks of one run."""

import contextlib
import io
import json
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from workbench.files.temporary import temporary_file
from workbench.jobs.interpreter import NO_CONSOLE, python
from workbench.jobs.threads import start_daemon
from workbench.problem import Problem

Answer = dict[str, Any]
log = logging.getLogger(__name__)
GRACE = 5.0  # seconds that a process gets to end by itself
AT_WORK = 1.0  # seconds that one gets which is at work: while it loads a library it does not see that it should end
SAID_WHY, ORPHANED = 3, 4  # exit status of a rank: its last line is a sentence; the first rank has ended


def start_detached(words: list[str], log: Path) -> None:
    """Start `python -m workbench WORDS` as a process that outlives this one; its output is appended to `log`.

    In an AppImage this starts the AppImage again, because its mounted files are gone when this process ends.

    Raises:
        Problem: the log cannot be written or the process cannot be started.
    """
    # Without any console, as of DETACHED_PROCESS, each process that it starts would open one on the screen.
    flags = NO_CONSOLE | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as out:
            process = subprocess.Popen(
                [*python("workbench", _lasting_program()), *words],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=os.name == "posix",
                creationflags=flags,
            )
    except OSError as error:
        raise Problem(f"The background process cannot be started ({error.strerror}).") from None
    start_daemon("end of a worker", process.wait)  # without a wait, an ended child stays as a zombie


def _lasting_program() -> str:
    """This Python, or the AppImage that contains it (`sys.frozen` is set by PyInstaller)."""
    return os.environ.get("APPIMAGE", sys.executable) if getattr(sys, "frozen", False) else sys.executable


def printed_by(module: str, path: Path, seconds: float) -> str:
    """What `python -m module path` prints, for libraries that crash on damaged files.

    Raises:
        ValueError: why there is no answer, in a few words.
    """
    words = [*python(module), str(path)]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        raise ValueError(f"reading it took over {seconds:.0f} s") from None
    if done.returncode < 0 or done.returncode > 1:
        raise ValueError("its reader crashed")
    if done.returncode:
        raise ValueError(done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2])
    return done.stdout.decode("utf-8")


class ToldProcess:
    """A process `python -m MODULE WORDS` that reads and writes JSON lines, and notices when this process ends.

    It stays in the session of this process, because Linux compares niceness only within a session; Ctrl+C does not
    reach it.

    Args:
        module: what runs there; it reads its input and writes its output line by line.
        words: its arguments.
        log: file for its standard error; None discards it.
        variables: additional environment variables.

    Raises:
        Problem: the log cannot be written or the process cannot be started.
    """

    def __init__(self, module: str, words: list[str], log: Path | None, variables: dict[str, str]) -> None:
        self._answers: SimpleQueue[Answer] = SimpleQueue()
        self._heard_all = threading.Event()
        try:
            with Path(log or os.devnull).open("ab") as errors:
                self._process = subprocess.Popen(
                    [*python(module), *words],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env={**os.environ, **variables},
                    process_group=0 if os.name == "posix" else None,
                )  # fmt: skip
        except OSError as error:
            raise Problem(f"The run's process cannot be started ({error.strerror}).") from None
        start_daemon("answers of a run", self._listen)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def tell(self, message: Answer) -> None:
        """Send one line, from any thread; does nothing if the process has ended."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):  # its input may be closed already
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()

    def answers(self) -> list[Answer]:
        """The lines that it has written since the last call."""
        answers = []
        while not self._answers.empty():
            answers.append(self._answers.get())
        return answers

    def join(self, timeout: float) -> int | None:
        """Wait up to `timeout` seconds for its end and its last answer.

        Returns its exit status, negative for a signal; None if it still runs.
        """
        if not self._heard_all.wait(timeout) and self._process.poll() is None:  # wakes up once; Popen.wait polls
            return None
        try:
            status = self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None
        self._heard_all.wait(GRACE)
        return status

    def close(self) -> None:
        """Close its input and wait for its end."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.wait()
        self._heard_all.wait(GRACE)

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                with contextlib.suppress(ValueError):
                    self._answers.put(json.loads(line))
        self._heard_all.set()


class AnalysisProcess:
    """A second interpreter for UMAP and scikit-learn or for reports: JSON lines, one job at a time.

    Answers arrive on a listening thread, so `on_answer` must be safe to call from there. The process starts at the
    first request, ends with `close` or with this program, and is started again after it died.

    Args:
        on_answer: called with each answer {"id", "event": "progress" | "result" | "error", ...}.
        module: a server module; see serving.py.
    """

    def __init__(self, on_answer: Callable[[Answer], None], module: str = "workbench.projection.server") -> None:
        self._on_answer, self._module = on_answer, module
        self._numbers = count(1)
        self._lock = threading.Lock()
        self._waiting: dict[int, subprocess.Popen[str]] = {}  # request -> the process that it was sent to
        self._process: subprocess.Popen[str] | None = None  # that gets the next request

    def request(self, op: str, **fields: Any) -> int:
        """Send a request for `op`; returns its number, which is the `id` of its answers.

        Raises:
            Problem: the process cannot be started.
        """
        with self._lock:
            number = next(self._numbers)
            self._waiting[number] = self._sent({"id": number, "op": op, **fields})
            return number

    def cancel(self, number: int) -> None:
        """Discard a request: if it is running, its process is ended, and restarted at the next request."""
        with self._lock:
            process = self._waiting.pop(number, None)
            if process is None:
                return
            if process in self._waiting.values():
                with contextlib.suppress(OSError):  # it has died: nothing runs that could be cancelled
                    _write_line(process, {"id": number, "op": "cancel"})
                return
            process.kill()
            if process is self._process:
                self._process = None

    def close(self) -> None:
        """End the process: ask, wait, then kill. Pending answers are discarded."""
        with self._lock:
            at_work = self._process in self._waiting.values()
        process = self._let_go()
        if process is None:
            return
        try:
            process.wait(AT_WORK if at_work else GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def end(self) -> None:
        """Discard all requests and have the process end by itself; does not wait for that."""
        self._let_go()

    def _let_go(self) -> "subprocess.Popen[str] | None":
        """Close the process's input, at whose end it ends; returns the process."""
        with self._lock:
            process, self._process = self._process, None
            self._waiting.clear()
        if process is not None and process.stdin is not None:
            with contextlib.suppress(OSError):  # it has died
                process.stdin.close()
        return process

    def _sent(self, message: Answer) -> "subprocess.Popen[str]":
        """Send a message; returns the process that has it."""
        for _ in range(2):  # a process that died since the last request is started again, once
            try:
                if self._process is None or self._process.poll() is not None:
                    self._process = self._start()
                _write_line(self._process, message)
                return self._process
            except OSError as error:
                self._process = None
                log.warning("%s: %s", self._module, error)
        raise Problem("The analysis process cannot be started.", todo="See the log; restart Workbench.")

    def _start(self) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            python(self._module),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if sys.stderr is not None else subprocess.DEVNULL,  # Windows gives a window none
            text=True,
            encoding="utf-8",
        )
        start_daemon("analysis answers", lambda: self._listen(process))
        return process

    def _listen(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        assert process.stdin is not None
        for line in process.stdout:
            if not line.endswith("\n"):  # it died while it wrote this
                break
            answer = json.loads(line)
            with self._lock:
                wanted = answer["id"] in self._waiting
                if answer["event"] in ("result", "error"):
                    self._waiting.pop(answer["id"], None)
            if wanted:
                self._on_answer(answer)
        process.stdout.close()
        process.wait()
        with contextlib.suppress(OSError):  # flushing fails if the process died before it had read everything
            process.stdin.close()
        with self._lock:
            lost = [number for number, asked in self._waiting.items() if asked is process]
            for number in lost:
                del self._waiting[number]
        for number in lost:
            self._on_answer(
                {
                    "id": number,
                    "event": "error",
                    "what": "The analysis process ended unexpectedly.",
                    "kept": "Everything stored is kept.",
                    "todo": "Try again: it is restarted.",
                }
            )


def _write_line(process: "subprocess.Popen[str]", message: Answer) -> None:
    """Send a message to a process. Raises OSError if it has died."""
    assert process.stdin is not None
    process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()


class RankProcesses:
    """The other ranks of a run; this process is rank 0. They end with `close` or with this process.

    Each is `python -m MODULE` with RANK, LOCAL_RANK, WORLD_SIZE and LOCAL_WORLD_SIZE in its environment. It reads its
    order, one line of JSON, writes a line when it is ready, and ends when its input is closed.

    Args:
        module: what runs there; it calls `serve_rank`.
        orders: one for each rank, from rank 1 on.

    Raises:
        Problem: a process cannot be started; those before it have been ended.
    """

    def __init__(self, module: str, orders: Sequence[Answer]) -> None:
        self._files = contextlib.ExitStack()
        self._said = [self._files.enter_context(temporary_file()) for _ in orders]
        self._processes: list[subprocess.Popen[bytes]] = []
        for rank, (order, said) in enumerate(zip(orders, self._said, strict=True), start=1):
            count = str(len(orders) + 1)
            place = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count}
            try:
                process = subprocess.Popen(
                    python(module), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said,
                    env=os.environ | place,
                )  # fmt: skip
            except OSError as error:
                self.close()
                raise Problem(f"Rank {rank} of this run cannot be started ({error.strerror}).") from None
            self._processes.append(process)
            assert process.stdin is not None
            with contextlib.suppress(OSError):  # it died: `wait_until_ready` reports it
                process.stdin.write(json.dumps(order).encode() + b"\n")
                process.stdin.flush()

    def wait_until_ready(self) -> None:
        """Wait until every rank has written its line. Raises Problem if one ended instead."""
        for process in self._processes:
            assert process.stdout is not None
            if not process.stdout.readline():
                raise Problem(self.why_lost() or "A rank of this run could not be started.")

    def why_lost(self) -> str:
        """A sentence about the rank that ended, after waiting a few seconds for it; empty if all of them are alive."""
        for process in self._processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(GRACE / len(self._processes))
        for rank, process in enumerate(self._processes, start=1):
            if process.returncode not in (None, 0, ORPHANED):
                return self._why(rank, process.returncode)
        return ""

    def close(self) -> None:
        """End all of them at once."""
        for process in self._processes:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                with contextlib.suppress(OSError):
                    pipe.close()
        self._files.close()

    def _why(self, rank: int, status: int) -> str:
        said = self._said[rank - 1]
        said.seek(0)
        text = said.read().decode("utf-8", "replace").strip()
        if status == SAID_WHY:
            return text.rpartition("\n")[2]
        name = f"Rank {rank} of {len(self._processes) + 1}"
        if status < 0:
            return f"{name} was ended by signal {-status} ({signal.Signals(-status).name})."
        log.error("%s ended with status %d:\n%s", name, status, text)
        return f"{name} ended with status {status}. See the log."


def serve_rank(train: Callable[[Answer], None]) -> None:
    """The main function of a RankProcesses module: runs `train(order)`, and never returns.

    The process ends with rank 0 and ignores Ctrl+C, which rank 0 handles. A Problem becomes its last line of output.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(encoding="utf-8")  # as rank 0 reads it; on Windows a file has the country's characters
    order = json.loads(sys.stdin.buffer.readline())

    def end_with_rank_0() -> None:
        sys.stdin.buffer.read()
        os._exit(0)

    start_daemon("end with rank 0", end_with_rank_0)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    os.dup2(2, 1)
    try:
        train(order)
    except Problem as problem:
        sys.stderr.write("\n" + str(problem).replace("\n", " ") + "\n")
        sys.stderr.flush()
        os._exit(SAID_WHY)
    os._exit(0)
