"""The curve plot: gaps and marks where a value is no number, legend, table, export, and speed at 100,000 points."""

import csv
from itertools import combinations

import numpy as np
import pyqtgraph as pg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QGuiApplication, QImage, QPainter, QPixmap
from PySide6.QtWidgets import QFileDialog

from tests.ui.plot_files import write_plot
from workbench.ui.plots.curve import Curve, thinned
from workbench.ui.plots.curve_plot import CurvePlot, Series
from workbench.ui.plots.items import EDGED
from workbench.ui.plots.legend import LegendButton
from workbench.ui.plots.shade import Shade
from workbench.ui.preferences import Preferences
from workbench.ui.style import theme
from workbench.ui.widgets.tables.row_table import head_width

CE, SPCE = Series("probe/ce", "CE", "#0072B2"), Series("probe/spce", "SPCE", "#D55E00", dashed=True)
NAN, INF = float("nan"), float("inf")
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)  # Qt's offscreen platform, at every show


@pytest.fixture
def plot(qtbot):
    made = qtbot.addWidget(CurvePlot("CE and SPCE, nats", [CE, SPCE]))
    made.resize(440, 260)
    made.show()
    qtbot.waitExposed(made)
    return made


def drawn(plot, name):
    steps, values = plot.canvas.lines[name].raw.getOriginalDataset()
    return (np.empty(0), np.empty(0)) if steps is None else (steps, values)


@given(st.integers(1, 400), st.integers(1, 60), st.integers(0, 2**31))
def test_thinning_keeps_the_extremes_and_the_ends(count, columns, seed):
    values = np.random.default_rng(seed).normal(size=count)
    steps, kept = thinned(np.arange(count), values, columns)
    assert len(kept) <= 2 * columns
    assert (kept.min(), kept.max()) == (values.min(), values.max())
    assert (steps[0], steps[-1]) == (0, count - 1)


@pytest.mark.parametrize(("count", "edged"), [(EDGED, True), (EDGED + 1, False), (20_000, False)])
def test_lines_of_few_points_have_smooth_edges(plot, count, edged):
    plot.set_smoothing(0.0)
    plot.append("probe/ce", np.arange(count), np.arange(count))
    plot.redraw()
    assert plot.canvas.lines["probe/ce"].raw.opts["antialias"] is edged
    plot.set_smoothing(0.9)
    plot.redraw()
    assert plot.canvas.lines["probe/ce"].raw.opts["antialias"] is False, "the faint line behind a smoothed one"


def test_steps_that_come_again_replace_what_was_known():
    curve = Curve()
    curve.append([1, 2, 3, 4], [10, 20, 30, 40])
    curve.append([3, 4], [31, 41])
    assert curve.steps.tolist() == [1, 2, 3, 4]
    assert curve.values.tolist() == [10, 20, 31, 41]
    curve.append([5, 4, 5], [1, 42, 52])
    assert curve.values.tolist() == [10, 20, 31, 42, 52]


@pytest.mark.parametrize(
    ("values", "log", "count"),
    [([NAN], False, 0), ([NAN, INF, -INF], False, 0), ([], False, 0), ([NAN, 1.0], False, 2), ([0.0, NAN], True, 2),
     ([0.0, -1.0], True, 2), ([NAN, INF], True, 0)],
)  # fmt: skip
@pytest.mark.parametrize("dots", [False, True])
def test_a_curve_without_a_value_that_can_be_drawn_is_not_given_to_pyqtgraph(qtbot, values, log, count, dots):
    made = CurvePlot("λ", [Series("lambda", "λ", "#0072B2", dots=dots)])
    qtbot.addWidget(made)
    made.set_smoothing(0.5)
    made.set_log(log)
    made.append("lambda", range(len(values)), values)
    made.redraw()
    assert len(drawn(made, "lambda")[0]) == count
    assert tuple(made.canvas.lines["lambda"].raw.dataBounds(1)) == (None, None) or count


def drawn_marks(plot):
    """The vertical lines with words, without the star of the best epoch."""
    lines = [item for item in plot.canvas.item.items if isinstance(item, pg.InfiniteLine) and hasattr(item, "label")]
    return [line for line in lines if line.label.format != "★"]


def test_nan_is_a_gap_and_a_named_mark(plot, qtbot):
    plot.append("probe/ce", [1, 2, 3, 4, 5], [2.0, 1.5, NAN, NAN, 1.0])
    plot.redraw()
    assert plot.marks() == [(3.0, "CE: NaN at step 3")]
    assert np.isnan(drawn(plot, "probe/ce")[1]).tolist() == [False, False, True, True, False]
    (mark,) = drawn_marks(plot)
    assert mark.isVisible()
    assert mark.value() == 3
    assert mark.label.format == "CE: NaN at step 3"

    plot.append("probe/ce", [6], [INF])
    plot.redraw()
    assert plot.marks()[1] == (6.0, "CE: infinite at step 6")
    assert np.isnan(drawn(plot, "probe/ce")[1][-1]), "infinity would swallow the axis"


def test_a_curve_that_may_be_undefined_still_tells_infinity(qtbot):
    made = CurvePlot("Bound", [Series("pce", "PCE", "#000000", may_be_undefined=True)])
    qtbot.addWidget(made)
    made.append("pce", [1, 2, 3, 4], [1.0, NAN, 2.0, INF])
    assert made.marks() == [(4.0, "PCE: infinite at step 4")]


def test_legend_hides_a_curve_and_its_marks(plot):
    plot.append("probe/ce", [1, 2], [2.0, NAN])
    plot.append("probe/spce", [1, 2], [1.0, 0.5])
    plot.redraw()
    plot.legend["probe/ce"].click()
    assert not plot.canvas.lines["probe/ce"].raw.isVisible()
    assert plot.canvas.lines["probe/spce"].raw.isVisible()
    assert plot.marks() == []
    assert plot.describe() == "CE and SPCE, nats: SPCE goes from 1 at step 1 to 0.5 at step 2."
    plot.legend["probe/ce"].click()
    assert plot.canvas.lines["probe/ce"].raw.isVisible()


def test_the_legend_says_which_curve_has_no_values(plot):
    assert [entry.text() for entry in plot.legend.values()] == ["CE", "SPCE"], "before the first value of any"
    plot.append("probe/spce", [1, 2], [0.5, 0.4])
    plot.redraw()
    assert [entry.text() for entry in plot.legend.values()] == ["CE (no values)", "SPCE"]
    plot.retitle("probe/ce", "CE at unit length")
    assert plot.legend["probe/ce"].text() == "CE at unit length (no values)"
    plot.append("probe/ce", [2], [NAN])
    plot.redraw()
    assert plot.legend["probe/ce"].text() == "CE at unit length", "a value that is no number is one"
    plot.clear()
    plot.redraw()
    assert plot.legend["probe/spce"].text() == "SPCE"


def test_a_plot_without_values_says_so_in_its_middle(plot):
    plot.say_when_empty("No values yet")
    assert plot.empty.isVisible()
    assert plot.empty.text() == "No values yet"
    middle = plot.empty.geometry().center() - plot.canvas.rect().center()
    assert middle.manhattanLength() <= 2
    plot.append("probe/ce", [1], [0.5])
    plot.redraw()
    assert not plot.empty.isVisible()
    plot.legend["probe/ce"].click()
    assert not plot.empty.isVisible(), "there are values, though hidden"
    plot.clear()
    plot.redraw()
    assert plot.empty.isVisible()


def test_points_are_drawn_within_a_moment_and_at_most_ten_times_a_second(plot, qtbot, monkeypatch):
    drawings = []
    real = plot.canvas.lines["probe/ce"].draw
    monkeypatch.setattr(plot.canvas.lines["probe/ce"], "draw", lambda *all: (drawings.append(1), real(*all)))
    for step in range(1, 50):
        plot.append("probe/ce", [step], [1 / step])
    assert drawings == []
    qtbot.waitUntil(lambda: len(drawn(plot, "probe/ce")[0]) == 49)
    assert len(drawings) == 1


def test_a_curve_without_news_is_not_given_to_pyqtgraph_again(plot, monkeypatch):
    given = []
    line = plot.canvas.lines["probe/ce"].raw
    real = line.setData
    monkeypatch.setattr(line, "setData", lambda *points, **look: (given.append(len(points[0])), real(*points, **look)))
    plot.append("probe/ce", [10, 20], [3.0, NAN])
    for _ in range(3):
        plot.redraw()
    assert given == [2]
    plot.append("probe/ce", [30], [1.0])
    plot.redraw()
    plot.replace("probe/ce", [10, 20, 30], [3.0, 2.0, 1.0])
    plot.redraw()
    assert drawn(plot, "probe/ce")[1].tolist() == [3.0, 2.0, 1.0]
    plot.append("probe/ce", list(range(40, 110, 10)), [0.0] * 7)
    plot.redraw()
    plot.set_smoothing(0.6)
    plot.redraw()
    assert given == [2, 3, 3, 10, 10], "other points, other values, another width"


def test_a_curve_of_few_points_is_drawn_as_it_is(plot):
    plot.set_smoothing(0.6)
    plot.append("probe/ce", list(range(9)), [100.0] + 8 * [1.0])
    plot.redraw()
    line = plot.canvas.lines["probe/ce"]
    assert line.smooth is None
    assert line.raw.opts["pen"].width() == 2
    plot.append("probe/ce", [9], [1.0])
    plot.redraw()
    assert line.smooth.isVisible()


def test_the_crosshair_reads_the_nearest_values(plot):
    plot.append("probe/ce", [10, 20, 30], [3.0, 2.0, 1.23456])
    plot.append("probe/spce", [10, 20, 30], [INF, NAN, 1.0])
    plot.redraw()
    plot.canvas.pointed.emit(27.0)
    assert plot.read_out.text() == "step 30  CE 1.235  SPCE 1"
    plot.canvas.pointed.emit(21.0)
    assert plot.read_out.text() == "step 20  CE 2  SPCE –", "as in the table of the numbers"
    plot.canvas.pointed.emit(9.0)
    assert plot.read_out.text() == "step 10  CE 3  SPCE ∞"
    plot.canvas.pointed.emit(None)
    assert plot.read_out.isHidden()


def test_the_crosshair_reads_the_difference_of_two_curves_where_both_have_a_point(qtbot):
    made = qtbot.addWidget(CurvePlot("CE and SPCE, nats", [CE, SPCE], compared=("probe/spce", "probe/ce")))
    made.append("probe/ce", [10, 20, 30], [3.0, INF, 1.25])
    made.append("probe/spce", [10, 20], [3.5, INF])
    made.redraw()
    for place, words in (
        (10, "CE 3  SPCE 3.5  SPCE − CE 0.5"),
        (20, "CE ∞  SPCE ∞  SPCE − CE –"),
        (30, "CE 1.25  SPCE ∞"),
    ):
        made.show_values(place)
        assert made.read_out.text() == f"step {place}  {words}"
    made.legend["probe/ce"].click()
    made.show_values(10)
    assert made.read_out.text() == "step 10  SPCE 3.5"


def test_log_scale_and_smoothing_from_the_menu(plot):
    plot.append("probe/ce", list(range(10)), [1.0, 10.0, *[100.0] * 8])
    plot.log_action.trigger()
    plot.redraw()
    assert plot.canvas.lines["probe/ce"].raw.getData()[1].tolist() == [0, 1, *[2] * 8]
    plot.smoother.slider.setValue(50)
    plot.redraw()
    assert plot.smoothing == 0.5
    smooth = plot.canvas.lines["probe/ce"].smooth.getOriginalDataset()[1]
    assert smooth[:3].tolist() == pytest.approx(np.log10([1.0, 10.5 / 1.5, 105.25 / 1.75]))
    assert plot.canvas.lines["probe/ce"].smooth.opts["pen"].width() == 2
    assert plot.canvas.lines["probe/ce"].raw.opts["pen"].width() == 1


def test_a_point_that_no_line_reaches_is_a_dot(plot):
    plot.set_smoothing(0.6)
    plot.append("probe/ce", [10], [3.0])
    plot.append("probe/spce", [10, 20, 30, 40], [1.0, NAN, 2.0, 3.0])
    plot.redraw()
    alone, some = (plot.canvas.lines[name].raw.scatter.data for name in ("probe/ce", "probe/spce"))
    assert alone["size"].tolist() == [5]
    dot = plot.canvas.lines["probe/ce"].raw.opts["symbolBrush"]
    assert dot.name().upper() == "#0072B2", "in full colour: a smoothed curve has no line there to be seen"
    assert dict(zip(some["x"].tolist(), some["size"].tolist(), strict=True)) == {10: 5, 20: 0, 30: 0, 40: 0}


def test_the_titles_of_the_table_are_whole(qtbot):
    made = CurvePlot("Batch loss", [CE, Series("norm", "Gradient norm (right)", "#D55E00", axis="right")])
    qtbot.addWidget(made)
    made.append("norm", [1, 2], [0.5, 0.25])
    dialog = made.show_table()
    header = dialog.view.horizontalHeader()
    assert all(header.sectionSize(column) >= head_width(header, column) for column in range(header.count()))
    assert dialog.table.numbers.titles[-1] == "Gradient norm", "a file has no axis at the right"
    dialog.close()


def test_the_table_has_every_value(plot, qtbot, qtmodeltester):
    plot.append("probe/ce", [1, 2], [0.123456, NAN])
    plot.append("probe/spce", [2, 3], [0.5, 0.25])
    dialog = plot.show_table()
    table = dialog.table
    qtmodeltester.check(table)
    shown = [[table.index(row, column).data() for column in range(3)] for row in range(3)]
    assert shown == [["1", "0.1235", ""], ["2", "–", "0.5"], ["3", "", "0.25"]]
    dialog.copy.click()
    assert QGuiApplication.clipboard().text().splitlines()[1:3] == ["1\t0.123456\t", "2\t\t0.5"]
    assert table.numbers.csv().splitlines()[1:] == ["1,0.123456,", "2,,0.5", "3,,0.25"]
    dialog.close()


@pytest.mark.parametrize("size", [(700, 420), (300, 300)])
def test_the_numbers_at_the_ends_of_an_axis_are_whole(plot, qtbot, size):
    plot.append("probe/ce", [0, 1, 2], [50.0, 90.0, 100.0])
    plot.resize(*size)
    plot.redraw()
    plot.canvas.item.setYRange(0, 100, padding=0)
    plot.grab()
    qtbot.deliver()  # an axis becomes as wide as the numbers that it painted
    axis = plot.canvas.item.getAxis("left")
    sheet = QPixmap(plot.size())  # lives as long as its painter
    painter = QPainter(sheet)
    _, _, texts = axis.generateDrawSpecs(painter)
    painter.end()
    assert {"0", "100"} <= {words for _, _, words in texts}
    places = [place for place, _, _ in texts]
    assert all(axis.boundingRect().contains(place) for place in places)
    assert not any(one.intersects(other) for one, other in combinations(places, 2))


def test_titles_of_curves_are_text_in_the_csv_and_the_clipboard(qtbot, tmp_path):
    """On the Compare page they are names of runs."""
    made = CurvePlot("MAP@R", [Series("0", "=1+1, s", "#0072B2"), Series("1", 'ce\t"a"', "#D55E00")])
    qtbot.addWidget(made)
    made.append("0", [1, 2], [-0.5, 0.25])
    made.append("1", [1, 2], [0.5, 1.0])
    write_plot(made, tmp_path / "curve.csv")
    rows = list(csv.reader((tmp_path / "curve.csv").read_text("utf-8").splitlines()))
    assert rows == [["step", "'=1+1, s", 'ce\t"a"'], ["1", "-0.5", "0.5"], ["2", "0.25", "1.0"]]
    dialog = made.show_table()
    dialog.copy.click()
    assert QGuiApplication.clipboard().text().splitlines()[0] == 'step\t\'=1+1, s\tce "a"'
    dialog.close()


def test_saves_csv_png_and_svg(plot, tmp_path):
    plot.append("probe/ce", [1, 2], [0.1, 0.2])
    plot.redraw()
    for ending in ("csv", "png", "svg"):
        write_plot(plot, tmp_path / f"curve.{ending}")
    rows = list(csv.reader((tmp_path / "curve.csv").read_text("utf-8").splitlines()))
    assert rows[0] == ["step", "CE", "SPCE"]
    assert rows[1] == ["1", "0.1", ""]
    image = QImage(str(tmp_path / "curve.png"))
    assert image.width() == 2 * plot.canvas.width()
    assert image.pixelColor(1, 1).name() == "#ffffff"
    seen = {image.pixelColor(x, y).name() for x in range(0, image.width()) for y in range(110, image.height(), 2)}
    assert "#0072b2" in seen, "the curve is in the picture"
    assert "CE and SPCE, nats" in (tmp_path / "curve.svg").read_text("utf-8")
    plot.copy_picture()
    assert QGuiApplication.clipboard().image().size() == image.size()


def test_the_commands_copy_save_and_say_so(plot, session, tmp_path, qtbot, monkeypatch):
    notices, said = [], []
    plot.wished.connect(session.fulfil)
    session.noticed.connect(lambda what: notices.append(str(what)))
    session.mentioned.connect(said.append)
    plot.append("probe/ce", [1, 2], [0.1, 0.2])
    paths = [tmp_path / "nowhere" / "curve", tmp_path / "curve", tmp_path / "curve.png", tmp_path / "curve.csv"]
    asked, answers = [], iter(paths)
    monkeypatch.setattr(
        QFileDialog, "getSaveFileName", lambda *words: asked.append(words[1:]) or (str(next(answers)), "SVG (*.svg)")
    )
    actions = {action.text(): action for action in plot.menu.actions()}
    for number in range(len(paths)):
        actions["Save…"].trigger()
        qtbot.waitUntil(lambda number=number: len(notices) == number + 1)
    assert "curve.svg could not be written" in notices[0]
    assert notices[1:] == [f"The plot was written to {tmp_path / 'curve'}.{kind}." for kind in ("svg", "png", "csv")]
    assert asked[1][0] == "Save the plot"
    assert asked[1][1].endswith("ce-and-spce-nats.png")
    assert asked[1][2] == "PNG (*.png);;SVG (*.svg);;CSV (*.csv)"
    assert (tmp_path / "curve.csv").read_text("utf-8").splitlines() == ["step,CE,SPCE", "1,0.1,", "2,0.2,"]
    assert QImage(str(tmp_path / "curve.png")).size() == plot.image().size()
    actions["Copy picture"].trigger()
    actions["Copy table"].trigger()
    assert QGuiApplication.clipboard().text() == "step\tCE\tSPCE\n1\t0.1\t\n2\t0.2\t"
    assert said == ["The picture was copied.", "The table was copied."]


def test_of_100_000_points_no_more_are_drawn_than_the_plot_is_wide(plot):
    steps = np.arange(1, 100_001)
    plot.set_smoothing(0.9)
    for name in ("probe/ce", "probe/spce"):
        plot.append(name, steps, np.random.default_rng(0).random(100_000))
    plot.redraw()
    plot.canvas.grab()
    plot.append("probe/ce", [100_001], [0.5])
    plot.redraw()
    assert len(plot.curves["probe/ce"]) == 100_001
    assert len(drawn(plot, "probe/ce")[0]) <= 2 * max(200, plot.canvas.width())


def test_zoomed_in_every_point_is_drawn(plot, qtbot):
    plot.append("probe/ce", np.arange(20_000), np.random.default_rng(0).random(20_000))
    plot.redraw()
    plot.canvas.item.vb.setXRange(5000, 5100, padding=0)
    qtbot.waitUntil(lambda: set(range(5000, 5101)) <= set(drawn(plot, "probe/ce")[0].tolist()))
    plot.canvas.fit()
    plot.redraw()
    assert drawn(plot, "probe/ce")[0][0] == 0


@pytest.fixture
def two_scales(qtbot):
    plot = CurvePlot("Two scales", [CE, Series("acc", "Accuracy", "#E69F00", axis="right")])
    qtbot.addWidget(plot)
    plot.resize(400, 240)
    plot.show()
    return plot


def test_a_series_on_the_right_axis_is_drawn_there(two_scales, qtbot):
    plot = two_scales
    plot.append("probe/ce", [0, 10], [0.001, 0.002])
    plot.append("acc", [0, 10], [0.0, 99.0])
    plot.redraw()
    qtbot.waitUntil(lambda: plot.canvas.item.vb.viewRange()[1][1] < 1)
    assert plot.canvas.item.getAxis("right").linkedView().viewRange()[1][1] > 90


def test_the_bottom_axis_holds_the_series_of_both_sides(two_scales, qtbot):
    plot = two_scales
    plot.append("probe/ce", [40, 60], [0.001, 0.002])
    plot.append("acc", [0, 100], [0.0, 99.0])
    plot.redraw()
    across = plot.canvas.item.vb.viewRange
    qtbot.waitUntil(lambda: across()[0][0] <= 0 and across()[0][1] >= 100)
    plot.legend["acc"].click()
    qtbot.waitUntil(lambda: across()[0][0] > 30 and across()[0][1] < 70)


def test_a_plot_without_values_has_neither_axes_nor_a_filled_area(plot):
    plot.canvas.shade_between("probe/ce", "probe/spce")
    fill = next(item for item in plot.canvas.item.items if isinstance(item, Shade))
    assert not plot.canvas.item.getAxis("left").isVisible()
    plot.show_best(2)
    star = next(each for each in plot.canvas.item.items if isinstance(each, pg.InfiniteLine) and each.value() == 2)
    assert not star.isVisible(), "there is nothing to mark"
    for name, value in (("probe/ce", 1.0), ("probe/spce", 2.0)):
        plot.append(name, [1, 2, 3], [value] * 3)
    plot.redraw()
    assert plot.canvas.item.getAxis("left").isVisible()
    assert star.isVisible()
    assert not fill.path().isEmpty()
    plot.clear()  # another run is shown
    plot.redraw()
    assert fill.path().isEmpty()
    assert not plot.canvas.item.getAxis("left").isVisible()


def test_a_change_of_theme_is_taken_once(plot, tmp_path, monkeypatch, qtbot):
    shown = theme.Theme(Preferences(tmp_path / "window.ini"))
    shown.choose("light")
    redrawn = []
    monkeypatch.setattr(plot, "redraw", lambda: redrawn.append(theme.current()))
    shown.choose("dark")
    qtbot.waitUntil(lambda: not shown.dressing)
    assert redrawn == [theme.DARK]
    shown.choose("dark")
    qtbot.waitUntil(lambda: not shown.dressing)
    assert redrawn == [theme.DARK], "nothing changed"
    shown.choose("light")
    shown.close()


def test_a_name_in_the_legend_keeps_its_ampersand(qtbot):
    button = LegendButton(Series("a", "R&D", "#0072B2"))
    qtbot.addWidget(button)
    assert button.text() == "R&&D", "as Qt writes the sign itself"
    button.say("R&D")
    assert button.text() == "R&&D"


def test_the_words_of_a_mark_cover_no_curve_where_there_is_room(plot):
    plot.resize(500, 300)
    plot.append("probe/ce", range(200), [4.0 - step / 50 for step in range(200)])
    for step in (0, 110, 199):
        plot.mark(step, "PCE > CE")
    plot.redraw()
    low, high = plot.canvas.item.vb.viewRange()[1]
    for mark, values in zip(drawn_marks(plot), ((3.0, 4.0), (1.4, 1.8), (0.0, 0.9)), strict=True):
        shares = [(value - low) / (high - low) for value in values]
        assert not shares[0] - 0.05 < mark.label.orthoPos < shares[1] + 0.05, f"the mark at {mark.value()}"
