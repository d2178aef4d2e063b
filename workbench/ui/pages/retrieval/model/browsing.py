"""What the Retrieval page shows, apart from its widgets: the list, the query with its neighbours, the comparison."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from workbench.comparing.queries.counterparts import Counterpart
from workbench.jobs.newest import Newest
from workbench.problem import Problem
from workbench.results.explanations import ConfusedPair, FailedQueries
from workbench.results.mistakes import Changes
from workbench.results.search_methods import Answered, ByMethod
from workbench.running.search.image_search import Answer
from workbench.running.search.text_search import TextAnswer
from workbench.ui.pages.retrieval.model.causes import NOTHING, Why, explanation
from workbench.ui.pages.retrieval.model.comparison import Comparison
from workbench.ui.pages.retrieval.model.contract import Change, Window
from workbench.ui.pages.retrieval.model.filters import Filters
from workbench.ui.pages.retrieval.model.history import History
from workbench.ui.pages.retrieval.model.listing import Gains, Listing
from workbench.ui.pages.retrieval.model.reading import (
    ShownEvaluation,
    ShownQuery,
    read_by_method,
    read_evaluation,
    read_query,
    read_tags,
    write_tag,
)
from workbench.ui.pages.retrieval.model.similarities import Similarities, read_similarities
from workbench.workspace import Workspace
from workbench.workspace.rows import Evaluation, Neighbour

SHOWN = 48  # neighbours


class Browsing:
    """The state of the page. Everything is read on threads; this object is used on the window's.

    Args:
        window: the session.
        tell: called with what has changed.
    """

    def __init__(self, window: Window, tell: Callable[[Change], None]) -> None:
        self._window, self._tell = window, tell
        self._questions = [Newest(window, one_at_a_time=True) for _ in range(6)]
        self._evaluation, self._query, self._of_run, self._of_data, self._similarities, self._lists = self._questions
        self._similarities_wanted = False
        self._asked: tuple[Workspace, int] | None = None  # workspace and evaluation
        self._current = False  # whether `shown` is the evaluation that was asked for
        self.filters, self.listing, self.history = Filters(), Listing(), History()
        self.comparison = Comparison()
        self.methods: dict[str, str] = {}  # by `_key` of a run: the method of search that it is compared with
        self.unsearched = False  # whether the chosen method has not searched by the queries of the evaluation yet
        self.shown: ShownEvaluation | None = None
        self.query: int | None = None  # sample id that is asked for
        self.result: ShownQuery | None = None  # the query on screen
        self.explaining = False  # whether causes of failure are being worked out
        self.answer: Answer | TextAnswer | None = None  # to the user's own image or words, shown instead of a query

    @property
    def waiting(self) -> bool:
        """Whether something is being read, after which the page changes again."""
        return any(question.busy for question in self._questions)

    @property
    def reading(self) -> bool:
        """Whether the query that is wanted is still being read, or its evaluation."""
        return self._evaluation.busy or self._query.busy

    def leave(self) -> None:
        """Drop all answers that are still to come: who was to draw them is gone."""
        for question in self._questions:
            question.cancel()

    # The evaluation and its list

    def show_evaluation(self, workspace: Workspace, evaluation_id: int | None) -> None:
        """Show another evaluation, or none; filters that still apply stay."""
        asked = None if evaluation_id is None else (workspace, evaluation_id)
        if asked == self._asked:
            return
        if asked is None or self._asked is None or self._asked[0] is not workspace:
            self.leave()
        self._asked, self._current = asked, False
        if evaluation_id is not None:
            work = partial(read_evaluation, workspace, evaluation_id)
            self._evaluation.ask("Read an evaluation", work, self._take_evaluation, self._refuse_evaluation, quiet=True)
        else:
            self._show_nothing()

    def _show_nothing(self) -> None:
        self.shown = self.result = self.answer = None
        self.comparison, self.filters.group = Comparison(), None
        self._forget_evaluation({})
        self.listing.show(None, ())
        self.listing.arrange(self.filters)
        self._tell(Change.EVALUATION)

    def _refuse_evaluation(self, problem: Problem) -> None:
        """Show nothing, because the evaluation cannot be read; it can be requested again."""
        self._asked = None
        self._show_nothing()
        self._window.notify(problem)

    def choose_filters(self, **chosen: Any) -> None:
        """Set fields of `filters` as the user chose. Where the query does not pass, the first listed one is shown."""
        for name, value in chosen.items():
            setattr(self.filters, name, value)
        self._arrange()
        self._read_similarities()
        if self.query is not None and len(self.listing) and self.listing.position_of(self.query) < 0:
            self._window.show_query(self.listing.sample_id(0))

    def select(self, sample_ids: np.ndarray) -> None:
        """List only these samples, where they are more than one."""
        self.filters.selection = sample_ids
        self._arrange()

    def sort(self, column: int, *, descending: bool) -> None:
        """List the queries in the order of a column."""
        self.listing.column, self.listing.descending = column, descending
        self._arrange()

    def list_as(self, column: int, *, descending: bool, **chosen: Any) -> None:
        """List the queries in the order of a column, with these fields of `filters`."""
        self.listing.column, self.listing.descending = column, descending
        self.choose_filters(**chosen)
        self._tell(Change.OPTIONS)

    def _take_evaluation(self, shown: ShownEvaluation) -> None:
        if self.comparison.show(shown.evaluation, shown.of_run):
            self.history.clear()
            self.result = self.answer = self.filters.group = None  # of another run
            self.comparison.method = self.methods.get(self._key(shown.evaluation))
        class_name = None if self.filters.label is None else self.listing.class_name(self.filters.label)
        self.shown, self._current = shown, True
        self._query.cancel()
        self.listing.show(shown.queries, shown.class_names, shown.sorted_by)
        self.filters.keep_class(self.listing.labels, self.listing.names, class_name)
        self._forget_evaluation(shown.tags)
        self.listing.arrange(self.filters)
        self._tell(Change.EVALUATION)
        self._read_similarities()
        self.read_lists()
        self.show_query(self.query)

    def _forget_evaluation(self, tags: dict[str, np.ndarray]) -> None:
        """Drop from the filters what was known of an evaluation; take the tags of the data set."""
        self.filters.explained, self.filters.changes, self.filters.tags = None, None, tags
        self.filters.similarities = self.filters.by_method = self.filters.cell = None
        self.unsearched = False
        self.filters.drop_missing()

    def _arrange(self) -> None:
        self.listing.arrange(self.filters)
        self._tell(Change.LIST)

    def _options_changed(self) -> None:
        self.filters.drop_missing()
        self._tell(Change.OPTIONS)
        self._arrange()

    # The query

    def show_query(self, sample_id: int | None) -> None:
        """Show a query with its neighbours; None: the first that is listed."""
        self.query = sample_id
        if not self._current or self.shown is None or self._asked is None:
            return  # the answer to `show_evaluation` brings it
        if sample_id is None:
            if len(self.listing):
                self._window.show_query(self.listing.sample_id(0))  # the worst, unless another order is chosen
            return
        work = partial(read_query, self._asked[0], self.shown.evaluation, sample_id, self.comparison.before)
        self._query.ask("Read a query", work, partial(self._take_query, sample_id), self._refuse_query, quiet=True)

    def drop_late(self) -> None:
        """Show no query while the requested one is still being read."""
        if self.reading and self.answer is None and self.result is not None:
            self._drop_query()

    def _drop_query(self) -> None:
        self.result = None
        self._tell(Change.QUERY)

    def _refuse_query(self, problem: Problem) -> None:
        self._drop_query()
        self._window.notify(problem)

    def choose(self, sample_id: int) -> None:
        """Make a sample the query of all pages; the query itself comes back from an image of one's own."""
        if sample_id == self.query:
            self.show_query(sample_id)
        else:
            self._window.show_query(sample_id)

    def step(self, by: int) -> None:
        """Move by this many rows of the list; to its first row if the query is not listed."""
        position = self.listing.position_of(self.query)
        self._go(self.listing.sample_id(0 if position < 0 else position + by))

    def back(self) -> None:
        """Go to the query before."""
        self._go(self.history.back())

    def forward(self) -> None:
        """Go to the query that `back` left."""
        self._go(self.history.forward())

    def _go(self, sample_id: int | None) -> None:
        if sample_id is not None:
            self._window.show_query(sample_id)

    def _take_query(self, sample_id: int, result: ShownQuery | None) -> None:
        if result is None:  # chosen in an evaluation with another test set
            first = self.listing.sample_id(0)
            self._go(None if first == sample_id else first)
            return
        self.history.visit(sample_id)
        self.result, self.answer = result, None
        self._tell(Change.QUERY)

    @property
    def neighbours(self) -> list[Neighbour]:
        """The neighbours on screen, best first."""
        if self.answer is not None:
            return self.answer.neighbours
        return [] if self.result is None else self.result.near[:SHOWN]

    def explanation(self) -> Why:
        """Why the query failed, as far as it is known by now; NOTHING if it did not."""
        if self.result is None or self.answer is not None:
            return NOTHING
        return explanation(self.result, self.filters.explained, self.comparison.word, explaining=self.explaining)

    # Similarities

    def want_similarities(self, wanted: bool) -> None:
        """Read the similarities of this evaluation and of the next ones, or do so only where they filter the list."""
        self._similarities_wanted = wanted
        self._read_similarities()

    def _read_similarities(self) -> None:
        needed = self._similarities_wanted or self.filters.similarity is not None
        if not needed or self.filters.similarities is not None:
            return
        if self._current and self.shown is not None and self._asked is not None:
            evaluation_id = self.shown.evaluation.id
            work = partial(read_similarities, self._asked[0], evaluation_id, self.shown.queries)
            take = partial(self._take_similarities, evaluation_id)
            self._similarities.ask("Read similarities", work, take, quiet=True)

    def _take_similarities(self, evaluation_id: int, similarities: Similarities) -> None:
        if self.shown is not None and self.shown.evaluation.id == evaluation_id:
            self.filters.similarities = similarities
            self._arrange()

    # Tags

    @property
    def tags_of_query(self) -> list[str] | None:
        """The tags of the query on screen; None if it can have none."""
        if self.result is None or self.answer is not None:
            return None
        return [tag for tag, ids in self.filters.tags.items() if self.result.query.sample_id in ids]

    def tag(self, tag: str, *, on: bool) -> None:
        """Put a tag on the query or take it away, for all runs of its data set."""
        if not self._current or self.shown is None or self.result is None or self._asked is None:
            return
        work = partial(write_tag, self._asked[0], self.shown.dataset_id, self.result.query.sample_id, tag, on)
        self._window.change(work, partial(self._take_tags, self.shown.dataset_id))

    def look_for_tags(self) -> None:
        """Read the tags of the data set again: another window may have changed them."""
        if self._current and self.shown is not None and self._asked is not None:
            workspace, number = self._asked[0], self.shown.dataset_id
            work, take = (lambda progress: read_tags(workspace, number)), partial(self._take_tags, number)
            self._of_data.ask("Read the tags", work, take, quiet=True)

    def _take_tags(self, dataset_id: int, tags: dict[str, np.ndarray]) -> None:
        if self.shown is not None and self.shown.dataset_id == dataset_id:
            self.filters.tags = tags
            self._options_changed()
            self._tell(Change.EXPLANATION)

    # Causes of failure, and the comparison

    def take_failures(self, explained: FailedQueries | None, *, working: bool = False) -> None:
        """The causes of the shown evaluation are known; None: they are being worked out, or cannot be."""
        self.filters.explained, self.explaining = explained, working
        self._options_changed()
        self._tell(Change.EXPLANATION)

    def narrow(self, pair: ConfusedPair | None) -> None:
        """List the queries of one confusion; None: of all."""
        self.choose_filters(pair=pair)
        self._tell(Change.OPTIONS)

    def compare_with(self, evaluation_id: int | None) -> None:
        """Compare with one of the evaluations that are offered, or with none."""
        self.comparison.choose(evaluation_id)
        self._compare_anew()
        if self.answer is None and self.query is not None:
            self.show_query(self.query)

    def compare_by(self, method: str) -> None:
        """Compare with a method of search, which is kept as the choice of this run."""
        had_evaluation = self.comparison.before is not None
        self.comparison.choose_method(method)
        self._compare_anew()
        self.read_lists()
        if had_evaluation and self.answer is None and self.query is not None:
            self.show_query(self.query)

    def _compare_anew(self) -> None:
        """Forget what was compared before, and keep the choice of the run."""
        self.filters.changes = self.filters.by_method = self.listing.gains = None
        self.unsearched = False
        if self.shown is not None:
            key, method = self._key(self.shown.evaluation), self.comparison.method
            self.methods.pop(key, None)
            if method is not None:
                self.methods[key] = method
        self._options_changed()
        self._tell(Change.COMPARISON)

    def _key(self, evaluation: Evaluation) -> str:
        assert self._asked is not None
        return f"{evaluation.run_id} {self._asked[0].path}"

    def read_lists(self) -> None:
        """Read the stored lists by the method that is compared with, if there is one."""
        method, shown = self.comparison.method, self.shown
        if method is not None and self._current and shown is not None and self._asked is not None:
            work = partial(read_by_method, self._asked[0], shown, method)
            take = partial(self._take_lists, shown, method)
            self._lists.ask("Read the lists of a search method", work, take, quiet=True)

    def _take_lists(self, shown: ShownEvaluation, method: str, lists: tuple[ByMethod, Gains] | None) -> None:
        if self.shown is not shown or self.comparison.method != method:
            return
        self.unsearched = lists is None
        if lists is not None:
            self.filters.by_method, self.listing.gains = lists
            self.filters.changes = lists[0].changes
        self._options_changed()
        self._tell(Change.COMPARISON)

    def by_method(self) -> tuple[Answered, list[Neighbour]] | None:
        """The query as the method that is compared with answers it; None where that did not search by it."""
        method, result = self.filters.by_method, self.result
        answered = None if method is None or result is None else method.answer(result.query.sample_id)
        if answered is None or result is None:
            return None
        columns = (answered.sample_ids.tolist(), answered.similarities.tolist(), answered.labels.tolist())
        near = [
            Neighbour(rank, sample_id, close, label == result.query.label, label, self.listing.class_name(label))
            for rank, (sample_id, close, label) in enumerate(zip(*columns, strict=True), 1)
        ]
        return answered, near

    def take_changes(self, before: int, changes: Changes) -> None:
        """What was won and lost since the evaluation `before`, where that is still compared with."""
        if self.comparison.before is not None and self.comparison.before.id == before:
            self.filters.changes, self.filters.compared_with = changes, self.comparison.title
            self._options_changed()

    def take_others(self, run_id: int, others: list[Counterpart]) -> None:
        """Evaluations of other runs that those of a run can be compared with."""
        if self.comparison.now is not None and self.comparison.now.run_id == run_id:
            self.comparison.others = others
            self._tell(Change.OPTIONS)

    def look_for_evaluations(self) -> None:
        """Read which evaluations the shown run has now."""
        if self._current and self.shown is not None and self._asked is not None:
            workspace, run_id = self._asked[0], self.shown.evaluation.run_id
            work, take = (lambda progress: workspace.evaluations(run_id)), partial(self._take_evaluations, run_id)
            self._of_run.ask("Read the evaluations of a run", work, take, quiet=True)

    def _take_evaluations(self, run_id: int, evaluations: list[Evaluation]) -> None:
        if self.comparison.now is not None and self.comparison.now.run_id == run_id:
            self.comparison.of_run = tuple(evaluations)
            self._tell(Change.OPTIONS)

    def show_answer(self, answer: Answer | TextAnswer) -> None:
        """Show what was found for an image or words of one's own, unless another run is shown by now."""
        if self.shown is not None and answer.evaluation.run_id == self.shown.evaluation.run_id:
            self.answer = answer
            self._tell(Change.QUERY)
