"""Opens the window of a pair, and lets it follow the query of the page."""

from PySide6.QtCore import QObject

from workbench.running.search.image_search import Answer, OwnImage
from workbench.ui.pages.retrieval.model.browsing import Browsing
from workbench.ui.pages.retrieval.neighbours.result import Result
from workbench.ui.pages.retrieval.pair.dialog import PairDialog
from workbench.ui.pages.retrieval.pair.model import PairModel, Ranking
from workbench.ui.state.session import Session
from workbench.ui.widgets.images.pictures import shared_loader

NO_PAIR = "There is no query with a picture and neighbours to show side by side."


class Pairs(QObject):
    """The pair window of a page."""

    def __init__(self, session: Session, browsing: Browsing, result: Result) -> None:
        super().__init__(result)
        self._session, self._browsing, self._result = session, browsing, result
        self._own: tuple[Answer, OwnImage] | None = None  # the same object for the same answer
        self.model = PairModel(session, self._draw)
        self.dialog: PairDialog | None = None
        session.workspace_changed.connect(self.model.forget)
        result.pair_asked.connect(self.open)

    def open_chosen(self) -> None:
        """Show the query beside the neighbour that has the focus, or beside the first."""
        self.open(self._result.focused)

    def open(self, sample_id: int | None = None) -> None:
        """Show the query beside a neighbour, by default the first."""
        ranking = self._ranking()
        if ranking is None:
            self._session.notify(NO_PAIR)
            return
        if self.dialog is None:
            self.dialog = PairDialog(self.model, shared_loader(self._session), self._result)
            self._session.part_made.emit(self.dialog)
        self.dialog.show()
        self.dialog.raise_()
        self.dialog.activateWindow()
        self.model.show(ranking, sample_id)

    def follow(self) -> None:
        """Show another query beside its first neighbour, or the same pair if the query is the same."""
        if self.dialog is None or not self.dialog.isVisible():
            return
        ranking, before, near = self._ranking(), self.model.ranking, self.model.neighbour
        if ranking is None and self._browsing.reading:
            return  # the pair stays until the next query is read
        same = ranking is not None and before is not None and ranking.query == before.query
        self.model.show(ranking, near.sample_id if same and near is not None else None)

    def _ranking(self) -> Ranking | None:
        """The query on screen with its neighbours, also those of its class that it missed; None without a picture."""
        browsing, near = self._browsing, self._browsing.neighbours
        if isinstance(browsing.answer, Answer) and near:
            if self._own is None or self._own[0] is not browsing.answer:
                self._own = browsing.answer, OwnImage(browsing.answer.name, browsing.answer.picture)
            return Ranking(browsing.answer.evaluation, self._own[1], browsing.answer.name, False, near)
        if browsing.answer is not None or browsing.result is None or browsing.shown is None or not near:
            return None
        query = browsing.result.query
        everyone = [*near, *self._result.missed.neighbours]
        return Ranking(browsing.shown.evaluation, query.sample_id, query.class_name, True, everyone)

    def _draw(self) -> None:
        if self.dialog is not None:
            self.dialog.draw()
