"""The tab for curves that no other tab shows: which they are, made when they are in sight, and found by name."""

import pytest

from workbench.ui.pages.train import other_curves
from workbench.ui.pages.train.other_curves import OtherCurves

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)  # Qt's offscreen platform, at every show


@pytest.fixture
def tab(qtbot):
    made = qtbot.addWidget(OtherCurves(lambda name: name == "batch/loss"))
    made.resize(900, 600)
    return made


def test_only_curves_that_are_shown_nowhere_else_are_taken(tab, qtbot):
    with qtbot.assertNotEmitted(tab.any_changed):
        tab.add([("batch/loss", 1, 2.0), ("system/seconds", 1, 0.1), ("test/recall@4", 1, 0.5), ("test/MAP@R", 1, 0.5)])
    with qtbot.waitSignal(tab.any_changed):
        tab.add([("mine/norm", 1, 4.0), ("test/accuracy", 1, 0.5), ("validation/MAP@R", 1, 0.5)])
    assert tab.names == ["mine/norm", "test/accuracy", "validation/MAP@R"]


def test_a_curve_of_the_loop_is_shown_whatever_its_name_begins_with(tab):
    tab.add([("system/forward", 1, 0.1), ("system/limit/gpu_memory", 1, 1.0), ("anatomy/ms/tightness", 1, 0.5)])
    tab.add([("system/queue", 1, 3.0), ("anatomy/of mine", 1, 0.5)])
    assert tab.names == ["anatomy/of mine", "system/queue"]


def test_plots_are_made_when_they_are_in_sight_and_follow_what_comes(tab, qtbot):
    tab.add([("mine/norm", 1, 4.0), ("validation/MAP@R", 1, 0.5)])
    assert tab.plots == ()
    tab.show()
    qtbot.waitUntil(lambda: len(tab.plots) == 2)
    tab.add([("mine/norm", 2, 5.0), ("validation/MAP@R", 2, 0.25)])
    norm, held_out = tab.plots
    assert (norm.title, held_out.title) == ("mine/norm", "Held-out MAP@R, %")
    assert norm.curves["mine/norm"].values.tolist() == [4.0, 5.0]
    assert held_out.curves["validation/MAP@R"].values.tolist() == [50.0, 25.0]


def test_a_metric_that_a_loop_logs_in_percent_stays_as_it_is(tab, qtbot):
    tab.add([("recall@1", 1, 0.8), ("MAP@R", 1, 30.0)])
    tab.show()
    qtbot.waitUntil(lambda: len(tab.plots) == 2)
    mean, recall = tab.plots
    assert (mean.title, recall.title) == ("MAP@R, %", "R@1, %")
    assert mean.curves["MAP@R"].values.tolist() == [30.0]
    assert recall.curves["recall@1"].values.tolist() == [80.0], "as a fraction, until another is above 1"
    tab.add([("recall@1", 2, 55.0), ("MAP@R", 2, 0.5)])
    qtbot.waitUntil(lambda: len(tab.plots) == 2 and tab.plots[1] is not recall)
    mean, recall = tab.plots
    assert mean.curves["MAP@R"].values.tolist() == [30.0, 0.5]
    assert recall.curves["recall@1"].values.tolist() == [0.8, 55.0]


def test_points_that_come_again_replace_those_of_a_curve_that_is_not_drawn_yet(tab, qtbot):
    tab.add([("mine/norm", step, float(step)) for step in (1, 2, 5, 9)])
    tab.add([("mine/norm", 4, 0.5), ("batch/loss", 4, 1.0), ("mine/norm", 6, float("nan")), ("mine/norm", 6, 7.0)])
    assert tab.curves["mine/norm"].steps.tolist() == [1, 2, 4, 6]
    tab.show()
    qtbot.waitUntil(lambda: len(tab.plots) == 1)
    assert tab.plots[0].curves["mine/norm"].values.tolist() == [1.0, 2.0, 0.5, 7.0]


def test_a_curve_is_found_by_its_name_or_its_title(tab, qtbot):
    tab.add([(f"mine/{number}", 1, 1.0) for number in range(7)] + [("validation/MAP@R", 1, 0.5)])
    tab.show()
    qtbot.waitUntil(lambda: len(tab.plots) == 8)
    tab.search.setText("held-out")
    assert [plot.title for plot in tab.plots if plot.isVisible()] == ["Held-out MAP@R, %"]
    assert tab.count.text() == "1 of 8 curves"
    tab.search.clear()
    assert all(plot.isVisible() for plot in tab.plots)
    assert tab.count.isHidden()


def test_no_more_plots_are_made_than_can_be_looked_at(tab, qtbot, monkeypatch):
    monkeypatch.setattr(other_curves, "MOST", 3)
    tab.add([(f"mine/{number}", 1, 1.0) for number in range(9)])
    tab.show()
    qtbot.waitUntil(lambda: len(tab.plots) == 3)
    assert tab.count.text() == "3 of 9 curves"
    tab.search.setText("mine/8")
    qtbot.waitUntil(lambda: [plot.title for plot in tab.plots if plot.isVisible()] == ["mine/8"])


def test_plots_of_earlier_searches_do_not_add_up(tab, qtbot, monkeypatch):
    monkeypatch.setattr(other_curves, "MOST", 2)
    monkeypatch.setattr(other_curves, "MOST_KEPT", 4)
    tab.add([(f"mine/{number}{letter}", 1, 1.0) for number in range(4) for letter in "ab"])
    tab.show()
    for number in range(4):
        tab.search.setText(f"mine/{number}")
        shown = [f"mine/{number}{letter}" for letter in "ab"]
        qtbot.waitUntil(lambda: [plot.title for plot in tab.plots if plot.isVisible()] == shown)  # noqa: B023
        assert len(tab.plots) <= 4
    tab.search.clear()
    qtbot.waitUntil(lambda: [plot.title for plot in tab.plots if plot.isVisible()] == ["mine/0a", "mine/0b"])


def test_another_run_begins_with_none(tab, qtbot):
    tab.add([("mine/norm", 1, 4.0)])
    tab.show()
    qtbot.waitUntil(lambda: len(tab.plots) == 1)
    with qtbot.waitSignal(tab.any_changed):
        tab.clear()
    assert (tab.names, tab.plots) == ([], ())
    tab.add([("mine/norm", 1, 7.0)])
    qtbot.waitUntil(lambda: len(tab.plots) == 1)
    assert tab.plots[0].curves["mine/norm"].values.tolist() == [7.0]
