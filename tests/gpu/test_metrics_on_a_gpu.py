"""Neighbours and metrics found on a GPU are those of the CPU, to the last neighbour."""

import numpy as np
import pytest

from workbench.evaluation.retrieval import retrieve

COUNT, DIM, CLASSES = 3000, 24, 150


@pytest.fixture
def embeddings():
    rng = np.random.default_rng(0)
    labels = np.arange(COUNT) % CLASSES
    vectors = rng.normal(size=(CLASSES, DIM))[labels] + 1.5 * rng.normal(size=(COUNT, DIM))
    vectors[100:130] = vectors[7]  # copies: ties are broken by the sample's id
    vectors[200] = 0
    return vectors.astype(np.float32), labels, rng.permutation(10 * COUNT)[:COUNT]


@pytest.mark.parametrize("distance", ["cosine", "l2"])
@pytest.mark.parametrize("k", [0, 10, 1000])  # two passes, and one for many neighbours
@pytest.mark.parametrize("separate", [False, True])
def test_retrieval_is_that_of_the_cpu(embeddings, distance, k, separate, device):
    vectors, labels, ids = embeddings
    is_query = np.arange(COUNT) // CLASSES % 3 == 0 if separate else None
    here, there = (
        retrieve(vectors, labels, ids, k=k, distance=distance, device=where, is_query=is_query)
        for where in ("cpu", device)
    )
    for name in ("ap", "first_hit", "r", "neighbours"):
        np.testing.assert_array_equal(getattr(here, name), getattr(there, name), name)
    np.testing.assert_allclose(here.similarities, there.similarities, atol=1e-6)
    assert here.metrics["MAP@R"] > 0.01
    np.testing.assert_equal(here.metrics, there.metrics)
