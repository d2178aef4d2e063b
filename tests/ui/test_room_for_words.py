"""Words that stood on each other, were cut or said one thing in two ways: axes, tables, tabs, rows and cards."""

from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPixmap
from PySide6.QtWidgets import QLabel, QTabWidget

from workbench.ui.docks.activity import ActivityDock
from workbench.ui.docks.arrange_menu import ArrangeButton
from workbench.ui.docks.run_row import BAR, BAR_LEAST, PAD, bar_beside, fitted
from workbench.ui.pages.compare.difference.forest_plot import difference_words, round_differences
from workbench.ui.pages.compare.style.word_table import WIDEST, WordTable, fit_columns, table_view
from workbench.ui.pages.retrieval.deployment.plots import LEFT, Point, TradePlot, axis_title
from workbench.ui.pages.retrieval.deployment.threshold import CLASS_ROWS, CLASS_TITLES, ThresholdSide
from workbench.ui.pages.train.geometry.lines_plot import Line, LinesPlot
from workbench.ui.state.background.activity import Activity
from workbench.ui.style import theme
from workbench.ui.style.words import THIN, device_name, duration
from workbench.ui.widgets.tables.row_table import head_width

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", "does not support")


@pytest.mark.parametrize("width", [40, 60, 90, 105, 160, 400])
@pytest.mark.parametrize(("low", "high"), [(-0.19, 0.01), (-1.9, 0.1), (-0.02, 0.3), (-12.0, 7.0), (-1234.0, 5.0)])
def test_numbers_below_a_forest_keep_their_distance(qapp, low, high, width):
    letters = QFontMetrics(theme.caption_font(QFont()))
    ticks = round_differences(low, high, width, letters)
    assert 0 in ticks
    assert len(ticks) > 1
    ends = [
        ((tick - low) / (high - low) * width, letters.horizontalAdvance(difference_words(tick)) / 2) for tick in ticks
    ]
    apart = [second - first - one - other for (first, one), (second, other) in pairwise(ends)]
    assert min(apart) >= 4 or len(ticks) == 2, "two numbers may meet only where there is no room for fewer"


class Listening(QPainter):
    """Keeps where text is drawn."""

    def __init__(self, sheet: QPixmap) -> None:
        super().__init__(sheet)
        self.sheet = sheet  # lives as long as its painter
        self.said: list[tuple[str, QRectF]] = []

    def drawText(self, *where: object) -> None:  # noqa: N802
        if isinstance(where[0], QRectF):
            self.said.append((str(where[-1]), where[0]))


def texts(plot, width=240, height=170):
    """What a painted plot writes, with the rectangles."""
    painter = Listening(QPixmap(width, height))
    plot.paint(painter, QRectF(0, 0, width, height), theme.LIGHT)
    painter.end()
    return painter.said


def test_the_words_of_a_first_point_stand_above_the_numbers_of_the_axis(qtbot):
    plot = qtbot.addWidget(LinesPlot("Uniformity", "uniformity", "alignment ↓"))
    plot.show_lines([Line("epochs", np.array([0.0, -3.0]), np.array([0.1, 0.5]), "#D55E00", first="untrained")])
    said = texts(plot)
    beside = next(place for words, place in said if words == "untrained")
    numbers = [place.top() for words, place in said if words.lstrip("−").replace(".", "").isdigit()]
    assert beside.bottom() <= max(numbers)


def test_a_logarithmic_axis_has_numbers_and_powers(qtbot):
    plot = qtbot.addWidget(LinesPlot("Spectrum", "singular value", "relative", log=True))
    plot.show_lines([Line("7", np.arange(1.0, 4.0), np.array([1.0, 0.1, 0.0005]), "#D55E00")])
    said = [words for words, _ in texts(plot)]
    assert {"1", "0.1", "10⁻³"} <= set(said)


def test_titles_of_stores_stand_beside_the_numbers_of_the_axis(qtbot):
    plot = qtbot.addWidget(TradePlot("Quality by size", "bytes per image"))
    plot.show_points([Point(f"pq{n}", f"PQ {n}", 10.0, 90.0 + n / 10, 90.0, 91.0) for n in range(6)])
    area = QRectF(0, 0, 160, 150)
    places = plot.titles(QFontMetrics(theme.caption_font(QFont())), area)
    assert places
    assert min(place.left() for place in places.values()) >= LEFT - 6
    assert max(place.bottom() for place in places.values()) <= area.bottom() - 30


def test_the_unit_of_an_axis_is_whole_where_its_plot_is_narrow(qapp):
    letters = QFontMetrics(theme.caption_font(QFont()))
    unit = "ms per query, 1 thread"
    assert axis_title(unit, letters, 400) == "ms per query, 1 thread, log"
    assert axis_title(unit, letters, letters.horizontalAdvance(unit)) == "ms per query, log"


@pytest.mark.parametrize("percent", [100, 150])
def test_the_table_of_thresholds_has_whole_heads_and_rows_in_sight(session, qtbot, percent):
    session.theme.set_text_size(percent)
    side = qtbot.addWidget(ThresholdSide())
    side.resize(session.theme.side(300) - 14, 420)  # beside the scroll bar
    with qtbot.waitExposed(side):
        side.show()
    header = side.class_table.horizontalHeader()
    for column in range(1, len(CLASS_TITLES)):
        assert header.sectionSize(column) >= head_width(header, column)
    assert side.class_table.height() >= (CLASS_ROWS - 1) * theme.text_px(24)
    assert all(fact.width() >= fact.minimumSizeHint().width() for fact in side.facts.values())
    assert not any("limit" in title.lower() for title in (*CLASS_TITLES, *side.facts))
    session.theme.set_text_size(100)


def test_the_tabs_beside_the_map_are_whole_with_large_text(large, qtbot, shown_map):
    page = shown_map("pca")
    tabs = page.findChild(QTabWidget)
    bar = tabs.tabBar()
    assert not tabs.usesScrollButtons()
    last = bar.tabRect(bar.count() - 1)
    assert last.right() < tabs.width()
    for at in range(bar.count()):
        assert bar.tabRect(at).width() >= bar.fontMetrics().horizontalAdvance(bar.tabText(at)) + 2 * 8


def test_a_group_of_runs_shortens_its_loss_and_keeps_its_count(qapp):
    letters = QFontMetrics(theme.caption_font(QFont()))
    words = "Multi-similarity (MS) · 2 runs"
    narrow = letters.horizontalAdvance(words) - 20
    assert fitted(words, letters, narrow + 20, keep_last=True) == words
    short = fitted(words, letters, narrow, keep_last=True)
    assert short.endswith("… · 2 runs")
    assert letters.horizontalAdvance(short) <= narrow
    assert fitted("Done · photos · 24 s", letters, 60, keep_last=False).startswith("Done")
    took = f"Done · photos · {duration(176)}"
    assert fitted(took, letters, letters.horizontalAdvance(took) + 4, keep_last=False) == took
    assert fitted(took, letters, letters.horizontalAdvance(took) - 1, keep_last=False) == f"Done · photos · 2{THIN}min"


def test_the_epoch_of_a_run_is_written_in_full_and_its_bar_takes_the_rest(qapp):
    letters, words = QFontMetrics(theme.caption_font(QFont())), "Epoch 11 / 150 · photos"
    state = letters.horizontalAdvance("Epoch 11 / 150")
    assert bar_beside(words, letters, state + PAD + 200) == BAR
    bar = bar_beside(words, letters, state + PAD + 30)
    assert bar == 30
    assert fitted(words, letters, state, keep_last=False) == "Epoch 11 / 150"
    assert bar_beside(words, letters, state + PAD + BAR_LEAST - 1) == 0


def test_a_job_with_a_long_title_keeps_its_count(qtbot):
    dock = qtbot.addWidget(ActivityDock(Activity()))
    dock.line.text.setText("A run with a long name that has no room: Evaluating, 88%, 364 / 4,200")
    dock.line.text.resize(200, 20)
    assert dock.line.text.written()[-1].endswith("364 / 4,200")


@pytest.mark.parametrize(("device", "name"), [("cpu", "CPU"), ("mps", "MPS"), ("cuda:1", "cuda:1"), ("H200", "H200")])
def test_devices_are_called_alike(device, name):
    assert device_name(device) == name


def test_a_count_is_set_off_from_the_words_before_it(qtbot):
    activity = Activity()
    dock = qtbot.addWidget(ActivityDock(activity))
    item = activity.add("Deployment")
    item.progress(11, 12, "IVF-PQ 16")
    qtbot.waitUntil(lambda: dock.line.text.text() == "Deployment: IVF-PQ 16, 11 / 12")


def test_a_table_of_words_shares_its_width_and_begins_every_column_at_the_left(session, qtbot):
    model = WordTable(only_words=True)
    table = qtbot.addWidget(table_view(model, "Settings that differ"))
    table.resize(900, 200)
    model.show(["Setting", "Digits", "Other"], [["Loss", "Cross-entropy (CE)", "Multi-similarity (MS)"]])
    with qtbot.waitExposed(table):
        table.show()
    fit_columns(table)
    widths = [table.columnWidth(column) for column in range(3)]
    assert max(widths) - min(widths) <= 2
    sides = {model.index(0, column).data(Qt.ItemDataRole.TextAlignmentRole) for column in range(3)}
    assert sides == {int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)}


def test_long_names_in_a_table_of_words_have_the_room_that_its_values_leave(session, qtbot):
    model = WordTable(only_words=True)
    table = qtbot.addWidget(table_view(model, "Settings that differ"))
    table.resize(900, 200)
    names = [f"margin 0.2, scale {scale}, proxy learning rate 1" for scale in (32, 64)]
    model.show(["Group", "Margin", "Scale", "Rate"], [[name, "0.2", "64", "1"] for name in names])
    with qtbot.waitExposed(table):
        table.show()
    fit_columns(table)
    assert table.columnWidth(0) >= table.sizeHintForColumn(0)
    assert sum(table.columnWidth(column) for column in range(4)) == table.viewport().width()


def test_the_parts_of_the_menu_of_runs_have_titles_that_are_seen(session, qtbot):
    button = qtbot.addWidget(ArrangeButton(session.preferences))
    menu = button.menu()
    menu.popup(button.pos())
    qtbot.waitUntil(menu.isVisible)
    seen = [title.text() for title in menu.findChildren(QLabel) if title.isVisible()]
    menu.close()
    assert seen == ["Sort by", "Group by", "Show", "Columns"]


def test_columns_have_room_for_their_words_also_where_few_were_stretched_before(session, qtbot):
    model = WordTable(only_words=True)
    table = qtbot.shown(table_view(model, "Settings that differ"), 700, 200)
    model.show(["Setting", "one", "two"], [["Loss", "CE", "SPCE"]])
    fit_columns(table)
    assert table.columnWidth(2) > 2 * table.sizeHintForColumn(2), "it is stretched"
    model.show(
        ["Group", *(f"setting {number}" for number in range(20))], [["a run", *["a long value of it " * 6] * 20]]
    )
    fit_columns(table)
    assert all(table.columnWidth(column) == theme.text_px(WIDEST) for column in range(1, 21))
