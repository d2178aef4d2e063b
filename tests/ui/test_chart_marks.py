"""Charts of a method: marks that have no place are not given to pyqtgraph."""

import pyqtgraph as pg
import pytest

from workbench.charts import Chart, Marks
from workbench.ui.widgets.chart_view import ChartView

NAN, INF = float("nan"), float("inf")
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)


def items_of(qtbot, marks, kind):
    view = ChartView("A chart")
    qtbot.addWidget(view)
    view.show_chart(Chart("A chart", "x", (marks,)))
    (item,) = (item for item in view.plot.getPlotItem().items if isinstance(item, kind))
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
    assert line.dataBounds(1) == (None, None)
