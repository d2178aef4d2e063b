"""Ranges of curves that grow: they change seldom, and fit exactly once no more points come."""

import numpy as np
import pytest

from workbench.ui.plots.curve_plot import CurvePlot
from workbench.ui.plots.items import Series
from workbench.ui.plots.steady_view import roomy

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)  # Qt's offscreen platform, at every show


@pytest.mark.parametrize(
    ("wanted", "shown", "range_"),
    [
        (None, [0, 1], None),  # this axis is not to change
        ([0, 90], [0, 100], None),  # all of it is in view
        ([0, 110], [0, 100], [0, 121]),  # it grew to the right: a tenth of the width is left free there
        ([-10, 90], [0, 100], [-20, 100]),  # to the left; the other end stays
        ([-1, 90], [0, 100], None),  # its margin moves with its width: the curve itself is in view
        ([-1, 110], [0, 100], [-1, 121.1]),  # and needs no room at the left
        ([0, 50], [0, 100], [0, 50]),  # the view is much too wide
    ],
)
def test_a_range_that_holds_all_stays(wanted, shown, range_):
    assert roomy(wanted, shown) == (range_ if range_ is None else pytest.approx(range_))


@pytest.fixture
def plot(qtbot):
    plot = CurvePlot("Loss", [Series("loss", "CE", "#0072B2"), Series("acc", "Accuracy", "#E69F00", axis="right")])
    qtbot.addWidget(plot)
    plot.resize(500, 300)
    plot.show()
    return plot


def grow(plot, end):
    steps = np.arange(len(plot.curves["loss"]), end)
    plot.append("loss", steps, np.ones(len(steps)))
    plot.append("acc", steps, steps.astype(float))
    plot.canvas.came_to_light.emit()  # its turn to be painted


def right_end(plot):
    return plot.canvas.item.vb.viewRange()[0][1]


def test_a_growing_curve_has_spare_room_and_at_rest_none(plot, qtbot):
    grow(plot, 1001)
    exact = right_end(plot)
    assert 1000 <= exact < 1100, "the first points of a run are fitted exactly"
    grow(plot, 1101)
    roomy_end = right_end(plot)
    assert roomy_end > 1260
    grow(plot, 1151)
    assert right_end(plot) == roomy_end, "axes were drawn anew for points that were in view"
    qtbot.waitUntil(lambda: 1150 <= right_end(plot) < 1250)


@pytest.mark.parametrize(("place", "ends"), [(0, (-0.03, 1)), (8, (4, 12))])
def test_a_single_evaluation_has_an_axis_of_its_own_scale(plot, place, ends):
    plot.append("loss", [place], [1.0])
    plot.redraw()
    plot.canvas.fit()
    assert plot.canvas.item.vb.viewRange()[0] == pytest.approx(ends), "no epoch is before the first"


def ranges(plot):
    item = plot.canvas.item
    return [view.viewRange() for view in (item.vb, item.getAxis("right").linkedView())]


def test_new_points_change_both_ranges_before_the_paint_which_would_be_repeated_for_a_change(plot):
    grow(plot, 1001)
    before = ranges(plot)
    grow(plot, 1301)
    redrawn = ranges(plot)
    assert not plot.canvas.grab().isNull()
    assert ranges(plot) == redrawn
    assert all(now != then for now, then in zip(redrawn, before, strict=True))


def test_another_curve_is_fitted_exactly_at_once(plot):
    grow(plot, 1001)
    grow(plot, 1101)
    plot.clear()
    plot.append("loss", [0, 10], [1.0, 1.0])
    plot.redraw()
    plot.canvas.fit()
    assert right_end(plot) < 11


def test_a_zoom_stays_while_points_arrive(plot):
    grow(plot, 1001)
    plot.canvas.item.vb.setXRange(100, 200, padding=0)
    grow(plot, 1101)
    assert plot.canvas.item.vb.viewRange()[0] == pytest.approx([100, 200])


@pytest.mark.parametrize("value", [0.01, -300.0, 0.0])
def test_one_value_has_an_axis_of_its_own_size(plot, value):
    plot.append("loss", [1], [value])
    plot.redraw()
    plot.canvas.take_range()
    low, high = plot.canvas.item.vb.viewRange()[1]
    around = abs(value) / 2 or 0.5
    assert (low, high) == pytest.approx((value - around, value + around))


@pytest.mark.parametrize(("value", "least"), [(0.0, -0.2), (4.0, -0.5)])
def test_an_axis_that_starts_at_zero_has_nothing_below_where_all_values_are_alike(plot, value, least):
    plot.canvas.start_at_zero()
    plot.append("loss", [0, 1, 2], np.full(3, value))
    plot.redraw()
    plot.canvas.fit()
    plot.canvas.take_range()
    low, high = plot.canvas.item.vb.viewRange()[1]
    assert least < low <= 0
    assert high > value


@pytest.mark.parametrize(("value", "wanted"), [(100.0, (50, 101.5)), (99.0, (49.5, 101.5)), (0.0, (-0.015, 0.5))])
@pytest.mark.parametrize("right", [False, True], ids=["left", "right"])
def test_a_percentage_that_does_not_change_has_an_axis_without_what_is_impossible(plot, value, wanted, right):
    plot.canvas.show_percent(right=right)
    plot.append("acc" if right else "loss", [0, 1, 2], np.full(3, value))
    plot.redraw()
    plot.canvas.fit()
    plot.canvas.take_range()
    assert ranges(plot)[right][1] == pytest.approx(wanted, abs=0.1)


def test_percentages_that_come_up_to_the_end_leave_room_for_the_line_and_no_more(plot):
    plot.canvas.show_percent()
    plot.append("loss", np.arange(1000), np.linspace(20, 100, 1000))
    plot.redraw()
    plot.canvas.take_range()
    plot.append("loss", np.arange(1000, 1100), np.linspace(0, 100, 100))
    plot.redraw()
    plot.canvas.take_range()
    low, high = plot.canvas.item.vb.viewRange()[1]
    assert -3.01 <= low <= 0
    assert 100 <= high <= 103.01


def test_a_logarithmic_axis_of_percentages_keeps_its_range(plot):
    plot.canvas.show_percent()
    plot.append("loss", [0, 1, 2], [0.01, 1.0, 90.0])
    plot.set_log(True)
    plot.redraw()
    plot.canvas.take_range()
    low, _ = plot.canvas.item.vb.viewRange()[1]
    assert low <= -2, "the heights are powers of ten"
