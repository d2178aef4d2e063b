"""Views of the Retrieval page with a name: stored, listed again, renamed, deleted."""

import threading

import numpy as np
import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QLineEdit

from tests.ui.browsed import at_rest, listed, open_trained
from workbench.problem import Problem
from workbench.ui.pages.retrieval.model.filters import ClassGroup
from workbench.ui.pages.retrieval.queries import saved_views_menu
from workbench.ui.widgets.dialogs.text_question import TextQuestion
from workbench.workspace.choices.saved_views import SavedView, all_views, put

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def page(qtbot, session, workspace, tmp_path):
    return open_trained(qtbot, session, workspace, tmp_path / "cache")


def names(saved):
    """The views that the menu offers."""
    return [action.text() for action in saved.menu().actions() if action.isCheckable()]


def test_views_are_stored_renamed_and_deleted_by_name(workspace):
    hard = SavedView("Hard ones", {"failures_only": True})
    with workspace:
        assert [view.name for view in put(workspace, None, hard)] == ["Hard ones"]
        for name in ("", "x" * 81, " Hard  ones "):
            with pytest.raises(Problem):
                put(workspace, None, SavedView(name))
        assert put(workspace, hard, SavedView("Also hard", hard.listed)) == [SavedView("Also hard", hard.listed)]
        with pytest.raises(Problem, match="any more"):
            put(workspace, hard, None)
        with workspace.writing() as db:
            db.execute("update saved_views set listed = '['")
        assert all_views(workspace)[0].problem
        assert put(workspace, SavedView("Also hard"), None) == []
        with workspace.writing() as db:
            db.execute("drop table saved_views")
        assert all_views(workspace) == [], "an older workspace that cannot be written"


def test_letters_of_a_name_that_turn_its_direction_are_shown(page, qtbot):
    page.saved.save_as("Hard\u202eones")
    qtbot.waitUntil(lambda: names(page.saved) == ["Hard\\u202eones"])
    assert page.saved.chosen == "Hard\u202eones"
    words = [action.text() for action in page.saved.menu().actions() if not action.isCheckable()]
    assert "Rename “Hard\\u202eones”…" in words


def test_a_view_lists_the_same_queries_again(page, session, qtbot):
    browsing, saved = page.browsing, page.saved
    page.queries.similarity.unfold.click()
    at_rest(qtbot, page)
    label = browsing.listing.labels[1]
    low, high = browsing.filters.similarities.ends
    browsing.choose_filters(label=label, similarity=((low + high) / 2, high))
    browsing.sort(3, descending=True)
    wanted = listed(page)
    saved.save_as("  Close ones ")
    qtbot.waitUntil(lambda: names(saved) == ["Close ones"])
    browsing.list_as(2, descending=False, label=None, similarity=None, failures_only=True)
    assert page.queries.failures.isChecked()
    assert listed(page) != wanted
    saved.choose("Close ones")
    at_rest(qtbot, page)
    assert listed(page) == wanted
    assert not page.queries.failures.isChecked()
    assert page.queries.classes.currentText() == browsing.listing.class_name(label)
    header = page.queries.table.horizontalHeader()
    assert (header.sortIndicatorSection(), header.sortIndicatorOrder().name) == (3, "DescendingOrder")
    assert page.queries.similarity.chip.isVisible()
    saved.rename("Near")
    qtbot.waitUntil(lambda: names(saved) == ["Near"])
    saved.delete()
    qtbot.waitUntil(lambda: names(saved) == [])


def test_a_view_keeps_the_group_of_classes_by_their_names(page, session, qtbot):
    browsing, saved = page.browsing, page.saved
    labels = np.array(sorted(browsing.listing.labels)[:2], np.int64)
    browsing.choose_filters(group=ClassGroup("Few", "5 to 19 training images", labels))
    wanted = listed(page)
    assert 0 < len(wanted) < browsing.listing.total
    saved.save_as("Rare")
    qtbot.waitUntil(lambda: names(saved) == ["Rare"])
    browsing.choose_filters(group=None)
    saved.choose("Rare")
    at_rest(qtbot, page)
    assert listed(page) == wanted
    assert browsing.filters.group.title == "Few: 5 to 19 training images when the view was saved"
    saved.replace_listed()
    qtbot.waitUntil(lambda: not session.reading)
    assert all_views(session.workspace)[0].listed["group"]["size"] == "5 to 19 training images"


def test_classes_of_a_group_that_an_evaluation_does_not_have_are_counted(page, session, qtbot):
    there = page.browsing.listing.names[0]
    group = {"title": "Few", "size": "5 to 19 training images", "classes": [there, "gone", 7, ["gone too"]]}
    put(session.workspace, None, SavedView("Some", {"group": group}))
    put(session.workspace, None, SavedView("None", {"group": group | {"classes": ["gone"]}}))
    page.saved.read()
    qtbot.waitUntil(lambda: len(names(page.saved)) == 2)
    said = []
    session.noticed.connect(said.append)
    page.saved.choose("Some")
    assert "3 classes of the group “Few”" in said[0]
    assert page.browsing.filters.group.labels.tolist() == [page.browsing.listing.labels[0]]
    page.saved.choose("None")
    assert "1 class of the group “Few”" in said[1]
    assert page.browsing.filters.group is None


def test_views_that_are_saved_one_right_after_the_other_are_both_offered(page, session, qtbot, monkeypatch):
    second_asked = threading.Event()

    def put_late(workspace, before, after):
        views = put(workspace, before, after)
        if after.name == "First":
            second_asked.wait(0.5)  # another thread would come in now
        else:
            second_asked.set()
        return views

    monkeypatch.setattr(saved_views_menu, "put", put_late)
    page.saved.save_as("First")
    page.saved.save_as("Second")
    qtbot.waitUntil(lambda: page.saved.chosen == "Second")
    qtbot.waitUntil(lambda: not session.reading)
    assert names(page.saved) == ["First", "Second"]
    assert page.saved.chosen == "Second"


def test_the_line_for_a_name_takes_no_more_than_is_stored(page, qtbot):
    def type_name():
        dialog = page.saved.findChild(TextQuestion)
        qtbot.keyClicks(dialog.findChild(QLineEdit), "x" * 85)
        dialog.main.click()

    QTimer.singleShot(0, page, type_name)
    next(action for action in page.saved.menu().actions() if "Save" in action.text()).trigger()
    qtbot.waitUntil(lambda: names(page.saved) == ["x" * 80])


def test_what_an_evaluation_does_not_have_is_said_and_left_out(page, session, qtbot):
    view = SavedView("Odd", {"class": "no such class", "pair": ["a", "b"], "cause": "tag:gone", "order": 7})
    put(session.workspace, None, view)
    page.saved.read()
    qtbot.waitUntil(lambda: names(page.saved) == ["Odd"])
    said = []
    session.noticed.connect(said.append)
    page.saved.choose("Odd")
    assert "class “no such class”" in said[0]
    assert len(page.browsing.listing) == page.browsing.listing.total


def test_a_view_of_a_workspace_from_elsewhere_may_hold_anything(page, session, qtbot):
    odd = [7], {"a": 1}, [["ap"], True], [float("nan")] * 2, True
    for number, value in enumerate(odd):
        fields = dict.fromkeys(
            ("class", "pair", "cause", "order", "similarity", "failures_only", "words", "group"), value
        )
        put(session.workspace, None, SavedView(f"Odd {number}", fields))
    page.saved.read()
    qtbot.waitUntil(lambda: len(names(page.saved)) == len(odd))
    for number in range(len(odd)):
        page.saved.choose(f"Odd {number}")
        at_rest(qtbot, page)
        assert page.browsing.filters.similarity is None
        assert page.browsing.filters.label is None
