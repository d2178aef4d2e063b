"""The view Class size of Retrieval: groups of classes by size, and the queries that a click on one lists."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.ui.browsed import at_rest, listed, open_page
from tests.ui.small_run import store_run
from workbench.control import Cancelled
from workbench.results import by_class_size
from workbench.ui.pages.retrieval.class_size import panel as panel_module
from workbench.ui.pages.retrieval.class_size.panel import SizePanel

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

SIZES = (2, 3, 4, 6, 8, 12, 15, 20, 30)
LABELS = np.repeat(np.arange(len(SIZES)), SIZES)


@pytest.fixture
def run(workspace):
    return store_run(workspace, LABELS)


@pytest.fixture
def page(qtbot, session, run):
    session.show_run(run.run_id)
    return open_page(qtbot, session, (1100, 700))


@pytest.fixture
def panel(qtbot, page):
    return measured(qtbot, page)


def measured(qtbot, page):
    """The view, shown and with an answer."""
    panel = opened(page)
    qtbot.waitUntil(lambda: panel.measured is not None)
    return panel


def opened(page):
    """The view, shown."""
    at = next(at for at in range(page.views.count()) if page.views.tabText(at) == "Class size")
    page.views.setCurrentIndex(at)
    return page.findChild(SizePanel)


def cells(panel):
    model = panel.groups
    return [
        [model.index(row, column).data() for column in range(model.columnCount())] for row in range(model.rowCount())
    ]


def test_the_table_has_a_row_for_each_group(panel):
    assert [row[:4] for row in cells(panel)] == [
        ["Large", "15 to 30", "3", "65"], ["Middle", "6 to 12", "3", "26"], ["Small", "2 to 4", "3", "9"],
    ]  # fmt: skip
    assert panel.groups.titles[1] == "Searched images"
    assert "divided into thirds" in panel.sentence.text()
    assert "Recall@1 and MAP@R depend on class size by themselves" in panel.beside.text()


def test_another_metric_has_other_numbers(panel):
    before = cells(panel)
    QTest.mouseClick(panel.metrics.buttons["recall@1"], Qt.MouseButton.LeftButton)
    score = panel.measured.groups[0].scores["recall@1"].value
    assert panel.groups.titles[4] == "R@1 %"
    assert cells(panel)[0][4] == f"{100 * score:.1f}"
    assert cells(panel) != before


def clicked(panel, row):
    index = panel.groups.index(row, 0)
    QTest.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=panel.table.visualRect(index).center())


def test_a_click_on_a_group_lists_its_queries_and_its_classes(qtbot, page, panel, run):
    clicked(panel, 2)
    at_rest(qtbot, page)
    assert sorted(listed(page)) == sorted(run.ids[LABELS <= 2].tolist())
    assert {page.classes.listing.label(at) for at in range(len(page.classes.listing))} == {0, 1, 2}
    assert page.queries.group.text() == "Small: 2 to 4 searched images"
    QTest.mouseClick(panel.open, Qt.MouseButton.LeftButton)
    assert page.views.currentIndex() == 0
    QTest.mouseClick(page.queries.group, Qt.MouseButton.LeftButton)
    assert len(listed(page)) == len(LABELS)
    assert len(page.classes.listing) == len(SIZES)
    assert not page.queries.group.isVisible()
    assert not panel.table.currentIndex().isValid()


def test_the_button_names_the_group_whose_queries_it_lists(panel):
    assert (panel.open.text(), panel.open.isEnabled()) == ("List the queries of a group", False)
    clicked(panel, 1)
    assert (panel.open.text(), panel.open.isEnabled()) == ("List the queries of “Middle”", True)
    panel.mark(None)
    assert (panel.open.text(), panel.open.isEnabled()) == ("List the queries of a group", False)


def test_a_long_measurement_has_a_bar_in_its_place_and_ends_with_cancel(qtbot, page, monkeypatch):
    def until_cancelled(workspace, evaluation_id, progress):
        while True:
            progress("Nearest classes", 3, 9)

    with monkeypatch.context() as patch:
        patch.setattr(panel_module, "by_class_size", until_cancelled)
        panel = opened(page)
        qtbot.waitUntil(lambda: panel.measuring.bar.maximum() == 9)
        assert panel.measuring.bar.value() == 3
        assert panel.measuring.bar.isVisible()
        assert panel.measuring.sentence.text().startswith("Nearest classes, 3 / 9")
        QTest.mouseClick(panel.measuring.go, Qt.MouseButton.LeftButton)
    assert panel.ask.isVisible()
    QTest.mouseClick(panel.ask.go, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.measured is not None)


def test_a_measurement_ends_where_another_run_is_shown_while_the_view_is_hidden(
    qtbot, session, workspace, run, page, monkeypatch
):
    seen = []

    def until_cancelled(workspace, evaluation_id, progress):
        try:
            while True:
                progress("Nearest classes", 3, 9)
        except Cancelled:
            seen.append(evaluation_id)
            raise

    with monkeypatch.context() as patch:
        patch.setattr(panel_module, "by_class_size", until_cancelled)
        panel = opened(page)
        qtbot.waitUntil(lambda: panel.measuring.bar.maximum() == 9)
        page.views.setCurrentIndex(0)
        assert not seen, "it goes on while its run is shown"
        session.show_run(store_run(workspace, LABELS, name="Other").run_id)
        qtbot.waitUntil(lambda: bool(seen))
    assert seen == [run.evaluations[-1]]
    session.show_run(run.run_id)
    opened(page)
    qtbot.waitUntil(lambda: panel.measured is not None)
    assert panel.measured.run_id == run.run_id


def test_enter_on_a_group_opens_its_queries(qtbot, page, panel):
    panel.table.selectRow(0)
    panel.table.setFocus()
    QTest.keyClick(panel.table, Qt.Key.Key_Return)
    at_rest(qtbot, page)
    assert page.views.currentIndex() == 0
    assert len(listed(page)) == 65


def test_a_click_on_the_plot_chooses_the_group_of_that_size(qtbot, page, panel):
    picture = panel.plot.picture
    QTest.mouseClick(picture, Qt.MouseButton.LeftButton, pos=picture.rect().center())
    assert panel.table.currentIndex().row() == 1
    assert "Middle (6 to 12 images)" in picture.accessibleDescription()
    assert len(panel.plot.rows()) == 1 + len(SIZES)


def test_the_group_stays_in_another_evaluation_and_goes_with_another_run(qtbot, session, page, panel, run, workspace):
    clicked(panel, 0)
    session.show_evaluation(run.evaluations[0])
    page.views.setCurrentIndex(0)
    at_rest(qtbot, page)
    assert len(listed(page)) == 65
    other = store_run(workspace, LABELS, name="Other")
    session.show_run(other.run_id)
    at_rest(qtbot, page)
    assert page.browsing.filters.group is None
    assert len(listed(page)) == len(LABELS)


def test_the_table_shows_all_its_columns_below_the_plot_where_the_width_is_short(qtbot, page, panel):
    plot, table = panel.plot, panel.table
    assert plot.geometry().top() < table.geometry().bottom()
    assert plot.geometry().right() < table.geometry().left()
    assert table.horizontalScrollBar().maximum() == 0
    page.resize(700, 700)
    qtbot.waitUntil(lambda: table.geometry().top() > plot.geometry().bottom())
    assert table.horizontalScrollBar().maximum() == 0
    assert table.verticalScrollBar().maximum() == 0
    page.resize(1100, 700)
    qtbot.waitUntil(lambda: plot.geometry().right() < table.geometry().left())


def test_classes_of_one_size_are_a_sentence(qtbot, session, workspace):
    session.show_run(store_run(workspace, np.repeat(np.arange(3), 4)).run_id)
    panel = measured(qtbot, open_page(qtbot, session, (1100, 700)))
    assert panel.sentence.text() == "All 3 classes have 4 searched images: there is nothing to compare by class size."
    assert not panel.table.isVisible()
    assert not panel.open.isVisible()
    assert panel.sentence.height() < panel.height() / 4, "it stands at the top"


def test_of_classes_of_one_size_the_view_leads_to_each_class(qtbot, session, workspace, tmp_path):
    session.show_run(store_run(workspace, np.repeat(np.arange(3), 4)).run_id)
    page = open_page(qtbot, session, (1100, 700))
    page.by_class.setChecked(False)
    panel = measured(qtbot, page)
    assert "Save CSV… writes them" in panel.instead.text()
    panel.table_actions.save_to(tmp_path / "classes.csv")
    qtbot.waitUntil((tmp_path / "classes.csv").exists)
    assert len((tmp_path / "classes.csv").read_text("utf-8").splitlines()) == 1 + 3
    QTest.mouseClick(panel.each, Qt.MouseButton.LeftButton)
    assert page.views.currentIndex() == 0
    assert page.classes.isVisible()


def test_without_a_class_to_score_nothing_can_be_saved(qtbot, session, workspace):
    session.show_run(store_run(workspace, np.arange(5)).run_id)
    panel = measured(qtbot, open_page(qtbot, session, (1100, 700)))
    assert panel.sentence.text().startswith("No class of this evaluation")
    assert "choose another split" in panel.instead.text()
    assert not panel.save.isVisible()
    assert not panel.table_actions.save.isEnabled()
    assert not panel.each.isVisible()


def test_with_groups_the_view_offers_nothing_else(panel):
    assert not panel.instead.isVisible()
    assert not panel.each.isVisible()
    assert panel.save.isVisible()


def test_the_nearest_class_cannot_be_chosen_without_class_vectors(qtbot, session, workspace):
    session.show_run(store_run(workspace, LABELS, with_proxies=False).run_id)
    panel = measured(qtbot, open_page(qtbot, session, (1100, 700)))
    assert not panel.metrics.buttons["nearest class"].isEnabled()
    assert "no class vector" in panel.metrics.buttons["nearest class"].toolTip()


def test_what_cannot_be_read_is_said_and_can_be_asked_for_again(qtbot, session, page, run, workspace):
    with workspace.writing() as db:
        db.execute("update queries set r = -1 where evaluation_id = ?", (run.evaluations[-1],))
    panel = opened(page)
    qtbot.waitUntil(lambda: "could not be read" in panel.ask.sentence.text())
    assert panel.currentIndex() == 0


def test_the_classes_are_saved_as_csv(qtbot, session, panel, tmp_path):
    panel.table_actions.save_to(tmp_path / "classes.csv")
    qtbot.waitUntil((tmp_path / "classes.csv").exists)
    assert (tmp_path / "classes.csv").read_text("utf-8") == by_class_size.as_csv(panel.measured)
