"""Trustworthiness and continuity against scikit-learn's."""

import numpy as np
import pytest
from sklearn.manifold import trustworthiness

from workbench.projection import trust as module
from workbench.projection.trust import trust


@pytest.mark.parametrize("neighbours", [1, 5, 15])
def test_equals_scikit_learn_both_ways(neighbours, monkeypatch):
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(80, 6))
    points = (vectors @ rng.normal(size=(6, 2))).astype(np.float32)
    monkeypatch.setattr(module, "BLOCK", 1_000)
    found = trust(vectors, points, neighbours)
    assert found.trustworthiness == pytest.approx(trustworthiness(vectors, points, n_neighbors=neighbours), abs=1e-9)
    assert found.continuity == pytest.approx(trustworthiness(points, vectors, n_neighbors=neighbours), abs=1e-9)
    assert (found.neighbours, found.queries) == (neighbours, 80)


def test_a_faithful_map_is_trusted_and_a_random_one_is_not():
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(200, 2)) + 1_000
    assert trust(vectors, vectors).trustworthiness == 1
    assert trust(vectors, rng.normal(size=(200, 2))).trustworthiness < 0.6


def test_a_sample_of_queries_stands_for_all(monkeypatch):
    rng = np.random.default_rng(2)
    vectors = rng.normal(size=(600, 5))
    exact = trust(vectors, vectors[:, :2])
    monkeypatch.setattr(module, "PAIRS", 600 * 200)
    sampled = trust(vectors, vectors[:, :2], seed=3)
    assert sampled.queries == 200
    assert sampled.trustworthiness == pytest.approx(exact.trustworthiness, abs=0.01)
    assert sampled == trust(vectors, vectors[:, :2], seed=3)
    assert sampled != trust(vectors, vectors[:, :2], seed=4)


@pytest.mark.parametrize(("count", "neighbours"), [(3, 1), (4, 1), (14, 6), (31, 15)])
def test_few_points_lower_k(count, neighbours):
    vectors = np.random.default_rng(3).normal(size=(count, 3))
    found = trust(vectors, vectors[:, :2])
    assert found.neighbours == neighbours
    assert 0 <= found.trustworthiness <= 1


def test_two_points_have_no_neighbourhood_and_copies_are_no_error():
    assert trust(np.eye(2), np.eye(2)) is None
    assert trust(np.ones((20, 3)), np.zeros((20, 2))).trustworthiness == 1
