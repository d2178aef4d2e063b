"""Maps laid over each other: against the least squares solution found by looking at every angle."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.projection.align import align, matched


def best_by_search(points, onto):
    """The least sum of squares over 7,200 angles, with and without reflection, in float64."""
    now, before = points - points.mean(0), onto - onto.mean(0)
    angles = np.linspace(0, 2 * np.pi, 7_200, endpoint=False)
    c, s = np.cos(angles), np.sin(angles)
    turns = np.stack([np.stack([c, s], 1), np.stack([-s, c], 1)], 1)
    flips = turns * np.array([1, -1])
    every = np.concatenate([turns, flips])
    return min((((now @ turn) - before) ** 2).sum() for turn in every)


@given(seed=st.integers(0, 10_000), flip=st.booleans(), angle=st.floats(-3, 3), shift=st.floats(-50, 50))
def test_a_turned_reflected_and_shifted_map_comes_back(seed, flip, angle, shift):
    onto = np.random.default_rng(seed).normal(size=(20, 2)) * (3, 1)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    moved = (onto * (1, -1 if flip else 1)) @ turn + shift
    points, others = align(moved, onto, moved[:3])
    np.testing.assert_allclose(points, onto, atol=1e-4)
    np.testing.assert_allclose(others, onto[:3], atol=1e-4)


def test_nothing_lies_nearer_and_distances_stay():
    rng = np.random.default_rng(1)
    points, onto = rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) * (5, 2) + 7
    found, none = align(points, onto)
    assert none is None
    assert ((found - onto) ** 2).sum() <= best_by_search(points, onto) + 1e-3
    assert np.linalg.norm(found[3] - found[9]) == pytest.approx(np.linalg.norm(points[3] - points[9]), abs=1e-5)


def test_rows_without_a_place_are_moved_and_not_fitted():
    rng = np.random.default_rng(2)
    onto = rng.normal(size=(12, 2))
    holes = onto.copy()
    holes[4] = np.nan
    found, _ = align(onto @ [[0, 1], [-1, 0]] + 3, holes)
    np.testing.assert_allclose(found, onto, atol=1e-5)
    kept, _ = align(onto, np.full((12, 2), np.nan))
    np.testing.assert_array_equal(kept, onto.astype(np.float32))


def test_places_are_found_by_sample_id():
    before = np.arange(6.0).reshape(3, 2)
    found = matched(np.array([7, 5, 9, 1]), np.array([9, 7, 3]), before)
    np.testing.assert_array_equal(found, np.array([[2, 3], [np.nan] * 2, [0, 1], [np.nan] * 2], np.float32))
    assert np.isnan(matched(np.array([1, 2]), np.empty(0, np.int64), np.empty((0, 2)))).all()
