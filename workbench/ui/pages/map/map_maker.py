"""Which map an evaluation gets: a stored one, or PCA at once and UMAP when the analysis process has it."""

from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.activity import ActivityItem
from workbench.ui.analysis import Request
from workbench.ui.pages.map import map_data
from workbench.ui.pages.map.map_data import AT_ONCE, METHODS, MapData
from workbench.ui.pages.map.settings import fits
from workbench.ui.session import Session
from workbench.workspace.stored_maps import longest_chain, maps_of

SETTLE = 400  # ms that an evaluation stands before a UMAP of it is asked for
Wanted = dict[str, Any]  # method, params, seed


class MapMaker(QObject):
    """Makes one map at a time, always of what was wanted last."""

    made = Signal(object)  # MapData
    working = Signal(str, int, int)  # words, done, total; no words at the end
    failed = Signal(object)  # Problem: there is nothing to show

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._evaluation: int | None = None
        self._wanted: Wanted = {}
        self._request: Request | None = None
        self._asked: tuple[int, Wanted] | None = None  # what the request is for
        self._item: ActivityItem | None = None
        self._settle = QTimer(self, interval=SETTLE, singleShot=True)
        self._settle.timeout.connect(self._ask)

    def make(self, evaluation_id: int, wanted: Wanted) -> None:
        """Show the map of an evaluation: `made` follows, twice where a better one takes its time."""
        self._evaluation, self._wanted = evaluation_id, wanted
        self._settle.stop()
        try:
            stored = self._stored()
        except Problem as problem:
            self.failed.emit(problem)
            return
        self._load(stored)
        if stored is None and wanted["method"] not in AT_ONCE:
            self._settle.start()

    def forget(self) -> None:
        """Nothing is wanted any more: another workspace, or no evaluation."""
        self._evaluation = None
        self.cancel()

    def cancel(self) -> None:
        """Keep the map that is shown, and discard the one in the making."""
        self._settle.stop()
        if self._request is not None:
            self._request.cancel()
        if self._item is not None:
            self._item.cancelled()
        self._end_request()

    def _stored(self) -> int | None:
        """The map of the longest chain, else the newest that fits."""
        assert self._evaluation is not None
        workspace = self._session.workspace
        every = maps_of(workspace, workspace.evaluation(self._evaluation).run_id)
        chain = longest_chain(every, lambda made: fits(made, self._wanted))
        found = [each.id for each in every if each.evaluation_id == self._evaluation and fits(each, self._wanted)]
        return next((each.id for each in chain if each.id in found), found[-1] if found else None)

    def _load(self, projection: int | None) -> None:
        workspace, evaluation, wanted = self._session.workspace, self._evaluation, self._wanted
        assert evaluation is not None

        def work(progress: Progress) -> tuple[int, Wanted, MapData]:
            if projection is not None:
                return evaluation, wanted, map_data.stored(workspace, evaluation, projection)
            return evaluation, wanted, map_data.at_once(workspace, evaluation, wanted)

        def failed(problem: Problem) -> None:
            if (evaluation, wanted) == (self._evaluation, self._wanted):
                self.cancel()
                self.failed.emit(problem)

        self._session.run_in_thread("Map", work, self._loaded, failed, quiet=True)

    def _loaded(self, found: tuple[int, Wanted, MapData]) -> None:
        evaluation, wanted, data = found
        if (evaluation, wanted) == (self._evaluation, self._wanted):
            self.made.emit(data)

    def _ask(self) -> None:
        """Ask for what is wanted now; while another map is in the making, it comes after that one."""
        if self._evaluation is None or self._request is not None:
            return
        fields = {"workspace": str(self._session.workspace.path), "evaluation": self._evaluation, **self._wanted}
        self._asked = (self._evaluation, self._wanted)
        try:
            self._request = self._session.analysis.request(
                "project", fields, self._progress, self._projected, self._not_projected, owner=self
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
        asked = self._asked
        self._end_request()
        if asked == (self._evaluation, self._wanted):
            self._load(int(answer["projection"]))
        else:
            self._ask_again()

    def _not_projected(self, problem: Problem) -> None:
        if self._item is not None:
            self._item.fail(str(problem))
        asked = self._asked
        self._end_request()
        self._session.notify(problem)
        if asked != (self._evaluation, self._wanted):
            self._ask_again()

    def _ask_again(self) -> None:
        if self._evaluation is not None and self._wanted["method"] not in AT_ONCE and self._stored() is None:
            self._ask()

    def _title(self) -> str:
        """Of the method that was asked for."""
        return METHODS["umap" if self._asked is None else self._asked[1]["method"]]

    def _end_request(self) -> None:
        self._request = self._item = self._asked = None
        self.working.emit("", 0, 0)
