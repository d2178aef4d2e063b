"""The Curves tab of the Compare page with training scalars over steps."""

import numpy as np
import pytest
from PySide6.QtGui import QColor

from tests.ui.test_compare_page import shown, two_groups
from tests.ui.ticking import tick
from tests.unit.comparing.compared_runs import store, store_test
from tests.unit.comparing.test_training_curves import log
from workbench.config import TrainingParams
from workbench.ui.pages.compare.curves.band import Band
from workbench.ui.pages.compare.curves.panel import METRIC
from workbench.ui.plots.value_scale import LINEAR, logarithmic
from workbench.ui.widgets.scrolled import Scrolled

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
STEPS = np.arange(1, 1201)


def losses(workspace, runs):
    """A loss of each batch that falls, with noise; those of even runs are twice as large."""
    found = {}
    for run in runs:
        noise = np.random.default_rng(run).uniform(0.9, 1.1, len(STEPS))
        found[run] = (2 - run % 2) * noise * (1 + np.exp(-STEPS / 200))
        log(workspace, run, "batch/loss", STEPS, found[run])
    return found


def looked_at(qtbot, session, *runs):
    page = shown(qtbot, session)
    tick(qtbot, page, *runs)
    page.tabs.setCurrentWidget(page.tabs.curves)
    qtbot.waitUntil(lambda: not page.tabs.curves.drawing)
    return page


def choose(qtbot, page, name):
    box = page.tabs.curves.choice
    box.setCurrentIndex(box.findData(name))
    box.activated.emit(box.currentIndex())
    qtbot.waitUntil(lambda: not page.tabs.curves.drawing)


def choices(page):
    return [page.tabs.curves.choice.itemText(row) for row in range(page.tabs.curves.choice.count())]


@pytest.mark.parametrize(
    ("scalar", "title"), [("test/MAP@R", "MAP@R, test set %"), ("train/accuracy", "Training accuracy %")]
)
def test_a_logged_share_is_in_percent_as_the_metric_is(qtbot, session, workspace, scalar, title):
    two_groups(workspace, 1)
    for run in (1, 2):
        log(workspace, run, scalar, np.array([10, 20]), np.array([0.25, 0.5]))
    page = looked_at(qtbot, session, 1, 2)
    choose(qtbot, page, scalar)
    plot = page.tabs.curves.seeds.plot
    assert plot.title == f"{title} over steps, one seed"
    np.testing.assert_allclose(plot.curves["0"].values, [25, 50])


def test_a_share_that_one_program_logged_in_percent_is_beside_the_fractions_of_another(qtbot, session, workspace):
    two_groups(workspace, 1)
    log(workspace, 1, "recall@1", np.array([10, 20]), np.array([0.25, 0.5]))
    log(workspace, 2, "recall@1", np.array([10, 20]), np.array([30.0, 60.0]))
    page = looked_at(qtbot, session, 1, 2)
    choose(qtbot, page, "recall@1")
    curves = page.tabs.curves.seeds.plot.curves
    np.testing.assert_allclose([curves["0"].values, curves["1"].values], [[25, 50], [30, 60]])


def test_a_training_scalar_has_a_mean_a_band_and_each_run_and_the_metric_comes_back(qtbot, session, workspace):
    two_groups(workspace, 3)
    written = losses(workspace, range(1, 7))
    page = looked_at(qtbot, session, 1, 2)
    seeds = page.tabs.curves.seeds
    assert choices(page) == ["MAP@R over epochs", "Loss of each batch over steps"]
    metric = seeds.plot.curves["0"].values.copy()
    choose(qtbot, page, "batch/loss")
    assert seeds.plot.title == "Loss of each batch over steps, mean over 3 seeds"
    assert seeds.plot.canvas.item.getAxis("bottom").labelText == seeds.plot.x_title == "step"
    assert [each.title for each in seeds.plot.series] == ["Plain", "<b>Bold</b>"]
    for name, runs in (("0", (1, 3, 5)), ("1", (2, 4, 6))):
        binned = np.mean([written[run][::4].reshape(50, 6).mean(axis=1) for run in runs], axis=0)
        np.testing.assert_allclose(seeds.plot.curves[name].values, binned, rtol=1e-12)
        raw, band = seeds.behind[name]
        assert np.isnan(raw.xData).sum() == 3, "each run"
        assert isinstance(band, Band)
    assert "means over bins of 24 steps" in seeds.note.text()
    assert "a point every 4 steps at most" in seeds.note.text()
    seeds.plot.legend["0"].setChecked(False)
    assert not any(item.isVisible() for item in seeds.behind["0"])
    choose(qtbot, page, METRIC)
    np.testing.assert_array_equal(seeds.plot.curves["0"].values, metric)
    assert seeds.plot.title.startswith("MAP@R")
    assert seeds.plot.x_title == "epoch"


@pytest.mark.parametrize(("groups", "opacity"), [(4, 46), (12, 15)])
def test_bands_of_many_groups_are_fainter(qtbot, session, workspace, groups, opacity):
    """Twelve bands over each other hid the lines."""
    for number in range(groups):
        for seed in range(3):
            ap = np.full(6, 0.1 + 0.05 * number + 0.01 * seed)
            store(workspace, {0: ap / 2, 1: ap}, seed=seed, training=TrainingParams(lr=0.001 * (1 + number)))
    page = looked_at(qtbot, session, *range(1, 3 * groups + 1))
    bands = [item for items in page.tabs.curves.seeds.behind.values() for item in items if isinstance(item, Band)]
    assert [band.colour.alpha() for band in bands] == [opacity] * groups


@pytest.mark.parametrize("drawn", [METRIC, "batch/loss"])
def test_the_range_has_the_whole_band(qtbot, session, workspace, drawn):
    """The interval of three seeds that differ much goes beyond all of them."""
    for seed, score in enumerate((0.2, 0.5, 0.8)):
        run = store(workspace, {0: np.full(6, score), 1: np.full(6, score)}, seed=seed)
        log(workspace, run, "batch/loss", STEPS, np.full(len(STEPS), score))
    page = looked_at(qtbot, session, 1)
    choose(qtbot, page, drawn)
    seeds = page.tabs.curves.seeds
    _, band = seeds.behind["0"]
    assert isinstance(band, Band)
    bottom, top = seeds.plot.canvas.item.vb.viewRange()[1]
    assert bottom <= band.boundingRect().top() < 0
    assert top >= band.boundingRect().bottom()


def test_nothing_scrolls_where_a_longer_legend_or_a_lower_page_takes_room_of_the_plot(qtbot, session, workspace):
    runs = [
        store(workspace, {0: np.full(6, 0.5)}, training={"epochs": count}, name=f"{count} epochs of training")
        for count in range(1, 13)
    ]
    page = shown(qtbot, session)
    page.resize(1180, 760)
    curves = page.tabs.curves
    area = curves.findChild(Scrolled)
    for height, ticked in ((760, runs[:1]), (760, runs), (700, runs)):
        page.resize(1180, height)
        tick(qtbot, page, *ticked)
        qtbot.waitUntil(lambda: not curves.drawing)
        qtbot.settle(page)
        assert area.verticalScrollBar().maximum() == 0
        assert curves.seeds.height() == area.viewport().height(), "the plot has all the room below its legend"


def test_curves_over_steps_are_smoothed_by_a_slider_beside_their_choice_and_the_note_says_so(qtbot, session, workspace):
    two_groups(workspace, 1)
    losses(workspace, (1, 2))
    page = looked_at(qtbot, session, 1, 2)
    seeds = page.tabs.curves.seeds
    assert not seeds.smoother.isVisibleTo(page), "evaluations are never smoothed"
    choose(qtbot, page, "batch/loss")
    assert seeds.smoother.isVisibleTo(page)
    assert "smoothed" not in seeds.note.text()
    seeds.smoother.slider.setValue(90)
    qtbot.waitUntil(lambda: seeds.plot.canvas.lines["0"].smooth is not None)
    assert "means over bins of 24 steps, smoothed with weight 0.90. Shaded:" in seeds.note.text()
    seeds.plot.smoother.slider.setValue(50)  # of the plot's menu
    assert seeds.smoother.weight == 0.5
    assert "smoothed with weight 0.50" in seeds.note.text()
    choose(qtbot, page, METRIC)
    assert "smoothed" not in seeds.note.text()
    assert not seeds.smoother.isVisibleTo(page)


def test_the_choice_stays_while_the_ticked_runs_have_it(qtbot, session, workspace):
    two_groups(workspace, 1)
    losses(workspace, (2,))
    page = looked_at(qtbot, session, 1, 2)
    choose(qtbot, page, "batch/loss")
    assert "Without this value: run 1." in page.tabs.curves.seeds.note.text()
    assert [each.title for each in page.tabs.curves.seeds.plot.series] == ["<b>Bold</b>"]
    page.head.metric_box.setCurrentIndex(page.head.metric_box.findText("R@1"))
    page.head.metric_box.activated.emit(page.head.metric_box.currentIndex())
    qtbot.waitUntil(lambda: choices(page)[0] == "R@1 over epochs")
    assert page.tabs.curves.choice.currentData() == "batch/loss"
    qtbot.waitUntil(lambda: not page.tabs.curves.drawing)
    session.ticks.choose([])
    tick(qtbot, page, 1)
    qtbot.waitUntil(lambda: choices(page) == ["R@1 over epochs"])
    qtbot.waitUntil(lambda: not page.tabs.curves.drawing)
    assert page.tabs.curves.seeds.plot.title.startswith("R@1")


def test_a_run_that_diverged_is_said_and_leaves_a_gap(qtbot, session, workspace):
    two_groups(workspace, 1)
    log(workspace, 1, "probe/ce", [0, 5, 10], [2.0, np.nan, 1.0])
    page = looked_at(qtbot, session, 1)
    choose(qtbot, page, "probe/ce")
    seeds = page.tabs.curves.seeds
    np.testing.assert_array_equal(seeds.plot.curves["0"].values, [2.0, np.nan, 1.0])
    assert "Sometimes NaN or infinite, shown as a gap: run 1." in seeds.note.text()
    assert "at the steps that all runs of a group have" in seeds.note.text()


def test_the_band_follows_the_axis_into_powers_of_ten():
    band = Band(np.array([0.0, 1.0]), np.array([-1.0, 10.0]), np.array([100.0, 1000.0]), QColor("#000000"))
    assert (band.boundingRect().top(), band.boundingRect().bottom()) == (-1, 1000)
    band.take_scale(logarithmic([band.values()]))
    assert (band.boundingRect().top(), band.boundingRect().bottom()) == pytest.approx((-np.log10(2), np.log10(1001)))
    band.take_scale(LINEAR)
    assert (band.boundingRect().top(), band.boundingRect().bottom()) == (-1, 1000)


def test_a_curve_of_100_percent_has_an_axis_without_more_than_that(qtbot, session, workspace):
    store(workspace, {0: np.ones(6), 1: np.ones(6)})
    page = looked_at(qtbot, session, 1)
    choose(qtbot, page, METRIC)
    bottom, top = page.tabs.curves.seeds.plot.canvas.item.vb.viewRange()[1]
    assert 0 <= bottom < 100
    assert 100 <= top < 104


def test_tests_of_networks_have_what_helps_in_place_of_curves(qtbot, session, workspace):
    trained = [store(workspace, {1: np.full(6, 0.9), 2: np.full(6, 0.8)}, seed=seed, name="Trees") for seed in (0, 1)]
    for run in trained:
        store_test(workspace, run, np.full(9, 0.3), epoch=run, asked="best")
    page = shown(qtbot, session)
    tests = [run.id for run in workspace.runs() if run.tested is not None]
    session.ticks.choose(tests)
    curves = page.tabs.curves
    page.tabs.setCurrentWidget(curves)
    qtbot.waitUntil(lambda: curves.places.currentWidget() is curves.without)
    assert not curves.choice.isVisibleTo(curves)
    curves.without.queries.click()
    assert page.tabs.tabText(page.tabs.currentIndex()) == "Queries"
    curves.without.difference.click()
    assert page.tabs.tabText(page.tabs.currentIndex()) == "Difference"
    session.ticks.choose([*tests, trained[0]])
    page.tabs.setCurrentWidget(curves)
    said = "1 group of tests, with one evaluation each, cannot have a line."
    qtbot.waitUntil(lambda: curves.places.currentWidget() is curves.seeds and said in curves.seeds.note.text())
    session.ticks.choose(tests)
    qtbot.waitUntil(lambda: curves.places.currentWidget() is curves.without)
    curves.without.trainers.click()
    assert session.ticks.runs == frozenset(trained)
    qtbot.waitUntil(lambda: curves.places.currentWidget() is curves.seeds and not curves.drawing)
    assert said not in curves.seeds.note.text()
