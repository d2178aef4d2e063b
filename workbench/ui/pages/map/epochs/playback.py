"""The chain of maps behind the timeline: read from the workspace, and completed by the analysis process."""

from typing import Any

from PySide6.QtCore import QObject

from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.pages.map.epochs.time_bar import TimeBar
from workbench.ui.pages.map.model.chain import Chain, read_chain
from workbench.ui.pages.map.model.map_model import Change, MapModel
from workbench.ui.state.background.activity import ActivityItem
from workbench.ui.state.background.analysis import Request
from workbench.ui.state.session import Session


class Playback(QObject):
    """Reads the chain of the shown map, follows the slider, and maps every epoch on request."""

    def __init__(self, session: Session, model: MapModel, bar: TimeBar, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._model, self._bar = session, model, bar
        self._number = 0  # of the newest request: answers to older ones are dropped
        self._request: Request | None = None
        self._item: ActivityItem | None = None
        model.listen(self._heard)
        bar.moved.connect(model.go_to)
        bar.settled.connect(self._settle)
        bar.every_asked.connect(self.map_every)
        bar.cancelled.connect(self.cancel)
        bar.trails_toggled.connect(model.show_trails)

    def _heard(self, change: Change) -> None:
        if change is Change.MAP:
            self._number += 1
            if self._model.map is not None and not self._model.whole_chain:
                self._read()

    def _read(self) -> None:
        number, workspace = self._number, self._session.workspace
        data, wanted = self._model.map, self._model.request
        assert data is not None

        def work(progress: Progress) -> tuple[int, Chain]:
            return number, read_chain(workspace, data, wanted)

        self._session.run_in_thread("Maps of all epochs", work, self._came, quiet=True)

    def _came(self, answer: tuple[int, Chain]) -> None:
        number, chain = answer
        if number == self._number and not self._model.timeline.playing and not self._bar.held:
            self._model.show_chain(chain)

    def _settle(self, epoch: int) -> None:
        if self._model.chain is not None:
            self._session.show_evaluation(self._model.chain.frames[epoch].evaluation)

    # Maps of all epochs

    def map_every(self) -> None:
        """Request a map of every evaluation from the analysis process, each starting from the one before."""
        if self._request is not None or self._model.map is None:
            return
        source = {"workspace": str(self._session.workspace.path), "evaluation": self._model.map.evaluation}
        self._item = self._session.activity.add("Map of every epoch", self.cancel)
        self._bar.show_working("Waiting for the analysis process")
        try:
            self._request = self._session.analysis.request(
                "project_epochs", self._model.request | source, self._progress, self._done, self._failed, owner=self
            )
        except Problem as problem:
            self._failed(problem)

    def cancel(self) -> None:
        """Cancel the mapping; finished maps are kept."""
        if self._request is not None:
            self._request.cancel()
        if self._item is not None:
            self._item.cancelled()
        self._end()

    def _progress(self, answer: dict[str, Any]) -> None:
        words = str(answer["text"])
        if self._item is not None:
            self._item.progress(answer["done"], answer["total"], words)
        self._bar.show_working(words.partition(":")[0].capitalize())

    def _done(self, answer: dict[str, Any]) -> None:
        if self._item is not None:
            self._item.finish()
        self._end()

    def _failed(self, problem: Problem) -> None:
        if self._item is not None:
            self._item.fail(str(problem))
        self._session.notify(problem)
        self._end()

    def _end(self) -> None:
        self._request = self._item = None
        self._bar.show_working("")
        self._model.want_again()
