"""Neighbours against a float64 search, and one search for all that ask."""

import numpy as np
import pytest

from workbench.projection.exact import Exact


@pytest.fixture(scope="module")
def vectors():
    """80 points far from 0, where float32 squares lose their digits."""
    return (np.random.default_rng(0).normal(size=(80, 6)) + 300).astype(np.float32)


def test_rows_and_squared_distances_are_those_of_float64(vectors):
    apart = ((vectors[:, None].astype(np.float64) - vectors) ** 2).sum(2)
    np.fill_diagonal(apart, np.inf)
    rows, squares = Exact(vectors).others(9)
    np.testing.assert_array_equal(rows, np.argsort(apart, axis=1)[:, :9])
    np.testing.assert_allclose(squares, np.sort(apart, axis=1)[:, :9], rtol=1e-4)


def test_other_vectors_find_their_nearest_points(vectors):
    rows, squares = Exact(vectors).nearest(vectors[[7, 3]] + 1e-3, 4)
    assert rows[:, 0].tolist() == [7, 3]
    assert rows.shape == squares.shape == (2, 4)
    assert (np.diff(squares) >= 0).all()


def test_fewer_neighbours_are_not_searched_again(vectors):
    told = []
    exact = Exact(vectors)
    many = exact.others(12, lambda *what: told.append(what))
    for few in (12, 5):
        for found, first in zip(exact.others(few, lambda *what: told.append(what)), many, strict=True):
            np.testing.assert_array_equal(found, first[:, :few])
    assert told == [("Searching neighbours", 0, 80)]
    assert exact.others(500)[0].shape == (80, 79)
    assert Exact(vectors[:1]).others(5)[0].shape == (1, 0)
