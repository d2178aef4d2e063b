"""The order in which to label, against the greedy rule written out plainly."""

import numpy as np
import pytest

from tests.unit.results.test_few_shot import clusters
from workbench.labelling import typical as module
from workbench.labelling.groups import gaps_between
from workbench.labelling.typical import typical_first
from workbench.results.stored import comparable


@pytest.mark.parametrize("distance", ["cosine", "l2", "hyperbolic"])
def test_each_next_image_lessens_the_sum_of_distances_most(distance):
    vectors = clusters(np.repeat(np.arange(5), 8), 1.0)
    vectors *= 0.8 / np.linalg.norm(vectors, axis=1).max()
    kept = comparable(vectors, distance)
    gaps = gaps_between(kept, kept, distance)
    similarity = np.random.default_rng(0).uniform(-0.9, -0.3, 40)
    left = 1 - similarity if distance == "cosine" else -similarity
    places = typical_first(vectors, distance, similarity)
    assert sorted(places) == list(range(1, 41))
    for row in np.argsort(places):
        gains = np.maximum(left - gaps, 0).sum(axis=1)
        assert gains[row] == pytest.approx(gains.max(), abs=1e-4)
        left = np.minimum(left, gaps[row])


def test_the_first_is_of_the_largest_cluster_that_no_labelled_image_is_near():
    labels = np.repeat(np.arange(3), [6, 5, 4])
    vectors = np.eye(3)[labels] + 0.01 * np.random.default_rng(0).normal(size=(15, 3))
    near_first = np.where(labels == 0, 1.0, 0.0)
    places = typical_first(vectors, "cosine", near_first)
    assert labels[np.argsort(places)[:2]].tolist() == [1, 2]


def test_of_very_many_images_a_draw_is_ordered(monkeypatch):
    monkeypatch.setattr(module, "MOST_RANKED", 10)
    vectors = clusters(np.repeat(np.arange(5), 5), 1.0)
    places = typical_first(vectors, "cosine", np.zeros(25))
    assert sorted(places) == [0] * 15 + list(range(1, 11))
    assert typical_first(vectors[:1], "cosine", np.zeros(1)).tolist() == [1]


def test_a_cancel_is_heard_while_images_are_ordered():
    vectors = clusters(np.repeat(np.arange(40), 5), 1.0)
    said = []
    typical_first(vectors, "cosine", np.zeros(200), lambda *words: said.append(words))
    assert [words[1:] for words in said[-2:]] == [(100, 200), (200, 200)]
