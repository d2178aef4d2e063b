"""Reading off the window's thread, of which only the newest answer counts."""

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from workbench.problem import Problem
from workbench.progress import Progress

Work = Callable[[Progress], Any]
Take = Callable[[Any], None]


class Window(Protocol):
    """What a model needs of the session."""

    def run_in_thread(
        self,
        title: str,
        work: Work,
        then: Take | None = None,
        failed: Callable[[Problem], None] | None = None,
        *,
        quiet: bool = False,
    ) -> object:
        """Do work on a thread; `then(result)` or `failed(problem)` follow on the window's thread."""

    def show_query(self, sample_id: int | None) -> None:
        """Make a sample the query of all pages."""

    def notify(self, what: Problem | str) -> None:
        """Show a text in the message bar."""


class Newest:
    """Runs one request at a time; of those made meanwhile only the newest runs next."""

    def __init__(self, window: Window, title: str) -> None:
        self._window, self._title = window, title
        self._next: tuple[Work, Take, Take] | None = None  # what takes the answer, or the Problem
        self._asked: object | None = None

    @property
    def waiting(self) -> bool:
        """Whether a request is being worked on."""
        return self._asked is not None

    def ask(self, work: Work, take: Take, failed: Take | None = None) -> None:
        """Do work on a thread and take its result, unless something newer is asked by then.

        Args:
            failed: takes the Problem; by default it is said in the message bar.
        """
        self._next = (work, take, failed or self._window.notify)
        if self._asked is None:
            self._begin()

    def forget(self) -> None:
        """Ignore the results of all requests so far."""
        self._next = self._asked = None

    def _begin(self) -> None:
        assert self._next is not None
        (work, take, failed), self._next, self._asked = self._next, None, object()
        answered, refused = (partial(self._answered, self._asked, taker) for taker in (take, failed))
        self._window.run_in_thread(self._title, work, answered, refused, quiet=True)

    def _answered(self, asked: object, take: Take, answer: Any) -> None:
        if asked is not self._asked:
            return
        self._asked = None
        if self._next is not None:
            self._begin()
        else:
            take(answer)
