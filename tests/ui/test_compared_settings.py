"""The Settings and Neighbours tabs of the Compare page: heat map, parallel coordinates with brushes, movers."""

import csv
import dataclasses
from threading import Event

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QFontMetrics, QGuiApplication, QImage, QMouseEvent, QPainter
from PySide6.QtWidgets import QApplication, QMenu, QToolTip
from small_run import blobs, store_run

from tests.ui.plot_files import write_plot
from tests.ui.test_science_panels import Written, shown
from tests.ui.ticking import compare_page, tick
from tests.unit.comparing.compared_runs import images, store
from tests.waits import HANG
from workbench.comparing.settings_space import MOST_VALUES, Axis, HeatMap, Lines
from workbench.config import Choice, EmbeddingParams, TrainingParams
from workbench.entries import catalog
from workbench.problem import Problem
from workbench.settings.changed import read_config
from workbench.sweeps import starting
from workbench.sweeps.plan import planned
from workbench.sweeps.space import read
from workbench.ui.pages.compare.queries import neighbour_overlap
from workbench.ui.pages.compare.queries.neighbour_overlap import in_sentences
from workbench.ui.pages.compare.settings.heat_map import LINE_PX, HeatMapPlot, fitting
from workbench.ui.pages.compare.settings.panel import NO_OTHER
from workbench.ui.pages.compare.settings.parallel import SIDE_PX, ParallelPlot, legible, shared_out
from workbench.ui.pages.compare.style.group_styles import GroupStyle
from workbench.ui.plots.export import small
from workbench.ui.style import theme
from workbench.ui.sweeps.panel import SweepsPanel
from workbench.ui.widgets.labels import plain_tip

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints|does not support (raise|grabbing)")
RATES, LOSSES = (0.001, 0.01), ("ce", "spce", "triplet")
LABELS = np.repeat(np.arange(4), 10)


@pytest.fixture
def page(qtbot, session):
    return compare_page(qtbot, session, 1000, 700)


def sweep(workspace):
    for place, (rate, loss) in enumerate((rate, loss) for rate in RATES for loss in LOSSES):
        store(
            workspace, {1: np.full(6, 0.1 * (place + 1))}, name="Sweep", training=TrainingParams(lr=rate),
            loss=Choice(name=loss),
        )  # fmt: skip


@pytest.fixture
def settings(qtbot, workspace, page):
    sweep(workspace)
    page.session.runs_changed.emit()
    tick(qtbot, page, *range(1, 7))
    page.tabs.open("Settings")
    qtbot.waitUntil(lambda: len(page.tabs.settings.parallel.lines.runs) == 6)
    return page.tabs.settings


def test_groups_on_other_images_are_not_in_the_heat_map_and_named_below_it(qtbot, workspace, page):
    sweep(workspace)
    store(
        workspace, {1: np.ones(6)}, name="Cars", shown=images(6, "cars"), training=TrainingParams(lr=RATES[0]),
        loss=Choice(name="ce"), embedding=EmbeddingParams(dim=8),
    )  # fmt: skip
    page.session.runs_changed.emit()
    tick(qtbot, page, *range(1, 8))
    page.tabs.open("Settings")
    note = page.tabs.settings.note
    qtbot.waitUntil(lambda: "“Cars”" in note.text())
    assert "Not in the heat map, as they were not tested on the images of “Sweep: " in note.text()
    assert note.isVisibleTo(page.tabs.settings)
    assert "100.00" not in page.tabs.settings.heat.describe()
    page.model.choose_baseline("Cars")
    page.tabs.draw_groups()
    assert "of “Cars”: “Sweep: " in note.text(), "the baseline is what the others are compared with"
    assert "100.00" in page.tabs.settings.heat.describe()


def test_a_setting_that_the_first_decides_is_no_second_setting(qtbot, workspace, page):
    losses = (("ce", None), ("contrastive", 0.5), ("triplet", 0.5), ("margin", 0.2), ("triplet", 0.3))
    for loss, margin in losses:
        params = {} if margin is None else {"margin": margin}
        store(workspace, {1: np.full(6, 0.5)}, name="Losses", loss=Choice(name=loss, params=params))
    page.session.runs_changed.emit()
    tick(qtbot, page, 1, 2, 3, 4)
    page.tabs.open("Settings")
    settings = page.tabs.settings
    qtbot.waitUntil(lambda: settings.column.findText("Loss: Margin") > 0)
    assert settings.column.currentText() == NO_OTHER
    settings.column.setCurrentIndex(-1)
    tick(qtbot, page, 1, 2, 3, 4, 5)
    qtbot.waitUntil(lambda: settings.column.currentText() == "Loss: Margin")


def test_the_second_setting_of_the_heat_map_is_the_one_with_the_fewest_values(qtbot, workspace, page):
    for place, (rate, size) in enumerate((rate, size) for rate in (0.1, 0.2, 0.3) for size in (8, 16, 32)):
        embedding, loss = EmbeddingParams(dim=size), Choice(name=LOSSES[place % 2])
        store(workspace, {1: np.full(6, 0.5)}, training=TrainingParams(lr=rate), embedding=embedding, loss=loss)
    page.session.runs_changed.emit()
    tick(qtbot, page, *range(1, 10))
    page.tabs.open("Settings")
    settings = page.tabs.settings
    qtbot.waitUntil(lambda: settings.column.count() > 2)
    assert (settings.row.currentText(), settings.column.currentText()) == ("Embedding: Embedding size", "Loss")


def test_each_row_of_the_heat_map_has_a_line_up_to_a_limit(qtbot):
    plot = qtbot.addWidget(HeatMapPlot())
    heights = []
    for count in (2, 12, 24, 500):
        names = tuple(f"loss {number}" for number in range(count))
        plot.show_map(HeatMap("Loss", "", names, ("",), {}), "MAP@R")
        heights.append(plot.picture.minimumHeight())
    assert heights[0] < heights[1] < heights[2] == heights[3]
    assert heights[1] >= 12 * theme.text_px(LINE_PX)
    picture = QImage(300, heights[3], QImage.Format.Format_RGB32)
    painter = QPainter(picture)
    plot.paint(painter, QRectF(picture.rect()), theme.current())  # of 500 names those are written that have room
    painter.end()


def test_long_words_of_the_first_axis_stand_before_it_where_no_line_runs(qtbot):
    """Twelve losses were cut to a letter or two between two axes."""
    losses = ("Supervised contrastive (SupCon)", "Triplet")
    ticks = tuple(zip((0.25, 0.75), losses, strict=True))
    numbers = Axis("Rate", (0.0, 1.0), ("0.1", "1"), ((0.0, "0.1"), (1.0, "1")))
    words = Axis("Loss", (0.25, 0.75), losses, ticks)
    others = tuple(dataclasses.replace(numbers, title=f"Learning rate of the head {number}") for number in range(9))
    plot, drawn = ParallelPlot(), []
    qtbot.addWidget(plot)
    style = GroupStyle("#0072B2", Qt.PenStyle.SolidLine, "o")
    area = QRectF(0, 0, 1100, 300)
    plot.show_lines(Lines((1, 2), (0, 0), ("a", "b"), (numbers, *others), ("", "")), [style])
    short = plot.spots(area)[0]
    plot.show_lines(Lines((1, 2), (0, 0), ("a", "b"), (words, *others), ("", "")), [style])
    assert plot.spots(area)[0] > 2 * short
    assert plot.spots(QRectF(0, 0, 340, 300))[0] == short, "where it is narrow, numbers come first"
    painter = Written(drawn)
    painter.setFont(small(plot.font()))
    plot.paint(painter, area, theme.current())
    painter.end()
    assert set(losses) < set(drawn)
    assert any(title.startswith("Learning ra") for title in drawn), "as much of a title as there is room for"


@pytest.mark.parametrize(("width", "whole"), [(300, False), (900, True)])
def test_a_wide_heat_map_has_room_for_whole_names(qtbot, width, whole):
    plot, drawn, loss = HeatMapPlot(), [], "Supervised contrastive (SupCon)"
    qtbot.addWidget(plot)
    plot.show_map(HeatMap("Loss", "", (loss, "Triplet"), ("",), {}), "MAP@R")
    painter = Written(drawn)
    painter.setFont(small(plot.font()))
    plot.paint(painter, QRectF(0, 0, width, 200), theme.current())
    painter.end()
    assert "Triplet" in drawn
    assert (loss in drawn) == whole


def test_a_setting_with_many_values_has_ranges_and_the_note_says_so(qtbot, workspace, page):
    for number in range(MOST_VALUES + 1):
        store(workspace, {1: np.full(6, 0.3)}, name="Draws", training=TrainingParams(lr=0.001 * 1.3**number))
    page.session.runs_changed.emit()
    tick(qtbot, page, *range(1, MOST_VALUES + 2))
    settings = page.tabs.settings
    page.tabs.open("Settings")
    qtbot.waitUntil(lambda: settings.note.text().startswith("Learning rate: 12 ranges, as there are more than 24"))
    assert [row[0] for row in settings.heat.rows()[1:3]] == ["0.001 to 0.00169", "0.00169 to 0.00286"]


def test_words_of_an_axis_do_not_cover_each_other():
    assert legible([], 12) == []
    assert legible([100], 12) == [True]
    assert legible([100, 95, 40, 30, 20, 10], 12) == [True, False, True, False, False, True]


def test_while_runs_are_read_for_the_first_time_a_line_says_so(qtbot, page, workspace, monkeypatch):
    sweep(workspace)
    page.session.runs_changed.emit()
    qtbot.waitUntil(lambda: len(page.session.runs()) > 0)

    def fail(*_args):
        raise Problem("The disk is away.")

    monkeypatch.setattr("workbench.ui.pages.compare.model.reading.overview", fail)
    page.session.ticks.choose([1])
    page.read()
    assert page.content.currentWidget() is page.reading
    assert page.reading.text() == "Reading…"
    qtbot.waitUntil(lambda: page.reading.text() == "The disk is away.")
    monkeypatch.undo()
    page.read()
    qtbot.waitUntil(lambda: page.content.currentWidget() is page.result)


def test_the_heat_map_names_settings_and_leaves_as_files(settings, tmp_path):
    assert [settings.row.currentText(), settings.column.currentText()] == ["Training: Learning rate", "Loss"]
    assert settings.heat.title == "MAP@R % ↑ by Learning rate and Loss, mean over seeds"
    assert "0.01, Triplet 60.00 (n 1)" in settings.heat.picture.accessibleDescription()
    assert settings.note.isHidden()
    settings.column.setCurrentText(NO_OTHER)
    settings.column.activated.emit(settings.column.currentIndex())
    assert "0.001 20.00 (n 3)" in settings.heat.picture.accessibleDescription()
    assert not settings.note.isHidden()
    for ending, start in ((".png", b"\x89PNG"), (".svg", b"<?xml"), (".csv", b"row,column,MAP@R,n,groups")):
        path = tmp_path / f"map{ending}"
        write_plot(settings.heat, path)
        assert path.read_bytes().startswith(start)
    settings.heat.copy_table()
    assert QGuiApplication.clipboard().text().splitlines()[1].split("\t")[0] == "0.001"
    settings.heat.copy_picture()
    assert QGuiApplication.clipboard().image().width() == 2 * settings.heat.picture.width()


def test_the_table_and_the_heat_map_of_many_groups_follow_in_turns(qtbot, workspace, page, monkeypatch):
    monkeypatch.setattr("workbench.ui.pages.compare.settings.panel.AT_ONCE", 1)
    for place, rate in enumerate((0.1, 0.5)):
        store(workspace, {1: np.full(6, 0.1 * (place + 1))}, name="Sweep", training=TrainingParams(lr=rate))
    page.session.runs_changed.emit()
    tick(qtbot, page, 1, 2)
    settings = page.tabs.settings
    page.tabs.open("Settings")
    assert settings.model.rowCount() == 0
    qtbot.waitUntil(lambda: len(settings.parallel.lines.runs) == 2)
    assert settings.model.rowCount() == 1
    assert len(settings.heat.rows()) == 3


def test_the_importance_of_the_parameters_is_one_click_away_for_runs_of_a_sweep(qtbot, workspace, page):
    for place, rate in enumerate((0.1, 0.5, 0.7)):
        store(workspace, {1: np.full(6, 0.1 * (place + 1))}, name="Sweep", training=TrainingParams(lr=rate))
    page.session.runs_changed.emit()
    tick(qtbot, page, 1, 2)
    settings = page.tabs.settings
    page.tabs.open("Settings")
    qtbot.waitUntil(lambda: not page.session.reading)
    assert settings.importance.isHidden(), "no sweep made these runs"
    plan = planned(read_config("sample-digits"), [read("training.lr=0.1,0.2")], "grid", catalog.current())
    number = starting.store(workspace, plan)
    with workspace.writing() as db:
        db.execute("update sweep_trials set run_id = place where sweep_id = ?", (number,))
    tick(qtbot, page, 3)
    qtbot.waitUntil(lambda: not settings.importance.isHidden())
    settings.importance.click()
    panel = page.findChild(SweepsPanel)
    assert panel.isVisible()
    assert panel.tabs.currentWidget() is panel.importance
    qtbot.waitUntil(lambda: panel.model.shown is not None and panel.model.shown.sweep.id == number)
    panel.hide()
    newer = starting.store(workspace, plan)
    with workspace.writing() as db:
        db.execute("update sweep_trials set run_id = 3 where sweep_id = ? and place = 1", (newer,))
    page.session.ticks.choose({1, 2})
    qtbot.waitUntil(lambda: len(settings.parallel.lines.runs) == 2)
    tick(qtbot, page, 3)
    qtbot.waitUntil(lambda: settings.importance.toolTip().endswith("2 sweeps made these runs: choose one."))
    settings.importance.click()
    (menu,) = (menu for menu in settings.findChildren(QMenu) if menu.isVisible())
    assert [action.text() for action in menu.actions()] == [f"Sweep {newer}", f"Sweep {number}"]
    menu.actions()[1].trigger()
    menu.close()
    qtbot.waitUntil(lambda: panel.model.shown.sweep.id == number)
    panel.hide()


class Writer(QPainter):
    """Notes the texts that it draws."""

    def __init__(self, surface):
        super().__init__(surface)
        self.texts = []

    def drawText(self, *drawn):  # noqa: N802  Qt's way of naming
        self.texts.append(drawn[-1])
        super().drawText(*drawn)


def drawn(plot):
    surface = QImage(600, 300, QImage.Format.Format_RGB32)
    painter = Writer(surface)
    plot.paint(painter, QRectF(surface.rect()), theme.current())
    painter.end()
    return painter.texts


def test_the_words_of_the_first_axis_get_what_the_numbers_of_the_others_leave(qtbot):
    plot, area = ParallelPlot(), QRectF(0, 0, 551, 300)
    qtbot.addWidget(plot)
    ticks = {"Loss": ["Cross-entropy (CE)", "Multi-similarity (MS)"], "Wide": ["0.000123456", "0.000223456"]}

    def axis(title, words):
        return Axis(title, (0.0, 1.0), tuple(words), tuple(zip((0.0, 1.0), words, strict=True)))

    style = GroupStyle("#0072B2", Qt.PenStyle.SolidLine, "o")
    for numbers, whole in ((["10", "20"], True), (ticks["Wide"], False)):
        others = [axis(f"a{number}", numbers) for number in range(7)]
        axes = (axis("Loss", ticks["Loss"]), *others, axis("b", ["21.020", "7.974"]))
        plot.show_lines(Lines((1, 2), (0, 0), ("one", "two"), axes, ("", "")), [style])
        assert (plot.spots(area)[0] > 90) == whole


def test_words_of_an_axis_that_is_not_the_first_are_whole_and_so_are_the_numbers(qtbot):
    """Ten axes in 551 px had equal room, in which the names of losses were cut to a letter or two."""
    names, numbers = ["Multi-similarity (MS)", "Triplet"], ["100.00", "66.67"]

    def axis(title, words):
        return Axis(title, (0.0, 1.0), tuple(words), tuple(zip((0.0, 1.0), words, strict=True)))

    first, loss = axis("Size", ["64", "128"]), axis("Loss", names)
    others = [axis(f"a{number}", ["10", "20"]) for number in range(6)]
    axes = (first, loss, *others, axis("R@1", numbers), axis("MAP@R", numbers))
    plot, drawn, area = ParallelPlot(), [], QRectF(0, 0, 551, 300)
    qtbot.addWidget(plot)
    style = GroupStyle("#0072B2", Qt.PenStyle.SolidLine, "o")
    plot.show_lines(Lines((1, 2), (0, 0), ("one", "two"), axes, ("", "")), [style])
    painter = Written(drawn)
    painter.setFont(small(plot.font()))
    plot.paint(painter, area, theme.current())
    painter.end()
    assert {*names, *numbers, "64", "128", "10", "20"} <= set(drawn)
    spots = plot.spots(area)
    assert spots[-1] == pytest.approx(area.right() - SIDE_PX)
    assert np.diff(spots).min() > 30


def test_words_that_are_cut_beside_an_axis_are_whole_under_the_pointer(qtbot):
    names = ["Soft nearest neighbours on a <sphere> (SNN)", "Cross-entropy with a margin of angles"]

    def axis(title, words):
        return Axis(title, (0.0, 1.0), tuple(words), tuple(zip((0.0, 1.0), words, strict=True)))

    axes = tuple(axis(f"a{number}", names if number in (1, 4, 6) else ["10", "20"]) for number in range(10))
    plot = shown(qtbot, ParallelPlot())
    plot.resize(560, 340)
    qtbot.deliver()
    style = GroupStyle("#0072B2", Qt.PenStyle.SolidLine, "o")
    plot.show_lines(Lines((1, 2), (0, 0), ("one", "two"), axes, ("", "")), [style])
    area = plot.picture.area
    for at in (1, 4, 6):
        for value, whole in zip((0.0, 1.0), names, strict=True):
            place = QPointF(plot.spots(area)[at] + 14, area.bottom() - 16 - value * (area.height() - 46))
            assert plot.words_at(place) == whole
    of_numbers = QPointF(plot.spots(area)[2] + 10, area.bottom() - 16)
    assert plot.words_at(of_numbers) == "", "they are whole in the picture"
    move = QMouseEvent(
        QEvent.Type.MouseMove, place, plot.picture.mapToGlobal(place), Qt.MouseButton.NoButton,
        Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    QApplication.sendEvent(plot.picture, move)
    assert QToolTip.text() == plain_tip(whole)


@pytest.mark.parametrize(
    ("room", "wanted", "shares"),
    [
        (100, [10, 20], [45, 55]), (60, [10, 100, 100], [10, 25, 25]), (30, [20, 20, 20], [10, 10, 10]),
        (50, [50], [50]), (40, [50], [40]),
    ],
)  # fmt: skip
def test_room_is_shared_by_what_axes_need(room, wanted, shares):
    assert shared_out(room, wanted) == pytest.approx(shares)


def test_the_heat_map_and_the_lines_write_powers_of_ten_as_people_do(qtbot, workspace, page):
    for place, rate in enumerate((1e-8, 0.5)):
        store(workspace, {1: np.full(6, 0.1 * (place + 1))}, name="Sweep", training=TrainingParams(lr=rate))
    page.session.runs_changed.emit()
    tick(qtbot, page, 1, 2)
    page.tabs.open("Settings")
    settings = page.tabs.settings
    qtbot.waitUntil(lambda: len(settings.parallel.lines.runs) == 2)
    assert "1×10⁻⁸ 10.00 (n 1)" in settings.heat.picture.accessibleDescription()
    for plot in (settings.heat, settings.parallel):
        assert "1×10⁻⁸" in drawn(plot)
        assert any("1e-08" in row for row in plot.rows()), "copied tables are read by programs"


def test_what_a_cell_of_the_heat_map_says_is_whole(qapp):
    metrics = QFontMetrics(qapp.font())
    line, mean = metrics.lineSpacing() + 2, metrics.horizontalAdvance("48.76") + 2
    both = metrics.horizontalAdvance("48.76  n 3") + 2
    for room, words in (
        ((both, line), "48.76  n 3"), ((both, 60), "48.76\nn 3"), ((mean, 2 * line), "48.76\nn 3"),
        ((mean, line), "48.76"), ((mean - 1, 60), ""), ((both, line - 1), ""),
    ):  # fmt: skip
        assert fitting("48.76", 3, QSizeF(*room), metrics) == words


def test_a_setting_is_shortened_above_the_heat_map_where_there_is_no_room(settings):
    for box in (settings.row, settings.column):
        box.setFixedWidth(400)
        assert box.written() == box.currentText()
        box.setFixedWidth(60)
        assert box.written().endswith("…")


def test_runs_of_one_config_have_no_settings_to_show(qtbot, page, workspace):
    for seed in (0, 1):
        store(workspace, {1: np.full(6, 0.5)}, seed=seed)
    page.session.runs_changed.emit()
    tick(qtbot, page, 1)
    page.tabs.open("Settings")
    assert page.tabs.settings.currentWidget() is page.tabs.settings.nothing


def test_brushes_keep_the_runs_inside(settings, qtbot, tmp_path):
    plot = settings.parallel
    titles = [axis.title for axis in plot.lines.axes]
    assert plot.inside().all()
    with qtbot.waitSignal(plot.brushed) as said:
        plot.brush(titles.index("Learning rate"), 0.5, 1.0)
    assert said.args == [[4, 5, 6]]
    plot.brush(titles.index("MAP@R % ↑"), 1.0, 0.7)
    assert plot.inside().tolist() == [False, False, False, False, True, True]
    assert plot.title == "Parallel coordinates: 2 of 6 runs pass"
    write_plot(plot, tmp_path / "lines.csv")
    rows = list(csv.DictReader((tmp_path / "lines.csv").read_text("utf-8").splitlines()))
    assert [row["inside"] for row in rows] == ["no", "no", "no", "no", "yes", "yes"]
    assert [row["Loss"] for row in rows] == ["Cross-entropy (CE)", "Simplified pairwise CE (SPCE)", "Triplet"] * 2
    plot.clear.click()
    assert plot.inside().all()
    assert not plot.clear.isEnabled()


def test_dragging_on_an_axis_brushes_and_a_click_takes_it_away(settings, qtbot):
    plot = settings.parallel
    place = plot.picture.rect()
    x = round(plot.spots(place.toRectF())[len(plot.lines.axes) - 1])
    top, middle = QPoint(x, 20), QPoint(x, place.height() // 2)
    qtbot.mousePress(plot.picture, Qt.MouseButton.LeftButton, pos=top)
    qtbot.mouseMove(plot.picture, middle)
    qtbot.mouseRelease(plot.picture, Qt.MouseButton.LeftButton, pos=middle)
    assert 0 < plot.inside().sum() < 6
    assert plot.inside()[-1], "the best is above"
    qtbot.mouseClick(plot.picture, Qt.MouseButton.LeftButton, pos=middle)
    assert plot.inside().all()


def test_a_run_that_was_stopped_is_dotted_and_pale_and_not_in_the_heat_map(qtbot, workspace, page):
    sweep(workspace)
    with workspace.writing() as db:
        db.execute("update runs set status = 'stopped', epoch = 1, epochs = 4 where id = 6")
    page.session.runs_changed.emit()
    tick(qtbot, page, *range(1, 7))
    page.tabs.open("Settings")
    settings = page.tabs.settings
    plot = settings.parallel
    qtbot.waitUntil(lambda: len(plot.lines.runs) == 6)
    assert plot.title == "Parallel coordinates, 6 runs (1 not finished, dotted and pale)"
    assert [row[-1] for row in plot.rows()] == ["unfinished", "", "", "", "", "", "stopped, epoch 1 of 4"]
    assert "Triplet 60.00" not in settings.heat.picture.accessibleDescription()
    assert "Not in the heat map, as they did not finish training: “" in settings.note.text()
    pens = []

    class Pens(QPainter):
        def drawPolyline(self, *drawn):  # noqa: N802  Qt's way of naming
            pens.append(self.pen().style())
            super().drawPolyline(*drawn)

    surface = QImage(600, 300, QImage.Format.Format_RGB32)
    painter = Pens(surface)
    plot.paint(painter, QRectF(surface.rect()), theme.current())
    painter.end()
    assert [pen == Qt.PenStyle.DotLine for pen in pens] == [False] * 5 + [True]


@pytest.fixture
def moved(qtbot, session, workspace, page):
    pixels = [store_run(workspace, LABELS, embeddings=[blobs(LABELS, 1.0, seed)]) for seed in (0, 1)]
    with workspace.writing() as db:
        config = workspace.run(2).config.replace("lr = 0.001", "lr = 0.5")
        assert config != workspace.run(1).config
        db.execute("update runs set config = ? where id = 2", (config,))
    session.follower.runs_changed.emit()
    tick(qtbot, page, 1, 2)
    qtbot.waitUntil(lambda: page.model.comparison is not None)
    return page, pixels


def test_the_largest_movers_are_listed_with_pictures_and_opened(moved, session, qtbot):
    page, runs = moved
    panel = page.tabs.neighbours
    assert panel.overlap is None, "read when it is looked at"
    page.tabs.open("Neighbours")
    qtbot.waitUntil(lambda: panel.overlap is not None)
    found = panel.overlap
    assert panel.words.text() == in_sentences(found)
    assert f"{100 * found.mean:.1f}% are the same" in panel.words.text()
    assert panel.model.rowCount() == len(LABELS)
    shares = [float(panel.model.index(row, 2).data()) for row in range(len(LABELS))]
    assert shares == sorted(shares)
    index = panel.model.index(0, 0)
    qtbot.waitUntil(lambda: index.data(Qt.ItemDataRole.DecorationRole) is not None)
    panel.table.setCurrentIndex(index)
    asked = []
    session.page_asked.connect(asked.append)
    panel.openers.sides[1].click()
    assert (session.run_id, session.query, asked) == (2, int(found.sample_ids[0]), ["retrieval"])
    assert session.evaluation_id == runs[1].evaluations[0]
    panel.k.setValue(3)
    qtbot.waitUntil(lambda: panel.overlap is not None and panel.overlap.k == 3)


def test_a_missing_ranking_is_said_in_the_tab(moved, workspace, qtbot):
    page, _ = moved
    (workspace.folder(1) / "ranking-1.npz").unlink()
    page.tabs.open("Neighbours")
    qtbot.waitUntil(lambda: "is missing" in page.tabs.neighbours.words.text())
    assert page.tabs.neighbours.table.isHidden()


def test_neighbours_are_compared_again_when_the_tab_is_shown_after_a_cancel_or_a_failure(
    moved, session, workspace, qtbot, monkeypatch
):
    page, _ = moved
    begun = Event()

    def until_cancelled(workspace, paired, k, progress):
        begun.set()
        while True:
            progress("Runs 1 and 2", 0, 1)

    with monkeypatch.context() as patch:
        patch.setattr(neighbour_overlap, "neighbour_overlap", until_cancelled)
        page.tabs.open("Neighbours")
        assert begun.wait(HANG)
        session.activity.newest_working.cancel()
        qtbot.waitUntil(lambda: page.tabs.neighbours.words.text() == neighbour_overlap.CANCELLED)
    ranking = workspace.folder(1) / "ranking-1.npz"
    kept = ranking.read_bytes()
    ranking.unlink()
    page.tabs.open("Curves")
    page.tabs.open("Neighbours")
    qtbot.waitUntil(lambda: "is missing" in page.tabs.neighbours.words.text())
    ranking.write_bytes(kept)
    page.tabs.open("Curves")
    page.tabs.open("Neighbours")
    qtbot.waitUntil(lambda: page.tabs.neighbours.overlap is not None)


def test_queries_that_win_and_lose_have_pictures(moved, qtbot):
    page, _ = moved
    page.tabs.open("Queries")
    index = page.tabs.queries.model.index(0, 0)
    qtbot.waitUntil(lambda: index.data(Qt.ItemDataRole.DecorationRole) is not None)


def test_settings_of_one_name_are_axes_with_their_parts(qtbot, workspace, page):
    for place, (of_loss, of_head) in enumerate(((0.1, 0.3), (0.2, 0.4), (0.5, 0.3))):
        store(
            workspace, {1: np.full(6, 0.1 * (place + 1))}, name="Dropout",
            loss=Choice(name="ce", params={"dropout": of_loss}), embedding=EmbeddingParams(dropout=of_head),
        )  # fmt: skip
    page.session.runs_changed.emit()
    tick(qtbot, page, 1, 2, 3)
    page.tabs.open("Settings")
    plot = page.tabs.settings.parallel
    qtbot.waitUntil(lambda: len(plot.lines.runs) == 3)
    titles = [axis.title for axis in plot.lines.axes]
    assert {"Embedding: Dropout", "Loss: Dropout"} <= set(titles)
    plot.brush(titles.index("Embedding: Dropout"), 0.9, 1.0)
    assert plot.inside().tolist() == [False, True, False], "the brush is on one of them alone"
