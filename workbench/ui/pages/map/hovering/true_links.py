"""Lines on the map from the hovered point to its nearest neighbours in the embedding."""

import numpy as np
from PySide6.QtCore import QObject

from workbench.problem import Problem
from workbench.progress import Progress
from workbench.projection.trust import NEIGHBOURS
from workbench.ui.pages.map.drawing.canvas import MapCanvas
from workbench.ui.pages.map.model.map_data import MapData
from workbench.ui.state.session import Session
from workbench.workspace.measured.ranking import read_ranking


class TrueLinks(QObject):
    """Reads the stored neighbours of an evaluation once, when a point of its map is first hovered."""

    def __init__(self, session: Session, canvas: MapCanvas, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._canvas = session, canvas
        self._evaluation: int | None = None  # whose neighbours were requested last
        self._near: np.ndarray | None = None  # [n, k] rows of the map, nearest first
        self._hovered: int | None = None
        session.workspace_changed.connect(self._forget)

    def hover(self, data: MapData | None, row: int | None) -> None:
        """Show the lines of a point, or none; for an evaluation's first point they follow once they have been read."""
        self._hovered = row
        if data is None or row is None:
            self._canvas.marks.show_links(None)
            return
        if self._evaluation != data.evaluation:
            self._evaluation, self._near = data.evaluation, None
            self._read(data)
        self._show()

    def _forget(self) -> None:
        self._evaluation = self._near = None

    def _read(self, data: MapData) -> None:
        workspace, evaluation, ids = self._session.workspace, data.evaluation, data.ids

        def work(progress: Progress) -> tuple[int, np.ndarray]:
            ranking = read_ranking(workspace, evaluation)
            if not np.array_equal(ranking.sample_ids, ids):
                raise Problem("The stored neighbours and the map are of different images.")
            return evaluation, ranking.neighbours[:, :NEIGHBOURS].copy()

        self._session.run_in_thread("True neighbours", work, self._came, self._unknown, quiet=True)

    def _came(self, answer: tuple[int, np.ndarray]) -> None:
        if answer[0] == self._evaluation:
            self._near = answer[1]
            self._show()

    def _unknown(self, problem: Problem) -> None:
        """Show no lines if the ranking cannot be read; the Retrieval page says why."""

    def _show(self) -> None:
        known = self._near is not None and self._hovered is not None and self._hovered < len(self._near)
        assert self._near is not None or not known
        self._canvas.marks.show_links(self._near[self._hovered] if known and self._near is not None else None)
