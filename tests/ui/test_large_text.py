"""Text at 150%: buttons and boxes have the room that their words need in a window of 1280 x 720."""

from itertools import pairwise
from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QTableView,
    QToolButton,
    QWidget,
)

from tests.ui.browsed import at_rest, open_page
from tests.ui.trained import trained_run
from workbench.ui.pages.compare.cost.panel import CostPanel
from workbench.ui.pages.compare.groups.head import Head
from workbench.ui.pages.compare.model.compare_model import CompareModel
from workbench.ui.pages.compare.page import ComparePage
from workbench.ui.pages.map.epochs.time_bar import EVERY, TimeBar
from workbench.ui.pages.map.making.progress_strip import ProgressStrip
from workbench.ui.pages.map.model.timeline import Timeline
from workbench.ui.pages.map.side.look import LookControls
from workbench.ui.pages.map.side.side_column import SideColumn
from workbench.ui.pages.report import ReportPage
from workbench.ui.pages.retrieval.triage.answer_button import AnswerButton
from workbench.ui.pages.retrieval.triage.columns import TriageColumns
from workbench.ui.pages.setup.preflight.card import PreflightCard
from workbench.ui.pages.train.anatomy.panel import AnatomyPanel
from workbench.ui.pages.train.curves.curves import Curves
from workbench.ui.pages.train.curves.evaluation_table import EvaluationTable
from workbench.ui.pages.train.page import TrainPage
from workbench.ui.plots.canvas import LEAST_PX
from workbench.ui.preferences import Preferences
from workbench.ui.state.pages.page_info import PAGES
from workbench.ui.style.icons import icon
from workbench.ui.widgets.flow import EvenFlow
from workbench.ui.widgets.numbers.tile import Tile
from workbench.ui.widgets.tables.row_table import head_width, set_row_height
from workbench.ui.window.frame.rail import Rail
from workbench.ui.window.frame.welcome import Welcome

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
PAGE = (890, 560)  # px that a page has beside the run list
SMALLEST_PAGE = (584, 480)  # the same in the smallest window


def cut(widget: QWidget) -> list[str]:
    """Buttons and boxes that are narrower than they ask for."""
    parts = [part for kind in (QAbstractButton, QComboBox) for part in widget.findChildren(kind)]
    return [
        part.accessibleName() or part.objectName() or type(part).__name__
        for part in parts
        if part.isVisible() and part.width() < part.minimumSizeHint().width()
    ]


def test_rows_of_a_table_are_higher_with_larger_text(session, qtbot):
    table = qtbot.addWidget(QTableView())
    set_row_height(table, 24)
    heights = []
    for percent in (100, 150, 100):
        session.theme.set_text_size(percent)
        heights.append(table.verticalHeader().defaultSectionSize())
    assert heights == [24, 36, 24]


def test_what_stands_beside_the_boxes_of_the_legend_is_whole_or_in_their_tooltips(large, qtbot):
    look = qtbot.addWidget(LookControls())
    shown = set()
    for width in (600, 260):
        look.setFixedWidth(width)
        with qtbot.waitExposed(look):
            look.show()
        notes = [note for note in look.findChildren(QLabel) if note.text() in ("beside clusters", "when zoomed in")]
        assert [note.width() >= note.sizeHint().width() for note in notes if note.isVisible()] in ([True, True], [])
        shown.add(notes[0].isVisible())
    assert shown == {True, False}
    assert look.pictures.toolTip() == "Thumbnails when zoomed in"


def test_search_with_an_image_is_whole(large, qtbot, workspace, tmp_path):
    run_id = trained_run(workspace, tmp_path / "cache")
    page = open_page(qtbot, large, PAGE)
    large.show_run(run_id)
    at_rest(qtbot, page)
    assert page.own.isVisible()
    assert page.own.width() >= page.own.sizeHint().width()
    assert page.by_words.width() >= page.by_words.sizeHint().width()


def test_the_choices_of_compare_are_whole(large, qtbot):
    head = qtbot.addWidget(Head(CompareModel(), []))
    head.metric_box.addItem("Precision at 1 of the test set")
    head.resize(500, 200)
    with qtbot.waitExposed(head):
        head.show()
    assert cut(head) == []


def test_the_third_column_of_label_triage_goes_below_where_it_has_no_room(large, qtbot):
    columns = TriageColumns(large.theme)
    words, centre, beside = QWidget(), columns.centre, columns.beside
    words.setMinimumWidth(350)
    columns.show_parts(QWidget(centre), words)
    qtbot.shown(columns, *PAGE)
    assert beside.isVisible()
    assert not columns.side.isVisible()
    assert beside.mapTo(columns, beside.rect().topLeft()).x() == centre.mapTo(columns, centre.rect().topLeft()).x()
    columns.resize(1500, 560)
    qtbot.waitUntil(columns.side.isVisible)
    assert beside.isVisible()
    assert beside.mapTo(columns, beside.rect().topLeft()).x() > centre.mapTo(columns, centre.rect().topLeft()).x()
    columns.resize(1700, 560)
    qtbot.waitUntil(lambda: columns.side.viewport().width() >= beside.width() >= 350)


def test_the_answers_of_label_triage_are_whole_beside_the_list(large, qtbot):
    columns = TriageColumns(large.theme)
    answers, flow = QWidget(), EvenFlow()
    buttons = [AnswerButton(key, "Relabel to 5", "as suspected") for key in "KRDU"]
    buttons[1].need_room("Relabel to 5")
    for button in buttons:
        flow.addWidget(button)
    answers.setLayout(flow)
    columns.show_parts(answers, QWidget(columns.beside))
    qtbot.addWidget(columns)
    columns.resize(*PAGE)
    with qtbot.waitExposed(columns):
        columns.show()
    qtbot.waitUntil(lambda: buttons[1].width() >= buttons[1].sizeHint().width())
    assert buttons[1].y() == buttons[0].y(), "two in a line"


@pytest.mark.parametrize("kind", [Curves, AnatomyPanel], ids=["curves", "anatomy"])
def test_plots_scroll_where_they_have_no_room(large, qtbot, kind):
    panel = qtbot.shown(kind(Preferences()), 700, 180)
    qtbot.settle(panel)
    assert min(plot.canvas.height() for plot in panel.plots) >= LEAST_PX
    rows = [plot.geometry() for plot in panel.plots]
    assert rows[0].bottom() < rows[2].top()
    assert panel.verticalScrollBar().maximum() > 0
    panel.resize(700, 800)
    qtbot.waitUntil(lambda: panel.verticalScrollBar().maximum() == 0)


@pytest.mark.parametrize(("width", "scrolls"), [(560, True), (1060, False)])
def test_the_heads_of_the_table_of_evaluations_are_whole(large, qtbot, workspace, tmp_path, width, scrolls):
    run_id = trained_run(workspace, tmp_path / "cache")
    part = qtbot.addWidget(EvaluationTable(large.preferences, {}.get))
    part.resize(width, 300)
    part.show_evaluations(workspace.evaluations(run_id), 3)
    part.unfold.click()
    with qtbot.waitExposed(part):
        part.show()
    header = part.table.horizontalHeader()
    assert header.textElideMode() is Qt.TextElideMode.ElideNone
    assert all(header.sectionSize(column) >= head_width(header, column) for column in range(header.count()))
    assert (part.table.horizontalScrollBar().maximum() > 0) is scrolls
    assert header.length() >= part.table.viewport().width(), "the columns fill the table"


def test_the_tiles_of_preflight_stand_side_by_side_only_where_their_numbers_fit(large, qtbot):
    card = qtbot.addWidget(PreflightCard())
    card.time.show_number("2 h 41 min")
    card.speed.show_number("12,345", "img/s")
    for room, below in ((220, True), (600, False)):
        card.setFixedWidth(room)
        card.fit_tiles(room)
        with qtbot.waitExposed(card):
            card.show()
        qtbot.waitUntil(lambda below=below: (card.speed.y() > card.time.y()) is below)
        assert card.minimumSizeHint().width() <= room


@pytest.mark.parametrize(("width", "alone"), [(620, True), (1200, False)])
def test_the_start_cards_are_whole(large, qtbot, width, alone):
    cards = qtbot.addWidget(Welcome())
    cards.set_compact(True)
    cards.resize(width, 200)
    with qtbot.waitExposed(cards):
        cards.show()
    assert cut(cards) == []
    titles = [card.title.isVisible() for card in (cards.sample, cards.images, cards.open)]
    assert titles == 3 * [not alone]
    assert cards.images.button.accessibleName() == "Choose a folder…"


def in_the_smallest_window(qtbot, page):
    """The page, shown as large as it is there."""
    return qtbot.shown(page, *SMALLEST_PAGE)


def test_parts_of_retrieval_do_not_lie_over_each_other_in_the_smallest_window(large, qtbot, workspace, tmp_path):
    run_id = trained_run(workspace, tmp_path / "cache")
    page = open_page(qtbot, large, SMALLEST_PAGE)
    large.show_run(run_id)
    at_rest(qtbot, page)
    qtbot.waitUntil(lambda: page.queries.geometry().right() < page.back.geometry().left())
    for part in (page.queries.table, page.own, page.by_words):
        page.views.widget(0).ensureWidgetVisible(part)
        assert part.visibleRegion().boundingRect().width() == part.width()


def test_parts_of_the_report_do_not_lie_over_each_other_in_the_smallest_window(large, qtbot, workspace, tmp_path):
    run_id = trained_run(workspace, tmp_path / "cache")
    page = in_the_smallest_window(qtbot, ReportPage(large))
    large.show_run(run_id)
    qtbot.waitUntil(lambda: page.ready and bool(page.folder.text()))

    def ends(part):
        left = part.mapTo(page.content, part.rect().topLeft()).x()
        return left, left + part.width()

    sides = [ends(part) for part in (page.choices, page.preview, page.export_button)]
    assert all(before[1] <= after[0] for before, after in pairwise(sides))
    page.currentWidget().ensureWidgetVisible(page.export_button)
    assert page.export_button.visibleRegion().boundingRect().width() == page.export_button.width()


def test_parts_of_compare_do_not_lie_over_each_other_in_the_smallest_window(large, qtbot, workspace, tmp_path):
    run_id = trained_run(workspace, tmp_path / "cache")
    page = in_the_smallest_window(qtbot, ComparePage(large))
    large.ticks.choose([run_id])
    qtbot.waitUntil(page.groups.isVisible)
    page.head.unfold.click()
    qtbot.waitUntil(page.head.seeds_button.isVisible)
    qtbot.waitUntil(lambda: page.groups.geometry().bottom() < page.tabs.geometry().top())
    assert page.head.geometry().bottom() < page.groups.geometry().top()
    assert cut(page.head) == []
    content = page.result.widget()
    for part in (page.head.seeds_button, page.head.report_button, page.tabs):  # once its layout is as high as it asks
        qtbot.waitUntil(lambda part=part: content.rect().contains(part.mapTo(content, part.rect().bottomRight())))
    page.result.ensureWidgetVisible(page.tabs, 0, 0)
    assert page.tabs.visibleRegion().boundingRect().height() == page.tabs.height()


def test_the_charts_of_cost_stand_below_each_other_where_their_titles_have_no_room(large, qtbot):
    panel = qtbot.shown(CostPanel(), *SMALLEST_PAGE)
    for plot in (panel.seconds, panel.memory):
        assert plot.heading.width() >= plot.heading.fontMetrics().horizontalAdvance(plot.heading.text())
    assert panel.memory.y() > panel.seconds.y()
    panel.memory.setFixedWidth(230)
    qtbot.waitUntil(lambda: panel.memory.heading.toolTip() == "Memory against quality")
    panel.resize(*PAGE)
    qtbot.waitUntil(lambda: panel.memory.y() == panel.seconds.y())


def test_what_stands_below_the_legend_is_whole_in_a_low_window(large, qtbot):
    column = qtbot.addWidget(SideColumn(large, SimpleNamespace(panel=QWidget())))
    column.legend.look.show_stars(10)
    column.resize(column.sizeHint().width(), 420)
    with qtbot.waitExposed(column):
        column.show()
    boxes = column.legend.look.findChildren(QCheckBox)
    qtbot.waitUntil(lambda: all(box.height() >= box.sizeHint().height() for box in boxes))
    assert all(box.width() >= box.sizeHint().width() for box in boxes)
    assert column.legend.look.proxies.toolTip() == "★ Class vectors (10)"
    column.tabs.currentWidget().ensureWidgetVisible(column.legend.how, 0, 0)
    assert column.legend.how.visibleRegion().boundingRect().height() == column.legend.how.height()


@pytest.mark.parametrize(("width", "words"), [(240, ""), (600, EVERY)])
def test_the_button_that_maps_every_epoch_is_whole_or_an_icon(large, qtbot, width, words):
    bar = qtbot.addWidget(TimeBar(Timeline()))
    bar.every.show()
    bar.resize(width, bar.sizeHint().height())
    with qtbot.waitExposed(bar):
        bar.show()
    assert (bar.every.text(), bar.every.accessibleName()) == (words, EVERY)
    assert bar.every.toolTip().startswith(EVERY) is (not words)
    assert cut(bar) == []


@pytest.mark.parametrize(("width", "bar"), [(250, False), (600, True)])
def test_the_progress_of_a_map_is_not_wider_than_the_map(large, qtbot, width, bar):
    around = qtbot.addWidget(QWidget())
    strip = ProgressStrip(around)
    around.resize(width, 200)
    with qtbot.waitExposed(around):
        around.show()
    strip.show_progress("UMAP: Loading", 0, 0)
    assert around.rect().contains(strip.geometry())
    assert strip.bar.isVisible() is bar


def test_the_tabs_of_train_are_whole_beside_the_controls_of_geometry(session, qtbot, workspace, tmp_path):
    session.theme.apply()
    run_id = trained_run(workspace, tmp_path / "cache")
    page = qtbot.addWidget(TrainPage(session))
    page.resize(1020, 600)  # in a window of 1280 x 720
    with qtbot.waitExposed(page):
        page.show()
    session.show_run(run_id)
    page.views.setCurrentWidget(page.geometry_panel)
    qtbot.waitUntil(page.geometry_panel.beside.isVisible)
    tabs, corner = page.views.tabBar(), page.views.cornerWidget()
    qtbot.waitUntil(lambda: corner.width() >= corner.sizeHint().width())
    assert page.geometry_panel.images.isVisible()
    page.views.setTabVisible(page.views.indexOf(page.method), True)  # as for losses with class vectors
    assert tabs.width() >= tabs.sizeHint().width()


@pytest.mark.parametrize(("width", "icons"), [(960, False), (1280, True)])
def test_the_evaluation_is_whole_beside_the_names_of_the_pages(large, qtbot, workspace, tmp_path, width, icons):
    large.show_run(trained_run(workspace, tmp_path / "cache"))
    rail = qtbot.shown(Rail(large, [QAction(icon(info.icon), info.title) for info in PAGES]), width, 48)
    qtbot.waitUntil(lambda: rail.evaluation.width() >= rail.evaluation.sizeHint().width())
    buttons = [button for button in rail.findChildren(QToolButton) if button.isVisible()]
    beside = Qt.ToolButtonStyle.ToolButtonTextBesideIcon
    assert [button.toolButtonStyle() is beside for button in buttons] == len(PAGES) * [icons]


def test_the_evaluation_is_in_sight_at_the_widths_where_the_icons_of_the_pages_go(session, qtbot, workspace, tmp_path):
    session.theme.apply()
    session.show_run(trained_run(workspace, tmp_path / "cache"))
    rail = qtbot.shown(Rail(session, [QAction(icon(info.icon), info.title) for info in PAGES]), 780, 48)
    hidden = []
    for width in range(780, 880, 2):
        rail.resize(width, 48)
        QApplication.processEvents()
        hidden += [] if rail.evaluation.isVisible() else [width]
    assert hidden == []


def test_where_the_names_of_the_pages_have_no_room_their_icons_leave_the_evaluation_in_sight(
    large, qtbot, workspace, tmp_path
):
    large.show_run(trained_run(workspace, tmp_path / "cache"))
    rail = qtbot.shown(Rail(large, [QAction(icon(info.icon), info.title) for info in PAGES]), 1280, 48)
    arrow = rail.findChild(QToolButton, "qt_toolbar_ext_button")
    for width in (*range(1280, 660, -20), *range(660, 1280, 20)):
        rail.resize(width, 48)
        QApplication.processEvents()
        assert rail.evaluation.isVisible(), width
        assert not arrow.isVisible(), width
    rail.resize(700, 48)
    buttons = [button for button in rail.findChildren(QToolButton) if button is not arrow]
    assert {button.toolButtonStyle() for button in buttons} == {Qt.ToolButtonStyle.ToolButtonIconOnly}
    assert [button.toolTip() for button in buttons] == [info.title for info in PAGES]


def test_a_number_without_room_ends_in_an_ellipsis(large, qtbot):
    tile = qtbot.addWidget(Tile("Time"))
    tile.show_number("1 min 56 s")
    tile.setFixedSize(90, 100)
    with qtbot.waitExposed(tile):
        tile.show()
    assert tile.number.written()[0].endswith("…")
    assert tile.number.toolTip() == "1 min 56 s"
    tile.setFixedSize(400, 100)
    for number, unit in (("1 min 56 s", ""), ("37.3", "%"), ("0.0978", ""), ("5.52", "img/s"), ("1.1", "GB")):
        tile.show_number(number, unit)
        assert (tile.number.written(), tile.unit.written()) == ([number], [unit])
