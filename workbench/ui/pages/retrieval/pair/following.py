"""The pair window of the queries: it follows the query of the page, and takes its pair along to another run."""

from dataclasses import replace
from math import nan

from workbench.running.search.image_search import Answer, OwnImage
from workbench.ui.pages.retrieval.model.browsing import Browsing
from workbench.ui.pages.retrieval.neighbours.result import Result
from workbench.ui.pages.retrieval.pair.model import BEHIND, Ranking, source_of
from workbench.ui.pages.retrieval.pair.window import PairWindow
from workbench.ui.state.session import Session
from workbench.workspace.rows import Evaluation, Neighbour

NO_PAIR = "There is no query with a picture and neighbours to show side by side."


class QueryPairs(PairWindow):
    """Shows the query of the page beside the neighbour that is asked for."""

    def __init__(self, session: Session, browsing: Browsing, result: Result) -> None:
        super().__init__(session, result)
        self._browsing, self._result = browsing, result
        self._own: tuple[Answer, OwnImage] | None = None  # the same object for the same answer
        self._passed: tuple[int, int] | None = None  # run and query that the page chose, and no person
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
        """Show what the page shows now; the pair stays where the page has no query, or one that nobody chose."""
        ranking = self._ranking() if self.is_open else None
        if ranking is not None and not self._stays_before(ranking):
            self.follow(self._with_neighbour(ranking))

    def keep_query(self) -> None:
        """Show the query of the open pair on the page, too, where another run has just been shown that has it."""
        shown, before = self._browsing.shown, self.model.ranking
        if not self.is_open or shown is None or before is None or isinstance(before.query, OwnImage):
            return
        if self._session.query is None and self._is_query(before.query) and self._same_images(before):
            self._session.show_query(before.query)

    def _same_images(self, before: Ranking) -> bool:
        """Whether the page shows the images of a pair: other images may have the same ids, as they have their paths."""
        shown = self._browsing.shown
        if shown is None or before.dataset == shown.dataset_id:
            return shown is not None
        runs = [self._session.run(run_id) for run_id in (before.run_id, shown.evaluation.run_id)]
        images = {run.images for run in runs if run is not None}
        return len(images) == 1 and "" not in images and None not in runs

    def _is_query(self, sample_id: int) -> bool:
        shown = self._browsing.shown
        return shown is not None and bool((shown.queries.sample_ids == sample_id).any())

    def _stays_before(self, ranking: Ranking) -> bool:
        """Whether the page shows the first query of another run, which nobody chose, as that run lacks the pair's."""
        before = self.model.ranking
        if before is None or isinstance(ranking.query, OwnImage) or before.run_id == ranking.run_id:
            return False
        if before.query == ranking.query and self._same_images(before):
            return False
        if self._passed is None or self._passed[0] != ranking.run_id:
            self._passed = ranking.run_id, ranking.query
        return self._passed == (ranking.run_id, ranking.query)

    def _with_neighbour(self, ranking: Ranking) -> Ranking:
        """The ranking with the neighbour of the shown pair at its end, where it is the same query's and has no rank."""
        before, near, query = self.model.ranking, self.model.neighbour, self._browsing.result
        self._passed = None
        if before is None or near is None or query is None or before.query != ranking.query or not ranking.judged:
            return ranking
        if not self._same_images(before):
            return ranking
        if any(other.sample_id == near.sample_id for other in ranking.near) or not self._is_query(near.sample_id):
            return ranking
        stored = next((other for other in query.near if other.sample_id == near.sample_id), None)
        right = near.class_name == query.query.class_name
        behind = Neighbour(BEHIND, near.sample_id, nan, right, near.label, near.class_name)
        return replace(ranking, near=[*ranking.near, stored or behind])

    def _ranking(self) -> Ranking | None:
        """The query on screen with its neighbours, also those of its class that it missed; None without a picture."""
        browsing, near = self._browsing, self._browsing.neighbours
        if isinstance(browsing.answer, Answer) and near:
            if self._own is None or self._own[0] is not browsing.answer:
                self._own = browsing.answer, OwnImage(browsing.answer.name, browsing.answer.picture)
            shown = browsing.answer.evaluation
            return Ranking(
                shown.run_id, shown.id, shown.distance, self._own[1], f"Query: {browsing.answer.name}", False, near,
                browsing.shown.dataset_id if browsing.shown is not None else None, self._source(shown),
            )  # fmt: skip
        if browsing.answer is not None or browsing.result is None or browsing.shown is None or not near:
            return None
        query, shown = browsing.result.query, browsing.shown.evaluation
        everyone = [*near, *self._result.missed.neighbours]
        return Ranking(
            shown.run_id, shown.id, shown.distance, query.sample_id, f"Query: {query.class_name}", True, everyone,
            browsing.shown.dataset_id, self._source(shown),
        )  # fmt: skip

    def _source(self, shown: Evaluation) -> str:
        return source_of(self._session.run(shown.run_id), shown)
