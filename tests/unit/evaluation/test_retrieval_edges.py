"""Retrieval where there is little to find, much to find, or nothing that can be measured."""

import numpy as np
import pytest

from workbench.evaluation import Retrieval, retrieval_metrics, retrieve
from workbench.problem import Problem


def test_a_worked_example():
    """Query 0 of class a: ranking a b a; the other a's see it and each other."""
    angles = np.radians([0, 10, 20, 31])
    vectors, labels = np.stack([np.cos(angles), np.sin(angles)], 1), np.array([0, 0, 1, 0])
    found = retrieve(vectors, labels, np.array([5, 6, 7, 8]), k=2)
    assert found.neighbours.tolist() == [[6, 7], [5, 7], [6, 8], [7, 6]]
    np.testing.assert_allclose(found.ap[[0, 1, 3]], [1 / 2, 1 / 2, 1 / 4])
    assert np.isnan(found.ap[2])
    assert found.first_hit.tolist() == [1, 1, 0, 2]
    assert found.r.tolist() == [2, 2, 0, 2]
    assert found.metrics["queries"] == 3
    assert found.metrics["queries/left_out"] == 1
    assert found.metrics["recall@1"] == pytest.approx(2 / 3)
    assert found.metrics["P@R"] == pytest.approx(1 / 2)
    assert found.metrics["MAP@R"] == pytest.approx((1 / 2 + 1 / 2 + 1 / 4) / 3)


def test_types_are_those_that_are_stored():
    found = retrieve(np.eye(4), np.array([0, 0, 1, 1]), np.arange(4))
    assert isinstance(found, Retrieval)
    kinds = {name: getattr(found, name).dtype.name for name in ("ap", "first_hit", "r", "neighbours", "similarities")}
    assert kinds == {
        "ap": "float32", "first_hit": "int32", "r": "int32", "neighbours": "int64", "similarities": "float32",
    }  # fmt: skip
    assert found.neighbours.shape == (4, 3)


@pytest.mark.parametrize("n", [1, 5])
def test_no_class_with_two_samples_gives_nan_and_says_how_many_were_left_out(n):
    found = retrieve(np.eye(n), np.arange(n), np.arange(n))
    assert found.metrics["queries"] == 0
    assert found.metrics["queries/left_out"] == n
    assert all(np.isnan(value) for name, value in found.metrics.items() if not name.startswith("queries"))
    assert (found.first_hit == 0).all()
    assert found.neighbours.shape == (n, n - 1)


def test_a_first_hit_beyond_every_rank_kept_is_still_exact():
    angles = np.linspace(0, 1.5, 300)
    vectors = np.stack([np.cos(angles), np.sin(angles)], 1)
    labels = np.arange(300)
    labels[299] = 0  # the farthest of all
    found = retrieve(vectors, labels, np.arange(300), k=3)
    assert found.first_hit[0] == 299
    assert found.first_hit[299] == 299
    assert found.metrics["recall@8"] == 0
    assert found.metrics["MAP@R"] == 0


def test_one_class_is_always_right():
    metrics = retrieval_metrics(np.random.default_rng(0).normal(size=(30, 3)), np.zeros(30))
    assert {metrics[name] for name in ("recall@1", "P@1", "P@R", "MAP@R", "MAP@R/low", "MAP@R/high")} == {1.0}


def test_limits_hold_the_mean_and_come_out_the_same_again():
    rng = np.random.default_rng(1)
    vectors, labels = rng.normal(size=(200, 4)), rng.integers(0, 9, 200)
    one, two = retrieval_metrics(vectors, labels), retrieval_metrics(vectors, labels)
    assert one == two
    assert one["MAP@R/low"] < one["MAP@R"] < one["MAP@R/high"]
    assert one["recall@1/low"] < one["recall@1"] < one["recall@1/high"]


def test_ks_choose_the_recalls():
    metrics = retrieval_metrics(np.eye(4), np.array([0, 0, 1, 1]), ks=(3, 50))
    assert {name for name in metrics if name.startswith("recall") and "/" not in name} == {"recall@3", "recall@50"}
    assert metrics["recall@50"] == 1  # a rank beyond the gallery is the whole gallery


def test_labels_may_be_any_numbers_or_words():
    vectors = np.random.default_rng(2).normal(size=(20, 3))
    numbers = np.arange(20) % 3
    words = np.array(["owl", "elk", "ant"])[numbers]
    assert retrieval_metrics(vectors, numbers) == retrieval_metrics(vectors, words)
    assert retrieval_metrics(vectors, numbers) == retrieval_metrics(vectors, numbers * 10**12 - 5)


def test_what_cannot_be_measured_is_said():
    with pytest.raises(Problem, match="one label for each"):
        retrieval_metrics(np.eye(3), np.arange(4))
    for ks in ((0,), (1, 0)):
        with pytest.raises(Problem, match="at least 1"):
            retrieval_metrics(np.eye(3), np.arange(3), ks=ks)
    with pytest.raises(Problem, match="one label for each"):
        retrieval_metrics(np.eye(3), np.arange(3), gallery=(np.eye(3), np.arange(2)))
    with pytest.raises(Problem, match="dimensions"):
        retrieval_metrics(np.eye(3), np.arange(3), gallery=(np.eye(4), np.arange(4)))
    with pytest.raises(Problem, match="at least one row"):
        retrieve(np.zeros((0, 3)), np.zeros(0), np.zeros(0))
