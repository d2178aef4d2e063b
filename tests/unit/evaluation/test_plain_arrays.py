"""What a notebook hands to the metrics: tensors of a network, lists, names as labels; anything else is one sentence."""

import numpy as np
import pytest
import torch

from workbench.evaluation import retrieval_metrics, retrieve
from workbench.evaluation.clusters import nmi
from workbench.evaluation.geometry import covering_radius
from workbench.problem import Problem

VECTORS = np.random.default_rng(0).normal(size=(12, 4)).astype(np.float16)  # which every type here has exactly
LABELS = np.arange(12) % 3


@pytest.mark.parametrize(
    "embeddings",
    [
        torch.tensor(VECTORS), torch.tensor(VECTORS).double(), torch.tensor(VECTORS).float().requires_grad_(),
        VECTORS.tolist(), VECTORS.astype(object),
    ],
    ids=["float16", "float64", "of a network", "list", "of Python"],
)  # fmt: skip
@pytest.mark.parametrize(
    "labels",
    [torch.tensor(LABELS), LABELS.tolist(), np.array(["a", "b", "c"])[LABELS]],
    ids=["tensor", "list", "names"],
)
def test_tensors_lists_and_names_give_what_arrays_give(embeddings, labels):
    assert retrieval_metrics(embeddings, labels) == retrieval_metrics(VECTORS, LABELS)
    assert covering_radius(embeddings, labels) == covering_radius(VECTORS, LABELS)
    assert nmi(embeddings, labels) == nmi(VECTORS, LABELS)


@pytest.mark.parametrize("distance", ["cosine", "l2"])
def test_so_do_as_many_that_float32_searches_first(distance):
    vectors = np.random.default_rng(0).normal(size=(2000, 4)).astype(np.float32)
    labels = np.arange(2000) % 500
    expected = retrieval_metrics(vectors, labels, distance=distance)
    for embeddings in (vectors.tolist(), torch.tensor(vectors, requires_grad=True)):
        assert retrieval_metrics(embeddings, labels.tolist(), distance=distance) == expected
        searched = retrieve(embeddings, labels.tolist(), list(range(2000)), distance=distance)
        assert searched.metrics == expected
        against = (embeddings, labels.tolist())
        assert retrieval_metrics(embeddings, labels.tolist(), distance=distance, gallery=against)["recall@1"] == 1


def test_queries_and_ids_go_with_the_embeddings():
    ids, asks = list(range(12)), [True] * 6 + [False] * 6
    expected = retrieval_metrics(VECTORS[:6], LABELS[:6], gallery=(VECTORS[6:], LABELS[6:]))
    assert retrieve(VECTORS.tolist(), LABELS.tolist(), ids, is_query=asks).metrics == expected
    for some_ids, some_asks in ((ids, asks[:5]), (ids[:11], asks)):
        with pytest.raises(
            Problem, match="one sample id for each embedding, and one flag that says whether it is a query"
        ):
            retrieve(VECTORS, LABELS, some_ids, is_query=some_asks)


def test_bfloat16_is_read():
    assert covering_radius(torch.tensor([[0.0], [4], [5], [10]]).bfloat16()) == 5


@pytest.mark.parametrize(
    ("embeddings", "labels", "said"),
    [
        (VECTORS.astype(complex), LABELS, "real numbers, not of the type complex128"),
        (np.full((12, 4), "a"), LABELS, "real numbers, not of the type <U1"),
        ([[1.0, 2.0]] * 11 + [[1.0]], LABELS, "as many in each row"),
        (VECTORS, LABELS[:5], r"there are 12 embeddings, and labels of the shape \(5,\)"),
        (VECTORS, LABELS[:, None], r"labels of the shape \(12, 1\)"),
        (VECTORS, [[0]] * 11 + [[0, 1]], "a number or a name"),
        (VECTORS, [None] * 12, "Labels must be numbers or names"),
        (VECTORS, [0.0, np.nan] * 6, "6 of 12 labels are NaN"),
        (list(torch.ones(12, 4, requires_grad=True)), LABELS, "list of tensors by torch.cat or torch.stack"),
    ],
)
@pytest.mark.parametrize("measure", [retrieval_metrics, covering_radius, nmi])
def test_anything_else_is_one_sentence(measure, embeddings, labels, said):
    with pytest.raises(Problem, match=said):
        measure(embeddings, labels)


@pytest.mark.parametrize("ks", [5, "1 2", (1.5,), ("1",)])
def test_ranks_are_whole_numbers(ks):
    with pytest.raises(Problem, match="whole numbers, such as"):
        retrieval_metrics(VECTORS, LABELS, ks=ks)
