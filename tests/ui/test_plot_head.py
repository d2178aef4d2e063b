"""The head of a plot: its legend is next to the title where there is room, otherwise below it, and covers nothing."""

from itertools import combinations

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QToolButton

from tests.ui.plot_files import write_plot
from workbench.ui.plots.curve_plot import CurvePlot, Series
from workbench.ui.plots.export import SCALE
from workbench.ui.plots.file_head import HEAD, LINE
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


TWELVE = [Series(f"c{number}", f"Proxy-Anchor, embedding size {number}", "#0072B2") for number in range(12)]


@pytest.fixture
def folded(qtbot):
    """A plot of twelve curves whose legend needs many lines, and is folded to two."""
    made = CurvePlot(TITLE, [])
    made.head.fold_to(2)
    for series in TWELVE:
        made.add_series(series)
        made.append(series.name, [1, 2], [0.1, 0.2])
    made.follow_room()
    qtbot.addWidget(made)
    made.resize(560, 260)
    made.show()
    qtbot.waitExposed(made)
    return made


def in_sight(plot):
    return [name for name, entry in plot.legend.items() if entry.visibleRegion().boundingRect().isValid()]


def test_a_long_legend_is_folded_until_all_of_it_is_asked_for(folded, qtbot):
    assert folded.canvas.height() > 100
    few = in_sight(folded)
    assert 0 < len(few) < 12
    assert folded.head.more.text() == "All 12"
    for name, entry in folded.legend.items():
        assert (entry.focusPolicy() == Qt.FocusPolicy.NoFocus) == (name not in few), name
    assert folded.table().columnCount() == 13, "a folded curve keeps its numbers"
    height = folded.canvas.height()
    folded.head.more.click()
    qtbot.settle(folded)
    assert len(in_sight(folded)) == 12
    assert folded.head.more.text() == "Fewer"
    assert folded.canvas.height() < height
    assert all(entry.focusPolicy() != Qt.FocusPolicy.NoFocus for entry in folded.legend.values())
    boxes = [box(entry) for entry in [*folded.legend.values(), folded.head.more]]
    assert not any(first.intersects(second) for first, second in combinations(boxes, 2))


def test_a_legend_that_fits_has_no_button_for_the_whole(folded, qtbot):
    folded.drop_series()
    folded.rename("A title that is too long for the width of the plot, which has no curves now at all")
    qtbot.settle(folded)
    folded.add_series(TWELVE[0])
    qtbot.settle(folded)
    assert in_sight(folded) == ["c0"]
    assert not folded.head.more.visibleRegion().boundingRect().isValid()


def test_a_picture_has_the_whole_legend(folded, tmp_path):
    write_plot(folded, tmp_path / "plot.svg")
    words = (tmp_path / "plot.svg").read_text("utf-8")
    assert all(series.title in words for series in TWELVE)
    image = folded.image()
    assert image.width() == SCALE * folded.canvas.width()
    lines = (image.height() // SCALE - folded.canvas.height() - HEAD) // LINE + 1
    assert lines >= 4, "twelve titles need as many lines"
