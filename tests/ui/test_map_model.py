"""The model of the Map page, without a widget: what is wanted, shown, hidden, selected, played, brought into view."""

import ast
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_run import blobs, store_run

import workbench.ui.pages.map.model
from workbench.projection.axes import MEANS, Direction
from workbench.ui.pages.map import MapPage
from workbench.ui.pages.map.model.chain import Chain, Frame
from workbench.ui.pages.map.model.cluster_names import words_of
from workbench.ui.pages.map.model.groups import Groups
from workbench.ui.pages.map.model.map_data import MapData
from workbench.ui.pages.map.model.map_model import Camera, Change, MapModel
from workbench.ui.pages.map.model.method import MapMethod
from workbench.ui.pages.map.model.steps import Hiding, Selecting
from workbench.ui.pages.map.model.timeline import ONE_EPOCH, Timeline
from workbench.workspace import Workspace
from workbench.workspace.rows import Projection

ROOM = Path(workbench.ui.pages.map.model.__file__).parent
LABELS = np.repeat(np.arange(3), 4)
IDS = 100 + np.arange(12)
GROUPS = Groups(LABELS, ["ant", "bee", "cat"], np.full(3, 0xFF112233, np.uint32), labels=np.arange(3))


def stored(number, method="umap"):
    return Projection(number, number, method, {}, 0, None, {}, "", None, None, None, ())


def map_of(evaluation=3, method="umap", shift=0.0):
    """Three classes at (0, 0), (10, 0) and (20, 0), shifted to the right."""
    points = np.stack([10.0 * LABELS + shift, np.tile([0, 1, 2, 3], 3)], 1).astype(np.float32)
    return MapData(
        points, None, np.empty(0, np.int64), IDS, LABELS, np.ones(12), np.ones(12, bool), ("ant", "bee", "cat"),
        f"epoch {evaluation}", method, evaluation=evaluation,
        made=None if method == "pca" else stored(evaluation, method),
    )  # fmt: skip


def chain_of(count=3):
    maps = [map_of(number, shift=number) for number in range(1, count + 1)]
    frames = [
        Frame(data.evaluation, data.evaluation, data.evaluation, data.points, None, data.ap, data.right, None)
        for data in maps
    ]
    return Chain(IDS, tuple(frames), count)


@pytest.fixture
def model():
    made = MapModel()
    made.heard = []
    made.steps = []
    made.on_step = made.steps.append
    made.show_map(map_of())
    made.show_groups(GROUPS)
    made.listen(made.heard.append)
    return made


def test_the_request_is_what_the_analysis_process_takes(model):
    model.show_run(7, "l2")
    assert model.request["params"] == {"metric": "l2", "n_neighbors": 15, "min_dist": 0.1}
    model.choose_method(MapMethod("tsne", perplexity=12.0, max_points=500, seed=4))
    assert model.request == {
        "method": "tsne", "params": {"metric": "cosine", "perplexity": 12.0}, "seed": 4, "most": 500,
    }  # fmt: skip
    model.choose_method(replace(model.method, method="pca"))
    assert "most" not in model.request
    assert model.heard == [Change.WANTED] * 3


def test_isolating_goes_step_by_step_leaves_hidden_points_out_and_comes_back(model):
    assert not model.isolate(), "nothing is selected"
    model.select(IDS[:8])
    model.toggle(0)
    assert model.isolate()
    assert model.request["only"] == IDS[4:8].tolist()
    assert model.path == ["All", "4 selected"]
    assert model.isolate()
    assert model.path == ["All", "4 selected"], "the same points again are no step"
    model.back_to(0)
    assert "only" not in model.request


def test_a_group_is_hidden_shown_alone_and_all_again_each_a_step(model):
    model.toggle(1)
    assert model.hidden == {"bee"}
    assert model.visible.tolist() == (LABELS != 1).tolist()
    model.toggle(1)
    model.show_alone(2)
    assert model.hidden == {"ant", "bee"}
    model.show_alone(2)
    assert not model.hidden
    assert [step.words for step in model.steps] == [
        "hiding bee", "showing bee", "showing cat alone", "showing all groups",
    ]  # fmt: skip


def test_contours_are_of_the_points_that_are_shown_and_of_none_while_they_move(model):
    assert model.contoured is None, "they are off at first"
    model.draw_as(replace(model.look, contours=True))
    model.toggle(0)
    assert model.contoured.tolist() == model.map.points[LABELS != 0].tolist()
    model.show_chain(chain_of())
    model.go_to(0.5)
    assert model.contoured is None


def test_custom_axes_are_requested_by_label_and_another_data_set_has_none_of_them(model):
    model.choose_method(MapMethod("axes", x=Direction(MEANS, 2, 0)))
    assert model.request["params"] == {"metric": "cosine", "x": ["means", 2, 0], "y": ["component", 1, 0]}
    model.forget_classes()
    assert model.request["params"]["x"] == ["component", 0, 0]


def test_clusters_of_the_selection_are_named_by_their_majority_class_and_its_share(model):
    assert model.clusters == []
    model.select(IDS)
    points = np.array([[0.0, 0.0]] * 7 + [[5.0, 5.0]] * 4 + [[np.nan, 0.0]], np.float32)
    model.show_map(replace(map_of(), points=points))
    assert [(cluster.name, cluster.images) for cluster in model.clusters] == [("ant", 7), ("cat", 4)]
    assert model.clusters[0].purity == pytest.approx(4 / 7)
    said = words_of(model.clusters).splitlines()
    assert said == ["2 clusters on the map, by majority class:", "ant: 57.1% of 7 images", "cat: 75.0% of 4 images"]
    model.select(IDS[:1])
    assert not words_of(model.clusters), "one image is no cluster"


def test_a_double_click_is_one_step_and_two_clicks_are_two():
    click = Hiding("class", frozenset(), frozenset({"bee"}), "bee", False, "hiding bee")
    alone = Hiding("class", frozenset({"bee"}), frozenset({"ant", "cat"}), "bee", True, "showing bee alone")
    merged = click.merged(alone)
    assert (merged.before, merged.after, merged.words) == (frozenset(), frozenset({"ant", "cat"}), "showing bee alone")
    assert click.merged(click) is None
    assert alone.merged(alone) is None
    assert click.merged(replace(alone, group="ant")) is None


def test_hidden_groups_stay_hidden_by_name_but_never_all(model):
    model.toggle(0)
    model.show_groups(Groups(LABELS, ["cat", "ant", "bee"], GROUPS.colours))
    assert model.hidden_groups == {1}
    model.show_groups(Groups(np.zeros(12, int), ["ant"], GROUPS.colours[:1]))
    assert not model.hidden, "else nothing would be drawn"


def test_rows_are_added_and_removed_and_samples_that_are_not_on_the_map_stay_selected(model):
    model.select(np.array([5, 101]))
    assert model.selected.tolist() == [False, True, *[False] * 10]
    assert sorted(model.changed_rows(np.array([3]), "add")) == [5, 101, 103]
    assert sorted(model.changed_rows(np.array([1]), "remove")) == [5]
    assert model.changed_rows(np.array([3]), "replace").tolist() == [103]
    assert model.changed_ids(np.array([7]), "add").tolist() == [5, 7, 101]
    (step,) = model.steps
    assert isinstance(step, Selecting)
    assert step.words == "selecting 2 images"


def test_another_map_is_fitted_and_one_of_the_known_chain_is_not(model):
    model.show_chain(chain_of())
    model.heard.clear()
    model.show_map(map_of(2, shift=2))
    assert Change.CAMERA not in model.heard
    assert model.timeline.time == 1.0
    model.show_map(map_of(2, method="pca"))
    assert model.camera == Camera()
    assert Change.CAMERA in model.heard


def test_a_point_selected_alone_and_a_class_come_into_view(model):
    model.select(IDS[5:6])
    assert model.camera == Camera(row=5)
    model.look_at(model.map.points[model.rows_of_class(1)])
    left, low, right, high = model.camera.box
    assert left < 10 < right
    assert low < 0
    assert high > 3


def test_between_two_epochs_points_move_scores_are_the_nearer_and_all_epochs_stay_in_view(model):
    model.show_chain(chain_of())
    model.go_to(1.5)
    np.testing.assert_allclose(model.drawn.points, map_of(shift=2.5).points, atol=1e-5)
    assert model.camera == Camera((1.0, 0.0, 23.0, 3.0), widen=True)
    model.select(IDS[:2])
    rows, paths = model.trails()
    assert (rows.tolist(), paths.shape) == ([0, 1], (2, 3, 2))
    model.show_trails(False)
    assert not len(model.trails()[0])
    model.go_to(2.0)
    assert model.drawn is model.map


def test_scores_change_once_on_the_way_to_another_epoch(model):
    model.show_chain(chain_of())
    seen = []
    for time in (1.9, 1.6, 1.4, 1.2, 0.9):
        model.go_to(time)
        seen.append(model.scores_changed())
    assert seen == [False, False, True, False, False]


def test_no_map_has_no_rows_and_says_why(model):
    model.select(IDS[:2])
    model.clear("The embeddings are missing.")
    assert (model.map, model.problem, model.caption) == (None, "The embeddings are missing.", "")
    assert not model.selected.any()
    assert model.row(100) is None


# The timeline


def test_it_plays_by_the_clock_from_the_start_when_it_has_ended_and_settles_on_an_epoch():
    line = Timeline()
    line.play(0.0)
    assert not line.playing, "there is nothing to play"
    line.show((1, 2, 5), 4, 2.0)
    line.play(1_000.0)
    assert line.tick(1_000.0 + 0.5 * ONE_EPOCH)
    assert line.time == 0.5
    assert line.words == "Epoch 1 to 2"
    assert not line.tick(1_000.0 + 9 * ONE_EPOCH)
    assert line.words == "Epoch 5"
    line.time = 1.4
    assert (line.step(1), line.step(-1)) == (2.0, 1.0)
    assert line.settle() == 1
    assert line.missing == 1


# What holds for the whole page


@pytest.mark.parametrize("name", sorted(path.stem for path in ROOM.glob("*.py")))
def test_what_the_page_knows_needs_no_qt(name):
    tree = ast.parse((ROOM / f"{name}.py").read_text("utf-8"))
    names = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    assert not [each for each in names if each.startswith(("PySide6", "pyqtgraph", "workbench.ui.state.session"))]
    others = {each for each in names if each.startswith("workbench.ui") and "pages.map.model." not in each}
    assert others <= {"workbench.ui.state.selection.sample_rows", "workbench.ui.style.words"}


@pytest.mark.qt_log_ignore("propagateSizeHints")
def test_the_page_reads_nothing_from_the_disk_on_the_windows_thread(qtbot, session, analysis, workspace, monkeypatch):
    run = store_run(workspace, LABELS.repeat(3), embeddings=[blobs(LABELS.repeat(3), 0.5, 0)] * 2)
    window, reading, seen = threading.current_thread(), Workspace.reading, []

    def watched(self):
        frame = sys._getframe()
        while frame is not None and threading.current_thread() is window:
            name = frame.f_code.co_filename
            if "/pages/map/" in name.replace("\\", "/"):
                seen.append(f"{name}:{frame.f_lineno}")
                break
            if name.replace("\\", "/").endswith("ui/state/session.py"):
                break  # the session's own
            frame = frame.f_back
        return reading(self)

    monkeypatch.setattr(Workspace, "reading", watched)
    session.show_run(run.run_id)
    page = qtbot.shown(MapPage(session), 1100, 640)
    qtbot.waitUntil(lambda: page.model.chain is not None)
    page.commands.beside.trigger()
    qtbot.waitUntil(lambda: page.second.data is not None)
    session.show_evaluation(run.evaluations[0])
    qtbot.waitUntil(lambda: page.model.map.evaluation == run.evaluations[0])
    page.canvas.hovered.emit(3, page.canvas.place_of(3))
    session.select(run.ids[:3])
    qtbot.settle(page)
    assert seen == []
