"""NMI of k-means clusters and classes, by torch, against scikit-learn and by hand."""

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score

from workbench.control import Cancelled
from workbench.evaluation.clusters import agreement, nmi
from workbench.problem import Problem
from workbench.projection.clustering import nmi as plain


def blobs(classes, each, spread, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(classes), each)
    return rng.normal(size=(classes, 16))[labels] + rng.normal(0, spread, (len(labels), 16)), labels


@pytest.mark.parametrize("seed", range(5))
def test_agreement_is_scikit_learns(seed):
    rng = np.random.default_rng(seed)
    labels, clusters = rng.integers(0, 5, 200), rng.integers(0, 2 + seed, 200)
    expected = normalized_mutual_info_score(labels, clusters, average_method="arithmetic")
    assert agreement(labels, clusters) == pytest.approx(expected, abs=1e-9)


def test_parts_that_are_one_agree():
    assert agreement(np.zeros(4, int), np.ones(4, int)) == 1.0
    assert agreement(np.array([0, 0, 1, 1]), np.zeros(4, int)) == 0.0


@pytest.mark.parametrize("distance", ["cosine", "l2"])
@pytest.mark.parametrize(("classes", "spread"), [(8, 0.01), (30, 0.5), (30, 1.0)])
def test_clusters_are_as_good_as_plain_k_means(distance, classes, spread):
    embeddings, labels = blobs(classes, 20, spread)
    ours = np.mean([nmi(embeddings, labels, distance, seed) for seed in range(5)])
    theirs = np.mean([plain(embeddings, labels, distance, seed) for seed in range(5)])
    assert ours == pytest.approx(theirs, abs=0.03)
    assert nmi(embeddings, labels, distance, 3) == nmi(embeddings, labels, distance, 3)


def test_embeddings_of_a_workspace_are_read_without_a_warning():
    embeddings, labels = blobs(4, 10, 0.5)
    expected = nmi(embeddings, labels)
    embeddings.flags.writeable = False
    assert nmi(embeddings, labels) == expected


def test_copies_and_one_class():
    assert nmi(np.ones((6, 4)), np.array([0, 0, 1, 1, 2, 2])) == 0.0
    assert nmi(np.eye(4), np.zeros(4, int)) == 1.0


def test_what_cannot_be_clustered_is_said_and_it_can_be_given_up():
    with pytest.raises(Problem, match=r"there are 3 embeddings, and labels of the shape \(2,\)"):
        nmi(np.eye(3), np.array([0, 1]))
    with pytest.raises(Problem, match="no distance named 'euclidean'"):
        nmi(np.eye(3), np.arange(3), "euclidean")

    def give_up():
        raise Cancelled

    with pytest.raises(Cancelled):
        nmi(*blobs(4, 5, 0.1), between=give_up)


@pytest.mark.parametrize("scale", [1e-38, 1e-25, 1e25, 1e37])
@pytest.mark.parametrize("distance", ["cosine", "l2"])
def test_clusters_do_not_depend_on_the_scale(distance, scale):
    """The squares of such numbers are no numbers of float32."""
    labels = np.repeat(np.arange(4), 10)
    vectors = np.eye(4, dtype=np.float32)[labels]
    assert nmi(vectors * np.float32(scale), labels, distance) == nmi(vectors, labels, distance) == 1
    assert nmi(vectors.astype(np.float64) * scale**4, labels, distance) == 1
    noisy = vectors + np.random.default_rng(0).normal(size=vectors.shape).astype(np.float32)
    assert nmi(noisy * np.float32(2.0**70), labels, distance) == nmi(noisy, labels, distance)


def test_what_is_not_finite_is_not_clustered():
    with pytest.raises(Problem, match="NaN"):
        nmi(np.array([[1.0, np.nan], [0.0, 1.0]]), np.arange(2))
