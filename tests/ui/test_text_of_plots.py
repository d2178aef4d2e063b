"""Text of another size: the words of plots follow it, before and after they are made, and nothing is cut."""

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontInfo, QFontMetrics, QPainter, QPixmap
from PySide6.QtWidgets import QPushButton, QWidget

from workbench.charts import Chart, Marks
from workbench.ui.pages.compare.difference.interval_plot import IntervalPlot
from workbench.ui.pages.compare.style.word_table import WordTable, table_view
from workbench.ui.pages.retrieval.deployment.plots import NEUTRAL, beside_threshold
from workbench.ui.pages.train.anatomy.panel import AnatomyPanel
from workbench.ui.pages.train.curves.curves import Curves
from workbench.ui.pages.train.geometry import lines_plot
from workbench.ui.pages.train.geometry.axes import NEGATIVE, POSITIVE
from workbench.ui.pages.train.geometry.lines_plot import Line, LinesPlot
from workbench.ui.pages.train.method import MethodPanel
from workbench.ui.plots.canvas import BOTTOM_PX, LEAST_PX
from workbench.ui.plots.chart_view import ChartView
from workbench.ui.plots.curve_plot import CurvePlot, Series
from workbench.ui.plots.painted_plot import LEAST
from workbench.ui.preferences import Preferences
from workbench.ui.style import theme
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.scrolled import ScrolledPart
from workbench.ui.window.frame.focus_ring import WIDTH

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
TABS = ((930, 330), (600, 250), (1100, 520))  # px of a tab of Train: 1280 x 720, beside an inspector, 1440 x 900
KINDS = {"curves": lambda: Curves(Preferences()), "anatomy": lambda: AnatomyPanel(Preferences()), "method": MethodPanel}
MAKERS = {
    "curves": lambda: CurvePlot("Loss", [Series("loss", "Loss", "#0072B2")]),
    "chart": lambda: ChartView("Angles"),
    "still": IntervalPlot,
}


def axis_of(plot, side):
    return (plot.canvas.item if isinstance(plot, CurvePlot) else plot.plot.getPlotItem()).getAxis(side)


def sizes(plot):
    """px of the ticks and names of the axes."""
    fonts = [
        font
        for side in ("left", "bottom")
        for font in (axis_of(plot, side).style["tickFont"], axis_of(plot, side).label.font())
    ]
    return {QFontInfo(font).pixelSize() for font in fonts}


@pytest.mark.parametrize("kind", MAKERS)
def test_axes_follow_the_size_of_text(session, large, qtbot, kind):
    plot = qtbot.addWidget(MAKERS[kind]())
    plot.show()
    assert sizes(plot) == {theme.text_px(theme.CAPTION_PX)} != {theme.CAPTION_PX}
    session.theme.set_text_size(100)
    assert sizes(plot) == {theme.CAPTION_PX}
    session.theme.set_text_size(150)
    assert sizes(plot) == {theme.text_px(theme.CAPTION_PX)}


def test_the_axis_below_a_plot_has_room_for_larger_text(large, qtbot):
    plot = qtbot.addWidget(MAKERS["curves"]())
    assert axis_of(plot, "bottom").minimumHeight() >= 1.5 * BOTTOM_PX
    assert plot.canvas.minimumHeight() >= 1.5 * LEAST_PX


def test_a_painted_plot_grows_as_a_whole(session, large, qtbot):
    plot = qtbot.addWidget(LinesPlot("Effective rank", "epoch"))
    plot.show_lines([Line("this run", np.arange(3), np.arange(3.0), "#D55E00")])
    with qtbot.waitExposed(plot):
        plot.show()
    plot.resize(400, 300)
    picture = plot.picture
    assert (picture.minimumWidth(), picture.minimumHeight()) == tuple(round(1.5 * px) for px in LEAST)
    assert 1.5 * picture.area.width() == pytest.approx(picture.width())
    painted = []
    plot.paint = lambda painter, area, tokens: painted.append((painter.transform().m11(), area))
    picture.grab()
    assert painted == [(1.5, QRectF(0, 0, picture.width() / 1.5, picture.height() / 1.5))]
    assert picture.at(QPointF(30, 60)) == QPointF(20, 40)
    session.theme.set_text_size(100)
    assert (picture.minimumWidth(), picture.minimumHeight()) == LEAST
    assert picture.area == QRectF(picture.rect())


def filled(kind):
    """A panel of Train with values in every curve, so that all axes are there."""
    panel = KINDS[kind]()
    if isinstance(panel, MethodPanel):
        marks = tuple(Marks(f"class {name} and its nearest", "line", (0.0, 1.0), (0.0, 1.0)) for name in range(6))
        panel.show_steps([1])
        panel.show_charts([Chart(f"Chart {number}", "angle, degrees", marks) for number in range(4)])
        return panel
    if isinstance(panel, AnatomyPanel):
        panel.parts.shown()  # makes those of the losses
    for plot in panel.plots:
        for series in plot.series:
            plot.retitle(series.name, f"{series.title} (unit length × 20)")
            plot.append(series.name, [1, 2, 3], [1.0, 2.0, 3.0])
            plot.legend[series.name].show()  # also one that is hidden until a run has values
    return panel


def parts(panel):
    """(legend entries, what is drawn, its axis below) of each plot of a panel, top and bottom in px of their plot."""
    for plot in panel.charts if isinstance(panel, MethodPanel) else panel.plots:
        if isinstance(plot, ChartView):
            drawn = plot.plot
            entries = [entry for entry in plot.legend.findChildren(QWidget) if entry.parent() is plot.legend]
            bottoms = [entry.mapTo(plot, entry.rect().bottomLeft()).y() for entry in entries]
        else:
            entries, drawn = list(plot.legend.values()), plot.canvas
            bottoms = [entry.geometry().bottom() for entry in entries]
        yield plot, bottoms, drawn


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("percent", [100, 150])
def test_no_legend_and_no_axis_is_cut(session, large, qtbot, kind, percent):
    session.theme.set_text_size(percent)
    panel = qtbot.shown(filled(kind), *TABS[0])
    for size in TABS:
        panel.resize(*size)
        qtbot.deliver()
        if kind != "method":  # whose charts have no timers
            qtbot.settle(panel)
        for plot, bottoms, drawn in parts(panel):
            assert max(bottoms) < drawn.y(), "the legend's last line is cut"
            assert drawn.height() >= theme.text_px(LEAST_PX)
            assert drawn.geometry().bottom() < plot.height()
            assert axis_of(plot, "bottom").sceneBoundingRect().bottom() <= drawn.height()


@pytest.mark.parametrize("percent", [100, 150])
def test_the_frame_of_the_focus_covers_no_words_of_a_plot(session, large, qtbot, percent):
    session.theme.set_text_size(percent)
    loss, norm = Series("loss", "Loss", "#0072B2"), Series("norm", "Gradient norm", "#D55E00", axis="right")
    plot = qtbot.shown(CurvePlot("Batch loss", [loss, norm], "steps, jpg"), 420, 260)
    plot.replace("loss", range(100), np.linspace(0.0, 1.0, 100))
    plot.replace("norm", range(100), np.linspace(0.0, 1.0, 100))
    plot.redraw()
    qtbot.settle(plot)
    drawn = plot.canvas.grab().toImage()
    right, bottom = drawn.width() - WIDTH, drawn.height() - WIDTH
    framed = [
        (x, y) for x in range(drawn.width()) for y in range(drawn.height()) if x < WIDTH or x >= right or y >= bottom
    ]
    assert {drawn.pixelColor(x, y).name() for x, y in framed} == {theme.current().plot_background.lower()}


def test_words_beside_a_high_or_low_limit_are_whole(qapp):
    metrics = QFontMetrics(QFont())
    area = QRectF(0, 0, 160, 100)
    for x in (2.0, 80.0, 158.0):
        left = beside_threshold(x, area, metrics)
        ends = {words: start + metrics.horizontalAdvance(words) for words, start in left.items()}
        assert left["different"] >= area.left()
        assert ends["different"] < left["same"] or x == 2.0
        assert ends["same"] <= area.right()


@pytest.mark.parametrize(("width", "line"), [(500, 0), (170, 1)])
def test_a_legend_that_would_meet_the_title_of_an_axis_goes_a_line_down(qapp, monkeypatch, width, line):
    tops = []
    monkeypatch.setattr(lines_plot, "paint_legend", lambda _painter, area, *_: tops.append(area.top()))
    plot = LinesPlot("Uniformity", "uniformity", "alignment ↓")
    plot.show_lines([Line("epochs", np.arange(3), np.arange(3.0), POSITIVE), Line("shown", [1], np.ones(1), NEGATIVE)])
    sheet = QPixmap(width, 200)
    painter = QPainter(sheet)
    plot.paint(painter, QRectF(0, 0, width, 200), theme.LIGHT)
    painter.end()
    assert tops == [13 * line]


@pytest.mark.parametrize("tokens", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
@pytest.mark.parametrize("colour", [POSITIVE, NEGATIVE, NEUTRAL])
def test_painted_lines_are_seen_on_both_grounds(tokens, colour):
    assert theme.contrast(theme.drawn(colour, tokens), tokens.plot_background) >= 3


def test_part_of_a_column_scrolls_only_where_it_has_no_room(qtbot):
    choices, column = QWidget(), QWidget()
    in_column(*(QPushButton(f"Choice {number}") for number in range(12)), on=choices)
    part = ScrolledPart(choices)
    in_column(part, QPushButton("Export"), 1, on=column)
    qtbot.shown(column, 200, 800)
    assert part.height() == choices.sizeHint().height()
    assert part.verticalScrollBar().maximum() == 0
    column.resize(200, 150)
    qtbot.waitUntil(lambda: part.verticalScrollBar().maximum() > 0)


def test_the_columns_of_a_table_follow_its_width(qtbot):
    model = WordTable()
    view = qtbot.addWidget(table_view(model, "Queries"))
    model.show(["Query", "Class"], [["a/long/name.png", "bee"]])
    view.resize(120, 100)
    with qtbot.waitExposed(view):
        view.show()
    view.resize(600, 100)
    assert view.columnWidth(0) + view.columnWidth(1) == view.viewport().width()
    assert view.horizontalHeader().textElideMode() == Qt.TextElideMode.ElideMiddle
