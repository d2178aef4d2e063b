"""Analysis processes: JSON lines in and out, one job at a time. A server module defines its ops and calls `run`.

Requests are {"id", "op", ...}; answers {"id", "event": "progress", "text", "done", "total"}, {"id", "event": "result",
...} or {"id", "event": "error", "what", "kept", "todo"}. Every server also has the ops cancel and quit. The process
ends when its input is closed, even in the middle of a job.

A job reads {"op": "cancel", "id": N} between stages. Windows cannot check a pipe without reading it: there a job runs
to its end unless the client ends this process, as jobs.AnalysisProcess.cancel does when no other request waits.
"""

import json
import logging
import os
import select
import signal
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any, TypeVar

from workbench.control import Cancelled
from workbench.jobs.interpreter import collect_rarely
from workbench.problem import Problem
from workbench.progress import Progress

log = logging.getLogger(__name__)
Message = dict[str, Any]
Op = Callable[[Message, Progress], Message]  # returns the result
Ops = dict[str, Op]
CAN_PEEK = sys.platform != "win32"
Field = TypeVar("Field")
NICE = 15  # lower priority than a training thread, which may hold the interpreter lock while the window waits
OFTEN = 0.1  # minimum time in seconds between two progress answers of one stage


class InputClosed(Exception):  # noqa: N818 - an end, not an error
    """The process that started this one is gone."""


class Requests:
    """Lines from a file descriptor, read ahead so that a running job notices its cancellation."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._rest = b""
        self._lines: deque[bytes] = deque()
        self._closed = False

    def next(self) -> bytes | None:
        """Wait for the next line; None once the input is closed and all lines have been read."""
        while not self._lines and not self._closed:
            self._read()
        return self._lines.popleft() if self._lines else None

    def withdrawn(self, number: object) -> bool:
        """Whether this request has been cancelled. Raises InputClosed if the input has ended."""
        while CAN_PEEK and not self._closed and select.select([self._descriptor], [], [], 0)[0]:
            self._read()
        if self._closed:
            raise InputClosed
        return any(is_cancel(line, number) for line in self._lines)

    def _read(self) -> None:
        chunk = os.read(self._descriptor, 65_536)
        self._closed = not chunk  # a last line without its end is incomplete: it is ignored
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        self._lines.extend(line for line in lines if line.strip())


def is_cancel(line: bytes, number: object) -> bool:
    """Whether a line cancels request `number`."""
    try:
        message = json.loads(line)
    except ValueError:
        return False
    return isinstance(message, dict) and message.get("op") == "cancel" and message.get("id") == number


def answer(line: bytes, ops: Ops, requests: Requests, tell: Callable[[Message], None]) -> bool:
    """Handle one request line; returns False if it is "quit". Every failure becomes an error answer."""
    number: object = None
    try:
        request = _understood(line, ops)
        number = request.get("id")
        if request["op"] in ("quit", "cancel"):  # a cancel that comes after its job has no effect
            return bool(request["op"] == "cancel")
        report = _reporter(number, requests, tell)
        report("Starting", 0, 0)  # also notices a cancel that came while another job ran
        tell({"id": number, "event": "result", **ops[request["op"]](request, report)})
    except Cancelled:
        tell(_error(number, "The request was cancelled."))
    except Problem as problem:
        tell(_error(number, problem.what, problem.kept, problem.todo))
    except MemoryError:
        tell(
            _error(
                number,
                "There is not enough memory for this.",
                "Everything stored is kept.",
                "Close other programs or ask for less.",
            )
        )
    except InputClosed:
        return False
    except Exception:  # a defect: the traceback goes to the log, a sentence to the user
        log.exception("%r failed", line[:500])
        tell(_error(number, "This is a defect in Workbench.", "Everything stored is kept.", "See the log."))
    return True


def _understood(line: bytes, ops: Ops) -> Message:
    try:
        request = json.loads(line)
    except ValueError as error:
        raise Problem("The analysis process was sent a line that is not JSON.") from error
    op = request.get("op") if isinstance(request, dict) else None
    if not isinstance(request, dict) or not isinstance(op, str) or op not in (*ops, "cancel", "quit"):
        raise Problem(f"The analysis process knows no {op!r}.", todo=f"Known: {', '.join(ops)}, cancel, quit.")
    return request


def _reporter(number: object, requests: Requests, tell: Callable[[Message], None]) -> Progress:
    """A progress function that notices a cancel; it sends every stage at once, but its numbers only every 0.1 s."""
    last_text, last_time = "", 0.0

    def report(text: str, done: int, total: int) -> None:
        nonlocal last_text, last_time
        if requests.withdrawn(number):
            raise Cancelled
        now = time.monotonic()
        if text != last_text or now - last_time >= OFTEN:
            last_text, last_time = text, now
            tell({"id": number, "event": "progress", "text": text, "done": done, "total": total})

    return report


def field(request: Message, name: str, kind: type[Field]) -> Field:
    """A field of a request. Raises Problem if it is missing or not of that type."""
    value = request.get(name)
    if not isinstance(value, kind):
        raise Problem(f"The request must name {name!r} as {kind.__name__}, not {value!r}.")
    return value


def _error(number: object, what: str, kept: str = "", todo: str = "") -> Message:
    return {"id": number, "event": "error", "what": what, "kept": kept, "todo": todo}


def serve(ops: Ops, requests: Requests, out: IO[str]) -> None:
    """Answer requests until one is "quit" or the input is closed."""

    def tell(message: Message) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    while (line := requests.next()) is not None and answer(line, ops, requests, tell):
        pass


def step_back() -> None:
    """Lower the priority of this process below training and the window, if the system allows it."""
    if hasattr(os, "nice"):
        os.nice(NICE)


def run(ops: Ops, *, awaited: bool = False) -> None:
    """Serve requests on this process's pipes, then end it; what libraries print goes to stderr, none reads the input.

    Training and the window have a higher priority, unless a user waits for the answers (`awaited`). Ctrl+C is left to
    the process that started this one, which then closes the input.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    collect_rarely()
    if not awaited:
        step_back()
    own_input, own_output = os.dup(0), os.dup(1)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    with open(own_output, "w", encoding="utf-8") as out:
        with suppress(OSError):  # the parent process has ended; on Windows that is no BrokenPipeError
            serve(ops, Requests(own_input), out)
        os._exit(0)  # to unload UMAP takes a second, for which a closing window would wait; `out` is flushed
