"""Column by column, coordinates give what NumPy's reductions of rows give."""

import numpy as np
import pytest

from workbench.projection.coordinates import corners, has_coordinates


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_point_has_coordinates_if_all_of_them_are_finite(dims, kind):
    rng = np.random.default_rng(dims)
    points = rng.normal(size=(500, dims)).astype(kind)
    for value in (np.nan, np.inf, -np.inf):
        points[rng.integers(0, 500, 20), rng.integers(0, dims, 20)] = value
    assert np.array_equal(has_coordinates(points), np.isfinite(points).all(1))
    assert has_coordinates(points).any()
    assert not has_coordinates(points).all()
    assert has_coordinates(points[:0]).shape == (0,)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_corners_are_the_lowest_and_highest_coordinates(kind):
    points = np.random.default_rng(0).normal(size=(500, 3)).astype(kind)
    low, high = corners(points)
    assert low.dtype == high.dtype == kind
    assert np.array_equal(low, points.min(0))
    assert np.array_equal(high, points.max(0))
    points[7, 1] = np.nan
    assert np.isnan(corners(points)[0]).tolist() == [False, True, False]
