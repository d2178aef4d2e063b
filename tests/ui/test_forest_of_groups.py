"""The forest on the Difference tab: every group against the baseline, in words, by pointer, keys and copies."""

import csv

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QApplication, QScrollArea, QToolTip

from tests.ui.plot_files import write_plot
from tests.ui.ticking import tick
from tests.unit.comparing.compared_runs import store
from workbench.config import RunConfig, TrainingParams
from workbench.ui.pages.compare.difference.forest_plot import AXIS_PX, HEAD_PX, MOST_ROWS
from workbench.ui.pages.compare.groups.row_order import Kind
from workbench.ui.pages.compare.page import ComparePage

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", "does not support raise")
GROUPS = {"CE": (0.30, 0.32, 0.31), "ICE": (0.40, 0.425, 0.41), "<b>Few</b>": (0.2, 0.21)}


def difference_tab(qtbot, session, *runs):
    """The page with the groups of these runs ticked, at its Difference tab."""
    session.theme.apply()
    page = qtbot.shown(ComparePage(session), 1200, 900)
    tick(qtbot, page, *runs)
    page.tabs.open("Difference")
    return page


@pytest.fixture
def page(qtbot, session, workspace):
    """Three groups; the last has two seeds. No query is right at its first neighbour, and NMI is the same in all."""
    for place, (name, values) in enumerate(GROUPS.items()):
        for seed, value in enumerate(values):
            training = TrainingParams(lr=0.001 * (place + 1))
            ap = np.full(6, value)
            store(workspace, {1: ap}, seed=seed, name=name, training=training, metrics={"NMI": 0.5 + 0.1 * seed})
    shown = difference_tab(qtbot, session, 1, 4, 7)
    compared(qtbot, shown)
    return shown


def compared(qtbot, page):
    qtbot.waitUntil(lambda: page.model.comparison is not None)
    return page.model.comparison


def row_of(picture, row, rows=2):
    """A point on the name of a row."""
    height = (picture.height() - HEAD_PX - AXIS_PX) / rows
    return QPoint(40, int(HEAD_PX + height * (row + 0.5)))


def test_the_tab_starts_with_every_group_against_the_baseline(page):
    forest = page.tabs.difference.forest
    assert forest.isVisible()
    assert forest.plot.picture.accessibleName().startswith("Difference from CE, over seeds, 95% interval")
    said = forest.plot.picture.accessibleDescription()
    assert "ICE: MAP@R +10.17 [+9.45, +10.88], 3 seeds, p <0.001 after Holm; R@1" in said
    assert "<b>Few</b>: MAP@R −10.50, 2 seeds: no interval" in said
    assert said.endswith("Chosen: ICE.")
    assert forest.claims.text() == "“ICE” beats “CE” on MAP@R alone."
    assert forest.remarks.text().startswith("3 tests, Holm-corrected within each metric. Three seeds are few: five")
    assert forest.remarks.text().endswith("“<b>Few</b>” has too few seeds: three give an interval and a p-value.")


def test_the_words_call_groups_as_the_plot_does(qtbot, session, workspace):
    for lr, values in ((0.1, (0.30, 0.32, 0.31)), (0.2, (0.40, 0.425, 0.41))):
        for seed, value in enumerate(values):
            store(workspace, {1: np.full(6, value)}, seed=seed, name="Digits", training=TrainingParams(lr=lr))
    shown = difference_tab(qtbot, session, 1, 4)
    compared(qtbot, shown)
    assert shown.model.baseline.title == "Digits: learning rate 0.1"
    claims = shown.tabs.difference.forest.claims.text()
    assert claims == "“learning rate 0.2” beats “learning rate 0.1” on MAP@R alone."
    assert "better in “learning rate 0.2”" in shown.tabs.queries.count.text()


def test_a_click_and_the_arrow_keys_choose_the_group_below(qtbot, page):
    panel, picture = page.tabs.difference, page.tabs.difference.forest.plot.picture
    qtbot.mouseClick(picture, Qt.MouseButton.LeftButton, pos=row_of(picture, 1))
    assert panel.other.currentText() == "<b>Few</b>"
    assert compared(qtbot, page).second.title == "<b>Few</b>"
    assert panel.verdict.text().startswith("Not enough seeds (n = 2)")
    qtbot.keyClick(picture, Qt.Key.Key_Up)
    assert compared(qtbot, page).second.title == "ICE"
    qtbot.keyClick(picture, Qt.Key.Key_End)
    assert panel.other.currentText() == "<b>Few</b>"
    panel.other.setCurrentText("ICE")
    panel.other.activated.emit(1)
    assert picture.accessibleDescription().endswith("Chosen: ICE.")
    spy = QSignalSpy(panel.forest.plot.chosen)
    qtbot.mouseClick(picture, Qt.MouseButton.LeftButton, pos=row_of(picture, 0))
    assert spy.count() == 0, "it is chosen already"


def test_the_differences_in_the_metric_stand_beside_the_curves_and_a_click_opens_one(qtbot, page):
    beside, tabs = page.tabs.curves.beside, page.tabs
    picture = beside.forest.plot.picture
    tabs.setCurrentWidget(tabs.curves)
    qtbot.waitUntil(beside.forest.isVisible)
    said = picture.accessibleDescription()
    assert "ICE: MAP@R +10.17 [+9.45, +10.88], 3 seeds, p <0.001 after Holm. <b>Few</b>" in said, "one metric alone"
    assert beside.forest.claims.text() == "“ICE” beats “CE” on MAP@R."
    for row, name in ((1, "<b>Few</b>"), (0, "ICE"), (0, "ICE")):
        qtbot.mouseClick(picture, Qt.MouseButton.LeftButton, pos=row_of(picture, row))
        assert tabs.tabText(tabs.currentIndex()) == "Difference"
        assert compared(qtbot, page).second.title == name
        tabs.setCurrentWidget(tabs.curves)
    page.resize(800, 900)
    qtbot.waitUntil(lambda: not beside.forest.isVisible())
    page.resize(1200, 900)
    qtbot.waitUntil(beside.forest.isVisible)
    page.session.ticks.choose({1, 2, 3})  # one group
    qtbot.waitUntil(lambda: not beside.forest.isVisible())


def test_larger_text_enlarges_rows_and_words(qtbot, page):
    """Rows are chosen where they are drawn; the words need no scrolling, and stand below where there is no room."""
    panel, forest = page.tabs.difference, page.tabs.difference.forest
    picture, before = forest.plot.picture, forest.plot.picture.minimumHeight()
    assert forest.words.x() > forest.plot.width()
    page.session.theme.set_text_size(150)
    try:
        assert picture.minimumHeight() == 1.5 * before
        qtbot.waitUntil(lambda: picture.height() >= 1.5 * before)
        for row, name in ((1, "<b>Few</b>"), (0, "ICE")):
            height = (picture.height() / 1.5 - HEAD_PX - AXIS_PX) / 2
            place = QPoint(60, int(1.5 * (HEAD_PX + height * row + 3)))
            qtbot.mouseClick(picture, Qt.MouseButton.LeftButton, pos=place)
            assert panel.other.currentText() == name
        scrolled = forest.words.findChild(QScrollArea)
        qtbot.waitUntil(lambda: scrolled.verticalScrollBar().maximum() == 0)
        page.resize(800, 700)
        qtbot.waitUntil(lambda: forest.words.y() > forest.plot.height())
        qtbot.waitUntil(lambda: scrolled.verticalScrollBar().maximum() == 0)
    finally:
        page.session.theme.set_text_size(100)


def test_another_baseline_and_other_metrics_are_drawn(qtbot, page):
    plot = page.tabs.difference.forest.plot
    actions = {action.text(): action for action in page.head.columns.actions()}
    actions["R@1"].trigger()
    assert [name for name in plot.rows()[0] if name.endswith("p_holm")] == ["MAP@R p_holm", "NMI p_holm"]
    page.head.baseline_box.setCurrentIndex(1)
    page.head.baseline_box.activated.emit(1)
    assert plot.title.startswith("Difference from ICE")
    assert page.tabs.difference.forest.claims.text() == "“CE” is worse than “ICE” on MAP@R alone."
    assert [row[0] for row in plot.rows()[1:]] == ["CE", "<b>Few</b>"]


def test_one_group_has_no_forest(qtbot, page):
    page.session.ticks.choose([1, 2, 3])
    qtbot.waitUntil(lambda: len(page.model.overview.groups) == 1)
    qtbot.waitUntil(page.tabs.difference.forest.isHidden)


def test_the_numbers_are_copied_and_saved(page, tmp_path):
    plot = page.tabs.difference.forest.plot
    plot.copy_table()
    head, ice, few = (line.split("\t") for line in QGuiApplication.clipboard().text().splitlines())
    assert head[:3] == ["group", "MAP@R difference", "MAP@R low_95"]
    assert (ice[0], float(ice[1])) == ("ICE", pytest.approx(10.1667, rel=1e-4))
    assert few[2:6] == ["", "", "", "2"]
    for name in ("forest.csv", "forest.png", "forest.svg"):
        write_plot(plot, tmp_path / name)
    with open(tmp_path / "forest.csv", newline="") as file:
        assert [row[0] for row in csv.reader(file)] == ["group", "ICE", "<b>Few</b>"]
    assert not plot.image().isNull()
    assert (tmp_path / "forest.svg").stat().st_size > 1000


def test_a_large_window_shows_twelve_groups_at_once_with_wider_intervals_and_words(qtbot, session, workspace):
    for number in range(12):
        for seed in range(3):
            ap = np.full(6, 0.3 + 0.02 * number + 0.01 * seed)
            store(workspace, {1: ap}, seed=seed, name="Sweep", training=TrainingParams(lr=0.001 * (number + 1)))
    page = difference_tab(qtbot, session, *range(1, 37))
    compared(qtbot, page)
    forest, table = page.tabs.difference.forest, page.groups
    picture, intervals = forest.plot.picture, [column.kind for column in table.table.columns].index(Kind.INTERVAL)
    assert not picture.visibleRegion().contains(row_of(picture, 10, 11))
    before = table.columnWidth(intervals), forest.words.width(), table.height()
    page.resize(2200, 1380)
    qtbot.waitUntil(lambda: picture.visibleRegion().contains(row_of(picture, 10, 11)))
    assert table.columnWidth(intervals) > 1.5 * before[0]
    assert table.columnWidth(0) >= table.sizeHintForColumn(0), "titles stay whole"
    assert forest.words.width() > 1.5 * before[1]
    assert table.viewport().height() >= 11 * table.rowHeight(0) > before[2]
    page.resize(1200, 900)
    qtbot.waitUntil(lambda: (table.columnWidth(intervals), forest.words.width(), table.height()) == before)


def test_a_row_says_its_numbers_under_the_pointer(page):
    picture = page.tabs.difference.forest.plot.picture
    point = QPointF(row_of(picture, 1))
    none, button = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.NoButton
    event = QMouseEvent(QMouseEvent.Type.MouseMove, point, picture.mapToGlobal(point), button, button, none)
    QApplication.sendEvent(picture, event)
    assert QToolTip.text().startswith("<qt>&lt;b&gt;Few&lt;/b&gt;<br>MAP@R −10.50, 2 seeds: no interval")


def test_of_many_groups_the_first_are_drawn_and_a_key_scrolls_to_its_row(qtbot, session, workspace):
    for number in range(MOST_ROWS + 3):
        workspace.create_run(RunConfig(name="Sweep", training=TrainingParams(lr=0.001 * (1 + number))))
    page = difference_tab(qtbot, session, *range(1, MOST_ROWS + 4))
    forest = page.tabs.difference.forest
    qtbot.waitUntil(lambda: forest.plot.title.endswith(f"; the first {MOST_ROWS} of {MOST_ROWS + 2} groups"))
    assert forest.remarks.text() == "No test was made."
    assert forest.claims.isHidden()
    picture, last = forest.plot.picture, MOST_ROWS - 1
    qtbot.waitUntil(lambda: picture.height() > forest.height())
    assert not picture.visibleRegion().contains(row_of(picture, last, MOST_ROWS))
    qtbot.keyClick(picture, Qt.Key.Key_End)
    qtbot.waitUntil(lambda: picture.visibleRegion().contains(row_of(picture, last, MOST_ROWS)))


def test_in_a_low_page_one_area_scrolls_beside_the_curves(qtbot, session, workspace):
    """With twelve groups the page, the tab and the rows scrolled each by itself, and half of the plot was in sight."""
    for number in range(12):
        ap = np.full(6, 0.3 + 0.02 * number)
        store(workspace, {1: ap}, name=f"Group {number}", training=TrainingParams(lr=0.001 * (1 + number)))
    page = difference_tab(qtbot, session, *range(1, 13))
    compared(qtbot, page)
    page.tabs.setCurrentWidget(page.tabs.curves)
    for height in (900, 640, 620):
        page.resize(1000, height)
        qtbot.settle(page)
        assert not page.result.verticalScrollBar().isVisible(), "the page has room for its parts"
        scrolled = [area for area in page.tabs.curves.beside.findChildren(QScrollArea) if area.isVisible()]
        bars = [area.verticalScrollBar() for area in scrolled if area.isAncestorOf(page.tabs.curves.beside.forest.plot)]
        assert sum(bar.isVisible() for bar in bars) <= 1
        assert page.tabs.curves.seeds.plot.isVisible()
