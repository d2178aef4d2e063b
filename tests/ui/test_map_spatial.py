"""The grid over a map's points: what lies in a box, in an outline, and points that are no numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from workbench.ui.pages.map.model.spatial import SIDE, PointIndex, inside

coordinate = st.one_of(st.floats(-10, 10, width=32), st.sampled_from([np.nan, np.inf, 0.0, 1e-30]))


@settings(max_examples=80, deadline=None)
@given(
    arrays.arrays(np.float32, st.tuples(st.integers(0, 40), st.just(2)), elements=coordinate),
    st.lists(st.tuples(*[st.floats(-15, 15)] * 2), min_size=3, max_size=8),
)
def test_an_outline_holds_the_same_points_with_and_without_the_grid(points, outline):
    index, outline = PointIndex(points), np.array(outline)
    expected = np.flatnonzero(inside(points, outline))
    assert sorted(index.order[index.slots_inside(outline)].tolist()) == expected.tolist()


@pytest.mark.parametrize("reach", [0.3, 2.0, 3.9, 1e6])
def test_a_lasso_over_many_points_is_exact(reach):
    random = np.random.default_rng(1)
    points = random.normal(size=(20_000, 2)).astype(np.float32)
    angle = np.sort(random.uniform(0, 2 * np.pi, 60))
    outline = reach * random.uniform(0.4, 1, (60, 1)) * np.stack([np.cos(angle), np.sin(angle)], 1)
    index = PointIndex(points)
    found = np.zeros(len(points), bool)
    found[index.order[index.slots_inside(outline)]] = True
    assert (found == inside(points, outline)).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 500), st.tuples(*[st.floats(-4, 4)] * 4))
def test_a_box_gives_all_its_points_and_only_those_of_its_cells(count, sides):
    points = np.random.default_rng(count).normal(size=(count, 2))
    (left, right), (low, high) = sorted(sides[:2]), sorted(sides[2:])
    index = PointIndex(points)
    rows = index.order[index.slots_in((left, low, right, high))]
    x, y = points.T
    within = np.flatnonzero((x >= left) & (x <= right) & (y >= low) & (y <= high))
    assert set(within) <= set(rows)
    assert len(set(rows)) == len(rows)
    if len(rows):
        cell = (index.high - index.low) / SIDE + 1e-9
        assert (points[rows] >= np.array([left, low]) - cell).all()
        assert (points[rows] <= np.array([right, high]) + cell).all()


def test_points_without_a_place_are_left_out_and_the_order_is_the_same_every_time():
    points = np.array([[0, 0], [np.nan, 1], [2, 3], [np.inf, 0], [1, 1]], np.float32)
    index = PointIndex(points)
    assert sorted(index.order.tolist()) == [0, 2, 4]
    assert (index.low.tolist(), index.high.tolist()) == ([0, 0], [2, 3])
    assert (index.order == PointIndex(points).order).all()
    assert index.all_in((0, 0, 2, 3))
    assert not index.all_in((0, 0, 2, 2.9))


def test_points_of_one_cell_stand_in_no_order_of_the_data():
    index = PointIndex(np.zeros((1_000, 2)))
    assert len(index.slots_in((-1, -1, 1, 1))) == 1_000
    assert abs(np.corrcoef(index.order, np.arange(1_000))[0, 1]) < 0.1


def test_no_points_at_all():
    index = PointIndex(np.empty((0, 2)))
    square = np.array([[0, 0], [1, 0], [1, 1]], float)
    assert not len(index.slots_in((-1, -1, 1, 1)))
    assert not len(index.slots_inside(square))
