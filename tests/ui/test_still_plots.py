"""Plots of Compare without zoom: what they copy and save, on white also where the window is dark."""

import pytest
from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QFileDialog, QMainWindow

from tests.ui.plot_files import write_plot
from workbench.comparing.statistics.intervals import Interval
from workbench.ui.pages.compare.cost.cost_plot import CostPlot
from workbench.ui.pages.compare.difference.interval_plot import IntervalPlot
from workbench.ui.pages.compare.style.group_styles import styles

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
DARK_AND_LIGHT = ("dark", "light")


def intervals(qtbot) -> IntervalPlot:
    plot = qtbot.addWidget(IntervalPlot())
    plot.show_rows([("seed 1", Interval(1.5, 0.5, 2.5, 40)), ("all seeds", Interval(2.0, 1.0, 3.0, 2))], "Difference")
    return plot


def costs(qtbot) -> CostPlot:
    plot = qtbot.addWidget(CostPlot("Time against quality", "seconds of work"))
    first, second = styles([0, 1])
    plot.show_groups([("CE", first, [(1.0, 50.0), (2.0, 51.0)]), ("=ICE", second, [(3.0, 60.0)])], "MAP@R % ↑")
    return plot


@pytest.mark.parametrize("look", DARK_AND_LIGHT)
@pytest.mark.parametrize("make", [intervals, costs])
def test_the_picture_is_on_white_and_the_window_keeps_its_colours(qtbot, session, tmp_path, make, look):
    session.theme.choose(look)
    plot = make(qtbot)
    plot.resize(500, 300)
    plot.show()
    qtbot.waitUntil(lambda: not session.theme.dressing)
    plot.grab()  # axes make room for their numbers when they are painted first
    QCoreApplication.processEvents()
    before = plot.grab().toImage()
    write_plot(plot, tmp_path / "plot.png")
    picture = QImage(str(tmp_path / "plot.png"))
    corners = [(1, 1), (picture.width() - 2, picture.height() - 2)]
    assert {picture.pixelColor(*corner).name() for corner in corners} == {"#ffffff"}
    assert plot.grab().toImage() == before
    session.theme.choose("light")


def test_the_window_asks_for_the_file_because_a_plot_may_be_removed_meanwhile(qtbot, session, monkeypatch):
    window, plot = QMainWindow(), intervals(qtbot)
    qtbot.addWidget(window)
    window.setCentralWidget(plot)
    plot.wished.connect(session.fulfil)
    asking = []
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda parent, *words: asking.append(parent) or ("", ""))
    plot.ask_and_save()
    assert asking == [window]


def test_the_numbers_of_the_intervals(qtbot):
    plot = intervals(qtbot)
    plot.copy_table()
    assert QGuiApplication.clipboard().text().splitlines() == [
        "\tdifference\tlow_95\thigh_95\tn", "seed 1\t1.5\t0.5\t2.5\t40", "all seeds\t2.0\t1.0\t3.0\t2",
    ]  # fmt: skip


def test_a_picture_of_the_cost_names_its_groups_and_its_file_has_each_run(qtbot, tmp_path):
    plot = costs(qtbot)
    for ending in ("svg", "csv"):
        write_plot(plot, tmp_path / f"cost.{ending}")
    words = (tmp_path / "cost.svg").read_text("utf-8")
    assert all(title in words for title in ("Time against quality", "CE", "=ICE"))
    assert (tmp_path / "cost.csv").read_text("utf-8").splitlines() == [
        "group,seconds of work,MAP@R % ↑", "CE,1.0,50.0", "CE,2.0,51.0", "'=ICE,3.0,60.0",
    ]  # fmt: skip
