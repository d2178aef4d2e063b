"""Processes that answer lines of JSON with bytes, for Python work that would hold this process's interpreter lock."""

import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from typing import Any

from workbench.jobs.interpreter import python
from workbench.problem import Problem

Request = dict[str, Any]
HEAD = struct.Struct("<bq")  # how it ended (one of the next three), and the number of bytes that follow
WELL, REFUSED, NO_MEMORY = range(3)
MOST_WORDS = 1 << 16  # bytes of an error
ROOM = 1 << 20  # bytes, size of the socket's buffer


class ByteProcess:
    """A process `python -m MODULE WORDS` whose main function is `serve_bytes`; one request at a time.

    It ends with `close` or with this process; Ctrl+C does not reach it.

    Raises:
        Problem: the process cannot be started.
    """

    def __init__(self, module: str, words: list[str]) -> None:
        self._answers: socket.socket | None = None  # on Windows a socket cannot be a process's output: a pipe there
        out = subprocess.PIPE
        with contextlib.ExitStack() as theirs:
            if os.name == "posix":
                self._answers, end = socket.socketpair()
                theirs.enter_context(end)
                end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, ROOM)
                out = end.fileno()
            try:
                self._process = subprocess.Popen(
                    [*python(module), *words], stdin=subprocess.PIPE, stdout=out, bufsize=0,
                    stderr=None if sys.stderr is not None else subprocess.DEVNULL,  # Windows gives a window none
                    process_group=0 if os.name == "posix" else None,
                )  # fmt: skip
            except OSError as error:
                if self._answers is not None:
                    self._answers.close()
                raise Problem(f"A process that reads images cannot be started ({error.strerror}).") from None

    def fill(self, request: Request, into: memoryview) -> None:
        """Fill `into` (bytes, contiguous) with the answer; the interpreter lock is free while this waits.

        Raises:
            ValueError: what is wrong with what was asked for, as the process says.
            MemoryError: it has too little memory for this.
            Problem: the process has ended, or its answer has another length.
        """
        length = self._ask(request)
        if length != len(into):
            raise Problem(f"A process that reads images answered with {length:,} bytes instead of {len(into):,}.")
        self._read(into)

    def answer(self, request: Request) -> bytearray:
        """The answer, whatever its length. Raises as `fill`."""
        content = bytearray(self._ask(request))
        self._read(memoryview(content))
        return content

    def close(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.wait()
        for end in (self._process.stdin, self._process.stdout, self._answers):
            if end is not None:
                with contextlib.suppress(OSError):
                    end.close()

    def _ask(self, request: Request) -> int:
        """Send a request; returns the length of the answer that follows."""
        assert self._process.stdin is not None
        rest = memoryview(json.dumps(request).encode() + b"\n")
        with contextlib.suppress(OSError, ValueError):  # it has ended, or was closed: reading says so
            while rest:  # a signal may cut a call short
                rest = rest[self._process.stdin.write(rest) :]
        head = bytearray(HEAD.size)
        self._read(memoryview(head))
        end, length = HEAD.unpack(head)
        if end == WELL:
            return int(length)
        words = bytearray(min(length, MOST_WORDS))
        self._read(memoryview(words))
        raise (MemoryError if end == NO_MEMORY else ValueError)(words.decode("utf-8", "replace"))

    def _read(self, into: memoryview) -> None:
        """Fill `into` from its output. Raises Problem if the output ends too early."""
        done = 0
        while done < len(into):
            count = self._some(into[done:])
            if not count:
                status = self._process.wait()
                why = f"signal {-status}" if status < 0 else f"status {status}"
                raise Problem(f"A process that reads images ended ({why}).", todo="See the log; try again.")
            done += count

    def _some(self, into: memoryview) -> int:
        """Read into the buffer, in one system call if possible; returns the number of bytes, 0 at the end.

        Each return from a call waits for the interpreter lock: 5 ms while another thread runs Python code all the time.
        """
        try:
            if self._answers is not None:
                return self._answers.recv_into(into, len(into), socket.MSG_WAITALL)
            assert self._process.stdout is not None
            return int(self._process.stdout.readinto(into) or 0)  # type: ignore[attr-defined]  # a FileIO
        except ConnectionError:
            return 0
        except (OSError, ValueError):  # another thread has closed this end, or the system has no memory for it
            self._process.kill()
            return 0


class BytePool:
    """Several such processes, which are started at the first request; several threads may send requests at once.

    They end with `close`, when the pool is garbage-collected, or with this process.

    Args:
        module, words: as of a ByteProcess.
        count: of processes.
    """

    def __init__(self, module: str, words: list[str], count: int) -> None:
        self._module, self._words, self.count = module, words, count
        self._room = threading.Semaphore(count)
        self._lock = threading.Lock()
        self._alive: list[ByteProcess] = []
        self._free: SimpleQueue[ByteProcess] = SimpleQueue()
        weakref.finalize(self, _end, self._alive)

    def fill(self, request: Request, into: memoryview) -> None:
        """As `ByteProcess.fill`, by the next idle process. Also raises Problem if none can be started."""
        with self._taken() as process:
            process.fill(request, into)

    def answer(self, request: Request) -> bytearray:
        """As `ByteProcess.answer`, by the next idle process. Raises as `fill`."""
        with self._taken() as process:
            return process.answer(request)

    def close(self) -> None:
        """End all of them; a later request starts them again."""
        with self._lock:
            self._free = SimpleQueue()
            _end(self._alive)

    @contextlib.contextmanager
    def _taken(self) -> Iterator[ByteProcess]:
        """An idle process, for the duration of the block."""
        with self._room:
            process, whole = self._take(), False
            try:
                yield process
                whole = True
            except (ValueError, MemoryError):  # of what was asked for: the process itself is well
                whole = True
                raise
            finally:
                self._give_back(process, whole=whole)

    def _take(self) -> ByteProcess:
        with self._lock:
            if not self._alive:
                for _ in range(self.count):
                    self._free.put(self._start())
            return self._next() or self._start()  # replaces one that has failed

    def _start(self) -> ByteProcess:
        process = ByteProcess(self._module, self._words)
        self._alive.append(process)
        return process

    def _next(self) -> ByteProcess | None:
        try:
            return self._free.get_nowait()
        except Empty:
            return None

    def _give_back(self, process: ByteProcess, *, whole: bool) -> None:
        """Keep a process for the next request, unless it has failed or was ended meanwhile."""
        with self._lock:
            if process not in self._alive:
                return
            if whole:
                self._free.put(process)
            else:
                self._alive.remove(process)
                process.close()


def _end(processes: list[ByteProcess]) -> None:
    while processes:
        processes.pop().close()


def serve_bytes(answer: Callable[[Request], bytes | memoryview]) -> None:
    """The main function of a ByteProcess module: answers each request until the input is closed.

    A ValueError and a MemoryError of `answer` are sent back. What libraries print goes to the standard error.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "SIGTTOU"):  # a warning of a library may be written to a terminal that is another group's
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        for line in sys.stdin.buffer:
            content: bytes | memoryview
            try:
                content, end = answer(json.loads(line)), WELL
            except ValueError as error:
                content, end = _words(error), REFUSED
            except MemoryError as error:
                content, end = _words(error), NO_MEMORY
            try:
                out.write(HEAD.pack(end, len(content)))
                out.write(content)
                out.flush()
            except OSError:  # the process that asked has ended
                os._exit(0)


def _words(error: Exception) -> bytes:
    """What an error says, also of a name that is not UTF-8."""
    return str(error).encode("utf-8", "backslashreplace")[:MOST_WORDS]
