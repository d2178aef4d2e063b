"""Scores of the classes on the Retrieval page: their numbers, order and search, and the filter by one of them."""

import itertools

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from small_run import store_run

from tests.ui.browsed import at_rest, listed, open_page
from workbench.ui.pages.retrieval.classes import class_bars
from workbench.ui.pages.retrieval.model.class_scores import MEASURES, ClassListing, ClassScores, class_scores
from workbench.workspace.rows import Queries

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

LABELS = np.array([5, 5, 2, 2, 2, 9, 7, 7])
NAMES = tuple(f"class {number}" for number in range(9))  # label 9 has no name
AP = np.array([0.2, 0.4, 1.0, 0.9, 0.5, np.nan, 0.1, 0.3], np.float32)
FIRST = np.array([2, 1, 1, 1, 3, 0, 4, 2], np.int32)
QUERIES = Queries(np.arange(8), LABELS, AP, FIRST, np.array([1, 1, 2, 2, 2, 0, 1, 1], np.int32), FIRST == 1)


@pytest.fixture
def classes():
    listing = ClassListing()
    listing.show(class_scores(QUERIES, NAMES))
    return listing


def names(listing):
    return [listing.scores.names[row] for row in listing.rows.tolist()]


def test_scores_are_means_over_the_queries_that_have_something_to_find():
    scores = class_scores(QUERIES, NAMES)
    assert scores.labels.tolist() == [2, 5, 7, 9]
    assert scores.names == ("class 2", "class 5", "class 7", "9")
    assert scores.queries.tolist() == [3, 2, 2, 0]
    np.testing.assert_allclose(scores.values["MAP@R"], [0.8, 0.3, 0.2, np.nan], rtol=1e-6)
    np.testing.assert_allclose(scores.values["R@1"], [2 / 3, 0.5, 0, np.nan], rtol=1e-6)


def test_the_worst_class_is_first_and_one_without_a_value_is_last_in_both_orders(classes):
    assert names(classes) == ["class 7", "class 5", "class 2", "9"]
    classes.choose(order="best")
    assert names(classes) == ["class 2", "class 5", "class 7", "9"]
    classes.choose(order="name")
    assert names(classes) == ["9", "class 2", "class 5", "class 7"]
    classes.choose(order="worst", measure="R@1")
    assert names(classes) == ["class 7", "class 5", "class 2", "9"]


@pytest.mark.parametrize(
    "in_order",
    [("2", "10", "a", "b"), ("2.0", "10.0", "a", "b"), ("-1", "0.25", "1.5", "1.10.2"), ("3", "²", "é", "٣")],
)
def test_names_that_are_numbers_are_in_the_order_of_numbers(in_order):
    first, second, third, fourth = in_order
    listing = ClassListing()
    listing.show(class_scores(QUERIES, ("", "", second, "", "", first, "", fourth, "", third)))
    listing.choose(order="name")
    assert names(listing) == list(in_order)


def test_a_search_keeps_the_order_and_says_how_many_are_listed(classes):
    classes.choose(search="CLASS 7")
    assert names(classes) == ["class 7"]
    assert classes.summary == "1 of 4 classes. Mean over classes 43.3%, 20.0% to 80.0%"
    assert (classes.position_of(7), classes.position_of(2), classes.label(0)) == (0, -1, 7)
    classes.choose(search="")
    assert classes.position_of(2) == 2


def test_nothing_is_listed_without_an_evaluation(classes):
    classes.show(None)
    assert (len(classes), classes.total, classes.summary) == (0, 0, "")


@pytest.fixture
def page(qtbot, session, workspace):
    run = store_run(workspace, np.repeat(np.arange(20), 6))
    made = open_page(qtbot, session, (1200, 700))
    session.show_run(run.run_id)
    at_rest(qtbot, made)
    qtbot.waitUntil(made.classes.isVisible)
    return made


def shown_names(page):
    model = page.classes.model
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def test_a_click_lists_the_queries_of_the_class_and_another_lists_all(page, qtbot):
    everything, bars = len(listed(page)), page.classes
    at = bars.list.visualRect(bars.model.index(1, 0)).center()
    QTest.mouseClick(bars.list.viewport(), Qt.MouseButton.LeftButton, pos=at)
    label = bars.listing.label(1)
    assert page.browsing.filters.label == label
    assert len(listed(page)) == 6
    assert page.queries.classes.currentText() == shown_names(page)[1]
    QTest.mouseClick(bars.list.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert page.browsing.filters.label is None
    assert len(listed(page)) == everything
    assert not bars.list.selectionModel().hasSelection()


def test_the_bars_are_used_by_keys_and_follow_the_class_chosen_elsewhere(page, qtbot):
    bars = page.classes
    page.browsing.choose_filters(label=3)
    assert bars.list.currentIndex().row() == bars.listing.position_of(3)
    bars.list.setFocus()
    qtbot.keyClick(bars.list, Qt.Key.Key_Home)
    qtbot.keyClick(bars.list, Qt.Key.Key_Return)
    assert page.browsing.filters.label == bars.listing.label(0)
    bars.search.setText(shown_names(page)[4])
    assert len(shown_names(page)) == 1
    spoken = bars.model.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert "MAP@R" in spoken
    assert "6 queries" in spoken


def test_a_list_of_many_classes_is_laid_out_without_asking_for_each(page, qtbot, monkeypatch):
    asked, count = [], 2000

    class Asked(class_bars.ClassRows):
        def rowCount(self, *parent):  # noqa: N802 - Qt's name
            asked.append(1)
            return super().rowCount(*parent)

    monkeypatch.setattr(class_bars, "ClassRows", Asked)
    bars = qtbot.shown(class_bars.ClassBars(page.browsing))
    values = {measure: np.linspace(0, 1, count) for measure in MEASURES}
    bars.listing.show(ClassScores(np.arange(count), tuple(map(str, range(count))), np.full(count, 2), values))
    bars.relist()
    bars.list.scrollToBottom()
    bars.grab()
    assert bars.model.rowCount() == count
    assert 0 < len(asked) < count


def test_names_are_folded_only_where_they_are_searched(monkeypatch):
    listing = ClassListing()
    scores = class_scores(QUERIES, tuple(map(Unfolded, NAMES)))
    listing.show(scores)
    assert len(listing) == 4
    with pytest.raises(AssertionError):
        listing.choose(search="class")


class Unfolded(str):
    """A name that is not searched."""

    __slots__ = ()

    def casefold(self):
        raise AssertionError


def test_the_bars_can_be_hidden_and_stay_so(page, qtbot, session, workspace):
    assert page.classes.isVisible()
    page.by_class.click()
    assert not page.classes.isVisible()
    again = open_page(qtbot, session, (1200, 700))
    qtbot.waitUntil(lambda: not again.queries.isAncestorOf(again.classes))
    assert not again.classes.isVisible()


def test_list_and_bars_are_wider_in_a_wide_page_and_as_before_in_others(page, qtbot):
    """Names of classes were cut beside 1,500 px of neighbours."""
    page.resize(1200, 700)
    qtbot.waitUntil(lambda: not page.queries.isAncestorOf(page.classes))
    before = page.queries.width(), page.classes.width()
    page.resize(2300, 900)
    qtbot.waitUntil(lambda: page.queries.width() >= before[0] + 60)
    qtbot.waitUntil(lambda: page.classes.width() >= before[1] + 60)
    page.resize(9000, 900)
    qtbot.waitUntil(lambda: page.queries.width() == round(1.35 * before[0]))
    page.resize(1440, 700)
    qtbot.waitUntil(lambda: (page.queries.width(), page.classes.width()) == before)


def test_without_room_at_the_right_the_bars_stand_above_the_list_when_they_are_wanted(page, qtbot):
    assert not page.queries.isAncestorOf(page.classes)
    page.resize(820, 700)
    qtbot.waitUntil(lambda: not page.classes.isVisible())
    page.by_class.click()
    assert page.classes.isVisible()
    assert page.queries.isAncestorOf(page.classes)
    page.resize(1200, 700)
    qtbot.waitUntil(lambda: not page.queries.isAncestorOf(page.classes))
    assert page.classes.isVisible()


@pytest.mark.parametrize("bars_last", [True, False])
def test_without_room_for_the_similarities_too_the_one_opened_last_is_shown(page, qtbot, bars_last):
    page.setMinimumSize(200, 560)  # a page in a window does not grow by itself until all of it fits
    page.resize(820, 560)
    qtbot.waitUntil(lambda: not page.classes.isVisible())
    unfold = page.queries.similarity.unfold
    first, last = (unfold, page.by_class) if bars_last else (page.by_class, unfold)
    first.click()
    last.click()
    qtbot.waitUntil(lambda: not first.isChecked())
    assert last.isChecked()
    bars = page.classes
    if bars_last:
        page.resize(820, 700)
        qtbot.waitUntil(lambda: bars.summary.geometry().top() > bars.list.geometry().bottom())
    page.resize(820, 1100)
    first.click()
    at_rest(qtbot, page)
    assert first.isChecked()
    assert last.isChecked()


@pytest.mark.parametrize("height", [430, 520, 640])
def test_bars_above_the_list_fit_into_a_low_page(page, qtbot, height):
    page.setMinimumSize(200, height)
    page.resize(820, height)
    qtbot.waitUntil(lambda: not page.classes.isVisible())
    page.by_class.click()
    at_rest(qtbot, page)
    bars, queries = page.classes, page.queries
    qtbot.waitUntil(lambda: queries.spare >= 0)
    parts = [part for part in (bars.order, bars.search, bars.list, bars.summary) if part.isVisible()]
    qtbot.waitUntil(lambda: not overlapping(parts) and not overlapping([bars, queries.table]))
    assert bars.rect().contains(parts[-1].geometry())
    assert bars.list.height() >= bars.list.sizeHintForRow(0)
    page.setMinimumSize(200, 900)
    qtbot.waitUntil(lambda: bars.summary.isVisible() and bars.saved == 0)


def overlapping(parts):
    """Whether a part begins before the one above it ends."""
    areas = [part.geometry() for part in parts]
    return any(below.top() <= above.bottom() for above, below in itertools.pairwise(areas))


def test_a_class_may_be_chosen_when_its_run_is_no_longer_shown(page, qtbot, session):
    page.browsing.choose_filters(label=12)
    session.show_run(None)
    session.select(np.arange(3))  # the list is drawn without the classes of a run
    at_rest(qtbot, page)
    assert page.queries.classes.currentIndex() == 0
