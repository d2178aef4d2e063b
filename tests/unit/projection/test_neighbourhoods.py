"""Kept neighbours against a float64 count of pairs, and groups of a map that are none."""

import numpy as np
import pytest

from workbench.projection import exact
from workbench.projection import neighbourhoods as module
from workbench.projection.exact import Exact
from workbench.projection.neighbourhoods import doubts, kept_share, map_groups, map_neighbours
from workbench.projection.vectors import prepared


def nearest_sets(table, k):
    """The k nearest other rows of each, in float64, one pair at a time."""
    apart = np.linalg.norm(table[:, None].astype(np.float64) - table, axis=2)
    np.fill_diagonal(apart, np.inf)
    return [set(row) for row in np.argsort(apart, axis=1, kind="stable")[:, :k].tolist()]


@pytest.mark.parametrize("metric", ["cosine", "l2"])
@pytest.mark.parametrize("k", [1, 7, 15])
def test_the_kept_share_is_the_share_of_pairs(metric, k, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 16)
    rng = np.random.default_rng(k)
    vectors = prepared(rng.normal(size=(70, 5)) + 3, metric)
    points = vectors[:, :2] + 0.1 * rng.normal(size=(70, 2))
    wanted = [
        len(near & shown) / k for near, shown in zip(nearest_sets(vectors, k), nearest_sets(points, k), strict=True)
    ]
    found = kept_share(Exact(vectors).others(k)[0], map_neighbours(points, k)[0])
    np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_copies_and_few_points():
    copies = np.ones((40, 3), np.float32)
    rows = Exact(copies).others(15)[0]
    assert rows.shape == (40, 15)
    assert (rows != np.arange(40)[:, None]).all()
    assert map_neighbours(copies[:, :2], 15)[0].shape == (40, 15)
    assert Exact(copies[:3]).others(15)[0].shape == (3, 2)


def test_progress_is_told_and_may_end_the_work(monkeypatch):
    monkeypatch.setattr(exact, "BLOCK", 10)
    told = []
    Exact(np.eye(25, dtype=np.float32)).others(3, lambda *what: told.append(what[1:]))
    assert told == [(0, 25), (10, 25), (20, 25)]


@pytest.fixture
def groups():
    """Three tight groups of 60 in space, and their points."""
    rng = np.random.default_rng(0)
    of = np.repeat(np.arange(3), 60)
    vectors = (10 * np.eye(3, 6)[of] + rng.normal(size=(180, 6))).astype(np.float32)
    places = np.array([[0, 0], [40, 0], [0, 40]])[of] + rng.uniform(-3, 3, size=(180, 2))
    return vectors, of, places


def found_doubts(vectors, points):
    shown, farthest = map_neighbours(points)
    return doubts(points, Exact(vectors).others(15)[0], shown, farthest)


def test_true_groups_are_not_doubted(groups):
    vectors, of, places = groups
    shown, farthest = map_neighbours(places)
    assert len(np.unique(map_groups(places, shown, farthest))) == 3
    assert len(set(zip(map_groups(places, shown, farthest).tolist(), of.tolist(), strict=True))) == 3
    assert found_doubts(vectors, places) == ()


def test_a_group_torn_from_its_neighbours_is_doubted(groups):
    vectors, _, places = groups
    mixed = places[np.random.default_rng(1).permutation(180)]
    found = found_doubts(vectors, mixed)
    assert len(found) == 3
    assert all(each.stay < 0.5 and each.count == 60 for each in found)
    assert all(len(each.outline) >= 3 for each in found)


def test_two_groups_drawn_as_one_are_doubted(groups):
    vectors, of, places = groups
    merged = places.copy()
    merged[of == 1] = np.random.default_rng(2).uniform(-3, 3, size=(60, 2))
    (found,) = found_doubts(vectors, merged)
    assert (found.count, found.pieces) == (120, 2)
    assert found.stay == 1
    low, high = np.min(found.outline, axis=0), np.max(found.outline, axis=0)
    assert (low >= merged[of < 2].min(0) - 1e-6).all()
    assert (high <= merged[of < 2].max(0) + 1e-6).all()
    assert found.plain() == {"count": 120, "stay": 1.0, "pieces": 2, "outline": found.outline}


def test_small_groups_and_flat_maps_are_no_error(groups):
    vectors, _, places = groups
    assert found_doubts(vectors[:20], places[:20]) == ()
    assert found_doubts(vectors, np.zeros((180, 2)))[0].pieces == 3
    line = np.stack([np.arange(180.0), np.zeros(180)], 1)
    assert isinstance(found_doubts(vectors, line), tuple)
