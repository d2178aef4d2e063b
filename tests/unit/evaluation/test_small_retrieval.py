"""AP at R by NumPy alone is that of the evaluations."""

import numpy as np
import pytest

from workbench.evaluation.retrieval import retrieve
from workbench.evaluation.small_retrieval import average_precisions


@pytest.mark.parametrize("distance", ["cosine", "l2", "hyperbolic"])
def test_it_is_the_average_precision_of_an_evaluation(distance):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 30, 300) * 7
    labels[5] = 1000  # alone in its class
    vectors = (np.eye(40)[labels % 40][:, :8] + 0.4 * rng.normal(size=(300, 8))).astype(np.float32)
    vectors[9] = 0  # no direction
    if distance == "hyperbolic":
        vectors /= 1 + np.linalg.norm(vectors, axis=1, keepdims=True)  # into the ball
    stored = retrieve(vectors, labels, np.arange(300), distance=distance).ap
    np.testing.assert_allclose(average_precisions(vectors, labels, distance), stored, rtol=1e-6)
    assert np.isnan(stored[5])


@pytest.mark.parametrize("distance", ["cosine", "l2", "hyperbolic"])
def test_equal_distances_are_ties_as_in_an_evaluation(distance):
    rng = np.random.default_rng(1)
    for _ in range(20):
        labels, vectors = rng.integers(0, 4, 60), rng.integers(-2, 3, (60, 3)) / 10
        stored = retrieve(vectors, labels, np.arange(60), distance=distance).ap
        np.testing.assert_allclose(average_precisions(vectors, labels, distance), stored, rtol=1e-6)


@pytest.mark.parametrize("labels", [[], [3], [3, 4, 5]])
def test_without_two_images_of_a_class_nothing_is_a_query(labels):
    vectors = np.ones((len(labels), 4), np.float32)
    assert np.isnan(average_precisions(vectors, np.array(labels, np.int64), "cosine")).all()


def test_of_equal_images_the_earlier_is_nearer():
    scores = average_precisions(np.ones((3, 2)), np.array([0, 0, 1]), "cosine")
    np.testing.assert_array_equal(scores, [1.0, 1.0, np.nan])
