"""A map of three dimensions on the Map page: seen from a side, turned by mouse and keys, selected, exported."""

import csv
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt

from tests.ui.test_map import drag
from workbench.ui.pages.map import map_files
from workbench.ui.pages.map.colours.colouring import grouped
from workbench.ui.pages.map.model.chain import Chain, Frame
from workbench.ui.pages.map.model.map_data import MapData
from workbench.ui.pages.map.model.map_model import Change, MapModel
from workbench.ui.pages.map.model.method import MapMethod
from workbench.ui.pages.map.model.turning import Space, View, hull
from workbench.ui.pages.map.points.cloud import Cloud
from workbench.workspace.rows import Projection

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
THIRDS = (0, 0.3, 0.6)  # of the reach of the map
POINTS = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)


def in_space(points=POINTS, proxies=None):
    n = len(points)
    data = MapData(
        np.zeros((n, 2), np.float32), proxies, np.arange(0 if proxies is None else len(proxies)), np.arange(n),
        np.arange(n) % 2, np.ones(n, np.float32), np.ones(n, bool), ("a", "b"), "test", "pca-3d",
        space=Space(points, proxies),
    )  # fmt: skip
    return data.turned(View())


@pytest.mark.parametrize(("turn", "tilt"), [(0, 0), (30, 20), (-140, 75), (90, -90)])
def test_a_view_turns_and_neither_stretches_nor_reflects(turn, tilt):
    axes = View(turn, tilt).axes
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-6)
    assert np.linalg.det(axes) == pytest.approx(1, abs=1e-5)


def test_from_the_front_x_leads_right_y_up_and_z_to_the_viewer():
    np.testing.assert_allclose(View(0, 0).axes, np.eye(3), atol=1e-7)
    front = View(0, 0).moved(10, 0)
    assert front.axes[0][2] < 0, "turned to the right, what is at the front goes right"
    assert View(170, 0).moved(20, 100) == View(-170, 90)


def test_all_points_stay_in_the_ball_from_every_side_and_nan_stays_nan():
    points = POINTS.copy()
    points[3] = np.nan
    data = in_space(points, POINTS[:4] * 2)
    for turn in range(0, 360, 45):
        seen = data.turned(View(turn, 30))
        known = np.isfinite(seen.points).all(1)
        assert known.sum() == 49
        assert np.linalg.norm(seen.points[known], axis=1).max() <= seen.space.reach * 1.0001
        assert np.linalg.norm(seen.proxies, axis=1).max() <= seen.space.reach * 1.0001
        assert 0 <= np.nanmin(seen.depth) <= np.nanmax(seen.depth) <= 1
    assert seen.space.reach == data.space.reach


def test_the_hull_of_an_outline_is_its_outermost_corners():
    square = np.array([(0, 0), (2, 0), (2, 2), (0, 2), (1, 1), (0.5, 1.5)], float)
    assert {tuple(corner) for corner in hull(square).tolist()} == {(0, 0), (2, 0), (2, 2), (0, 2)}


def test_the_model_turns_the_map_and_says_when_it_rests():
    model, changes = MapModel(), []
    model.show_map(in_space())
    model.draw_as(replace(model.look, contours=True))
    model.listen(changes.append)
    before = model.map.points.copy()
    model.turn(40, 10, resting=False)
    assert model.view == View(70, 30)
    assert model.drawn is model.map
    assert not np.allclose(model.map.points, before)
    assert changes == [Change.MOMENT, Change.TRAILS]
    assert model.contoured is None, "no contours of points that move"
    model.turn(0, 0)
    assert len(model.contoured) == 50
    model.show_map(in_space(POINTS * 2))
    assert model.map.space.view == View(70, 30), "the next map is seen from the same side"


def test_points_are_drawn_from_the_back_to_the_front_and_the_foremost_is_clicked(qtbot):
    data, cloud = in_space(np.array([(0, 0, -1), (0, 0, 1), (0, 0, 0)], np.float32)), Cloud()
    data = data.turned(View(0, 0))
    cloud.show(data, grouped(data, "class"))
    assert cloud.foremost(np.array([0, 1, 2])) == 1
    assert cloud.boundingRect().width() == pytest.approx(2)


def test_the_table_has_z_only_for_maps_of_three_dimensions():
    deep = list(csv.DictReader(map_files.table(("", in_space(proxies=POINTS[:2]))).decode().splitlines()))
    assert list(deep[0]) == ["kind", "sample_id", "class", "x", "y", "z", "ap"]
    assert [float(deep[0][axis]) for axis in "xyz"] == pytest.approx(POINTS[0].tolist())
    assert deep[-1]["kind"] == "class vector"
    flat = replace(in_space(), space=None, depth=None)
    both = list(csv.DictReader(map_files.table(("deep", in_space()), ("flat", flat)).decode().splitlines()))
    assert (both[0]["z"] != "", both[-1]["z"]) == (True, "")


@pytest.fixture
def page(shown_map):
    return shown_map("pca-3d")


def test_a_drag_and_the_arrow_keys_turn_the_map(page, qtbot):
    assert page.canvas.data.space.points.shape == (40, 3)
    assert page.commands.tools["turn"].isChecked(), "in the place of Pan"
    before, reach = page.model.view, page.canvas.data.space.reach
    places = [page.canvas.mapFromScene(page.canvas.box.mapViewToScene(QPointF(share * reach, 0))) for share in THIRDS]
    drag(page.canvas, [(place.x(), place.y()) for place in places])
    dragged = page.model.view
    assert dragged.turn > before.turn
    assert dragged.tilt == pytest.approx(before.tilt, abs=0.5)
    page.canvas.setFocus()
    qtbot.keyClick(page.canvas, Qt.Key.Key_Down)
    assert page.model.view == dragged.moved(0, 10)
    np.testing.assert_array_equal(page.canvas.data.points, page.model.map.points)


def test_selection_names_and_tooltips_go_on_working_and_a_flat_map_pans_again(page, qtbot, session):
    page.commands.tools["rectangle"].trigger()
    box = page.canvas.cloud.boundingRect()
    corners = [box.topLeft(), box.topRight(), box.bottomRight(), box.bottomLeft()]
    page.canvas.box.outlined(np.array([(corner.x(), corner.y()) for corner in corners]), Qt.KeyboardModifier.NoModifier)
    assert len(session.selection) == 40
    row = int(np.argmax(page.canvas.data.depth))
    assert page.canvas.row_at(page.canvas.place_of(row)) is not None
    page.commands.tools["turn"].trigger()
    page.model.choose_method(MapMethod("pca"))
    qtbot.waitUntil(lambda: page.canvas.data.space is None)
    assert page.commands.tools["pan"].isChecked()
    assert not page.commands.tools["turn"].isEnabled()


def test_epochs_play_in_space_and_the_trails_follow_the_view():
    frames = [
        Frame(number, number, number, POINTS * number, None, np.ones(50), np.ones(50, bool), None) for number in (1, 2)
    ]
    chain = Chain(np.arange(50), tuple(frames), 2)
    model = MapModel()
    model.show_map(replace(in_space(POINTS * 2), evaluation=2, made=stored_map(2)))
    model.show_chain(chain)
    assert chain.box is None
    model.go_to(0.0)
    space = model.map.space
    np.testing.assert_allclose(model.drawn.points, space.places(POINTS), atol=1e-5)
    model.select(np.array([7]))
    model.turn(25, 5)
    rows, trails = model.trails()
    assert (rows.tolist(), trails.shape) == ([7], (1, 1, 2))
    np.testing.assert_allclose(trails[0, 0], model.drawn.points[7], atol=1e-5)
    np.testing.assert_allclose(model.drawn.points[7], model.map.points[7] / 2, atol=0.5 * space.reach)


def stored_map(number):
    return Projection(number, number, "umap-3d", {}, 0, 0.9, {}, "2026-11-23", 0.9, 50, None, False, ())


def test_a_flat_map_has_no_button_to_turn_it(qtbot, shown_map):
    page = shown_map("pca")
    assert page.tools["turn"].isHidden()
    assert page.tools["pan"].isVisible()
    page.model.choose_method(MapMethod("pca-3d"))
    qtbot.waitUntil(lambda: page.tools["turn"].isVisible())
