"""The model of the Retrieval page without any widget: what it asks, which answers it takes, what it then shows."""

import numpy as np
import pytest
from small_run import blobs, store_run

from tests.contracts import source_rules as rules
from tests.played_threads import PlayedThreads
from workbench.comparing.queries.counterparts import counterparts
from workbench.progress import quiet
from workbench.results.explanations import explain_failures
from workbench.results.mistakes import read_changes
from workbench.ui.pages.retrieval.model.browsing import Browsing
from workbench.ui.pages.retrieval.model.cause_names import TITLES
from workbench.ui.pages.retrieval.model.contract import Change
from workbench.ui.pages.retrieval.model.filters import LOST, TAG, WON

LABELS = np.repeat(np.arange(4), 10)
SEARCHES = ("own_search", "words_model", "gallery_model")  # they draw nothing either


class Window(PlayedThreads):
    """A session that shows one query."""

    query: int | None = None
    browsing: Browsing | None = None

    def change(self, work, then=None):
        self.run_in_thread("Writing", lambda progress: work(), then)

    def show_query(self, sample_id):
        if sample_id != self.query:
            self.query = sample_id
            self.browsing.show_query(sample_id)


@pytest.fixture
def workspace(workspace):
    """That of the window's tests, which no session closes here."""
    with workspace:
        yield workspace


@pytest.fixture
def run(workspace):
    return store_run(workspace, LABELS, embeddings=[blobs(LABELS, 1.4, 0), blobs(LABELS, 0.9, 1)])


@pytest.fixture
def window():
    return Window()


@pytest.fixture
def changes():
    return []


@pytest.fixture
def browsing(window, changes):
    window.browsing = Browsing(window, changes.append)
    return window.browsing


@pytest.fixture
def shown(browsing, window, workspace, run):
    """The model with the last evaluation and its worst query."""
    browsing.show_evaluation(workspace, run.evaluations[-1])
    browsing.show_query(None)
    window.work_on()
    return browsing


def test_no_file_of_the_model_knows_qt():
    package = rules.ROOT / "workbench/ui/pages/retrieval"
    models = [*sorted((package / "model").glob("*.py")), *(package / "search" / f"{name}.py" for name in SEARCHES)]
    assert len(models) > 12
    for path in models:
        source = rules.Source(path.stem, path.read_text("utf-8"))
        assert not [imported for imported, _ in rules.imports(source.nodes) if imported.split(".")[0] in rules.QT]


def test_the_worst_query_comes_with_the_evaluation(shown, window, run):
    worst = run.ids[np.lexsort((run.ids, run.ap))[0]]
    assert window.query == shown.query == shown.result.query.sample_id == worst
    assert len(shown.listing) == shown.listing.total == 40
    assert [near.rank for near in shown.neighbours] == list(range(1, 21))
    assert not shown.waiting


def test_nothing_is_shown_before_it_is_read(browsing, window, workspace, run, changes):
    browsing.show_evaluation(workspace, run.evaluations[-1])
    assert (browsing.waiting, browsing.shown, changes) == (True, None, [])
    browsing.show_query(int(run.ids[3]))
    assert [asked.title for asked in window.asked] == ["Read an evaluation"], "a query is asked of a known evaluation"
    window.work()
    assert changes == [Change.EVALUATION]
    assert browsing.result is None
    window.work()
    assert changes == [Change.EVALUATION, Change.QUERY]
    assert browsing.result.query.sample_id == run.ids[3]


def test_of_many_queries_only_the_first_and_the_newest_are_read(shown, window, run):
    read = []
    for row in (3, 4, 5, 6):
        window.show_query(int(run.ids[row]))
    while window.asked:
        window.work()
        read.append(shown.result.query.sample_id)
    assert len(read) == 2
    assert read[-1] == run.ids[6]
    assert run.ids[3] not in read, "an answer that is outdated when it comes is not shown"


def test_an_outdated_evaluation_is_not_shown(shown, window, workspace, run):
    for evaluation in (run.evaluations[0], run.evaluations[1], run.evaluations[0]):
        shown.show_evaluation(workspace, evaluation)
    window.work_on()
    assert shown.shown.evaluation.id == run.evaluations[0]
    assert shown.result.query.sample_id == window.query
    shown.show_evaluation(workspace, run.evaluations[1])
    shown.show_evaluation(workspace, None)
    window.work_on()
    assert shown.shown is None, "the answer came after the page was emptied"
    assert (len(shown.listing), shown.result) == (0, None)


def test_going_on_stops_at_the_ends_and_begins_where_nothing_is_listed(shown, window):
    order = shown.listing.sample_ids.tolist()
    shown.step(-1)
    assert window.query == order[0]
    shown.step(1)
    assert window.query == order[1]
    shown.query = -1
    shown.step(1)
    assert window.query == order[0]


def test_a_chosen_filter_moves_on_to_a_query_that_passes(shown, window, run):
    right = int(run.ids[run.first_hit == 1][-1])
    window.show_query(right)
    shown.select(run.ids[run.first_hit > 1][:3])
    assert window.query == right, "a selection of another page moves nothing"
    shown.choose_filters(failures_only=True)
    assert window.query == shown.listing.sample_id(0) != right


def test_the_chosen_class_stays_by_its_name(shown, window, workspace, run):
    shown.choose_filters(label=2)
    shown.show_evaluation(workspace, run.evaluations[0])
    window.work_on()
    assert shown.filters.label == 2
    names = ("class 02", "class 03", "class 09")
    other = store_run(workspace, np.repeat(np.arange(3), 4), class_names=names, name="Other")
    shown.show_evaluation(workspace, other.evaluations[-1])
    window.work_on()
    assert shown.filters.label == 0
    assert set(shown.listing.sample_ids.tolist()) == set(other.ids[:4].tolist())


def test_causes_count_and_list_once_they_are_known(shown, workspace, run):
    shown.choose_filters(key="none")
    assert len(shown.listing) == 40, "all, while causes are being worked out"
    shown.take_failures(None, working=True)
    assert shown.explanation().title == "Looking for the cause…"
    explained = explain_failures(workspace, run.evaluations[-1], quiet)
    shown.take_failures(explained)
    assert set(shown.listing.sample_ids.tolist()) == set(explained.of_cause("none").tolist())
    titles = {option.key: option.title for group in shown.filters.options() for option in group}
    assert titles["none"] == f"No cause found ({explained.counts['none']})"
    assert shown.explanation().title in TITLES.values()
    pair = explained.pairs[0]
    shown.choose_filters(key=None)
    shown.narrow(pair)
    assert len(shown.listing) == pair.times
    assert shown.filters.pair_title() == f"“{pair.class_name}” taken for “{pair.taken_for}” ({pair.times})"


def test_a_comparison_lists_won_and_lost_and_brings_the_query_there(shown, window, workspace, run):
    first, last = run.evaluations
    assert shown.comparison.choices() == ([("Since epoch 1", first)], [])
    shown.compare_with(first)
    assert shown.filters.changes is None
    found = read_changes(workspace, first, last)
    shown.take_changes(first, found)
    assert shown.filters.differences().startswith(f"Since epoch 1: {len(found.won)} won, {len(found.lost)} lost")
    for key, ids in ((WON, found.won), (LOST, found.lost)):
        shown.choose_filters(key=key)
        window.work_on()
        assert set(shown.listing.sample_ids.tolist()) == set(ids.tolist())
    assert shown.result.near_elsewhere == workspace.neighbours(run.run_id, window.query, first)
    shown.take_changes(last, found)
    shown.compare_with(None)
    window.work_on()
    assert (shown.filters.changes, shown.filters.key, shown.result.elsewhere) == (None, None, None)
    assert len(shown.listing) == 40


def test_a_comparison_with_another_run_goes_with_the_run(shown, window, workspace, run):
    other = store_run(workspace, LABELS, embeddings=[blobs(LABELS, 1.4, 5)])
    others = counterparts(workspace, workspace.run(run.run_id), workspace.runs())
    shown.take_others(-1, others)
    assert shown.comparison.others == [], "an answer about another run"
    shown.take_others(run.run_id, others)
    shown.compare_with(other.evaluations[0])
    assert shown.comparison.title == f"Against epoch 1 of run {other.run_id}"
    shown.show_evaluation(workspace, other.evaluations[0])
    window.work_on()
    assert (shown.comparison.before, shown.comparison.others) == (None, [])
    assert shown.neighbours == workspace.neighbours(other.run_id, window.query)
    assert not shown.history.can_go_back, "the history is the run's"


def test_a_tag_is_a_filter_until_nothing_has_it(shown, window):
    query = window.query
    assert shown.tags_of_query == []
    shown.tag("label wrong", on=True)
    window.work_on()
    assert shown.tags_of_query == ["label wrong"]
    shown.choose_filters(key=f"{TAG}label wrong")
    assert shown.listing.sample_ids.tolist() == [query]
    assert shown.filters.tag == "label wrong"
    shown.tag("label wrong", on=False)
    window.work_on()
    assert (shown.filters.key, len(shown.listing)) == (None, 40)
    shown.tag("  ", on=True)
    window.work_on()
    assert "1 to 80 characters" in window.notices[0]


def test_a_query_that_the_evaluation_does_not_have_gives_way_to_the_first(shown, window):
    window.show_query(12345)
    window.work_on()
    assert window.query == shown.result.query.sample_id == shown.listing.sample_id(0)


def test_an_evaluation_that_cannot_be_read_leaves_nothing_of_another_on_screen(shown, window, workspace, run, changes):
    shown.show_evaluation(workspace, 999)
    window.work_on()
    assert len(window.notices) == 1
    assert "no evaluation 999" in window.notices[0]
    assert (shown.shown, shown.result, len(shown.listing)) == (None, None, 0)
    assert changes[-1] == Change.EVALUATION
    shown.show_evaluation(workspace, run.evaluations[1])
    window.work_on()
    assert len(shown.listing) == 40


def test_a_range_of_similarities_filters_the_list_and_holds_in_the_next_evaluation(shown, window, workspace, run):
    assert shown.filters.similarities is None, "read when they are asked for"
    shown.want_similarities(True)
    window.work_on()
    known = shown.filters.similarities
    nearest = {
        key: workspace.neighbours(run.run_id, key, run.evaluations[-1])[0].similarity for key in run.ids.tolist()
    }
    assert known.right.sum() + known.wrong.sum() == 40
    assert known.wrong.sum() == (workspace.queries(run.evaluations[-1]).first_hit > 1).sum()
    limits = tuple(np.quantile(list(nearest.values()), [0.25, 0.5]).tolist())
    shown.choose_filters(similarity=limits)
    assert set(shown.listing.sample_ids.tolist()) == {
        key for key, value in nearest.items() if limits[0] <= value <= limits[1]
    }
    assert 0 < len(shown.listing) < 40
    shown.want_similarities(False)
    shown.show_evaluation(workspace, run.evaluations[0])
    window.work_on()
    kept = [workspace.neighbours(run.run_id, key, run.evaluations[0])[0].similarity for key in run.ids.tolist()]
    assert len(shown.listing) == sum(limits[0] <= value <= limits[1] for value in kept)
    shown.choose_filters(similarity=None)
    assert len(shown.listing) == 40
