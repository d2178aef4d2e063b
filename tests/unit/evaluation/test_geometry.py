"""Geometry of embeddings, against worked figures and definitions."""

import itertools

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from workbench.evaluation import geometry
from workbench.evaluation.geometry import (
    alignment_uniformity,
    class_distances,
    covering_radii,
    covering_radius,
    effective_rank,
)
from workbench.problem import Problem


def test_one_centre_is_the_sample_whose_farthest_is_nearest():
    line = np.array([[0.0], [4], [5], [10]])
    assert covering_radius(line) == 5
    np.testing.assert_allclose(covering_radii(line, centres=4), [[5, 5, 1, 0]])  # centres 5, then 0, 10 and 4
    assert covering_radius(line, centres=9) == 0


def test_radius_is_the_mean_over_classes():
    vectors = np.array([[0.0], [2], [100], [106], [112]])
    labels = np.array([7, 7, 3, 3, 3])
    np.testing.assert_allclose(covering_radii(vectors, labels, 2), [[6, 6], [2, 0]])
    assert covering_radius(vectors, labels) == 4


def test_greedy_is_at_most_twice_the_best():
    rng = np.random.default_rng(0)
    for _ in range(20):
        vectors = rng.normal(size=(9, 2))
        distances = cdist(vectors, vectors)
        radii = covering_radii(vectors, centres=3)[0]
        for count in (1, 2, 3):
            best = min(distances[list(c)].min(0).max() for c in itertools.combinations(range(9), count))
            assert best - 1e-12 <= radii[count - 1] <= 2 * best + 1e-12
        assert radii[0] == pytest.approx(distances.max(1).min())


def test_class_distances_are_means_over_pairs(monkeypatch):
    rng = np.random.default_rng(1)
    vectors, labels = rng.normal(size=(21, 3)) + 50, np.append(np.arange(20) % 3, 9)
    monkeypatch.setattr(geometry, "BLOCK", 100)
    found = class_distances(vectors, labels)
    distances = cdist(vectors, vectors)
    for a, b in itertools.product(range(3), range(3)):
        block = distances[np.ix_(labels == a, labels == b)]
        wanted = block.mean() if a != b else block.sum() / (len(block) * (len(block) - 1))
        assert found[a, b] == pytest.approx(wanted)
    assert np.isnan(found[3, 3])


def test_effective_rank_counts_even_directions():
    assert effective_rank(np.vstack([np.eye(4), -np.eye(4)])) == pytest.approx(4)
    assert effective_rank(np.outer(np.arange(5.0), [1, 2, 3])) == pytest.approx(1)
    assert effective_rank(np.full((6, 3), 0.1)) == 0
    assert effective_rank(np.ones((1, 3))) == 0


@pytest.mark.parametrize(("count", "rank"), [(30, 6), (30, 4), (400, 6), (400, 4), (400, 1)])
def test_effective_rank_is_that_of_the_singular_values_for_few_samples_and_for_many(count, rank):
    """Roy and Vetterli (2007): exp of the entropy of the singular values, of which `rank` are not zero."""
    rng = np.random.default_rng(count + rank)
    vectors = rng.normal(size=(count, rank)) @ rng.normal(size=(rank, 6)) + 3
    values = np.linalg.svd(vectors - vectors.mean(0), compute_uv=False)[:rank]
    share = values / values.sum()
    wanted = pytest.approx(np.exp(-np.sum(share * np.log(share))), rel=1e-9)
    assert effective_rank(vectors) == wanted
    assert effective_rank(np.column_stack([vectors, np.full(count, 2.0)])) == wanted, "a dead dimension counts nothing"


def test_alignment_and_uniformity_follow_their_definitions():
    rng = np.random.default_rng(2)
    vectors, labels = rng.normal(size=(15, 4)), np.arange(15) % 4
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    pairs = [(i, j) for i in range(15) for j in range(15) if i != j]
    squares = {(i, j): ((unit[i] - unit[j]) ** 2).sum() for i, j in pairs}
    alignment, uniformity = alignment_uniformity(vectors, labels)
    assert alignment == pytest.approx(np.mean([squares[p] for p in pairs if labels[p[0]] == labels[p[1]]]))
    assert uniformity == pytest.approx(np.log(np.mean([np.exp(-2 * squares[p]) for p in pairs])))
    assert np.isnan(alignment_uniformity(np.eye(3), np.arange(3))[0])
    assert np.isnan(alignment_uniformity(np.eye(1), np.arange(1))).all()


def test_what_has_no_geometry_is_said():
    with pytest.raises(Problem, match="finite"):
        covering_radius(np.array([[np.nan]]))
    with pytest.raises(Problem, match="finite"):
        effective_rank(np.zeros((0, 2)))
    with pytest.raises(Problem, match="one label"):
        covering_radius(np.eye(2), np.arange(3))
    for centres in (0, 2.5, "2", None):
        with pytest.raises(Problem, match=f"a whole number of centres, 1 or more: got {centres!r}"):
            covering_radius(np.eye(2), centres=centres)
    with pytest.raises(Problem, match="no direction"):
        alignment_uniformity(np.zeros((2, 2)), np.zeros(2))
