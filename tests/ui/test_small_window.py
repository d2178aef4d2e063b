"""What gives way in a small window with large text: the column beside the map, the choices above the comparison."""

import numpy as np
import pytest

from tests.ui.test_compare_page import COUNT, shown, two_groups
from tests.ui.ticking import tick
from tests.unit.comparing.compared_runs import store
from workbench.config import TrainingParams

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
LOW, HIGH = 320, 480  # px of Compare, at 100% text


def test_the_column_beside_the_map_gives_way_and_comes_when_it_is_asked_for(shown_map, session, qtbot):
    page = shown_map("pca")
    assert page.side.isVisible()
    assert not page.side.opener.isVisible()
    session.theme.set_text_size(150)
    page.resize(630, 500)
    qtbot.waitUntil(page.side.opener.isVisible)
    assert not page.side.isVisible()
    qtbot.waitUntil(lambda: page.canvas.width() > 500)
    page.side.opener.click()
    qtbot.waitUntil(lambda: page.side.isVisible() and page.canvas.width() < 500)
    session.theme.set_text_size(100)
    page.resize(900, 500)
    qtbot.waitUntil(lambda: not page.side.opener.isVisible())
    assert page.side.isVisible()


def test_the_column_beside_the_map_gives_way_on_a_low_page(shown_map, qtbot):
    page = shown_map("pca")
    page.resize(640, 480)
    qtbot.waitUntil(page.side.isVisible)
    page.resize(640, 340)
    qtbot.waitUntil(page.side.opener.isVisible)
    assert not page.side.isVisible()
    page.resize(1000, 340)
    qtbot.waitUntil(page.side.isVisible)


def test_the_choices_above_the_comparison_give_way_to_the_table(session, workspace, qtbot):
    two_groups(workspace, 2)
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2)
    page.resize(900, HIGH)
    qtbot.waitUntil(page.head.choices.isVisible)
    assert not page.head.unfold.isVisible()
    page.resize(900, LOW)
    qtbot.waitUntil(page.head.unfold.isVisible)
    assert not page.head.baseline_box.isVisible()
    page.head.unfold.click()
    assert page.head.baseline_box.isVisible()
    page.resize(900, HIGH)
    qtbot.waitUntil(lambda: not page.head.unfold.isVisible())
    assert page.head.baseline_box.isVisible()


def test_where_the_choices_gave_way_the_table_has_more_lines(session, workspace, qtbot):
    values = np.random.default_rng(0).uniform(0.2, 0.6, COUNT)
    for number in range(6):
        store(workspace, {1: values}, name=f"Group {number}", training=TrainingParams(epochs=1, lr=0.1 + number))
    page = shown(qtbot, session)
    tick(qtbot, page, *range(1, 7))
    session.theme.set_text_size(150)
    page.resize(640, 600)
    qtbot.waitUntil(lambda: page.groups.isVisible() and page.groups.rowHeight(0) > 30)
    qtbot.waitUntil(lambda: not session.reading)
    qtbot.settle(page)
    before = page.groups.height()
    page.resize(640, 470)
    qtbot.waitUntil(lambda: page.groups.height() > before)
    page.resize(640, 600)
    qtbot.waitUntil(lambda: page.groups.height() == before)
