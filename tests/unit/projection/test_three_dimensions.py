"""Maps of three dimensions: made, measured, laid over the one before, and stored."""

import numpy as np
import pytest

from tests.ui.small_run import blobs, store_run
from workbench.projection.chain import Wanted, draw, draw_all
from workbench.projection.islands import cells_of, clusters_in
from workbench.projection.maps import make_map
from workbench.projection.neighbourhoods import doubts, map_neighbours
from workbench.projection.pca import fit_pca
from workbench.projection.trust import trust
from workbench.workspace import Workspace

LABELS = np.repeat(np.arange(6), 20)
TABLE = blobs(LABELS, 0.3, 0, width=8)


def test_umap_fills_three_dimensions_and_keeps_classes_together():
    made = make_map(TABLE, TABLE[:3], "umap-3d", {"metric": "l2", "n_neighbors": 8}, seed=1)
    assert (made.points.shape, made.proxies.shape) == ((120, 3), (3, 3))
    assert np.linalg.matrix_rank(made.points - made.points.mean(0), tol=1.0) == 3
    np.testing.assert_allclose(made.proxies, made.points[:3], atol=1.5)
    near, _ = map_neighbours(made.points, 1)
    assert (LABELS[near[:, 0]] == LABELS).mean() > 0.95
    assert made.trust == trust(TABLE, made.points, seed=1)
    assert made.trust.trustworthiness > 0.95
    again = make_map(TABLE, TABLE[:3], "umap-3d", {"metric": "l2", "n_neighbors": 8}, seed=1)
    np.testing.assert_array_equal(made.points, again.points)


def test_pca_has_the_third_component_behind_the_two_of_the_plane():
    flat = make_map(TABLE, None, "pca", {"metric": "l2"})
    deep = make_map(TABLE, None, "pca-3d", {"metric": "l2"})
    np.testing.assert_allclose(deep.points[:, :2], flat.points, atol=1e-4)
    np.testing.assert_allclose(deep.points, fit_pca(TABLE, 3).transform(TABLE), atol=1e-4)
    assert deep.trust.trustworthiness > flat.trust.trustworthiness


def test_a_doubted_group_has_the_corners_of_its_hull_in_space():
    points = np.random.default_rng(0).normal(size=(60, 3))
    far = (np.arange(60)[:, None] + np.arange(20, 35)) % 60  # none of them is near on the map
    (doubt,) = doubts(points, np.concatenate([far[:30] % 30, 30 + far[30:] % 30]), *map_neighbours(points))
    assert doubt.pieces == 2
    assert {len(corner) for corner in doubt.outline} == {3}


def test_clusters_are_told_apart_by_the_third_coordinate_alone():
    points = np.random.default_rng(0).normal(size=(400, 3)) * 0.1
    points[250:, 2] += 1.2
    cells = cells_of(points, points)
    numbers = clusters_in(cells.number, cells.shape)
    assert set(numbers[:250][np.linalg.norm(points[:250], axis=1) < 0.2]) == {0}
    assert set(numbers[250:][np.linalg.norm(points[250:] - (0, 0, 1.2), axis=1) < 0.2]) == {1}


@pytest.mark.parametrize("method", ["umap-3d", "pca-3d"])
def test_the_chain_of_epochs_is_stored_with_three_columns_and_maps_of_two_stay_their_own(tmp_path, method):
    with Workspace(tmp_path / "w", create=True) as workspace:
        run = store_run(workspace, LABELS, embeddings=[TABLE, TABLE + 0.05])
        flat, _ = draw(workspace, run.evaluations[-1], Wanted("pca", {}, 0), None)
        wanted = Wanted(method, {"metric": "l2"}, 3)
        numbers, made = draw_all(workspace, run.evaluations[0], wanted)
        assert made == 2
        (before, _), (after, stars) = (workspace.coordinates(number) for number in numbers)
        assert before.shape == after.shape == (120, 3)
        assert stars.shape == (6, 3)
        spread = np.linalg.norm(after - after.mean(0), axis=1).mean()
        assert np.linalg.norm(after - before, axis=1).mean() < spread, "laid over the map before"
        assert draw_all(workspace, run.evaluations[0], wanted) == (numbers, 0)
        assert workspace.coordinates(flat)[0].shape == (120, 2)
        stored = workspace.projections(run.evaluations[-1])
        assert [projection.method for projection in stored] == ["pca", method]
        assert stored[-1].trustworthiness > 0.9
