"""The order of the groups on the Compare page: by a column of their table, which the curves follow."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt

from tests.ui.test_compare_page import COUNT, cells, shown
from tests.unit.comparing.compared_runs import store
from workbench.config import TrainingParams
from workbench.ui.pages.compare.curves import seed_curves

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
SCORES = {"First": 0.5, "Low": 0.2, "High": 0.8, "Middle": 0.4}


@pytest.fixture
def page(qtbot, session, workspace):
    """A page with four ticked groups of one seed, and a fifth without an evaluation."""
    for place, (name, score) in enumerate(SCORES.items()):
        store(workspace, {1: np.full(COUNT, score)}, name=name, training=TrainingParams(lr=0.1 + place))
    store(workspace, {}, name="Bare", training=TrainingParams(lr=9.0))
    made = shown(qtbot, session)
    qtbot.waitUntil(lambda: len(session.runs()) == 5)
    session.ticks.choose(run.id for run in session.runs())
    qtbot.waitUntil(lambda: made.groups.table.rowCount() == 5)
    return made


def titles(page):
    return [row[0] for row in cells(page.groups.table)]


def click(qtbot, page, title):
    head = page.groups.horizontalHeader()
    columns = [column.title for column in page.groups.table.columns]
    x = head.sectionViewportPosition(columns.index(title)) + 12
    qtbot.mouseClick(head.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(x, head.height() // 2))


def test_a_click_on_a_column_puts_the_highest_first_below_the_baseline(qtbot, page):
    assert titles(page) == ["First", "Low", "High", "Middle", "Bare"]
    click(qtbot, page, "MAP@R % ↑")
    assert titles(page) == ["First", "High", "Middle", "Low", "Bare"]
    assert page.groups.horizontalHeader().sortIndicatorSection() == 2
    click(qtbot, page, "MAP@R % ↑")
    assert titles(page) == ["First", "Low", "Middle", "High", "Bare"], "without a value stays last"
    click(qtbot, page, "MAP@R % ↑")
    assert titles(page) == ["First", "Low", "High", "Middle", "Bare"]
    assert page.groups.horizontalHeader().sortIndicatorSection() == -1
    click(qtbot, page, "Group")
    assert titles(page) == ["First", "Bare", "High", "Low", "Middle"]
    page.model.choose_baseline("High")
    page.head.baseline_chosen.emit()
    assert titles(page) == ["High", "Bare", "First", "Low", "Middle"], "the order stays with another baseline"


def test_the_keyboard_has_the_order_in_the_menu_of_the_page(page):
    assert page.order_action in page.actions()
    page.order_action.trigger()
    assert titles(page) == ["First", "High", "Middle", "Low", "Bare"]
    assert page.order_action.isChecked()
    page.order_action.trigger()
    assert titles(page) == ["First", "Low", "High", "Middle", "Bare"]
    assert not page.order_action.isChecked()


def test_the_curves_are_those_of_the_first_groups_of_the_table(qtbot, page, monkeypatch):
    monkeypatch.setattr(seed_curves, "MOST_DRAWN", 2)
    page.order_action.trigger()
    curves = page.tabs.curves
    qtbot.waitUntil(lambda: not curves.drawing)
    assert [series.title.split()[0] for series in curves.seeds.plot.series] == ["First", "High"]
    assert "The first 2 of 5 groups are drawn; order the table by a column" in curves.seeds.note.text()
    page.order_action.trigger()
    qtbot.waitUntil(lambda: not curves.drawing)
    assert [series.title.split()[0] for series in curves.seeds.plot.series] == ["First", "Low"]


def test_the_copied_table_and_the_forest_have_that_order(page):
    page.order_action.trigger()
    assert [line.split("\t")[0] for line in page.groups.table.lines()[2:5]] == ["High", "Middle", "Low"]
    page.tabs.open("Difference")
    names = [row[0] for row in page.tabs.difference.forest.plot.rows()[1:]]
    assert names[:3] == ["High", "Middle", "Low"]
