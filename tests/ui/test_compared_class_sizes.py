"""Compare, Class size: the difference of two groups for rare and frequent classes."""

from threading import Event

import numpy as np
import pytest

from tests.ui.compared_groups import two_compared
from tests.waits import HANG
from workbench.ui.pages.compare.queries import by_size
from workbench.ui.pages.compare.queries.by_size import NO_QUERIES

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
SIZES = (2, 4, 6, 9, 12, 20)
LABELS = np.repeat(np.arange(len(SIZES)), SIZES)
NAMES = tuple(f"class {number}" for number in range(len(SIZES)))


@pytest.fixture
def page(qtbot, session):
    return two_compared(qtbot, session, LABELS, NAMES)


def test_each_group_of_classes_has_its_difference(qtbot, page):
    page.tabs.open("Class size")
    panel = page.tabs.by_size
    qtbot.waitUntil(lambda: panel.compared is not None)
    rows = [[panel.model.index(row, column).data() for column in range(7)] for row in range(panel.model.rowCount())]
    assert [row[:3] for row in rows] == [
        ["Large", "12 to 20", "2"],
        ["Middle", "6 to 9", "2"],
        ["Small", "2 to 4", "2"],
    ]
    assert all(row[5].startswith("\N{MINUS SIGN}") for row in rows), "B is far worse"
    assert "minus" in panel.words.text()
    assert "paired over classes" in panel.beside.text()
    assert panel.table.isVisible()


def test_all_groups_are_in_sight_where_the_tab_is_low(qtbot, page):
    page.tabs.open("Class size")
    panel = page.tabs.by_size
    qtbot.waitUntil(lambda: panel.compared is not None)
    panel.beside.setText("a remark\n" * 40)
    qtbot.waitUntil(lambda: panel.beside.height() > panel.height())
    assert panel.table.viewport().rect().contains(panel.table.visualRect(panel.model.index(2, 0)))


def test_what_was_cancelled_is_compared_when_the_tab_is_shown_again(qtbot, session, page, monkeypatch):
    begun = Event()

    def until_cancelled(*_asked):
        begun.set()
        while True:
            _asked[-1]("Scores of the classes", 0, 0)

    with monkeypatch.context() as patch:
        patch.setattr(by_size, "compared_by_size", until_cancelled)
        page.tabs.open("Class size")
        assert begun.wait(HANG)
        session.activity.newest_working.cancel()
        qtbot.waitUntil(lambda: page.tabs.by_size.words.text() == by_size.CANCELLED)
    page.tabs.open("Curves")
    page.tabs.open("Class size")
    qtbot.waitUntil(lambda: page.tabs.by_size.compared is not None)


def test_a_sentence_stands_where_there_are_no_queries_to_compare(qtbot, page):
    page.tabs.open("Class size")
    panel = page.tabs.by_size
    qtbot.waitUntil(lambda: panel.compared is not None)
    panel.show_pair(page.model.comparison, [])
    assert panel.words.text() == NO_QUERIES
    assert panel.table.isHidden()
