"""The Compare page with very many groups: what is slow is computed on a thread, and drawn in turns."""

from threading import Event, current_thread, main_thread

import pytest

from tests.ui.test_compare_page import cells, shown, two_groups
from tests.ui.ticking import tick
from tests.waits import HANG
from workbench.ui.pages.compare.model import reading

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def threads(monkeypatch):
    """The threads that computed rows of the table, of a page for which two groups are many."""
    monkeypatch.setattr("workbench.ui.pages.compare.page.MANY", 1)
    computed, real = [], reading.against_baseline

    def noted(*args):
        computed.append(current_thread())
        return real(*args)

    monkeypatch.setattr(reading, "against_baseline", noted)
    return computed


def test_the_rows_of_many_groups_are_computed_on_a_thread(qtbot, session, workspace, threads):
    two_groups(workspace, 3)
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2)
    qtbot.waitUntil(lambda: page.groups.table.rowCount() == 2)
    assert page.groups.table.rows[0].group.title == "Plain"
    page.model.choose_baseline("<b>Bold</b>")
    page.head.baseline_chosen.emit()
    qtbot.waitUntil(lambda: page.groups.table.rows[0].group.title == "<b>Bold</b>")
    assert cells(page.groups.table)[1][0] == "Plain"
    before = page.groups.table.columnCount()
    page.model.show_metrics([])
    page.head.columns_chosen.emit()
    qtbot.waitUntil(lambda: page.groups.table.columnCount() != before)
    assert len(threads) == 3, "the rows are kept while groups and columns stay"
    session.theme.choose("dark")
    assert len(threads) == 3
    page.tabs.open("Difference")
    qtbot.waitUntil(lambda: page.model.comparison is not None)
    assert "better" in page.tabs.difference.verdict.text() or "winner" in page.tabs.difference.verdict.text()
    assert main_thread() not in threads


def test_the_verdict_is_of_the_rows_that_the_table_has(qtbot, session, workspace, monkeypatch):
    def computed_again(*args):
        raise AssertionError("the tests of all groups were computed a second time")

    monkeypatch.setattr("workbench.ui.pages.compare.difference.panel.corrected_tests", computed_again)
    two_groups(workspace, 3)
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2)
    qtbot.waitUntil(lambda: page.model.comparison is not None)
    assert page.tabs.difference.verdict.text().startswith("“<b>Bold</b>” is better")


def test_the_answer_for_a_baseline_that_is_no_longer_chosen_is_not_shown(
    qtbot, session, workspace, threads, monkeypatch
):
    two_groups(workspace, 3)
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2)
    qtbot.waitUntil(lambda: page.model.comparison is not None)
    release, real, held = Event(), reading.against_baseline, []

    def hold(*args):
        held.append(current_thread())
        release.wait(HANG)
        return real(*args)

    try:
        monkeypatch.setattr(reading, "against_baseline", hold)
        page.model.choose_baseline("<b>Bold</b>")
        page.head.baseline_chosen.emit()
        qtbot.waitUntil(lambda: bool(held))
        page.model.choose_baseline("Plain")
        page.head.baseline_chosen.emit()
        qtbot.waitUntil(lambda: page.model.comparison is not None)
        release.set()
        qtbot.waitUntil(lambda: not held[0].is_alive())
        qtbot.deliver()
        assert page.groups.table.rows[0].group.title == "Plain"
        assert page.model.has_rows, "the answer that was dropped replaced no other"
    finally:
        release.set()


def test_few_groups_are_shown_at_once(qtbot, session, workspace, monkeypatch):
    two_groups(workspace, 1)
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2)
    page.model.choose_baseline("<b>Bold</b>")
    page.head.baseline_chosen.emit()
    assert page.groups.table.rows[0].group.title == "<b>Bold</b>"
