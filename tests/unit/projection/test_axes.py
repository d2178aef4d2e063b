"""Custom axes: where embeddings lie between two classes, proxies or images, or along a principal component."""

import numpy as np
import pytest

from workbench.problem import Problem
from workbench.projection.axes import COMPONENT, MEANS, PROXIES, SAMPLES, Direction, axes
from workbench.projection.pca import fit_pca

LABELS = np.repeat([3, 5, 8], 4)
VECTORS = np.random.default_rng(0).normal(size=(12, 6)).astype(np.float32) + 3 * np.eye(6, dtype=np.float32)[LABELS % 6]
NONE = np.empty(0, np.int64)


def test_two_classes_lie_at_equal_distances_on_both_sides_of_zero():
    made = axes(VECTORS, LABELS, None, NONE, Direction(MEANS, 3, 5), Direction(COMPONENT, 0))
    across = made.transform(VECTORS)[:, 0]
    ends = [VECTORS[label == LABELS].mean(0) for label in (3, 5)]
    apart = np.linalg.norm(ends[0] - ends[1])
    assert across[LABELS == 3].mean() == pytest.approx(apart / 2, rel=1e-4)
    assert across[LABELS == 5].mean() == pytest.approx(-apart / 2, rel=1e-4)


def test_components_are_those_of_pca_and_any_two_can_be_chosen():
    made = axes(VECTORS, LABELS, None, NONE, Direction(COMPONENT, 0), Direction(COMPONENT, 1))
    np.testing.assert_allclose(made.transform(VECTORS), fit_pca(VECTORS).transform(VECTORS), atol=1e-5)
    assert made.angle == pytest.approx(90)
    other = axes(VECTORS, LABELS, None, NONE, Direction(COMPONENT, 2), Direction(COMPONENT, 3)).transform(VECTORS)
    spread = np.linalg.svd(VECTORS - VECTORS.mean(0), compute_uv=False)
    np.testing.assert_allclose(np.linalg.norm(other, axis=0), spread[2:4], rtol=1e-4)


def test_proxies_of_a_class_count_by_their_mean_and_the_angle_is_that_of_the_directions():
    proxies, of = np.eye(6)[:4], np.array([3, 3, 5, 8])
    made = axes(VECTORS, LABELS, proxies, of, Direction(PROXIES, 5, 8), Direction(PROXIES, 3, 8))
    places = made.transform(proxies)
    assert places[2, 0] == pytest.approx(-places[3, 0])
    expected = np.array([0, 0, 1, -1]) @ np.array([0.5, 0.5, 0, -1]) / np.sqrt(2 * 1.5)
    assert np.cos(np.radians(made.angle)) == pytest.approx(expected)


def test_two_samples_lie_at_equal_distances_on_both_sides_of_zero():
    ids = np.arange(100, 112)
    made = axes(VECTORS, LABELS, None, NONE, Direction(SAMPLES, 107, 101), Direction(SAMPLES, 103, 107), ids)
    across, up = made.transform(VECTORS).T
    half = np.linalg.norm(VECTORS[7] - VECTORS[1]) / 2
    assert (across[7], across[1]) == pytest.approx((half, -half), rel=1e-4)
    assert up[3] == pytest.approx(-up[7], rel=1e-4)


@pytest.mark.parametrize(
    ("direction", "says"),
    [
        (Direction(MEANS, 3, 3), "two different classes"),
        (Direction(MEANS, 3, 4), "no embedding"),
        (Direction(PROXIES, 3, 5), "no class vectors"),
        (Direction(COMPONENT, 40), "no principal component 41"),
        (Direction(SAMPLES, 100, 100), "two different images"),
        (Direction(SAMPLES, 100, 7), "not on this map"),
    ],
)
def test_what_is_no_axis_is_refused_with_what_to_do(direction, says):
    with pytest.raises(Problem, match=says):
        axes(VECTORS, LABELS, None, NONE, direction, Direction(COMPONENT, 0), np.arange(100, 112))
