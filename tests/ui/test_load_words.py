"""The figures of the System tab's charts, without a widget, and the widget that shows them."""

import numpy as np
import pytest

from workbench.ui.pages.train.system.costs import StepCost
from workbench.ui.pages.train.system.load_charts import CHARTS
from workbench.ui.pages.train.system.load_words import figures_of
from workbench.ui.plots.curve_plot import CurvePlot, Series

BY_TITLE = {chart.title: chart for chart in CHARTS}


@pytest.mark.parametrize(
    ("title", "values", "expected"),
    [
        ("GPU load, %", [[0.5, 0.7, 0.6]], ("60%", "mean 60, highest 70")),
        ("Power, W", [[200, np.nan, 212.4]], ("212 W", "mean 206, highest 212")),
        ("Disk read, MB/s", [[63e6, 4e5]], ("0.4 MB/s", "mean 32, highest 63")),
        ("Disk read, MB/s", [[16e4, 4e4, 0]], ("0 MB/s", "mean 0.07, highest 0.16")),
        (
            "Memory, GB", [[1e9, 1.5e9], [8e9, 8e9]],
            ("This run 1.5 GB", "This run mean 1.2, highest 1.5; All programs mean 8.0, highest 8.0"),
        ),
        ("Temperature, °C", [[]], ("", "")),
        ("Temperature, °C", [[np.nan]], ("", "")),
    ],
)  # fmt: skip
def test_the_last_value_and_the_course_of_a_chart(title, values, expected):
    chart = BY_TITLE[title]
    stored = {name: np.array(of_curve, float) for (name, *_), of_curve in zip(chart.curves, values, strict=False)}
    assert figures_of(chart, stored, None) == expected


def test_parts_of_a_step_say_the_whole_step_and_the_wait():
    cost = StepCost({"batch/feed_wait": 0.002, "system/forward": 0.018}, "", "")
    value, course = figures_of(BY_TITLE["Parts of a step, ms"], {}, cost)
    assert value == "20\u202fms"
    assert course == "wait for data 2\u202fms, 10% of a step"
    assert figures_of(BY_TITLE["Parts of a step, ms"], {}, None) == ("", "")


def test_a_plot_shows_the_figures_only_where_there_are_some(qtbot):
    plot = CurvePlot("GPU load, %", [Series("a", "GPU", "#0072B2")])
    qtbot.addWidget(plot)
    assert plot.value.isHidden()
    plot.tell("60%", "mean 60")
    assert (plot.value.text(), plot.value.isHidden(), plot.foot.isHidden()) == ("60%", False, False)
    plot.tell("", "")
    assert plot.foot.isHidden()
