"""Search the shown run with the user's own image, without widgets."""

from collections.abc import Callable
from typing import Protocol

from workbench.jobs.newest import Newest, Threads
from workbench.running.search.image_search import Answer, OwnImage, search
from workbench.ui.pages.retrieval.model.browsing import SHOWN
from workbench.workspace import Workspace


class Shown(Threads, Protocol):
    """The part of the session that the search needs."""

    @property
    def workspace(self) -> Workspace:
        """The open workspace."""

    @property
    def run_id(self) -> int | None:
        """The shown run."""

    @property
    def evaluation_id(self) -> int | None:
        """The evaluation that every page shows; None before there is one."""


class OwnSearch:
    """Searches the shown evaluation with an image, and another run with the same image on request.

    An evaluation without a stored checkpoint is not searched, and no other evaluation takes its place.

    Args:
        session: the session.
        show: called with the answer, to draw it.
    """

    def __init__(self, session: Shown, show: Callable[[Answer], None]) -> None:
        self._session, self._show = session, show
        self._searching = Newest(session)
        self._image: OwnImage | None = None  # of the last search

    def search(self, image: OwnImage) -> None:
        """Search with an image."""
        self._image = image
        self.search_again()

    def search_again(self) -> None:
        """Search with the last image; without one, or without a run, nothing happens."""
        workspace, run_id, image = self._session.workspace, self._session.run_id, self._image
        shown = self._session.evaluation_id
        if run_id is not None and image is not None:
            self._searching.ask(
                "Search with your image",
                lambda progress: search(workspace, run_id, [image], SHOWN, evaluation_id=shown, progress=progress)[0],
                self._show,
            )
