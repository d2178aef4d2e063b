"""The window's client of an analysis process: progress and answers arrive on the window's thread."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from PySide6.QtCore import QMetaObject, QObject

from workbench.jobs import AnalysisProcess
from workbench.problem import Problem
from workbench.ui.state.background.mailbox import Mailbox

Answer = dict[str, Any]
NEVER_ASKED = 0  # numbers of requests begin at 1


class Process(Protocol):
    """What the client needs of jobs.AnalysisProcess."""

    def request(self, op: str, **fields: Any) -> int:
        """Send a request and return its number, 1 or higher."""

    def cancel(self, number: int) -> None:
        """Discard the request of that number."""

    def end(self) -> None:
        """Have the process end, without waiting for it."""

    def close(self) -> None:
        """End the process, and wait for its end."""


@dataclass(frozen=True, slots=True)
class Callbacks:
    """The functions that receive the answers to one request; None ignores that answer."""

    on_progress: Callable[[Answer], None] | None
    on_result: Callable[[Answer], None] | None
    on_error: Callable[[Problem], None] | None


class Request:
    """A request that was sent; after `cancel` none of its callbacks is called."""

    def __init__(self, client: "AnalysisClient", number: int) -> None:
        self._client, self.number = client, number

    def cancel(self) -> None:
        """Discard the request; nothing happens when it has been answered."""
        self._client.cancel(self.number)


class AnalysisClient(QObject):
    """Requests to one analysis process. All callbacks are called on the thread of this object, the window's.

    When the process dies, every open request gets an error; the next request starts a new process.

    Args:
        start: makes the process for a function that takes its answers; tests give another.
    """

    def __init__(
        self, parent: QObject | None = None, start: Callable[[Callable[[Answer], None]], Process] = AnalysisProcess
    ) -> None:
        super().__init__(parent)
        self._open: dict[int, Callbacks] = {}
        self._owned: dict[int, QMetaObject.Connection] = {}  # request -> to the end of its owner
        self._closed = False
        self._mailbox = Mailbox(self._receive, self)
        self._process = start(self._mailbox.send)

    def request(
        self,
        op: str,
        fields: dict[str, Any],
        on_progress: Callable[[Answer], None] | None = None,
        on_result: Callable[[Answer], None] | None = None,
        on_error: Callable[[Problem], None] | None = None,
        owner: QObject | None = None,
    ) -> Request:
        """Ask for `op` with `fields` (plain data); discarded when its `owner` is destroyed.

        After `close` nothing is asked: the request is discarded at once.

        Raises:
            Problem: the process cannot be started.
        """
        if self._closed:
            return Request(self, NEVER_ASKED)
        number = self._process.request(op, **fields)
        self._open[number] = Callbacks(on_progress, on_result, on_error)
        if owner is not None:
            self._owned[number] = owner.destroyed.connect(partial(self.cancel, number))
        return Request(self, number)

    def cancel(self, number: int, _destroyed: object = None) -> None:
        """Discard a request; nothing happens when it was answered already."""
        if self._end(number) is not None:
            self._process.cancel(number)

    def _end(self, number: int) -> Callbacks | None:
        """Forget a request, and its owner; what receives its answers, None where it had ended before."""
        connection = self._owned.pop(number, None)
        if connection is not None:
            QObject.disconnect(connection)  # nothing happens where the owner is gone
        return self._open.pop(number, None)

    def end(self) -> None:
        """As `close`, without waiting for the end of the process."""
        self._forget_all()
        self._process.end()

    def close(self) -> None:
        """End the process; open requests are discarded, and it is not started again."""
        self._forget_all()
        self._process.close()

    def _forget_all(self) -> None:
        self._closed = True
        for number in tuple(self._open):
            self._end(number)

    def _receive(self, answer: Answer) -> None:
        asked = self._open.get(answer["id"])
        if asked is None:  # discarded meanwhile
            return
        if answer["event"] == "progress":
            if asked.on_progress is not None:
                asked.on_progress(answer)
            return
        self._end(answer["id"])
        if answer["event"] == "error":
            if asked.on_error is not None:
                what = answer.get("what", "The analysis failed.")
                asked.on_error(Problem(what, kept=answer.get("kept", ""), todo=answer.get("todo", "")))
        elif asked.on_result is not None:
            asked.on_result(answer)
