"""The map over the epochs: slider, play, trails, mapping all, true neighbours and doubted groups, in a real page."""

from functools import partial

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from small_run import blobs, store_run

from tests.ui.pointing import choose
from workbench.problem import Problem
from workbench.ui.pages.map import MapPage, map_files
from workbench.ui.pages.map.colours.colouring import grouped
from workbench.ui.pages.map.epochs.time_bar import STEPS
from workbench.ui.pages.map.model.chain import BETWEEN, read_chain
from workbench.ui.pages.map.model.map_model import Change
from workbench.ui.pages.map.model.method import fits
from workbench.ui.pages.map.tools.doubts import sentence
from workbench.workspace.measured.stored_maps import Measured, longest_chain, maps_of, store_map

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
LABELS = np.repeat(np.arange(4), 10)
CORNERS = np.array([[0, 0], [10, 0], [0, 10], [10, 10]], np.float32)
UMAP = {"metric": "cosine", "n_neighbors": 15, "min_dist": 0.1}
WANTED = {"method": "umap", "params": UMAP, "seed": 0}


def place_of(step):
    """The map of one epoch: every class moves away from its corner by one to the right."""
    return CORNERS[LABELS] + np.float32([step, 0]) + np.random.default_rng(0).normal(size=(40, 2)).astype(np.float32)


def store_chain(workspace, evaluations, doubts=(), begin=None):
    """Maps of these evaluations, each from the one before; their numbers."""
    made = []
    for step, evaluation in enumerate(evaluations):
        measured = Measured(0.9, 0.8, 40, np.linspace(0, 1, 40).astype(np.float32), tuple(doubts))
        start = made[-1] if made else begin
        made.append(
            store_map(workspace, evaluation, "umap", UMAP, 0, place_of(step), CORNERS + step, {}, measured, start)
        )
    return made


@pytest.fixture
def run(workspace):
    return store_run(workspace, LABELS, embeddings=[blobs(LABELS, spread, 0) for spread in (1.2, 0.8, 0.4)])


def open_page(qtbot, session, run):
    session.show_run(run.run_id)
    page = qtbot.shown(MapPage(session), 900, 640)
    qtbot.waitUntil(lambda: page.model.map is not None and page.model.chain is not None)
    return page


@pytest.fixture
def page(qtbot, session, analysis, run, workspace):
    """The page on the last of three epochs, all of them mapped."""
    doubt = {"count": 12, "stay": 0.25, "pieces": 1, "outline": [(0, 0), (2, 0), (2, 2)]}
    store_chain(workspace, run.evaluations, [doubt])
    made = open_page(qtbot, session, run)
    qtbot.waitUntil(lambda: made.time.slider.isEnabled())
    return made


def hold(page, value):
    """Drag the slider there without letting it go."""
    page.time.slider.setSliderDown(True)
    page.time.slider.setValue(value)


# The chain


def test_places_between_two_frames_are_weighted_and_samples_keep_their_rows(workspace, run, page):
    chain = read_chain(workspace, page.model.map, WANTED)
    assert [each.epoch for each in chain.frames] == [1, 2, 3]
    assert chain.evaluations == 3
    for place, share in ((0.0, 0.0), (0.25, 0.15625), (0.5, 0.5), (1.0, 1.0), (2.0, 2.0)):  # 3 u^2 - 2 u^3
        points, proxies = chain.points_at(place)
        np.testing.assert_allclose(points - place_of(0), np.broadcast_to([share, 0], (40, 2)), atol=1e-5)
        np.testing.assert_allclose(proxies - CORNERS, share, atol=1e-5)
    assert chain.trails(np.array([3, 5]), 1.5).shape == (2, 3, 2)
    np.testing.assert_allclose(chain.trails(np.array([3]), 1.5)[0, -1], chain.points_at(1.5)[0][3])
    assert chain.trails(np.array([3]), 0.0).shape == (1, 1, 2)
    assert chain.frame_of(run.evaluations[1]) == 1
    assert chain.frame_of(-1) is None
    np.testing.assert_allclose(chain.box[:2], place_of(0).min(0), atol=1e-5)
    np.testing.assert_allclose(chain.box[2:], place_of(2).max(0), atol=1e-5)


def test_the_longest_chain_wins_and_of_equal_ones_the_newest(workspace, run):
    first, second, third = run.evaluations
    long = store_chain(workspace, [first, second])
    store_chain(workspace, [third])
    fitting = partial(fits, wanted=WANTED)
    assert [each.id for each in longest_chain(maps_of(workspace, run.run_id), fitting)] == long
    newer = store_chain(workspace, [second, third])
    assert [each.id for each in longest_chain(maps_of(workspace, run.run_id), fitting)] == newer
    assert longest_chain(maps_of(workspace, run.run_id), lambda made: False) == []


# The slider


def test_the_slider_stands_at_the_shown_epoch_and_the_caption_says_how_far_to_trust(page):
    assert (page.time.slider.value(), page.time.slider.maximum()) == (2 * STEPS, 2 * STEPS)
    assert page.time.words.text() == "Epoch 3"
    assert not page.time.every.isVisible()
    for words in ("trustworthiness 0.9000", "continuity 0.8000", "of 40 points", "starts from epoch 2"):
        assert words in page.caption.text()


def test_dragging_moves_points_and_letting_go_shows_the_nearest_epoch(qtbot, page, session, run):
    seen = page.canvas.box.viewRect()
    hold(page, STEPS // 2)
    np.testing.assert_allclose(page.canvas.data.points, place_of(0.5), atol=1e-4)
    np.testing.assert_allclose(page.canvas.data.proxies, CORNERS + 0.5, atol=1e-4)
    assert page.time.words.text() == "Epoch 1 to 2"
    assert page.caption.text() == f"40 of 40 test images   ·   {BETWEEN}"
    assert session.evaluation_id == run.evaluations[2], "nothing else is told before the slider is let go"
    page.time.slider.setValue(STEPS // 4)
    page.time.slider.setSliderDown(False)
    assert session.evaluation_id == run.evaluations[0]
    qtbot.waitUntil(lambda: page.model.map.evaluation == run.evaluations[0])
    np.testing.assert_allclose(page.canvas.data.points, place_of(0))
    assert page.canvas.box.viewRect().contains(seen), "the view stays, or grows to hold every epoch"


def test_every_point_stays_whole_in_view_at_every_moment(qtbot, session, analysis, run, workspace):
    number = None
    for step, evaluation in enumerate(run.evaluations):  # the clusters come together: the last fills the view
        points = place_of(0) * np.float32(4 - step)
        number = store_map(workspace, evaluation, "umap", UMAP, 0, points, None, {}, Measured(), number)
    page = open_page(qtbot, session, run)
    qtbot.waitUntil(lambda: page.time.slider.isEnabled())
    for value in (2 * STEPS - 1, STEPS, STEPS // 2, 0):
        hold(page, value)
        inner = page.canvas.rect().adjusted(10, 10, -10, -10)
        assert all(inner.contains(page.canvas.place_of(row).toPoint()) for row in range(40))


def test_letting_go_where_it_was_brings_the_map_back(page, session, run):
    hold(page, 2 * STEPS - 10)
    assert page.canvas.data is not page.model.map
    page.time.slider.setValue(2 * STEPS)
    page.time.slider.setSliderDown(False)
    assert page.canvas.data is page.model.map
    assert page.caption.text() == page.model.map.caption
    assert session.evaluation_id == run.evaluations[2]


def test_keys_step_and_the_slider_follows(qtbot, page, session, run):
    qtbot.keyClick(page.canvas, Qt.Key.Key_BracketLeft)
    qtbot.waitUntil(lambda: page.time.slider.value() == STEPS)
    assert session.evaluation_id == run.evaluations[1]
    qtbot.keyClick(page.time.slider, Qt.Key.Key_Left)
    assert session.evaluation_id == run.evaluations[0]
    qtbot.waitUntil(lambda: page.model.map.evaluation == run.evaluations[0])
    assert page.time.slider.value() == 0


@pytest.mark.parametrize("focus", ["canvas", "slider"])
def test_space_plays_and_pauses_and_arrows_step_where_the_focus_is(qtbot, page, session, run, focus):
    place = page.canvas if focus == "canvas" else page.time.slider
    place.setFocus()
    qtbot.waitUntil(place.hasFocus)
    qtbot.keyClick(place, Qt.Key.Key_Left)
    qtbot.waitUntil(lambda: page.model.map.evaluation == run.evaluations[1])
    qtbot.keyClick(place, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: page.model.map.evaluation == run.evaluations[2])
    qtbot.keyClick(place, Qt.Key.Key_Right)
    assert session.evaluation_id == run.evaluations[2], "there is none after the last"
    assert page.time.play_button.toolTip() == "Play the epochs (Space)"
    qtbot.keyClick(place, Qt.Key.Key_Space)
    assert page.model.timeline.playing
    assert page.time.play_button.toolTip() == "Pause (Space)"
    qtbot.keyClick(place, Qt.Key.Key_Space)
    assert not page.model.timeline.playing
    assert page.time.slider.value() % STEPS == 0


def test_space_stays_with_buttons_and_legend_and_keys_without_a_course_do_nothing(qtbot, page):
    page.time.trails.setFocus()
    qtbot.waitUntil(page.time.trails.hasFocus)
    qtbot.keyClick(page.time.trails, Qt.Key.Key_Space)
    assert not page.time.trails.isChecked()
    assert not page.model.timeline.playing
    page.time.timeline.show((), 0, 0.0)
    page.time.draw()
    page.canvas.setFocus()
    qtbot.keyClick(page.canvas, Qt.Key.Key_Space)
    assert not page.model.timeline.playing
    assert not any(action.isEnabled() for action in page.time.keys)
    assert all(action in page.actions() for action in page.time.keys), "for menu and shortcuts dialog"


def test_play_goes_from_the_start_to_the_end_and_stops(qtbot, page, session, run, monkeypatch):
    monkeypatch.setattr("workbench.ui.pages.map.model.timeline.ONE_EPOCH", 60.0)
    places = []
    page.model.listen(lambda change: change is Change.MOMENT and places.append(float(page.model.drawn.points[0, 0])))
    page.time.play_button.click()
    assert page.model.timeline.playing
    assert page.time.play_button.accessibleName() == "Pause"
    qtbot.waitUntil(lambda: not page.model.timeline.playing)
    assert places == sorted(places)
    assert page.time.slider.value() == 2 * STEPS
    assert session.evaluation_id == run.evaluations[2]
    assert page.time.play_button.accessibleName() == "Play the epochs"


def test_pause_settles_on_an_epoch_and_a_hidden_page_does_not_play(qtbot, page, session, run):
    page.time.play_button.click()
    page.time.play_button.click()
    assert not page.model.timeline.playing
    assert page.time.slider.value() % STEPS == 0
    assert session.evaluation_id in run.evaluations
    page.time.play()
    page.hide()
    assert not page.model.timeline.playing
    page.time.play()
    assert not page.model.timeline.playing


def test_scores_are_those_of_the_nearer_epoch(page, run, workspace):
    choose(page.colouring, page.colouring.findData("verdict"))
    hold(page, STEPS // 4)
    wanted = workspace.queries(run.evaluations[0])
    np.testing.assert_array_equal(page.canvas.data.right, wanted.right)
    np.testing.assert_allclose(page.canvas.data.ap, wanted.ap)
    assert page.canvas.groups.counts.tolist() == grouped(page.canvas.data, "verdict").counts.tolist()


def test_trails_are_those_of_the_selection(page, session):
    assert len(page.canvas.marks.trails) == 0
    session.select(page.model.map.ids[:7])
    assert page.canvas.marks.trails.shape == (7, 3, 2)
    hold(page, STEPS // 2)
    assert page.canvas.marks.trails.shape == (7, 2, 2)
    assert not page.canvas.grab().isNull()
    page.time.trails.click()
    assert len(page.canvas.marks.trails) == 0


# Mapping all


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_exports_have_the_trails_of_the_screen(qtbot, page, session, tmp_path, ending):
    session.select(page.model.map.ids[[0, 10, 20]])
    paper = map_files.on_paper(page.canvas, page.colours.groups(page.model.map))
    np.testing.assert_array_equal(paper.marks.trails, page.canvas.marks.trails)
    assert paper.marks.trails.shape == (3, 3, 2)
    paper.deleteLater()
    page.commands.pictures.setChecked(False)  # they may arrive between the two files
    sizes = []
    for name in ("with", "without"):
        path = tmp_path / f"{name}.{ending}"
        page.export_to(path)
        qtbot.waitUntil(path.exists)
        sizes.append(path.read_bytes())
        page.time.trails.setChecked(False)
    if ending == "png":
        drawn, plain = (QImage.fromData(each) for each in sizes)
        places = [(x, y) for x in range(0, drawn.width(), 2) for y in range(0, drawn.height(), 2)]
        assert sum(drawn.pixel(*place) != plain.pixel(*place) for place in places) > 20
    else:
        assert len(sizes[0]) > len(sizes[1])
    if ending == "svg":
        assert sizes[0].count(b"<polyline") == sizes[1].count(b"<polyline") + 6, "two steps for each of three points"


def test_every_epoch_is_mapped_on_request_alone(qtbot, session, analysis, run, workspace):
    made = store_chain(workspace, run.evaluations[:1])
    store_chain(workspace, run.evaluations[2:])
    page = open_page(qtbot, session, run)
    assert not page.time.slider.isEnabled()
    assert page.time.words.text() == "One map so far"
    assert page.time.every.isVisible()
    assert analysis.requests == []
    page.time.every.click()
    op, fields, on_progress, on_result, _ = analysis.requests[0]
    assert (op, fields["evaluation"], fields["method"]) == ("project_epochs", run.evaluations[2], "umap")
    on_progress({"text": "map 2 of 3: Optimising layout", "done": 150, "total": 300})
    assert page.time.words.text() == "Map 2 of 3"
    assert page.time.every.text() == "Cancel"
    store_chain(workspace, run.evaluations[1:], begin=made[0])
    on_result({"projections": [], "made": 2})
    qtbot.waitUntil(page.time.slider.isEnabled)
    assert page.time.slider.value() == 2 * STEPS
    assert not page.time.every.isVisible()


def test_in_a_read_only_workspace_no_epoch_is_mapped(qtbot, session, analysis, run, workspace):
    store_chain(workspace, run.evaluations[2:])
    workspace.read_only = True
    page = open_page(qtbot, session, run)
    assert page.time.every.isVisible()
    assert not page.time.every.isEnabled()
    assert page.time.every.toolTip().endswith("the workspace is read-only")


def test_mapping_all_can_be_cancelled_and_can_fail(qtbot, session, analysis, run, workspace):
    store_chain(workspace, run.evaluations[2:])
    page = open_page(qtbot, session, run)
    page.time.every.click()
    page.time.every.click()
    assert [analysis.requests[number][0] for number in analysis.cancelled] == ["project_epochs"]
    assert page.time.every.text() == "Map every epoch"
    said = []
    session.noticed.connect(said.append)
    page.time.every.click()
    analysis.requests[-1][4](Problem("Not enough memory."))
    assert str(said[-1]) == "Not enough memory."
    assert page.time.every.text() == "Map every epoch"


# Trust


def test_the_kept_share_is_a_colouring_and_stands_on_the_card(qtbot, page):
    groups = grouped(page.model.map, "kept")
    assert groups.names == [f"{low} to {low + 20}% kept" for low in range(0, 100, 20)]
    assert groups.counts.tolist() == [8] * 5
    page.canvas.hovered.emit(39, page.canvas.place_of(39))
    assert "100% of its true neighbours" in page.hover_card.words.text()
    page.canvas.hovered.emit(None, None)


def test_a_map_of_a_method_that_is_not_measured_says_which_are(qtbot, session, analysis, run):
    page = open_page(qtbot, session, run)
    assert grouped(page.model.map, "kept").names[-1] == "Measured on UMAP and t-SNE maps only"
    assert not page.doubts.isVisible()


def test_lines_lead_to_the_stored_neighbours(qtbot, page, workspace, run):
    page.canvas.marks.hover(5)
    page.canvas.hovered.emit(5, page.canvas.place_of(5))
    qtbot.waitUntil(lambda: len(page.canvas.marks.links) == 15)
    wanted = workspace.neighbours(run.run_id, int(page.model.map.ids[5]), page.model.map.evaluation)[:15]
    assert page.model.map.ids[page.canvas.marks.links].tolist() == [each.sample_id for each in wanted]
    assert not page.canvas.grab().isNull()
    page.canvas.hovered.emit(None, None)
    assert len(page.canvas.marks.links) == 0


def test_a_doubted_group_is_outlined_told_and_shown(page):
    assert page.doubts.isVisible()
    assert page.doubts.text() == "1 group is doubtful"
    (action,) = page.doubts.menu().actions()
    assert action.text() == "12 points look like a group, but 75% of their true neighbours lie elsewhere"
    action.trigger()
    view = page.canvas.box.viewRect()
    assert view.contains(0, 0)
    assert view.contains(2, 2)
    assert view.width() < 10
    two = {"count": 1_200, "stay": 1.0, "pieces": 2, "outline": []}
    assert sentence(two).startswith("1,200 points look like one group, but are 2")


def test_map_at_r_stands_over_the_slider_and_its_number_follows_the_shown_epoch(page, qtbot):
    line = page.time.scores
    assert page.model.timeline.scores == pytest.approx((0.11, 0.12, 0.13))
    assert line.isVisible()
    places = line.places()
    assert len(places) == 3
    assert places[0].y() > places[1].y() > places[2].y(), "higher is better"
    assert line.accessibleDescription() == "MAP@R at epoch 3: 13.0%"
    hold(page, 0)
    assert line.accessibleDescription() == "MAP@R at epoch 1: 11.0%, best at epoch 3: 13.0%"
    assert not line.grab().isNull()


def test_without_scores_or_with_one_map_there_is_no_curve(page):
    timeline = page.model.timeline
    timeline.show((1, 2, 3), 3, 0.0, (np.nan, 0.2, np.nan))
    page.time.draw()
    assert not page.time.scores.isVisible()
    assert (timeline.best, timeline.scores_in_words) == (1, "")
    timeline.show((), 3, 0.0)
    page.time.draw()
    assert not page.time.scores.isVisible()
