"""The head of a plot: its legend is next to the title where there is room, otherwise below it, and covers nothing."""

from itertools import combinations

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QToolButton

from workbench.ui.plots.curve_plot import CurvePlot, Series
from workbench.ui.widgets.labels import ElidedLabel

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)  # Qt's offscreen platform, at every show
TITLE = "CE and SPCE on the probe, nats"


@pytest.fixture
def plot(qtbot):
    made = CurvePlot(TITLE, [Series("ce", "CE", "#0072B2"), Series("spce", "SPCE", "#D55E00")])
    qtbot.addWidget(made)
    made.resize(600, 300)
    made.show()
    qtbot.waitExposed(made)
    return made


def box(widget):
    return QRect(widget.parentWidget().mapToGlobal(widget.pos()), widget.size())


def title_of(plot):
    return next(shown for shown in plot.findChildren(ElidedLabel) if shown.text() == plot.title)


def is_beside(plot):
    """Whether every entry of the legend is on the title's line."""
    middle = box(title_of(plot)).center().y()
    lines = {box(entry).top() <= middle <= box(entry).bottom() for entry in plot.legend.values()}
    assert len(lines) == 1
    return lines.pop()


def is_whole(plot):
    title = title_of(plot)
    return title.width() >= title.fontMetrics().horizontalAdvance(title.text())


def test_a_legend_that_fits_is_next_to_the_title_and_the_curves_get_its_room(plot, qtbot):
    assert is_beside(plot)
    assert is_whole(plot)
    height = plot.canvas.height()
    plot.resize(320, 300)
    qtbot.settle(plot)
    assert not is_beside(plot)
    assert is_whole(plot)
    assert plot.canvas.height() < height


@pytest.mark.parametrize("width", [220, 280, 340, 400, 600])
@pytest.mark.parametrize("count", [1, 2, 7])
def test_nothing_of_the_head_covers_anything(qtbot, width, count):
    plot = CurvePlot(TITLE, [Series(str(n), f"Curve {n}", "#0072B2") for n in range(count)])
    qtbot.addWidget(plot)
    plot.tell("26.6 ms", "mean 3")
    plot.resize(width, 400)
    plot.show()
    qtbot.settle(plot)
    shown = [title_of(plot), plot.value, *plot.findChildren(QToolButton), plot.canvas]
    for first, second in combinations(shown, 2):
        assert not box(first).intersects(box(second)), (first, second)
    inside = QRect(plot.mapToGlobal(QPoint(0, 0)), plot.size())
    assert all(inside.contains(box(widget)) for widget in shown)


def test_a_longer_title_sends_the_legend_below_it(plot, qtbot):
    assert is_beside(plot)
    plot.rename(TITLE * 3)
    qtbot.settle(plot)
    assert not is_beside(plot)


def test_another_curve_sends_the_legend_below_and_without_curves_the_title_remains(plot, qtbot):
    plot.add_series(Series("pce", "PCE with a name that is much longer than the others", "#009E73"))
    qtbot.settle(plot)
    assert not is_beside(plot)
    plot.drop_series()
    qtbot.settle(plot)
    assert not plot.legend
    assert is_whole(plot)
    assert title_of(plot).isVisible()


def test_a_hidden_entry_takes_no_room(plot, qtbot):
    least = plot.legend["spce"].width()
    while is_beside(plot):
        plot.resize(plot.width() - least // 2, 300)
        qtbot.settle(plot)
    height = plot.canvas.height()
    plot.legend["spce"].hide()
    qtbot.settle(plot)
    assert plot.canvas.height() > height


def test_entries_have_room_for_their_names(plot):
    for entry in plot.legend.values():
        words = entry.fontMetrics().horizontalAdvance(entry.text())
        assert entry.width() >= entry.iconSize().width() + 4 + words
