"""What a notebook hands to the metrics: tensors of a network, lists, names as labels; anything else is one sentence."""

import numpy as np
import pytest
import torch

from workbench.evaluation import retrieval_metrics
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
    ],
)
@pytest.mark.parametrize("measure", [retrieval_metrics, covering_radius])
def test_anything_else_is_one_sentence(measure, embeddings, labels, said):
    with pytest.raises(Problem, match=said):
        measure(embeddings, labels)


@pytest.mark.parametrize("ks", [5, "1 2", (1.5,), ("1",)])
def test_ranks_are_whole_numbers(ks):
    with pytest.raises(Problem, match="whole numbers, such as"):
        retrieval_metrics(VECTORS, LABELS, ks=ks)
