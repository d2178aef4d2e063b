"""Scales of values: where they are drawn, the numbers of their axes, and which one shows all of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QColor

from workbench.ui.pages.compare.curves.band import Band, FaintLine
from workbench.ui.pages.train.geometry.lines_plot import Line, LinesPlot
from workbench.ui.plots.curve_plot import CurvePlot, Series
from workbench.ui.plots.value_scale import LINEAR, ValueScale, log_ticks, logarithmic, steep, written

SCALES = [LINEAR, ValueScale(log=True), ValueScale(log=True, near=0.01)]
PCE, CE = Series("pce", "PCE", "#009E73", dots=True), Series("ce", "CE", "#0072B2", dots=True)
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)  # Qt's offscreen platform, at every show


@pytest.mark.parametrize("scale", SCALES)
def test_a_height_is_that_of_its_value(scale):
    for value in (1e-6, 0.004, 1.0, 37.0, 2.5e8):
        assert scale.value(scale.height(value)) == pytest.approx(value, rel=1e-9)


def test_negative_values_are_mirrored_and_zero_is_between_them():
    scale = ValueScale(log=True, near=0.01)
    values = np.array([-1e9, -0.02, 0.0, 0.02, 1e9])
    heights = scale.heights(values)
    assert (np.diff(heights) > 0).all()
    np.testing.assert_array_equal(heights, -heights[::-1])
    assert scale.value(scale.height(-3.0)) == pytest.approx(-3.0)


@given(st.lists(st.floats(), max_size=6), st.booleans(), st.integers(2, 12))
def test_any_values_have_heights_and_any_range_is_without_an_error(values, with_zero, most):
    array = np.array(values)
    scale = logarithmic([array], with_zero=with_zero)
    heights = scale.heights(array[np.isfinite(array)])
    assert np.isfinite(heights).all()
    if len(heights) and scale.log:
        spare = 0.1 * (np.ptp(heights) or 1.0)  # as a plot leaves it
        marks = log_ticks(scale, heights.min() - spare, heights.max() + spare, most)
        assert all(np.isfinite(height) for height, _ in marks)
        assert len(marks) <= 30


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([2.3, 0.04], ValueScale(log=True)),
        ([2.3, 0.04, np.nan, np.inf], ValueScale(log=True)),
        ([2.3, -0.04], ValueScale(log=True, near=0.1)),
        ([0.0, 0.002], ValueScale(log=True, near=0.001)),
        ([0.0, np.nan], LINEAR),
        ([], LINEAR),
    ],
)
def test_a_logarithmic_scale_has_room_for_every_value(values, expected):
    scale = logarithmic([np.array(values)])
    assert scale == expected
    finite = np.array([value for value in values if np.isfinite(value)])
    assert np.isfinite(scale.heights(finite)).all()


def test_zero_has_a_place_where_it_is_shown():
    assert logarithmic([np.array([2.0, 3.0])], with_zero=True) == ValueScale(log=True, near=1.0)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([[2.3, 1.0, 0.2], [2.2, 0.04]], False),
        ([[2.3, 1.0, 0.2], [2.2, -2e8]], True),
        ([[0.0, 0.0, 0.0, 5.0]], False),
        ([[np.inf, 1.0, 2.0], [np.nan]], False),
        ([], False),
    ],
)
def test_values_are_steep_where_the_largest_hides_the_others(values, expected):
    assert steep([np.array(part) for part in values]) is expected


@pytest.mark.parametrize(
    ("scale", "ends", "most", "expected"),
    [
        (SCALES[1], (0.02, 3.0), 8, ["0.02", "0.05", "0.1", "0.2", "0.5", "1", "2"]),
        (SCALES[1], (0.02, 3.0), 5, ["0.03", "0.1", "0.3", "1", "3"]),
        (SCALES[1], (1e-9, 1e9), 5, ["10⁻⁹", "10⁻⁵", "0.1", "1,000", "10⁷"]),
        (SCALES[1], (2.301, 2.312), 4, ["2.305", "2.310"]),
        (SCALES[2], (-1e9, 12.0), 5, ["−10⁷", "−10,000", "−10", "0", "10"]),
        (SCALES[2], (-3e-3, 3e-3), 4, ["−0.002", "0.000", "0.002"]),
    ],
)
def test_an_axis_has_round_numbers_in_their_places(scale, ends, most, expected):
    low, high = (scale.height(end) for end in ends)
    marks = log_ticks(scale, low, high, most)
    assert [words for _, words in marks] == expected
    heights = [height for height, _ in marks]
    assert heights == sorted(heights)
    assert all(low - 1e-9 <= height <= high + 1e-9 for height in heights)
    gaps = np.diff(heights)
    assert gaps.min() > 0.4 * gaps.max(), "none is crowded, at 0 neither"


@given(st.floats(-1e12, 1e12), st.floats(1e-4, 1e12), st.integers(2, 12), st.sampled_from(SCALES[1:]))
def test_any_range_has_numbers_that_do_not_crowd(low, width, most, scale):
    bottom = low if scale.near else max(abs(low), 1e-9)
    ends = bottom, bottom + width * max(abs(low), 1e-3)
    marks = log_ticks(scale, scale.height(ends[0]), scale.height(ends[1]), most)
    assert len(marks) <= most + 2
    assert len({words for _, words in marks}) == len(marks)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (1e-12, "10⁻¹²"),
        (0.005, "5×10⁻³"),
        (0.02, "0.02"),
        (1.0, "1"),
        (10_000.0, "10,000"),
        (-2e8, "−2×10⁸"),
        (0.0, "0"),
    ],
)
def test_round_numbers_are_written_in_full_or_as_powers(number, expected):
    assert written(number) == expected


@pytest.fixture
def plot(qtbot):
    made = qtbot.addWidget(CurvePlot("Bound gap CE − PCE, nats", [CE, PCE], log_if_steep=True))
    made.resize(440, 260)
    made.show()
    qtbot.waitExposed(made)
    return made


def heights(plot, name):
    return plot.canvas.lines[name].raw.getOriginalDataset()[1]


def numbers(plot):
    """The numbers of the left axis."""
    axis = plot.canvas.item.getAxis("left")
    plot.canvas.take_range()
    low, high = axis.range
    (level,) = axis.tickValues(low, high, axis.height())
    return axis.tickStrings(level[1], 1.0, level[0])


def test_a_spike_makes_the_scale_logarithmic_until_the_plot_is_emptied(plot):
    plot.append("ce", [0, 5, 10], [2.3, 1.0, 0.5])
    plot.redraw()
    assert not plot.log
    assert heights(plot, "ce").tolist() == [2.3, 1.0, 0.5]

    plot.append("pce", [0, 5, 10], [2.2, -2.2e8, 0.4])
    plot.redraw()
    assert plot.log
    assert plot.log_action.isChecked()
    assert plot.describe().startswith("Bound gap CE − PCE, nats, on a logarithmic scale: CE goes from")
    assert heights(plot, "pce")[1] < 0 < heights(plot, "pce")[2] < heights(plot, "ce")[1] < 2.3
    said = numbers(plot)
    assert said[0].startswith("−10")
    assert "0" in said
    assert plot.table().index(1, 2).data() is not None
    assert plot.curves["pce"].values[1] == -2.2e8, "the table and the files have the value"

    plot.clear()
    assert not plot.log
    assert not plot.log_action.isChecked()
    plot.append("ce", [0, 5], [2.3, 1.0])
    plot.redraw()
    assert heights(plot, "ce").tolist() == [2.3, 1.0]


@pytest.mark.parametrize(
    "values",
    [[1e308, -1e308, 1.0], [5e-324, 1e308, 2.0], [1e300, -1e-300, 3.0], [0.0, 0.0, 1e-320], [np.inf, np.nan, 1e308]],
)
def test_numbers_of_any_size_are_drawn(plot, values):
    plot.append("ce", [0, 5, 10], values)
    for log in (False, True):
        plot.set_log(log)
        plot.redraw()
        plot.canvas.take_range()
        assert not plot.grab().isNull()
        assert len(heights(plot, "ce")) == 3


@pytest.mark.parametrize("log", [False, True])
def test_geometry_draws_numbers_of_any_size(log, qtbot):
    made = qtbot.addWidget(LinesPlot("Effective rank", "epoch", log=log))
    for values in ([1e308, -1e308, 1.0], [1e-320, 0.0, 0.0], [np.inf, np.nan, 1e308]):
        made.show_lines([Line("this run", np.arange(3.0), np.array(values), "#0072B2", dots=True)])
        assert not made.grab().isNull()


def test_what_the_user_chose_stays(plot):
    plot.append("ce", [0, 5, 10], [2.3, 1e6, 0.5])
    plot.redraw()
    assert plot.log
    plot.log_action.trigger()
    plot.redraw()
    assert not plot.log
    assert heights(plot, "ce").tolist() == [2.3, 1e6, 0.5]
    plot.clear()
    plot.append("ce", [0, 5, 10], [2.3, 1e7, 0.5])
    plot.redraw()
    assert not plot.log

    plot.log_action.trigger()
    plot.clear()
    assert plot.log


def test_a_hidden_curve_does_not_count(plot):
    plot.append("ce", [0, 5, 10], [2.3, 1.0, 0.5])
    plot.legend["pce"].click()
    plot.append("pce", [0, 5, 10], [2.2, 2.2e8, 0.4])
    plot.redraw()
    assert not plot.log


def test_a_limit_and_what_stands_behind_follow_the_scale(plot):
    band = Band(np.arange(3.0), np.array([-1.0, 0.5, 1.0]), np.array([1.0, 2.0, 300.0]), QColor("black"))
    line = FaintLine(np.arange(3.0), np.array([-2.0, np.nan, 4.0]), QColor("black"))
    for item in (band, line):
        plot.canvas.item.addItem(item)
    plot.canvas.show_limit(25.0, "25 GB")
    plot.append("ce", [0, 1, 2], [1.0, 2.0, 3.0])
    plot.set_log(True)
    plot.redraw()
    scale = plot.canvas.scale
    assert scale.near > 0, "the band goes below 0"
    assert band.boundingRect().bottom() == pytest.approx(scale.height(300.0))
    np.testing.assert_allclose(line.getOriginalDataset()[1], scale.heights(np.array([-2.0, np.nan, 4.0])))
    (limit,) = [item for item in plot.canvas.item.items if getattr(item, "angle", None) == 0]
    assert limit.value() == pytest.approx(scale.height(25.0))

    plot.set_log(False)
    plot.redraw()
    assert (band.boundingRect().bottom(), limit.value()) == (300.0, 25.0)
