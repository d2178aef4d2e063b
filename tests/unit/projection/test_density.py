"""Contours of density hold the share of the points that they say."""

import numpy as np
import pytest

from workbench.projection.density import contours
from workbench.ui.pages.map.model.spatial import inside


def test_each_contour_holds_its_share_of_the_points():
    random = np.random.default_rng(0)
    points = np.concatenate([random.normal(0, 1, (2000, 2)), random.normal((20, 0), 1, (2000, 2))])
    for contour in contours(points):
        held = np.zeros(len(points), int)
        for line in contour.lines:
            held += inside(points, line)
        assert (held % 2).mean() == pytest.approx(contour.share, abs=0.05)
    assert len(contours(points, (0.5,))[0].lines) >= 2, "a line around each of two clusters"
    assert all(np.array_equal(line[0], line[-1]) for contour in contours(points) for line in contour.lines)


@pytest.mark.parametrize("points", [np.zeros((0, 2)), np.zeros((50, 2)), np.full((50, 2), np.nan)])
def test_points_in_one_place_or_nowhere_have_no_contours(points):
    assert contours(points) == ()


def test_points_without_coordinates_are_left_out():
    points = np.random.default_rng(0).normal(size=(100, 2))
    more = np.concatenate([points, np.full((5, 2), np.nan)])
    assert all(
        np.array_equal(one, other)
        for first, second in zip(contours(points), contours(more), strict=True)
        for one, other in zip(first.lines, second.lines, strict=True)
    )
