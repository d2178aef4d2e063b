"""The Compare page: what is ticked, what is said of it, two groups against each other, and every poor state."""

import csv
from collections import Counter
from threading import Event, current_thread
from types import SimpleNamespace

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFont, QFontMetrics, QGuiApplication
from PySide6.QtWidgets import QApplication, QFileDialog, QTreeWidget, QWidget

from tests.ui.ticking import compare_page, tick
from tests.unit.comparing.compared_runs import images, store
from tests.waits import HANG
from workbench.comparing.difference.baseline import against_baseline
from workbench.comparing.grouping import groups
from workbench.comparing.grouping.groups import grouped, unlike_parts
from workbench.comparing.overview import overview
from workbench.comparing.published.published_tables import EXPERIMENT_ROWS
from workbench.config import Choice, RunConfig, TrainingParams
from workbench.exchange.own_loop import record_run
from workbench.fair.stored import FairComparisons
from workbench.numerals import minus
from workbench.ui.actions.run_actions import RunActions
from workbench.ui.pages.compare.cost.panel import CostPanel
from workbench.ui.pages.compare.difference.panel import DifferencePanel
from workbench.ui.pages.compare.groups.group_table import CELL_ROLE, CHIP_ROLE, GroupTable, significant
from workbench.ui.pages.compare.groups.group_view import MARGIN, SHORTENED_PX, TITLE_BESIDE, TITLE_PX, GroupView
from workbench.ui.pages.compare.groups.more_seeds import ALL_LEFT_OUT, NO_TICKS, NONE_HERE
from workbench.ui.pages.compare.groups.row_order import Kind
from workbench.ui.pages.compare.model import reading
from workbench.ui.pages.compare.model.compare_model import NO_SECOND, ONE_RUN, SEARCHED_SECOND, SECOND, TICK_TWO
from workbench.ui.pages.compare.queries.panel import QueryDifferences
from workbench.ui.pages.compare.queries.query_plot import RING_PX, QueryPlot
from workbench.ui.pages.compare.queries.query_rows import ALL, BETTER, SAME, WORSE
from workbench.ui.pages.compare.style.group_styles import legend_titles, short_title, styles
from workbench.ui.pages.compare.style.word_table import NARROWEST, TITLE_SHARE, WordTable, table_view
from workbench.ui.state.commands import Commands
from workbench.ui.state.report_offer import ReportOffer
from workbench.ui.style import theme
from workbench.ui.widgets.dialogs.question import Question
from workbench.ui.widgets.labels import plain_tip
from workbench.ui.widgets.tables.row_table import head_width
from workbench.ui.window.main_window import MainWindow
from workbench.workspace.experiments import experiments

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
OTHER = TrainingParams(lr=0.5)
COUNT = 40


def shown(qtbot, session):
    return compare_page(qtbot, session, 1000, 640)


def compared(qtbot, page):
    qtbot.waitUntil(lambda: page.model.comparison is not None)
    return page.model.comparison


def two_groups(workspace, seeds, shift=0.2):
    """Runs 1, 3, ... are of the first group, 2, 4, ... of the second, which is better by about the shift."""
    rng = np.random.default_rng(0)
    for seed in range(seeds):
        first = rng.uniform(0.2, 0.6, COUNT)
        store(workspace, {0: first / 2, 1: first}, seed=seed, name="Plain")
        second = np.clip(first + shift + rng.normal(0, 0.01, COUNT), 0, 1)
        store(workspace, {0: first / 2, 1: second}, seed=seed, name="<b>Bold</b>", training=OTHER)


def cells(model):
    return [
        [model.index(row, column).data() for column in range(model.columnCount())] for row in range(model.rowCount())
    ]


def test_without_runs_there_is_a_hint_with_one_button(qtbot, session):
    page = shown(qtbot, session)
    assert page.currentWidget() is page.hint
    asked = []
    session.page_asked.connect(asked.append)
    page.hint.pressed.emit()
    assert asked == ["setup"]


def test_nothing_ticked_says_what_to_do(qtbot, session, workspace):
    two_groups(workspace, 1)
    page = shown(qtbot, session)
    assert page.content.currentWidget() is page.unticked
    assert page.unticked.sentence.text() == TICK_TWO
    qtbot.waitUntil(lambda: len(session.runs()) == 2)
    assert page.unticked.go.text() == "Tick all runs"
    page.unticked.pressed.emit()
    assert session.ticks.runs == {1, 2}
    assert len(compared(qtbot, page).seeds) == 1


def test_the_search_compares_the_ticked_runs_that_it_leaves(qtbot, session, workspace):
    two_groups(workspace, 2)
    with workspace.writing() as db:
        db.execute("update runs set status = 'failed' where id = 4")
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2, 3, 4)
    qtbot.waitUntil(lambda: page.model.summary.startswith("2 groups, 4 runs"))
    qtbot.keyClicks(page.head.search, "state=done")
    qtbot.waitUntil(lambda: page.head.summary.text().endswith("; the search leaves out 1 ticked run"))
    assert sorted(page.model.overview.measured) == [1, 2, 3]
    qtbot.keyClicks(page.head.search, " name=plain")
    qtbot.waitUntil(lambda: page.tabs.difference.verdict.text() == SEARCHED_SECOND)
    page.more_seeds.ask()
    qtbot.waitUntil(lambda: page.more_seeds.question is not None)
    assert "“Plain”" in page.more_seeds.question.words.text()
    assert "Bold" not in page.more_seeds.question.words.text(), "what is left out gets no seeds"
    page.more_seeds.question.answers["none"].click()
    page.head.search.setText("state=queued")
    assert page.more_seeds.action.toolTip() == plain_tip(ALL_LEFT_OUT)
    qtbot.waitUntil(page.none_fits.isVisible)
    assert page.head.search.isVisible()
    assert not page.groups.isVisible()
    assert not page.head.copy_button.isEnabled()
    assert page.none_fits.sentence.text() == ALL_LEFT_OUT
    page.head.search.setText("stat=queued")
    qtbot.waitUntil(lambda: page.none_fits.sentence.text().endswith("No run has a field or a score “stat”."))
    page.none_fits.go.click()
    qtbot.waitUntil(page.groups.isVisible)
    assert sorted(page.model.overview.measured) == [1, 2, 3, 4]
    assert not page.none_fits.isVisible()


def test_where_no_run_fits_the_search_no_other_evaluation_is_chosen(qtbot, session, workspace):
    two_groups(workspace, 2)
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2, 3, 4)
    qtbot.waitUntil(page.groups.isVisible)
    page.head.search.setText("state=queued")
    qtbot.waitUntil(page.none_fits.isVisible)
    for box in (page.head.at_box, page.head.metric_box, page.head.baseline_box):
        qtbot.keyClick(box, Qt.Key.Key_Down)
    page.none_fits.go.click()
    qtbot.waitUntil(page.groups.isVisible)
    assert (page.model.metric, page.model.at) == ("MAP@R", "best")
    assert page.head.at_box.isEnabled()


def test_where_there_is_one_group_it_says_what_to_do(qtbot, session, workspace):
    store(workspace, {1: np.linspace(0, 1, COUNT)}, name="Only")
    page = shown(qtbot, session)
    qtbot.waitUntil(lambda: page.unticked.sentence.text() == ONE_RUN)
    asked = []
    session.page_asked.connect(asked.append)
    assert page.unticked.go.text() == "Set up another run"
    page.unticked.go.click()
    assert (asked, session.ticks.runs) == (["setup"], frozenset())
    tick(qtbot, page, 1)
    assert page.tabs.difference.verdict.text() == NO_SECOND


def test_one_group_has_numbers_and_asks_for_a_second(qtbot, session, workspace):
    two_groups(workspace, 1)
    page = shown(qtbot, session)
    tick(qtbot, page, 1)
    mean = np.random.default_rng(0).uniform(0.2, 0.6, COUNT).mean()
    assert cells(page.groups.table)[0][:4] == ["Plain", "1", f"{100 * mean:.2f}", "not enough seeds"]
    assert page.tabs.settings.currentWidget() is page.tabs.settings.nothing
    assert page.tabs.difference.verdict.text() == SECOND
    assert page.tabs.queries.hint.text() == SECOND
    assert not page.tabs.queries.table.isVisibleTo(page.tabs.queries)


def test_two_groups_over_seeds_have_a_winner(qtbot, session, workspace):
    two_groups(workspace, 3)
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2)
    found = compared(qtbot, page)
    assert session.ticks.runs == {1, 2, 3, 4, 5, 6}
    assert found.winner is found.second
    assert page.tabs.difference.verdict.text() == (
        "“<b>Bold</b>” is better: the 95% interval over seeds excludes zero (n = 3)."
    )
    page.tabs.open("Settings")
    assert cells(page.tabs.settings.model) == [["Training: Learning rate", "0.001", "0.5"]]
    rows = cells(page.tabs.difference.model)
    assert [row[0] for row in rows] == ["all seeds", "seed 0 (1, 2)", "seed 1 (3, 4)", "seed 2 (5, 6)"]
    assert rows[0][-1] == "3 seeds"
    assert rows[1][-1] == f"{COUNT} queries"
    assert page.notes.badge.text() == "1 note"
    assert page.notes.area.text().startswith("⚠ Optimistic: the best epoch was chosen on the test set")
    assert page.tabs.difference.plot.plot.accessibleDescription().count("from") == 4


def test_one_seed_is_not_enough_but_has_its_interval_over_queries(qtbot, session, workspace):
    two_groups(workspace, 1)
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2)
    found = compared(qtbot, page)
    assert found.winner is None
    assert page.tabs.difference.verdict.text().startswith("Not enough seeds (n = 1)")
    rows = cells(page.tabs.difference.model)
    assert rows[0][-2:] == ["not enough seeds", "1 seed"]
    assert rows[1][-2].startswith("[+")
    assert "Not enough seeds for an interval over seeds" in "\n".join(page.model.warnings)


def test_different_data_is_said_and_nothing_is_compared(qtbot, session, workspace):
    store(workspace, {1: np.ones(6)}, shown=images(6, "birds"), name="A")
    store(workspace, {1: np.ones(6)}, shown=images(6, "cars"), name="B", training=OTHER)
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2)
    qtbot.waitUntil(lambda: "different data" in page.tabs.difference.verdict.text())
    assert "The runs saw different data" in "\n".join(page.model.warnings)
    assert not page.tabs.difference.results.isVisibleTo(page.tabs.difference)
    assert "different data" in page.tabs.queries.hint.text()


def test_runs_without_an_evaluation_are_said(qtbot, session, workspace):
    store(workspace, {}, name="Bare", status="interrupted")
    page = shown(qtbot, session)
    tick(qtbot, page, 1)
    assert "Run 1 has no evaluation yet." in "\n".join(page.model.warnings)
    assert "Not finished" in "\n".join(page.model.warnings)
    assert cells(page.groups.table)[0][1:4] == ["0", "–", "–"]


def test_another_metric_and_a_common_epoch(qtbot, session, workspace):
    two_groups(workspace, 3)
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2)
    compared(qtbot, page)
    assert [page.head.at_box.itemText(row) for row in range(page.head.at_box.count())] == [
        "best epoch of each run", "last epoch of each run", "epoch 0, of all runs", "epoch 1, of all runs",
    ]  # fmt: skip
    page.head.at_box.setCurrentIndex(2)
    page.head.at_box.activated.emit(2)
    qtbot.waitUntil(lambda: page.model.overview.at == 0)
    qtbot.waitUntil(lambda: page.model.comparison is not None)
    assert page.model.comparison.verdict.startswith("No winner")
    page.head.metric_box.setCurrentIndex(page.head.metric_box.findText("R@1"))
    page.head.metric_box.activated.emit(page.head.metric_box.currentIndex())
    qtbot.waitUntil(lambda: page.model.overview.metric == "recall@1")
    assert page.model.overview.at == 0


def test_papers_rows_stand_beside_the_groups_and_what_differs_is_said(qtbot, session, workspace):
    birds = {"dataset": Choice(name="cub"), "split": Choice(name="classes"), "backbone": Choice(name="resnet50")}
    for seed, value in enumerate((0.60, 0.62, 0.67)):
        store(workspace, {1: np.full(6, 0.9)}, seed=seed, metrics={"recall@1": value}, name="<b>Birds</b>", **birds)
    page = shown(qtbot, session)
    tick(qtbot, page, 1)
    page.tabs.open("Papers")
    panel = page.tabs.papers
    assert panel.box.count() == len(page.model.overview.papers) > 1
    panel.box.setCurrentIndex(next(i for i in range(panel.box.count()) if "Boudiaf" in panel.box.itemText(i)))
    rows = cells(panel.model)
    head = [panel.model.headerData(column, Qt.Orientation.Horizontal) for column in range(panel.model.columnCount())]
    assert head[:4] == ["Method", "Backbone", "d", "R@1 %"]
    assert ["Cross-Entropy", "ResNet-50"] in [row[:2] for row in rows]
    assert rows[-1][:5] == ["<b>Birds</b> (here, n = 3)", "resnet50", "100", "63.0", "–"]
    assert "“<b>Birds</b>”: This run's embeddings have 100 dimensions, the table's 2048." in panel.notes.text()
    assert "Ours: best epoch of each run, mean over n seeds." in panel.notes.text()
    assert "the images themselves are not compared" in panel.notes.text()


def test_a_finished_experiment_has_rows_of_its_own_below_its_folds(qtbot, session, workspace):
    folds = {"dataset": Choice(name="cub"), "split": Choice(name="mlrc", params={"folds": 2})}
    config = RunConfig(name="Birds", **folds)
    number = experiments.create(workspace, config)
    run_id = store(workspace, {1: np.full(6, 0.9)}, name="Birds, fold 1", metrics={"MAP@R": 0.4}, **folds)
    with workspace.writing() as db:
        db.execute("update runs set experiment_id = ? where id = ?", (number, run_id))
    result = {"runs": 2, "separated": {"MAP@R": [0.4, 0.5]}, "concatenated": [{"MAP@R": 0.6}]}
    experiments.set_result(workspace, number, result)
    page = shown(qtbot, session)
    tick(qtbot, page, 1)
    page.tabs.open("Papers")
    assert [row[0] for row in cells(page.tabs.papers.model)[-3:]] == [
        "Birds (here, n = 1)",
        "Birds, experiment 1: folds concatenated (here, n = 1)",
        "Birds, experiment 1: folds separated (here, n = 2)",
    ]
    assert [row[-1] for row in cells(page.tabs.papers.model)[-3:]] == ["40.0", "60.0", "45.0"]
    printed = page.tabs.papers.tables[0].table.rows[0].values
    assert cells(page.tabs.papers.model)[0][3:] == [f"{value:.2f}" for value in printed], "as the paper prints it"
    assert EXPERIMENT_ROWS in page.tabs.papers.notes.text()
    page.tabs.papers.notes.set_text("\n".join(["A note"] * 60))
    qtbot.waitUntil(lambda: 0 < page.tabs.papers.notes.height() < page.tabs.papers.view.height())
    model = page.tabs.papers.model
    pictures = [model.index(row, 0).data(Qt.ItemDataRole.DecorationRole) for row in range(model.rowCount())]
    assert [each.isNull() for each in pictures] == [True] * (len(pictures) - 3) + [False] * 3
    seen = [each.pixmap(18, 10).toImage() for each in pictures[-3:]]
    assert seen[0] == seen[1] == seen[2], "the group's own colour"


def test_notes_are_counted_and_unfold_without_taking_the_room_of_the_plots(qtbot, session, workspace):
    two_groups(workspace, 1)
    page = shown(qtbot, session)
    tick(qtbot, page, 1)
    notes = page.notes
    notes.show_notes([f"Warning number {number} of a long line of words. " * 4 for number in range(30)])
    assert notes.badge.text() == "30 notes"
    assert not notes.area.isVisible()
    qtbot.mouseClick(notes.badge, Qt.MouseButton.LeftButton)
    assert notes.area.isVisible()
    assert notes.area.text().count("⚠") == 30
    qtbot.waitUntil(lambda: notes.area.verticalScrollBar().maximum() > 0)
    qtbot.waitUntil(lambda: page.tabs.height() > page.height() / 3)
    qtbot.keyClick(notes.badge, Qt.Key.Key_Space)
    assert not notes.area.isVisible()
    notes.show_notes([])
    assert notes.badge.isHidden()


def test_the_baseline_stands_first_with_differences_beside_the_others(qtbot, session, workspace):
    two_groups(workspace, 3)
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2)
    compared(qtbot, page)
    table = page.groups.table
    head = [table.headerData(column, Qt.Orientation.Horizontal) for column in range(table.columnCount())]
    assert head == [
        "Group", "Seeds", "MAP@R % ↑", "95% interval", "Δ", "R@1 % ↑", "Δ", "Time s", "Memory MB",
    ]  # fmt: skip
    plain, bold = cells(table)
    assert (plain[0], bold[0]) == ("Plain", "<b>Bold</b>")
    assert plain[4] == ""
    assert bold[4] == f"{100 * page.model.comparison.over_seeds.mean:+.2f}"
    assert significant(table.rows[1].cells[0]) == "right"
    assert table.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole) == "Plain, baseline"
    page.head.baseline_box.setCurrentIndex(1)
    page.head.baseline_box.activated.emit(1)
    assert [row[0] for row in cells(table)] == ["<b>Bold</b>", "Plain"]
    assert cells(table)[1][4].startswith("-")
    assert page.tabs.difference.other.currentText() == "Plain"
    page.head.copy_button.click()
    assert QGuiApplication.clipboard().text().splitlines()[1].startswith("<b>Bold</b>\t3\t")


def test_a_group_that_ended_early_has_a_chip_that_says_so(qtbot, session, workspace):
    two_groups(workspace, 1)
    with workspace.writing() as db:
        db.execute("update runs set status = 'stopped', epoch = 1, epochs = 4 where id = 2")
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2)
    compared(qtbot, page)
    table = page.groups.table
    first, second = table.index(0, 0), table.index(1, 0)
    assert [index.data(CHIP_ROLE) for index in (first, second)] == ["baseline", "not finished"]
    assert second.data(Qt.ItemDataRole.AccessibleTextRole) == "<b>Bold</b>, not finished"
    assert "Not finished: 2 (stopped, epoch 1 of 4)" in second.data(Qt.ItemDataRole.ToolTipRole)
    assert "Not finished" not in first.data(Qt.ItemDataRole.ToolTipRole)
    assert table.index(1, 1).data(CHIP_ROLE) is None
    page.head.copy_button.click()
    _, whole, early = QGuiApplication.clipboard().text().splitlines()
    assert (whole.split("\t")[0], early.split("\t")[0]) == ("Plain", "<b>Bold</b> (not finished)")


def test_the_table_is_saved_as_csv(qtbot, session, workspace, tmp_path, monkeypatch):
    two_groups(workspace, 3)
    page = shown(qtbot, session)
    assert not page.save_action.isEnabled(), "nothing is ticked"
    tick(qtbot, page, 1, 2)
    qtbot.waitUntil(page.save_action.isEnabled)
    path, said = tmp_path / "table.csv", []
    session.noticed.connect(said.append)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *args: (str(path), ""))
    page.save_action.trigger()
    qtbot.waitUntil(lambda: f"The table was written to {path}." in said)
    with path.open(newline="") as file:
        head, first, second = csv.reader(file)
    shown_cells = cells(page.groups.table)
    assert head[:2] == ["Group", "Seeds"]
    assert head[4] == "Δ from the first row"
    assert (first[:2], second[:2]) == (["Plain", "3"], ["<b>Bold</b>", "3"])
    assert float(second[4]) == float(shown_cells[1][4])


def beside_costs(view):
    """The places of all columns but the title, time and memory."""
    kinds = [column.kind for column in view.table.columns]
    return [place for place in range(1, len(kinds)) if kinds[place] not in (Kind.SECONDS, Kind.MEMORY)]


def test_time_and_memory_give_way_before_the_table_scrolls_unless_the_groups_are_ordered_by_them(
    qtbot, session, workspace
):
    two_groups(workspace, 3)
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2)
    compared(qtbot, page)
    view, others = page.groups, beside_costs(page.groups)
    seconds, memory = range(len(view.table.columns))[-2:]
    page.resize(2000, 640)
    qtbot.settle(page)
    assert not view.isColumnHidden(seconds)
    least = view.sizeHintForColumn(0) + theme.text_px(TITLE_PX)
    narrow = sum(view.sizeHintForColumn(column) for column in others) + least + page.width() - view.viewport().width()
    page.resize(narrow, 640)
    qtbot.settle(page)
    assert view.isColumnHidden(seconds)
    assert view.isColumnHidden(memory)
    assert view.horizontalScrollBar().maximum() == 0
    assert "Memory MB, peak" in view.table.cells()[0], "Copy table has them"
    view.order_by(memory)
    qtbot.settle(page)
    assert not view.isColumnHidden(memory)
    page.resize(2000, 640)
    qtbot.settle(page)
    assert not view.isColumnHidden(seconds)
    assert view.columnWidth(seconds) >= view.sizeHintForColumn(seconds)


def test_titles_of_groups_are_whole_where_the_table_must_scroll_for_them(qtbot, session, workspace, monkeypatch):
    for name in ("Photographs of trees", "Drawings of many houses"):
        store(workspace, {1: np.linspace(0, 1, COUNT)}, name=name)
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2)
    view = page.groups
    view.setFixedWidth(300)  # the drawn intervals take no spare room there
    qtbot.settle(page)
    needed, width = view.sizeHintForColumn(0), view.columnWidth
    others = sum(width(column) for column in beside_costs(view))
    view.setFixedWidth(others + needed - 10 + view.width() - view.viewport().width())
    qtbot.settle(page)
    # A stretched column may still have the width that other rows left it.
    monkeypatch.setattr(view, "columnWidth", lambda column: width(column) if column else needed - 10)
    view.fit()
    qtbot.settle(page)
    assert width(0) >= needed
    assert view.horizontalScrollBar().maximum() > 0


def test_the_table_scrolls_sideways_only_where_its_words_have_no_room(qtbot, session, workspace):
    two_groups(workspace, 3)
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2)
    compared(qtbot, page)
    view, header = page.groups, page.groups.horizontalHeader()
    least = header.minimumSectionSize()
    words = [max(head_width(header, column), view.sizeHintForColumn(column)) for column in range(header.count())]
    needed = sum(max(least, width) for width in words[1:]) + max(view.sizeHintForColumn(0), theme.text_px(TITLE_PX))
    page.resize(needed + page.width() - view.viewport().width(), 640)
    qtbot.settle(page)
    assert view.viewport().width() == needed
    assert view.horizontalScrollBar().maximum() == 0
    assert all(view.columnWidth(column) >= width for column, width in enumerate(words))


def test_titles_that_would_be_cut_anyway_give_way_before_the_table_scrolls(qtbot, session, workspace):
    for rate in ("1e-08", "0.5"):
        name = f"learning rate {rate}, weight decay 0.000123, label smoothing 0.1, momentum 0.9"
        store(workspace, {1: np.linspace(0, 1, COUNT)}, name=name)
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2)
    view = page.groups
    others = sum(view.columnWidth(column) for column in beside_costs(view))
    for spare, scrolls in ((0, False), (-1, True)):
        around = view.width() - view.viewport().width()
        view.setFixedWidth(others + theme.text_px(SHORTENED_PX) + spare + around)  # narrower than the page may be
        qtbot.settle(page)
        assert view.sizeHintForColumn(0) > view.columnWidth(0)
        assert (view.horizontalScrollBar().maximum() > 0) is scrolls


def test_the_first_column_gets_more_than_its_least_where_a_table_must_scroll(qtbot):
    model = WordTable()
    words = ["photographs/of/animals/dolphin/image_0019.webp", "crocodile_head " * 2, "lobster " * 4, "sea_horse " * 3]
    model.show(["Query", "Class", "First neighbour", "Second neighbour"], [words])
    view = qtbot.addWidget(table_view(model, "queries"))
    view.resize(420, 200)
    view.show()
    assert view.columnWidth(0) == int(TITLE_SHARE * view.viewport().width()) > theme.text_px(NARROWEST)
    assert view.horizontalScrollBar().maximum() > 0


def test_the_chip_of_a_difference_is_inside_its_column(qtbot, session, workspace):
    two_groups(workspace, 3)
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2)
    compared(qtbot, page)
    view = page.groups
    column = next(number for number, entry in enumerate(view.table.columns) if entry.kind is Kind.DIFFERENCE)
    index = view.table.index(1, column)
    assert significant(index.data(CELL_ROLE)) != "muted", "it is bold"
    font = QFont(view.font())
    font.setBold(True)
    assert view.columnWidth(column) >= QFontMetrics(font).horizontalAdvance(minus(index.data())) + 2 * MARGIN


def test_the_columns_are_chosen_among_the_metrics(qtbot, session, workspace):
    two_groups(workspace, 1)
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2)
    actions = {action.text(): action for action in page.head.columns.actions()}
    assert not actions["MAP@R"].isEnabled(), "the chosen metric always has a column"
    actions["R@1"].trigger()
    assert page.model.shown_metrics == ["MAP@R"]
    assert page.groups.table.columnCount() == 7


def test_without_a_paper_s_table_the_tab_says_so(qtbot, session, workspace):
    two_groups(workspace, 1)
    page = shown(qtbot, session)
    tick(qtbot, page, 1)
    page.tabs.open("Papers")
    assert page.tabs.papers.hint.text().startswith("No paper's table")
    assert not page.tabs.papers.view.isVisibleTo(page.tabs.papers)


def test_the_curves_have_a_mean_a_band_and_each_run(qtbot, session, workspace):
    two_groups(workspace, 3)
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2)
    page.tabs.open("Cost")
    page.tabs.setCurrentWidget(page.tabs.curves)
    curves = page.tabs.curves.seeds
    qtbot.waitUntil(lambda: not curves.drawing)
    qtbot.waitUntil(lambda: not curves.drawing)
    assert [each.title for each in curves.plot.series] == ["Plain", "<b>Bold</b>"]
    np.testing.assert_allclose(curves.plot.curves["0"].values, 100 * page.model.overview.curves[0].mean)
    assert len(curves.behind["0"]) == 2, "the runs as one line, and a band"
    found, band = page.model.overview.curves[0], curves.behind["0"][1].boundingRect()
    known = np.isfinite(found.low)
    limits = [100 * found.low[known].min(), 100 * found.high[known].max()]
    np.testing.assert_allclose([band.left(), band.right()], found.places[known][[0, -1]])
    np.testing.assert_allclose([band.top(), band.bottom()], limits)
    assert np.isnan(curves.behind["0"][0].xData).sum() == 3
    curves.plot.legend["0"].setChecked(False)
    assert not any(item.isVisible() for item in curves.behind["0"])
    assert all(item.isVisible() for item in curves.behind["1"])
    page.head.metric_box.setCurrentIndex(page.head.metric_box.findText("R@1"))
    page.head.metric_box.activated.emit(page.head.metric_box.currentIndex())
    qtbot.waitUntil(lambda: curves.plot.title.startswith("R@1") and not curves.drawing)
    assert list(curves.plot.canvas.lines) == list(curves.plot.legend) == ["0", "1"], "the old ones went"


def three_queries(qtbot, session, workspace):
    """The page with one query worse, one equal and one better in the other group, and their images."""
    shown_images = images(3)
    store(workspace, {1: np.array([0.5, 0.5, 0.5])}, shown=shown_images, name="A")
    store(workspace, {1: np.array([0.9, 0.5, 0.2])}, shown=shown_images, name="B", training=OTHER)
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2)
    compared(qtbot, page)
    return page, shown_images


def test_queries_are_listed_filtered_and_opened(qtbot, session, workspace):
    page, shown_images = three_queries(qtbot, session, workspace)
    table = page.tabs.queries
    assert cells(table.model) == [
        ["002.png", "cat", "50.00", "20.00", "-30.00", "1"],
        ["001.png", "bee", "50.00", "50.00", "0.00", "1"],
        ["000.png", "ant", "50.00", "90.00", "+40.00", "1"],
    ]
    table.kind.setCurrentText(BETTER)
    assert [row[0] for row in cells(table.model)] == ["000.png"]
    table.kind.setCurrentText(WORSE)
    assert [row[0] for row in cells(table.model)] == ["002.png"]
    asked = []
    session.page_asked.connect(asked.append)
    assert not table.openers.sides[0].isEnabled()
    table.table.setCurrentIndex(table.model.index(0, 0))
    table.openers.sides[0].click()
    assert (session.run_id, session.query) == (1, int(shown_images.sample_ids[2]))
    assert session.evaluation().epoch == 1
    assert asked == ["retrieval"]
    table.table.activated.emit(table.model.index(0, 0))
    assert session.run_id == 2


def test_each_query_is_a_point_that_chooses_its_row(qtbot, session, workspace):
    page, _ = three_queries(qtbot, session, workspace)
    queries = page.tabs.queries
    page.tabs.open("Queries")
    points = [item for item in queries.plot.plot.items() if isinstance(item, pg.ScatterPlotItem)]
    drawn = sorted(pair for item in points for pair in zip(*item.getData(), strict=True))
    assert np.allclose(drawn, [(50, 20), (50, 50), (50, 90)]), "percent, and no ring yet"
    assert queries.plot.plot.accessibleDescription() == queries.count.text()
    queries.kind.setCurrentText(WORSE)
    for query, row in ((2, "000.png"), (0, "002.png")):  # the worst query is the first
        queries.plot.picked.emit(np.array([query]))
        assert cells(queries.model)[queries.table.currentIndex().row()][0] == row
    assert queries.kind.currentText() == ALL, "the better one was not listed"
    (ring,) = (item for item in queries.plot.plot.items() if getattr(item, "opts", {}).get("size") == RING_PX)
    assert np.allclose(ring.getData(), [[50], [20]])
    queries.kind.setCurrentText(BETTER)
    assert len(ring.getData()[0]) == 0, "no row is chosen any more"


def test_a_click_chooses_the_nearest_query(qtbot):
    plot = qtbot.shown(QueryPlot(), 400, 400)
    scores = np.array([0.5, 0.5, 0.5, 0.5]), np.array([0.2, 0.5, 0.9, 0.9])
    queries = SimpleNamespace(first=scores[0], second=scores[1], count=lambda: (2, 1, 1))
    plot.show_comparison(SimpleNamespace(queries=queries, metric="MAP@R", second=SimpleNamespace(title="B")))
    QApplication.processEvents()
    chosen = []
    plot.picked.connect(lambda rows: chosen.append(rows.tolist()))
    view = plot.plot.getPlotItem().vb
    for place in ((50, 90), (50, 21), (20, 80)):
        press = plot.plot.mapFromScene(view.mapViewToScene(QPointF(*place)))
        qtbot.mouseClick(plot.plot.viewport(), Qt.MouseButton.LeftButton, pos=press)
    assert chosen == [[2, 3], [0]], "no query is near the last place"


def test_a_click_lists_every_query_with_the_same_scores(qtbot, session, workspace):
    """R@1 of one seed is 0 or 100 for each query: all of them are at four points."""
    shown_images = images(6)
    store(workspace, {1: np.array([1.0, 1.0, 0.2, 0.2, 1.0, 0.2])}, shown=shown_images, name="A")
    store(workspace, {1: np.array([1.0, 0.2, 1.0, 1.0, 1.0, 0.2])}, shown=shown_images, name="B", training=OTHER)
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2)
    scores = compared(qtbot, page).queries
    queries = page.tabs.queries

    def click(first, second):
        at = np.isclose(scores.first, first) & np.isclose(scores.second, second)
        queries.plot.picked.emit(np.flatnonzero(at))

    page.tabs.open("Queries")
    counts = {
        (round(item.pos().x()), round(item.pos().y())): item.toPlainText().strip()
        for item in queries.plot.plot.items()
        if isinstance(item, pg.TextItem)
    }
    assert counts == {(20, 20): "1", (20, 100): "2", (100, 20): "1", (100, 100): "2"}
    click(0.2, 1)
    assert queries.kind.currentText() == SAME
    assert sorted(row[0] for row in cells(queries.model)) == ["002.png", "003.png"]
    (ring,) = (item for item in queries.plot.plot.items() if getattr(item, "opts", {}).get("size") == RING_PX)
    assert np.allclose(ring.getData(), [[20], [100]])
    click(1, 1)
    assert sorted(row[0] for row in cells(queries.model)) == ["000.png", "004.png"]
    click(1, 0.2)
    assert queries.kind.currentText() == ALL
    click(1, 1)
    page.tabs.difference.swap.click()
    qtbot.waitUntil(lambda: queries.kind.findText(SAME) < 0 and queries.model.rowCount() == 6)
    assert queries.kind.currentText() == ALL, "another comparison has other points"


def test_points_are_thinned_to_what_can_be_seen(qtbot):
    plot = qtbot.addWidget(QueryPlot())
    scores = np.random.default_rng(0).random((2, 60_000))
    scores[1, 0] = np.nan
    queries = SimpleNamespace(first=scores[0], second=scores[1], count=lambda: (1, 2, 3))
    plot.show_comparison(SimpleNamespace(queries=queries, metric="MAP@R", second=SimpleNamespace(title="B")))
    drawn = np.concatenate([
        np.stack(item.getData(), 1) for item in plot.plot.items() if isinstance(item, pg.ScatterPlotItem)
    ])  # fmt: skip
    assert 20_000 < len(drawn) < 60_000
    assert np.isfinite(drawn).all()
    assert {tuple(point) for point in drawn} <= {tuple(point) for point in 100 * scores.T}
    plot.show_comparison(None)
    assert not any(len(item.getData()[0]) for item in plot.plot.items() if isinstance(item, pg.ScatterPlotItem))


def test_the_pair_can_be_chosen_and_swapped(qtbot, session, workspace):
    two_groups(workspace, 1)
    store(workspace, {1: np.full(COUNT, 0.9)}, name="Third", loss=Choice(name="norm_ce"))
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2, 3)
    first = compared(qtbot, page)
    page.tabs.difference.swap.click()
    qtbot.waitUntil(lambda: page.model.comparison not in (None, first))
    assert page.model.comparison.first is first.second
    assert page.tabs.difference.baseline.text() == first.second.title
    assert page.model.comparison.over_seeds.mean == pytest.approx(-first.over_seeds.mean)
    page.tabs.difference.other.setCurrentText(page.tabs.difference.baseline.text())
    page.tabs.difference.other.activated.emit(0)
    assert page.tabs.difference.verdict.text() == "Choose two different groups."


def test_what_is_ticked_in_the_list_of_runs_is_compared(qtbot, session, workspace):
    """There is no second list: the page follows the ticks, and none of it has a box to tick runs."""
    two_groups(workspace, 2)
    page = shown(qtbot, session)
    session.ticks.choose([2, 4])
    qtbot.waitUntil(lambda: page.model.overview is not None and set(page.model.overview.measured) == {2, 4})
    session.ticks.choose([4])
    qtbot.waitUntil(lambda: set(page.model.overview.measured) == {4})
    session.ticks.choose([])
    qtbot.waitUntil(lambda: page.content.currentWidget() is page.unticked)
    assert not page.findChildren(QTreeWidget)


def test_a_run_in_the_trash_is_no_longer_compared(qtbot, session, workspace):
    two_groups(workspace, 1)
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2)
    session.trash_run(2)
    session.follower.look()
    assert session.ticks.runs == {1}
    qtbot.waitUntil(lambda: set(page.model.overview.measured) == {1})


def moved_to_the_trash(qtbot, session, run_id):
    session.trash_run(run_id)
    qtbot.waitUntil(lambda: [run.id for run in session.trashed_runs()] == [run_id] and run_id not in session.ticks.runs)


def listed(qtbot, session, count):
    """Wait until so many runs are listed and all who listen were told, the ticks among them: that is a later turn."""
    qtbot.waitUntil(lambda: len(session.runs()) == count)
    session.follower.look()


@pytest.mark.parametrize(("ticked", "after"), [([1, 2], {1, 2}), ([1], {1})])
def test_a_run_that_comes_back_from_the_trash_is_ticked_as_before(qtbot, session, workspace, ticked, after):
    two_groups(workspace, 1)
    page = qtbot.addWidget(QWidget())
    actions = RunActions(session, Commands(session.preferences, page), page)
    qtbot.waitUntil(lambda: len(session.runs()) == 2)
    session.ticks.choose(ticked)
    moved_to_the_trash(qtbot, session, 2)
    actions.undo_stack.undo()
    listed(qtbot, session, 2)
    assert session.ticks.runs == after
    actions.undo_stack.redo()
    listed(qtbot, session, 1)
    assert session.ticks.runs == {1}
    actions.undo_stack.undo()
    listed(qtbot, session, 2)
    assert session.ticks.runs == after


def test_a_run_comes_back_without_its_tick_where_all_were_unticked(qtbot, session, workspace):
    two_groups(workspace, 1)
    qtbot.waitUntil(lambda: len(session.runs()) == 2)
    session.ticks.choose([1, 2])
    moved_to_the_trash(qtbot, session, 2)
    session.ticks.choose([])
    session.ticks.take_back(2)
    session.ticks.keep_only([1, 2])
    assert session.ticks.runs == set()


def test_a_change_of_a_ticked_run_is_seen_and_ticks_stay(qtbot, session, workspace):
    two_groups(workspace, 1)
    page = shown(qtbot, session)
    tick(qtbot, page, 1)
    before = page.model.overview
    workspace.rename(1, "Other")
    qtbot.waitUntil(lambda: page.model.overview is not before)
    assert session.ticks.runs == {1}


def test_compare_in_the_runs_list_ticks_the_group(qtbot, session, workspace):
    two_groups(workspace, 2)
    session.theme.apply()
    window = qtbot.shown(MainWindow(session))
    assert window.commands["run.compare"] in window.run_actions.of_list
    assert not window.commands["run.compare"].isEnabled()
    session.show_run(3)
    window.commands["run.compare"].trigger()
    page = window.pages.page("compare")
    assert window.pages.currentWidget() is page
    qtbot.waitUntil(lambda: session.ticks.runs == {1, 3})
    window.runs.list.setFocus()
    window.commands["edit.undo"].trigger()
    assert session.ticks.runs == frozenset(), "ticks can be taken back"
    window.commands["edit.redo"].trigger()
    assert session.ticks.runs == {1, 3}
    qtbot.waitUntil(lambda: page.model.overview is not None)


def test_a_panel_is_made_when_its_tab_is_opened_and_shows_what_came_before(qtbot, session, workspace):
    two_groups(workspace, 2)
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2, 3, 4)
    compared(qtbot, page)
    opened = {"Difference": DifferencePanel, "Queries": QueryDifferences, "Cost": CostPanel}
    for title, kind in opened.items():
        assert not page.findChildren(kind)
        page.tabs.open(title)
        assert len(page.findChildren(kind)) == 1
    assert "Not enough seeds (n = 2)" in page.findChild(DifferencePanel).verdict.text()
    assert page.findChild(QueryDifferences).model.rowCount() > 0
    assert page.findChild(CostPanel).seconds.plot.accessibleDescription()


def test_tab_goes_from_the_tabs_into_a_panel_that_was_made_when_it_was_opened(qtbot, session, workspace):
    two_groups(workspace, 1)
    window = qtbot.addWidget(MainWindow(session))
    window.resize(1600, 900)  # wide enough for all tabs
    with qtbot.waitExposed(window):
        window.show()
    session.ticks.choose([1, 2])
    session.show_page("compare")
    page = window.pages.page("compare")
    compared(qtbot, page)
    page.tabs.open("Cost")
    qtbot.settle(window)
    page.tabs.tabBar().setFocus()
    qtbot.keyClick(page.tabs.tabBar(), Qt.Key.Key_Tab)
    assert page.tabs.cost.isAncestorOf(QApplication.focusWidget())


def test_what_is_ticked_before_the_group_is_known_stays_ticked(qtbot, session, workspace, monkeypatch):
    two_groups(workspace, 2)
    window, goes_on = QWidget(), Event()
    qtbot.addWidget(window)
    actions = RunActions(session, Commands(session.preferences, window), window)

    def slow(run_id, runs, known):
        assert goes_on.wait(HANG)
        return runs

    monkeypatch.setattr(groups, "group_of", slow)
    session.show_run(3)
    actions.compare.trigger()
    session.ticks.choose([2])
    goes_on.set()
    qtbot.waitUntil(lambda: not session.reading)
    assert session.ticks.runs == {2}


@pytest.mark.parametrize("chosen", ["light", "dark"])
def test_the_theme_changes_what_is_drawn(qtbot, session, workspace, chosen):
    two_groups(workspace, 3)
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2)
    compared(qtbot, page)
    session.theme.choose(chosen)
    wanted = theme.DARK if chosen == "dark" else theme.LIGHT
    drawn = page.tabs.difference.plot.plot
    qtbot.waitUntil(lambda: drawn.backgroundBrush().color().name().upper() == wanted.plot_background)


def test_two_hundred_runs_are_grouped_and_looked_at(qtbot, session, workspace):
    for number in range(200):
        training = TrainingParams(lr=0.001 * (1 + number // 2))
        workspace.create_run(RunConfig(name="Sweep", seed=number % 2, training=training))
    page = shown(qtbot, session)
    tick(qtbot, page, *range(1, 201))
    qtbot.waitUntil(lambda: page.groups.table.rowCount() == 100)  # drawn in several turns
    page.tabs.setCurrentWidget(page.tabs.curves)
    qtbot.waitUntil(lambda: "The first 12 of 100 groups are drawn" in page.tabs.curves.seeds.note.text())


def test_cost_tells_what_is_known(qtbot, session, workspace):
    two_groups(workspace, 1)
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2)
    page.tabs.open("Cost")
    assert page.tabs.cost.memory.plot.accessibleName() == "Memory: not known"
    with workspace.writing() as db:
        db.execute("update runs set memory_bytes = ?, seconds = 3.0", (1_024_000_000,))
    qtbot.waitUntil(lambda: session.runs()[0].memory_bytes == 1_024_000_000)
    page.read()
    qtbot.waitUntil(lambda: "(1,024, " in page.tabs.cost.memory.plot.accessibleDescription())
    assert page.tabs.cost.memory.plot.accessibleName() == "Memory against quality"
    assert page.tabs.cost.memory.plot.getAxis("left").labelText == "MAP@R % ↑"


def test_groups_are_named_without_what_all_have_in_common(qtbot, session, workspace):
    for name in ("Sample: Digits: loss Cross-entropy (CE)", "Sample: Digits: loss Normalised CE"):
        store(workspace, {1: np.full(6, 0.5)}, name=name, training=OTHER if "Norm" in name else TrainingParams())
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2)
    compared(qtbot, page)
    short = ["loss Cross-entropy (CE)", "loss Normalised CE"]
    box, other = page.head.baseline_box, page.tabs.difference.other
    assert [box.itemText(row) for row in (0, 1)] == [other.itemText(row) for row in (0, 1)] == short
    assert box.toolTip() == "Sample: Digits: loss Cross-entropy (CE)"
    assert other.toolTip() == "Sample: Digits: loss Normalised CE"
    page.tabs.setCurrentWidget(page.tabs.curves)
    qtbot.waitUntil(lambda: len(page.tabs.curves.seeds.plot.series) == 2)
    assert [series.title for series in page.tabs.curves.seeds.plot.series] == short
    page.tabs.open("Settings")
    head = page.tabs.settings.model
    assert [head.headerData(section, Qt.Orientation.Horizontal) for section in (1, 2)] == short
    box.setCurrentIndex(1)
    box.activated.emit(1)
    assert page.model.baseline.title == "Sample: Digits: loss Normalised CE"


def test_intervals_get_what_titles_and_their_chip_leave(qtbot, session, workspace):
    for name in ("Cross-entropy (CE)", "Normalised CE"):
        store(workspace, {1: np.full(6, 0.5)}, name=name, training=OTHER if "Norm" in name else TrainingParams())
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2)
    view, interval = page.groups, [column.kind for column in page.groups.table.columns].index(Kind.INTERVAL)
    page.resize(1100, 700)
    qtbot.waitUntil(lambda: view.viewport().width() > 1000)
    assert view.columnWidth(0) >= view.sizeHintForColumn(0) + theme.text_px(TITLE_BESIDE) - 1
    before = view.columnWidth(interval)
    page.resize(1900, 700)
    qtbot.waitUntil(lambda: view.columnWidth(interval) > before)
    assert view.columnWidth(0) >= view.sizeHintForColumn(0) + theme.text_px(TITLE_BESIDE) - 1


def test_a_tab_is_as_high_as_the_page_leaves_and_not_as_the_highest_tab_asks_for(qtbot, session, workspace):
    """In 1280 x 720 the page scrolled below its curves, and changed its height with the tab."""
    two_groups(workspace, 3)
    page = shown(qtbot, session)
    tick(qtbot, page, 1, 2)
    qtbot.waitUntil(lambda: page.model.comparison is not None)
    page.resize(1019, 470)
    for tab in range(page.tabs.count()):
        page.tabs.setCurrentIndex(tab)
        qtbot.deliver()
        assert page.result.widget().height() == page.result.viewport().height(), page.tabs.tabText(tab)


def test_a_table_that_is_not_laid_out_yet_can_be_told_to_show_more(qtbot):
    holder = qtbot.addWidget(QWidget())
    view = GroupView(holder)
    view.show_more(True)
    view.show_more(False)
    view.fit()
    assert view.height() > 0


def test_long_titles_lose_their_middle():
    assert short_title("Short") == "Short"
    told = short_title("A sweep over many learning rates (lr 0.001)")
    assert len(told) <= 30
    assert told.startswith("A sweep")
    assert told.endswith("(lr 0.001)")


def test_a_sweep_is_named_by_its_settings_also_beside_the_run_that_it_varies():
    settings = ["learning rate 1×10⁻⁸, loss Cross-entropy (CE)", "learning rate 0.5, loss Cross-entropy (CE)"]
    titles = ["Sample: Digits", *(f"Sample: Digits: {words}" for words in settings)]
    assert unlike_parts(titles) == ["Sample: Digits", *settings]
    assert legend_titles(titles) == ["Sample: Digits", *settings], "shortened they would be the same"
    assert unlike_parts([*titles, "Another"]) == [*titles, "Another"]
    assert unlike_parts(["Sample: Digits", "Sample: Letters"]) == ["Digits", "Letters"]
    assert unlike_parts(titles[:1]) == titles[:1]


def test_groups_of_one_name_are_called_by_what_they_differ_in(qtbot, workspace):
    for lr in (0.1, 0.2):
        store(workspace, {1: np.full(6, lr)}, name="Digits", training=TrainingParams(lr=lr))
    try:
        compared = overview(workspace, workspace.runs(), {}, "MAP@R", "best")
        table = GroupTable()
        table.show(against_baseline(compared, compared.groups[0], ["MAP@R"]), {})
        assert [row[0] for row in cells(table)] == ["learning rate 0.1", "learning rate 0.2"]
        assert table.index(1, 0).data(Qt.ItemDataRole.AccessibleTextRole) == "Digits: learning rate 0.2"
        assert table.lines()[2].startswith("Digits: learning rate 0.2\t"), "copies have whole titles"
        assert table.lines()[0].split("\t")[2] == "MAP@R % ↑, mean ± half of the 95% interval over seeds"
    finally:
        workspace.close()


def test_looks_are_stable_and_never_the_same():
    found = styles(list(range(24)))
    assert len({(each.colour, each.pen) for each in found}) == 24
    assert [each.colour for each in styles([5, 5])] == [found[5].colour, found[0].colour], "one that nobody has"
    assert len({each.colour for each in styles([0, 3, 6, 9, 12])}) == 5, "groups of three seeds"
    assert [each.colour for each in styles([0, 6, 1])][::2] == [found[0].colour, found[1].colour], "each its own first"
    assert len({(style.colour, style.pen) for style in styles([3] * 24)}) == 24
    twelve = styles([0, 3] * 6)  # of three seeds each: every third run's colour
    assert sorted(Counter(style.colour for style in twelve).values()) == [2] * 6
    assert len({(style.colour, style.pen) for style in twelve}) == 12, "legends and tables show the stroke alone"
    assert len(set(styles([0] * 144))) == 144, "then symbols differ"
    assert styles([0] * 150)[-1] in styles([0] * 144), "then all are used"
    assert styles([7])[0] == found[7]


def test_groups_keep_the_colour_of_their_oldest_run(workspace):
    two_groups(workspace, 2)
    try:
        assert [group.colour for group in grouped(workspace.runs(), {})] == [0, 1]
    finally:
        workspace.close()


def test_the_ticked_runs_are_offered_for_a_report(qtbot, session, workspace):
    two_groups(workspace, 1)
    page, offered, asked = shown(qtbot, session), [], []
    session.report_offered.connect(offered.append)
    session.page_asked.connect(asked.append)
    assert not page.report_action.isEnabled()
    tick(qtbot, page, 2)
    page.head.at_box.setCurrentIndex(page.head.at_box.findData("last"))
    page.head.at_box.activated.emit(1)
    qtbot.waitUntil(lambda: page.model.overview.at == "last")
    page.head.report_button.click()
    assert offered == [ReportOffer((2,), "MAP@R", "last")]
    assert (asked, session.run_id) == (["report"], 2)


def test_the_runs_of_the_baseline_are_offered_first_for_a_report(qtbot, session, workspace):
    two_groups(workspace, 2)
    page, offered = shown(qtbot, session), []
    session.report_offered.connect(offered.append)
    tick(qtbot, page, 1, 2, 3, 4)
    page.model.choose_baseline(page.model.overview.groups[1].title)
    page.head.report_button.click()
    assert offered[0].runs == (2, 4, 1, 3)


def test_two_seeds_are_added_to_each_after_one_question(qtbot, counting_session, workspace):
    session = counting_session
    two_groups(workspace, 1)
    page = shown(qtbot, session)
    assert not page.head.seeds_button.isEnabled()
    assert page.head.seeds_button.toolTip() == NO_TICKS
    tick(qtbot, page, 1, 2)
    assert page.head.seeds_button.isEnabled()
    page.head.seeds_button.click()
    qtbot.waitUntil(lambda: page.more_seeds.question is not None)
    question = page.more_seeds.question
    assert "“Plain”: seeds 1 and 2" in question.words.text()
    question.answers["add"].click()
    qtbot.waitUntil(lambda: len(session.ticks.runs) == 6)
    assert [run.seed for run in session.runs() if run.id > 2] == [2, 1, 2, 1]
    assert len(session.queue.running) + len(session.queue.waiting) == 4
    assert page.more_seeds.action.isEnabled()


def test_a_run_that_another_program_trained_gets_no_more_seeds(qtbot, session, workspace):
    with record_run(workspace, "Mine", ["a", "a", "b", "b"], epochs=1) as run:
        run.evaluate(1, np.eye(4))
    page = shown(qtbot, session)
    tick(qtbot, page, 1)
    assert not page.head.seeds_button.isEnabled()
    assert page.head.seeds_button.toolTip() == NONE_HERE


def test_two_quick_clicks_ask_once_and_the_next_click_knows_what_was_queued(qtbot, counting_session, workspace):
    session = counting_session
    two_groups(workspace, 1)
    page = shown(qtbot, session)
    tick(qtbot, page, 1)
    page.head.seeds_button.click()
    page.head.seeds_button.click()
    qtbot.waitUntil(lambda: page.more_seeds.question is not None)
    qtbot.deliver()
    (question,) = [shown for shown in page.window().findChildren(Question) if shown.isVisible()]
    queued = []
    page.more_seeds.queued.connect(queued.append)
    question.answers["add"].click()
    qtbot.waitUntil(lambda: len(queued) == 1)
    page.more_seeds.action.trigger()  # before the list of runs has them
    qtbot.waitUntil(lambda: page.more_seeds.question is not question)
    assert "“Plain”: seeds 3 and 4" in page.more_seeds.question.words.text()
    page.more_seeds.question.answers["add"].click()
    qtbot.waitUntil(lambda: len(queued) == 2)
    assert sorted(run.seed for run in workspace.runs() if run.id != 2) == [0, 1, 2, 3, 4]


def test_no_seed_is_added_where_the_answer_is_none(qtbot, counting_session, workspace):
    two_groups(workspace, 1)
    page = shown(qtbot, counting_session)
    tick(qtbot, page, 1)
    page.more_seeds.action.trigger()
    qtbot.waitUntil(lambda: page.more_seeds.question is not None)
    page.more_seeds.question.answers["none"].click()
    qtbot.deliver()
    assert len(workspace.runs()) == 2
    assert not counting_session.busy
    answered = page.more_seeds.question
    page.more_seeds.action.trigger()
    qtbot.waitUntil(lambda: page.more_seeds.question is not answered)


def test_an_answer_about_the_groups_before_never_comes_between_the_steps_of_drawing(
    qtbot, session, workspace, monkeypatch
):
    two_groups(workspace, 1)
    page = shown(qtbot, session)
    release, real, threads = Event(), reading.compare, []

    def held(*args, **kwargs):
        threads.append(current_thread())
        release.wait(HANG)
        return real(*args, **kwargs)

    try:
        monkeypatch.setattr(reading, "compare", held)
        tick(qtbot, page, 1, 2)
        qtbot.waitUntil(lambda: bool(threads))
        monkeypatch.setattr("workbench.ui.pages.compare.page.MANY", 0)  # steps in turns, as while a run trains
        between = []

        def let_it_come():
            before = threads[0]
            release.set()
            qtbot.waitUntil(lambda: not before.is_alive())
            qtbot.deliver()
            between.append(page.model.comparison)

        monkeypatch.setattr(page.head, "refresh", let_it_come)
        page.head.baseline_chosen.emit()
        qtbot.waitUntil(lambda: bool(between))
        assert between == [None]
        assert compared(qtbot, page) is not None
    finally:
        release.set()


def test_fair_comparisons_are_read_until_their_sweeps_have_ended(qtbot, session, workspace, monkeypatch):
    store(workspace, {1: np.linspace(0, 1, COUNT)}, name="Only")
    states, asked = ["active"], []

    def read(*_args):
        asked.append(states[-1])
        return FairComparisons(sweeps=((1, states[-1]),))

    qtbot.waitUntil(lambda: len(session.runs()) == 1 and bool(session.runs()[0].best))
    monkeypatch.setattr("workbench.ui.pages.compare.page.read_comparisons", read)
    page = shown(qtbot, session)
    qtbot.waitUntil(lambda: "active" in asked)
    page.session.runs_changed.emit()
    qtbot.deliver()
    states.append("done")  # no run has changed

    def noticed():
        session.runs_changed.emit()
        return asked[-1] == "done"

    qtbot.waitUntil(noticed)
    qtbot.deliver()
    count = len(asked)
    session.runs_changed.emit()
    qtbot.deliver()
    assert len(asked) == count, "nothing is under way"
