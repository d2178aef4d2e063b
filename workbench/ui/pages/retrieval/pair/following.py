"""The pair window of the queries: it follows the query of the page."""

from workbench.running.search.image_search import Answer, OwnImage
from workbench.ui.pages.retrieval.model.browsing import Browsing
from workbench.ui.pages.retrieval.neighbours.result import Result
from workbench.ui.pages.retrieval.pair.model import Ranking
from workbench.ui.pages.retrieval.pair.window import PairWindow
from workbench.ui.state.session import Session

NO_PAIR = "There is no query with a picture and neighbours to show side by side."


class QueryPairs(PairWindow):
    """Shows the query of the page beside the neighbour that is asked for."""

    def __init__(self, session: Session, browsing: Browsing, result: Result) -> None:
        super().__init__(session, result)
        self._browsing, self._result = browsing, result
        self._own: tuple[Answer, OwnImage] | None = None  # the same object for the same answer
        result.pair_asked.connect(self.ask)

    def ask_chosen(self) -> None:
        """Show the query beside the neighbour that has the focus, or beside the first."""
        self.ask(self._result.focused)

    def ask(self, sample_id: int | None = None) -> None:
        """Show the query beside a neighbour, by default the first; the message bar says if there is none."""
        ranking = self._ranking()
        if ranking is None:
            self._session.notify(NO_PAIR)
        else:
            self.open(ranking, sample_id)

    def follow_page(self) -> None:
        """Show what the page shows now; while its next query is being read, the pair stays."""
        ranking = self._ranking() if self.is_open else None
        if ranking is not None or not self._browsing.reading:
            self.follow(ranking)

    def _ranking(self) -> Ranking | None:
        """The query on screen with its neighbours, also those of its class that it missed; None without a picture."""
        browsing, near = self._browsing, self._browsing.neighbours
        if isinstance(browsing.answer, Answer) and near:
            if self._own is None or self._own[0] is not browsing.answer:
                self._own = browsing.answer, OwnImage(browsing.answer.name, browsing.answer.picture)
            shown = browsing.answer.evaluation
            return Ranking(
                shown.run_id, shown.id, shown.distance, self._own[1], f"Query: {browsing.answer.name}", False, near
            )
        if browsing.answer is not None or browsing.result is None or browsing.shown is None or not near:
            return None
        query, shown = browsing.result.query, browsing.shown.evaluation
        everyone = [*near, *self._result.missed.neighbours]
        return Ranking(
            shown.run_id, shown.id, shown.distance, query.sample_id, f"Query: {query.class_name}", True, everyone
        )
