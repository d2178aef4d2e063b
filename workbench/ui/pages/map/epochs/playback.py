"""Between the slider and the canvas: which chain is known, what stands on the map at a place, trails, mapping all."""

from typing import Any

import numpy as np
from PySide6.QtCore import QObject, QRectF, Signal

from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.activity import ActivityItem
from workbench.ui.analysis import Request
from workbench.ui.pages.map.drawing.canvas import MapCanvas
from workbench.ui.pages.map.epochs.chain import Chain, read_chain
from workbench.ui.pages.map.epochs.time_bar import TimeBar
from workbench.ui.pages.map.map_data import MapData
from workbench.ui.session import Session

MOST_TRAILS = 300  # selected points; of more, the first


class Playback(QObject):
    """Plays the chain of the map that is shown, and asks for what is missing of it."""

    moment = Signal(object, bool)  # MapData, whether its scores are those of another epoch than before
    mapped = Signal()  # every epoch has its map now

    def __init__(self, session: Session, canvas: MapCanvas, bar: TimeBar, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._canvas, self._bar = session, canvas, bar
        self.chain: Chain | None = None
        self._whole = QRectF()  # around all points of the chain
        self._data: MapData | None = None
        self._wanted: dict[str, Any] = {}
        self._number = 0  # of the newest question: older answers are dropped
        self._frame: int | None = None  # whose scores are shown
        self._request: Request | None = None
        self._item: ActivityItem | None = None
        bar.moved.connect(self._move)
        bar.settled.connect(self._settle)
        bar.every_asked.connect(self.map_every)
        bar.cancelled.connect(self.cancel)
        bar.trails_toggled.connect(self.show_trails)

    def knows(self, data: MapData) -> bool:
        """Whether a map belongs to the chain that is known: then the view stays where it is."""
        if self.chain is None or data.made is None:
            return False
        return any(each.projection == data.made.id for each in self.chain.frames)

    def show_map(self, data: MapData, wanted: dict[str, Any]) -> None:
        """A map now stands on the canvas: find the chain that it belongs to, unless it is known."""
        self._data, self._wanted = data, dict(wanted)
        if self.chain is not None and self.knows(data) and np.array_equal(self.chain.ids, data.ids):
            self._stand()
            if len(self.chain.frames) == self.chain.evaluations:
                return
        self._number += 1
        number, workspace = self._number, self._session.workspace

        def work(progress: Progress) -> tuple[int, Chain, QRectF]:
            chain = read_chain(workspace, data, wanted)
            left, bottom, right, top = chain.box()
            return number, chain, QRectF(left, bottom, right - left, top - bottom)

        self._session.run_in_thread("Maps of all epochs", work, self._read, quiet=True)

    def forget(self) -> None:
        """No map is shown any more."""
        self._number += 1
        self.chain = self._data = None
        self._bar.show_epochs((), 0)
        self.show_trails()

    def _read(self, found: tuple[int, Chain, QRectF]) -> None:
        number, chain, whole = found
        if number == self._number and not self._bar.playing and not self._bar.slider.isSliderDown():
            self.chain, self._whole = chain, whole
            self._stand()

    def _stand(self) -> None:
        """Put the slider where the shown map is."""
        assert self.chain is not None
        assert self._data is not None
        at = self.chain.frame_of(self._data.evaluation) if self.knows(self._data) else None
        self._frame = at
        epochs = () if at is None else tuple(each.epoch for each in self.chain.frames)
        self._bar.show_epochs(epochs, self.chain.evaluations, at or 0)
        self.show_trails()

    def _move(self, place: float) -> None:
        if self.chain is not None and self._data is not None:
            frame = self.chain.nearest(place)
            fresh, self._frame = frame != self._frame, frame
            own = place == self.chain.frame_of(self._data.evaluation)
            if not own:
                self._keep_in_view()
            self.moment.emit(self._data if own else self.chain.moment(self._data, place), fresh)
            self.show_trails()

    def _keep_in_view(self) -> None:
        """Nothing leaves the picture on its way, unless the person has zoomed in."""
        view, now = self._canvas.box.viewRect(), self._canvas.cloud.boundingRect()
        if view.contains(now) and not view.contains(self._whole):
            self._canvas.box.setRange(view.united(self._whole), padding=0)

    def _settle(self, frame: int) -> None:
        if self.chain is not None:
            self._session.show_evaluation(self.chain.frames[frame].evaluation)

    def show_trails(self) -> None:
        """Where the selected points have been, up to where the slider stands."""
        marks, chain, selected = self._canvas.marks, self.chain, self._canvas.cloud.selected
        rows = np.empty(0, np.int64)
        if chain is not None and len(chain.frames) > 1 and selected is not None and self._bar.trails.isChecked():
            rows = np.flatnonzero(selected)[:MOST_TRAILS]
        paths = np.empty((0, 0, 2)) if chain is None or not len(rows) else chain.trails(rows, self._bar.place)
        marks.show_trails(rows, paths)

    # Maps of all epochs

    def map_every(self) -> None:
        """Ask the analysis process for a map of every evaluation, each from the one before."""
        if self._request is not None or self._data is None:
            return
        place = {"workspace": str(self._session.workspace.path), "evaluation": self._data.evaluation}
        fields = self._wanted | place
        self._item = self._session.activity.add("Map of every epoch", self.cancel)
        self._bar.show_working("Waiting for the analysis process")
        try:
            self._request = self._session.analysis.request(
                "project_epochs", fields, self._progress, self._done, self._failed, owner=self
            )
        except Problem as problem:
            self._failed(problem)

    def cancel(self) -> None:
        """End it; maps that are done are kept."""
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
        self.mapped.emit()
