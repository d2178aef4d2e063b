"""The interface of a Browsing to the page that draws it, and to the session."""

from collections.abc import Callable
from enum import Enum, auto
from typing import Any, Protocol

from workbench.jobs.newest import Threads


class Change(Enum):
    """What has changed in the model."""

    EVALUATION = auto()  # another evaluation is shown, or none
    OPTIONS = auto()  # choices of the filters, or evaluations to compare with
    LIST = auto()  # other queries are listed, or in another order
    QUERY = auto()  # another query is shown, or another image of one's own
    EXPLANATION = auto()  # more is known of the query
    COMPARISON = auto()  # another evaluation is compared with, or none


class Window(Threads, Protocol):
    """What the model needs of the session."""

    def change(self, work: Callable[[], Any], then: Callable[[Any], None] | None = None) -> object:
        """Write on a thread, after the changes that were asked before; `then` gets the result on the window's."""

    def show_query(self, sample_id: int | None) -> None:
        """Make a sample the query of all pages."""
