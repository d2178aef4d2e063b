"""Rings with letters on a curve plot: where they are on each scale and axis, and when they are shown."""

import numpy as np
import pytest

from workbench.ui.plots.curve_plot import CurvePlot, Series
from workbench.ui.plots.rings import Crossing

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
CROSSING = Crossing("A", "pce", "ce", 10, 20, wrong=True)


@pytest.fixture
def plot(qtbot):
    made = CurvePlot("Bound, nats", [Series("ce", "CE", "#0072B2", dots=True), Series("pce", "PCE", "#009E73")])
    qtbot.addWidget(made)
    made.resize(440, 260)
    made.show()
    qtbot.waitExposed(made)
    made.append("ce", [0, 10, 20, 30], [1.0, 1.0, 1.0, 1.0])
    made.append("pce", [0, 10, 20, 30], [0.1, 0.1, 100.0, 0.1])
    made.show_crossings([CROSSING])
    made.redraw()
    return made


def letters(plot):
    texts = [item for item in plot.canvas.item.items if hasattr(item, "textItem") and item.isVisible()]
    return [(item.toPlainText(), item.pos().x(), item.anchor.x()) for item in texts]


def test_a_ring_is_where_the_drawn_lines_cross(plot):
    (ring,) = plot.rings()
    assert ring.x == pytest.approx(10 + 10 * 0.9 / 99.9)
    assert ring.y == pytest.approx(1.0)
    plot.set_log(True)
    plot.redraw()
    (ring,) = plot.rings()
    assert ring.x == pytest.approx(10 + 10 / 3), "halfway between 0.1 and 10 of the logarithm"
    assert ring.y == pytest.approx(0.0)


def test_a_ring_follows_the_bottom_axis(plot):
    plot.stand_over("epoch", lambda steps: steps / 10)
    (ring,) = plot.rings()
    assert ring.x == pytest.approx(1 + 0.9 / 99.9)


def test_a_ring_of_a_hidden_or_empty_curve_is_not_shown(plot):
    plot.legend["pce"].click()
    assert plot.rings() == []
    assert letters(plot) == []
    plot.legend["pce"].click()
    assert [letter for letter, *_ in letters(plot)] == ["A"]
    plot.show_crossings([])
    plot.redraw()
    assert letters(plot) == []


def test_cleared_curves_have_no_rings(plot):
    plot.clear()
    plot.redraw()
    assert plot.rings() == []
    assert letters(plot) == []


def test_a_letter_near_the_right_end_is_left_of_its_ring(plot):
    ((_, _, anchor),) = letters(plot)
    assert anchor < 0, "right of the ring"
    plot.append("pce", [40], [0.1])
    plot.append("ce", [40], [1.0])
    plot.show_crossings([Crossing("A", "pce", "ce", 40, 40, wrong=False)])
    plot.redraw()
    plot.canvas.fit()
    plot.canvas.take_range()
    ((letter, at, anchor),) = letters(plot)
    assert (letter, at) == ("A", 40)
    assert anchor > 1, "left of the ring"


def test_a_crossing_beside_undefined_values_has_no_ring(plot):
    plot.replace("pce", [0, 10, 20, 30], [0.1, np.nan, np.nan, 0.1])
    plot.redraw()
    assert plot.rings() == []
    plot.replace("pce", [0, 10, 20, 30], [-1.0, 0.0, 2.0, 0.1])
    plot.set_log(True)
    plot.redraw()
    assert len(plot.rings()) == 1
