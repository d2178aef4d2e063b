"""Which map an evaluation gets: a stored one, or PCA at once and UMAP or t-SNE when the analysis process is done."""

import logging
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.pages.map.making import reading
from workbench.ui.pages.map.model.map_data import MapData
from workbench.ui.pages.map.model.method import AT_ONCE, METHODS, Request, fits
from workbench.ui.state.background.activity import ActivityItem
from workbench.ui.state.background.analysis import Request as AnalysisRequest
from workbench.ui.state.session import Session
from workbench.workspace import Workspace
from workbench.workspace.measured.stored_maps import longest_chain, maps_of

log = logging.getLogger(__name__)
SETTLE = 400  # ms that an evaluation is shown before its UMAP is requested


@dataclass(frozen=True, slots=True)
class Wanted:
    """A requested map: the evaluation, and the request to the analysis process."""

    evaluation: int
    request: Request

    @property
    def at_once(self) -> bool:
        """Whether it is drawn without the analysis process."""
        return self.request["method"] in AT_ONCE


class MapMaker(QObject):
    """Makes one map at a time, the one that was requested last. It reads the workspace on a thread."""

    made = Signal(object)  # MapData
    working = Signal(str, int, int)  # stage, done, total; the stage is empty at the end
    failed = Signal(object)  # Problem: there is nothing to show

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._wanted: Wanted | None = None
        self._missing = False  # the requested map is not stored: PCA is shown meanwhile
        self._requested: Wanted | None = None  # what the analysis process works on
        self._tell = session.tell_failure()  # of what is requested
        self._request: AnalysisRequest | None = None
        self._item: ActivityItem | None = None
        self._settle = QTimer(self, interval=SETTLE, singleShot=True)
        self._settle.timeout.connect(self._ask)

    def make(self, evaluation_id: int, request: Request) -> None:
        """Make the map of an evaluation. `made` is emitted, and a second time if PCA is shown before the wanted map."""
        self._wanted, self._missing = Wanted(evaluation_id, request), False
        self._settle.stop()
        self._load(self._wanted)

    def forget(self) -> None:
        """Cancel the request and make no map: the workspace has changed, or there is no evaluation."""
        self._wanted = None
        self.cancel()

    def cancel(self) -> None:
        """Keep the shown map, and cancel the one that is being computed."""
        self._settle.stop()
        self._missing = False
        if self._request is not None:
            self._request.cancel()
        if self._item is not None:
            self._item.cancelled()
        self._end_request()

    def _load(self, wanted: Wanted, projection: int | None = None) -> None:
        """Read the requested map on a thread: the stored map `projection`, else the one of `best_map`."""
        workspace = self._session.workspace

        def work(progress: Progress) -> tuple[Wanted, MapData]:
            if projection is not None:
                return wanted, reading.stored(workspace, wanted.evaluation, projection)
            return wanted, best_map(workspace, wanted)

        def failed(problem: Problem) -> None:
            if wanted == self._wanted:
                self.cancel()
                self.failed.emit(problem)

        self._session.run_in_thread("Map", work, self._loaded, failed, quiet=True)

    def _loaded(self, answer: tuple[Wanted, MapData]) -> None:
        wanted, data = answer
        if wanted == self._wanted:
            self._missing = data.made is None and not wanted.at_once
            self.made.emit(data)
            if self._missing:
                self._settle.start()

    def _ask(self) -> None:
        """Request the wanted map; while another map is being computed, wait for its end."""
        wanted = self._wanted
        if wanted is None or self._request is not None:
            return
        source = {"workspace": str(self._session.workspace.path), "evaluation": wanted.evaluation}
        self._requested, self._tell = wanted, self._session.tell_failure()
        try:
            self._request = self._session.analysis.request(
                "project",
                {**source, **wanted.request},
                self._progress,
                self._projected,
                self._not_projected,
                owner=self,
            )
        except Problem as problem:
            self._session.notify(problem)
            return
        self._item = self._session.activity.add(f"{self._title()} of the test embeddings", self.cancel)
        self.working.emit(f"{self._title()}: starting", 0, 0)

    def _progress(self, answer: dict[str, Any]) -> None:
        words, done, total = answer["text"], answer["done"], answer["total"]
        if self._item is not None:
            self._item.progress(done, total, words)
        self.working.emit(f"{self._title()}: {words}", done, total)

    def _projected(self, answer: dict[str, Any]) -> None:
        if self._item is not None:
            self._item.finish()
        requested = self._requested
        self._end_request()
        if requested is not None and requested == self._wanted:
            self._load(requested, int(answer["projection"]))
        else:
            self._ask_missing()

    def _not_projected(self, problem: Problem) -> None:
        if self._item is not None:
            self._item.fail(str(problem))
        requested, workspace, tell = self._requested, self._session.workspace, self._tell
        self._end_request()
        if requested is not None:
            number = requested.evaluation  # a run that works may have deleted it while its map was made
            self._session.read(
                lambda: workspace.has_evaluation(number),
                lambda there: tell(problem) if there else log.info("not shown: %s", problem),
                lambda _: tell(problem),
            )
        if requested != self._wanted:
            self._ask_missing()

    def _ask_missing(self) -> None:
        if self._missing:
            self._ask()

    def _title(self) -> str:
        """The title of the requested method."""
        return METHODS["umap" if self._requested is None else self._requested.request["method"]]

    def _end_request(self) -> None:
        self._request = self._item = self._requested = None
        self.working.emit("", 0, 0)


def best_map(workspace: Workspace, wanted: Wanted) -> MapData:
    """The fitting stored map of the longest chain, else the newest stored map that fits, else that of `at_once`.

    Raises:
        Problem: as `reading.stored` and `reading.at_once`.
    """
    stored = maps_of(workspace, workspace.evaluation(wanted.evaluation).run_id)
    chain = longest_chain(stored, lambda projection: fits(projection, wanted.request))
    own = [
        projection.id
        for projection in stored
        if projection.evaluation_id == wanted.evaluation and fits(projection, wanted.request)
    ]
    number = next((projection.id for projection in chain if projection.id in own), own[-1] if own else None)
    if number is not None:
        return reading.stored(workspace, wanted.evaluation, number)
    return reading.at_once(workspace, wanted.evaluation, wanted.request)
