"""Search the shown run with an image of one's own, apart from its widgets."""

from collections.abc import Callable
from typing import Protocol

from workbench.jobs.newest import Threads
from workbench.running.image_search import Answer, OwnImage, search
from workbench.ui.pages.retrieval.browsing import SHOWN
from workbench.workspace import Workspace


class Shown(Threads, Protocol):
    """What is needed of the session."""

    @property
    def workspace(self) -> Workspace:
        """The open one."""

    @property
    def run_id(self) -> int | None:
        """The shown run."""

    @property
    def evaluation_id(self) -> int | None:
        """The evaluation that every page shows; None before there is one."""


class OwnSearch:
    """Searches the shown evaluation with an image, and with the same one again once another run is shown.

    An evaluation whose network is not kept is not searched, and none is searched in its place.

    Args:
        session: the session.
        show: puts an answer on screen.
    """

    def __init__(self, session: Shown, show: Callable[[Answer], None]) -> None:
        self._session, self._show = session, show
        self._image: OwnImage | None = None  # searched with last

    def search(self, image: OwnImage) -> None:
        """Search with an image."""
        self._image = image
        self.search_again()

    def search_again(self) -> None:
        """Search with the last image; without one, or without a run, nothing happens."""
        workspace, run_id, image = self._session.workspace, self._session.run_id, self._image
        shown = self._session.evaluation_id
        if run_id is not None and image is not None:
            self._session.run_in_thread(
                "Search with your image",
                lambda progress: search(workspace, run_id, [image], SHOWN, evaluation_id=shown, progress=progress)[0],
                self._show,
            )
