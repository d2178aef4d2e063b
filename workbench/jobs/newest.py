"""Requests of which only the newest is answered: the answers to older ones are dropped."""

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from workbench.problem import Problem
from workbench.progress import Progress

Take = Callable[[Any], None]


class Started(Protocol):
    """Work that was started on a thread."""

    @property
    def cancelled(self) -> bool:
        """Whether it was asked to end; it then gives no answer."""

    def cancel(self) -> None:
        """Ask it to end, and drop its answer."""


class Threads(Protocol):
    """Something that starts work on threads, such as the session of a window."""

    def run_in_thread(
        self,
        title: str,
        work: Callable[[Progress], Any],
        then: Take | None = None,
        failed: Callable[[Problem], None] | None = None,
        *,
        quiet: bool = False,
        cancelled: Callable[[], None] | None = None,
    ) -> Started:
        """Do work on a thread; one of the callbacks is then called on the caller's thread.

        `cancelled` is for a cancel by the user; a cancel by the caller calls none.
        """

    def notify(self, what: Problem | str) -> None:
        """Show a text in the message bar."""


class Newest:
    """Work on threads of which only the newest result is used.

    Args:
        threads: starts the work.
        one_at_a_time: a new request waits until the running one has ended, and of several waiting ones only the newest
            is done, so that a key that is held down keeps one thread busy. By default a new request cancels the one
            before.
    """

    def __init__(self, threads: Threads, *, one_at_a_time: bool = False) -> None:
        self._threads, self._one_at_a_time = threads, one_at_a_time
        self._running: Started | None = None
        self._next: Callable[[], None] | None = None  # starts the request that waits
        self._number = 0  # of the request whose answer counts

    @property
    def busy(self) -> bool:
        """Whether an answer is still to come; already False when `then` or `failed` of `ask` is called."""
        return self._running is not None and not self._running.cancelled

    @property
    def running(self) -> Started | None:
        """What was started for the request whose answer is still to come; None when none is."""
        return self._running

    def ask(
        self,
        title: str,
        work: Callable[[Progress], Any],
        then: Take | None = None,
        failed: Callable[[Problem], None] | None = None,
        *,
        quiet: bool = False,
        cancelled: Callable[[], None] | None = None,
    ) -> None:
        """Do `work` instead of the previous request; the arguments are those of `Threads.run_in_thread`."""
        begin = partial(self._begin, title, work, then, failed or self._threads.notify, quiet, cancelled)
        if self._one_at_a_time and self.busy:
            self._next = begin
        else:
            self.cancel()
            begin()

    def cancel(self) -> None:
        """Ask the work to end and drop the answers to all requests so far; without work this does nothing."""
        if self._running is not None:
            self._running.cancel()
        self._running = self._next = None
        self._number += 1

    def _begin(
        self, title: str, work: Callable[[Progress], Any], then: Take | None, failed: Take, quiet: bool,
        cancelled: Callable[[], None] | None,
    ) -> None:  # fmt: skip
        self._number += 1
        answered, refused = (partial(self._answered, self._number, take) for take in (then, failed))
        ended = partial(self._cancelled, self._number, cancelled)
        self._running = self._threads.run_in_thread(title, work, answered, refused, quiet=quiet, cancelled=ended)

    def _cancelled(self, number: int, tell: Callable[[], None] | None) -> None:
        """The user cancelled the running request: one that waits for it begins."""
        self._answered(number, None if tell is None else lambda _: tell(), None)

    def _answered(self, number: int, take: Take | None, answer: Any) -> None:
        if number != self._number:
            return
        self._running = None
        if self._next is not None:
            begin, self._next = self._next, None
            begin()
        elif take is not None:
            take(answer)
