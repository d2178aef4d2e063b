"""The interface of a Browsing to the page that draws it, and to the session."""

from enum import Enum, auto
from typing import Protocol

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

    def show_query(self, sample_id: int | None) -> None:
        """Make a sample the query of all pages."""
