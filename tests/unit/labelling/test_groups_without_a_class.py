"""Groups of images without a class: cut where the labelled images say, largest first."""

import numpy as np
import pytest

from tests.unit.results.test_few_shot import clusters, stored
from workbench.labelling import groups as module
from workbench.labelling.groups import cut_of, gaps_between, groups


@pytest.mark.parametrize("distance", ["cosine", "l2", "hyperbolic"])
def test_classes_that_are_apart_are_the_groups(distance):
    labels = np.repeat(np.arange(6), [5, 9, 3, 7, 4, 1])
    vectors = clusters(labels, 0.1, seed=3)
    vectors *= 0.8 / np.linalg.norm(vectors, axis=1).max()
    cut = cut_of(stored(labels, vectors, distance))
    assert cut.agreement == 1
    assert cut.images == 29
    new = clusters(labels, 0.1, seed=3)[::-1] * (0.8 / np.linalg.norm(clusters(labels, 0.1, seed=3), axis=1).max())
    group = groups(new, distance, cut)
    of_class = [set(group[labels[::-1] == label]) for label in range(6)]
    assert of_class == [{3}, {1}, {5}, {2}, {4}, {0}], "the largest is the first, one image alone is none"


def test_few_images_have_no_groups():
    cut = cut_of(stored(np.array([0]), np.ones((1, 3))))
    assert groups(np.ones((1, 3)), "cosine", cut).tolist() == [0]
    assert groups(np.empty((0, 3)), "cosine", cut).tolist() == []


def test_the_cut_is_chosen_on_whole_classes(monkeypatch):
    monkeypatch.setattr(module, "MOST_LABELLED", 25)
    labels = np.repeat(np.arange(8), 10)
    assert cut_of(stored(labels, clusters(labels, 0.5))).images == 20


def test_where_each_class_has_one_image_no_two_images_are_a_group():
    labels = np.arange(12)
    of = stored(labels, clusters(labels, 1.0))
    cut = cut_of(of)
    assert cut.agreement == 1
    assert not groups(of.embeddings, "cosine", cut).any()


@pytest.mark.parametrize("distance", ["cosine", "l2", "hyperbolic"])
@pytest.mark.parametrize("block", [7, 1 << 22])
def test_more_images_than_fit_at_once_are_put_into_the_same_groups(distance, block, monkeypatch):
    labels = np.repeat(np.arange(12), [30, 25, 20, 15, 10, 9, 8, 7, 6, 5, 1, 1])
    vectors = clusters(labels, 0.1, seed=3)
    vectors *= 0.8 / np.linalg.norm(vectors, axis=1).max()
    cut = cut_of(stored(labels, vectors, distance))
    whole = groups(vectors, distance, cut)
    monkeypatch.setattr(module, "BLOCK", block)
    monkeypatch.setattr(module, "MOST_GROUPED", 20)
    told = []
    drawn = groups(vectors, distance, cut, lambda *said: told.append(said))
    assert drawn.tolist() == whole.tolist()
    assert (drawn[labels >= 10] == 0).all()
    assert all(done <= total for _, done, total in told)
    assert len(told) > 3


def test_the_distances_are_those_of_the_stored_evaluation():
    labels = np.repeat(np.arange(3), 4)
    for distance in ("cosine", "l2", "hyperbolic"):
        vectors = clusters(labels, 1.0)
        vectors *= 0.8 / np.linalg.norm(vectors, axis=1).max()
        of = stored(labels, vectors, distance)
        pairs = of.gaps(np.zeros(12, np.int64), np.arange(12))
        gaps = gaps_between(of.vectors(slice(0, 1)), of.vectors(slice(None)), distance)[0]
        np.testing.assert_allclose(gaps, pairs**2 / 2 if distance == "cosine" else pairs, atol=1e-6)
