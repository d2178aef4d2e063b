"""Neighbours and metrics found on a GPU are those of the CPU, to the last neighbour."""

import numpy as np
import pytest
import torch

from workbench.evaluation.retrieval import retrieve
from workbench.exchange.own_loop import record_run
from workbench.workspace import Workspace

COUNT, DIM, CLASSES = 3000, 24, 150


@pytest.fixture
def embeddings():
    rng = np.random.default_rng(0)
    labels = np.arange(COUNT) % CLASSES
    vectors = rng.normal(size=(CLASSES, DIM))[labels] + 1.5 * rng.normal(size=(COUNT, DIM))
    vectors[100:130] = vectors[7]  # copies: ties are broken by the sample's id
    vectors[200] = 0
    return vectors.astype(np.float32), labels, rng.permutation(10 * COUNT)[:COUNT]


@pytest.mark.parametrize("distance", ["cosine", "l2", "hyperbolic"])
@pytest.mark.parametrize("k", [0, 10, 1000])  # two passes, and one for many neighbours
@pytest.mark.parametrize("separate", [False, True])
def test_retrieval_is_that_of_the_cpu(embeddings, distance, k, separate, gpu):
    vectors, labels, ids = embeddings
    if distance == "hyperbolic":
        vectors = 0.9 * vectors / np.linalg.norm(vectors, axis=1).max()
    is_query = np.arange(COUNT) // CLASSES % 3 == 0 if separate else None
    here, there = (
        retrieve(vectors, labels, ids, k=k, distance=distance, device=where, is_query=is_query)
        for where in ("cpu", gpu)
    )
    for name in ("ap", "first_hit", "r", "neighbours"):
        np.testing.assert_array_equal(getattr(here, name), getattr(there, name), name)
    np.testing.assert_allclose(here.similarities, there.similarities, atol=1e-6)
    assert here.metrics["MAP@R"] > 0.01
    np.testing.assert_equal(here.metrics, there.metrics)


def test_a_loop_of_the_users_own_is_measured_where_its_embeddings_are(embeddings, gpu, tmp_path):
    vectors, labels, _ = embeddings
    with Workspace(tmp_path / "space", create=True) as space, record_run(space, "Mine", labels, epochs=2) as run:
        here = run.evaluate(1, vectors)
        there = run.evaluate(2, torch.tensor(vectors, device=gpu, requires_grad=True))
        run.scalars(1, {"batch/loss": torch.ones((), device=gpu)})
        assert space.runs()[0].memory_bytes > 0
    np.testing.assert_equal(here, there)
