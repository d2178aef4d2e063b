"""Charts of a method: marks that have no place are not given to pyqtgraph."""

from xml.etree import ElementTree

import pyqtgraph as pg
import pytest
from PySide6.QtGui import QImage, QPainter, QPixmap

from tests.ui.plot_files import write_plot
from workbench.charts import Chart, Marks
from workbench.ui.plots.chart_view import ChartView

NAN, INF = float("nan"), float("inf")
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)


def shown(qtbot, *marks, x_title="x"):
    view = qtbot.addWidget(ChartView("A chart"))
    view.resize(420, 320)
    view.show_chart(Chart("A chart", x_title, marks))
    view.show()
    return view


def numbers_of(view, side):
    """The numbers that an axis draws, in their order."""
    view.grab()  # ranges are found when it is painted
    axis = view.plot.getAxis(side)
    sheet = QPixmap(view.size())
    painter = QPainter(sheet)
    words = [words for _, _, words in axis.generateDrawSpecs(painter)[2]]
    painter.end()
    return words


def items_of(qtbot, marks, kind):
    view = shown(qtbot, marks)
    (item,) = (item for item in view.plot.getPlotItem().items if isinstance(item, kind))
    item.shown_in = view  # which lives as long as its item
    return item


@pytest.mark.parametrize("look", ["circles", "boxes"])
def test_points_without_a_place_are_left_out_and_the_others_keep_their_colour(qtbot, look):
    marks = Marks("points", look, (0.0, NAN, 2.0, 3.0), (1.0, 1.0, INF, 4.0), (0, 1, 2, 3))
    alone = items_of(qtbot, Marks("points", look, (3.0,), (4.0,), (3,)), pg.ScatterPlotItem)
    points = items_of(qtbot, marks, pg.ScatterPlotItem).points()
    assert [(point.pos().x(), point.pos().y()) for point in points] == [(0.0, 1.0), (3.0, 4.0)]
    assert points[1].brush().color() == alone.points()[0].brush().color()


def test_bars_without_a_height_are_left_out(qtbot):
    bars = items_of(qtbot, Marks("bars", "bars", (0.0, 1.0, 2.0), (1.0, NAN, 3.0)), pg.BarGraphItem)
    assert bars.opts["x"].tolist() == [0.0, 2.0]


def test_a_line_of_gaps_has_no_points(qtbot):
    line = items_of(qtbot, Marks("line", "line", (0.0, 1.0), (NAN, NAN)), pg.PlotDataItem)
    assert tuple(line.dataBounds(1)) == (None, None)  # a list in pyqtgraph 0.13


@pytest.mark.parametrize("look", ["line", "dashed"])
@pytest.mark.parametrize(("y", "sizes"), [((3.0,), [7]), ((1.0, 2.0), None), ((1.0, NAN, 3.0), [7, 0, 7])])
def test_a_point_that_no_line_reaches_is_drawn(qtbot, look, y, sizes):
    line = items_of(qtbot, Marks("bound", look, tuple(range(len(y))), y), pg.PlotDataItem)
    if sizes is None:
        assert line.opts["symbol"] is None
    else:
        drawn = [size for size, value in zip(sizes, y, strict=True) if value == value]
        assert [size for size in line.opts["symbolSize"] if size] == drawn
        assert line.opts["symbol"] == "o"


def test_the_numbers_of_an_axis_have_equally_many_decimals_and_a_minus_on_either_side(qtbot):
    left = Marks("share", "line", (0.0, 2.0), (0.0, 0.35))
    right = Marks("V", "line", (0.0, 2.0), (-2.0, 2.0), axis="right")
    view = shown(qtbot, left, right)
    for side in ("left", "right"):
        numbers = numbers_of(view, side)
        assert len({len(number.partition(".")[2]) for number in numbers}) == 1, numbers
        assert not any("-" in number for number in numbers)
    assert any(number.startswith("−") for number in numbers_of(view, "right"))


def test_a_chart_over_steps_has_whole_numbers_below_it(qtbot):
    one = Marks("bound", "line", (0.0,), (0.5,))
    assert not any("." in number for number in numbers_of(shown(qtbot, one, x_title="step"), "bottom"))
    assert any("." in number for number in numbers_of(shown(qtbot, one, x_title="distance"), "bottom"))


def test_a_saved_svg_can_be_opened_whatever_its_names_hold(qtbot, session, tmp_path):
    named = "me\0an \x1b</text><script>\ufffe & \U0001f600"
    view = shown(qtbot, Marks(named, "line", (0.0, 1.0), (1.5, 2.0)), Marks("bound", "vertical", (2.0,), ()))
    qtbot.waitUntil(lambda: not session.theme.dressing)
    write_plot(view, tmp_path / "chart.svg")
    elements = list(ElementTree.parse(tmp_path / "chart.svg").iter())
    assert not [element for element in elements if "script" in element.tag]
    assert "<script>" in "".join(element.text or "" for element in elements)


def test_a_chart_is_saved_on_white_with_its_legend_and_its_numbers(qtbot, session, tmp_path):
    session.theme.choose("dark")
    view = shown(qtbot, Marks("mean", "line", (0.0, 1.0), (1.5, NAN)), Marks("bound", "vertical", (2.0,), ()))
    qtbot.waitUntil(lambda: not session.theme.dressing)
    before = view.grab().toImage()
    for ending in ("png", "svg", "csv"):
        write_plot(view, tmp_path / f"chart.{ending}")
    assert (tmp_path / "chart.csv").read_text("utf-8").splitlines() == [
        "marks,x,value", "mean,0.0,1.5", "mean,1.0,", "bound,2.0,",
    ]  # fmt: skip
    words = (tmp_path / "chart.svg").read_text("utf-8")
    assert all(title in words for title in ("A chart", "mean", "bound"))
    picture = QImage(str(tmp_path / "chart.png"))
    assert picture.pixelColor(2, picture.height() - 2).name() == "#ffffff"
    assert view.grab().toImage() == before, "the window keeps its own colours"
    session.theme.choose("light")
