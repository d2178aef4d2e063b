"""Retrieval metrics against exact arithmetic in plain Python loops, and against pytorch-metric-learning."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pytorch_metric_learning.distances import CosineSimilarity, LpDistance
from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator
from pytorch_metric_learning.utils.inference import CustomKNN

from workbench.evaluation import retrieval_metrics, retrieve
from workbench.evaluation.neighbours import Gallery

KS = (1, 2, 4, 8)


def closeness(query, other, distance):
    """An exact number that orders as the similarity does: ties of whole-number vectors are exact."""
    q, g = [int(x) for x in query], [int(x) for x in other]
    if distance == "l2":
        return -sum((a - b) ** 2 for a, b in zip(q, g, strict=True))
    dot, norm = sum(a * b for a, b in zip(q, g, strict=True)), sum(b * b for b in g)
    return Fraction(0) if norm == 0 else Fraction(dot * abs(dot), norm)


def naive(queries, labels, gallery, gallery_labels, ids, distance, same):
    """Per query: gallery rows best first, without the query itself; AP, P@R, first hit, R. From the definition."""
    out = []
    for i, query in enumerate(queries):
        rows = [j for j in range(len(gallery)) if not (same and j == i)]
        rows.sort(key=lambda j: (-closeness(query, gallery[j], distance), ids[j]))
        true = [bool(gallery_labels[j] == labels[i]) for j in rows]
        r = sum(true)
        precision = [sum(true[: j + 1]) / (j + 1) for j in range(r)]
        ap = sum(p for p, hit in zip(precision, true, strict=False) if hit) / r if r else np.nan
        out.append((rows, ap, sum(true[:r]) / r if r else np.nan, true.index(True) + 1 if r else 0, r))
    return out


@st.composite
def problems(draw):
    """Whole-number embeddings with copies, collinear and zero vectors; classes from common to alone; shuffled ids."""
    n, d = draw(st.integers(2, 14)), draw(st.integers(1, 3))
    vectors = draw(arrays(np.int64, (n, d), elements=st.integers(-3, 3)))
    labels = np.array(draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))
    ids = np.array(draw(st.permutations(range(n)))) * 7_000_000_001
    return vectors.astype(np.float32), labels, ids


@given(problems(), st.sampled_from(["cosine", "l2"]), st.integers(1, 20))
@settings(max_examples=150, deadline=None)
def test_every_query_is_ranked_as_exact_arithmetic_ranks_it(problem, distance, k):
    vectors, labels, ids = problem
    found = retrieve(vectors, labels, ids, k=k, distance=distance)
    wanted = naive(vectors, labels, vectors, labels, ids, distance, same=True)
    kept = min(k, len(ids) - 1)
    np.testing.assert_array_equal(found.neighbours, [ids[rows[:kept]] for rows, *_ in wanted])
    np.testing.assert_array_equal(found.first_hit, [first for *_, first, _ in wanted])
    np.testing.assert_array_equal(found.r, [r for *_, r in wanted])
    np.testing.assert_allclose(found.ap, [ap for _, ap, *_ in wanted], rtol=1e-6)
    counted = [each for each in wanted if each[-1]]
    assert found.metrics["queries"] == len(counted)
    assert found.metrics["queries/left_out"] == len(wanted) - len(counted)
    if counted:
        assert found.metrics["MAP@R"] == pytest.approx(np.mean([each[1] for each in counted]), abs=1e-12)
        assert found.metrics["P@R"] == pytest.approx(np.mean([each[2] for each in counted]), abs=1e-12)
        for rank in KS:
            assert found.metrics[f"recall@{rank}"] == pytest.approx(np.mean([e[3] <= rank for e in counted]), abs=1e-12)


@given(problems(), problems(), st.sampled_from(["cosine", "l2"]))
@settings(max_examples=60, deadline=None)
def test_a_gallery_of_its_own_leaves_no_row_out(asked, held, distance):
    (queries, labels, _), (gallery, gallery_labels, _) = asked, held
    width = min(queries.shape[1], gallery.shape[1])
    queries, gallery = queries[:, :width], gallery[:, :width]
    found = retrieval_metrics(queries, labels, distance=distance, gallery=(gallery, gallery_labels))
    rows = naive(queries, labels, gallery, gallery_labels, np.arange(len(gallery)), distance, same=False)
    counted = [each for each in rows if each[-1]]
    assert found["queries"] == len(counted)
    if counted:
        assert found["MAP@R"] == pytest.approx(np.mean([each[1] for each in counted]), abs=1e-12)
        assert found["recall@2"] == pytest.approx(np.mean([each[3] <= 2 for each in counted]), abs=1e-12)


@given(problems(), st.sampled_from(["cosine", "l2"]), st.integers(1, 13))
@settings(max_examples=80, deadline=None)
def test_the_block_size_changes_nothing(problem, distance, rows):
    vectors, _, ids = problem
    gallery = Gallery(vectors, ids, distance)
    own = np.arange(len(ids))
    whole = torch.cat([keys.clone() for _, keys in gallery.blocks(vectors, own)])
    cut = torch.cat([keys.clone() for _, keys in gallery.blocks(vectors, own, block_bytes=8 * len(ids) * rows)])
    assert torch.equal(whole, cut)


@given(problems(), st.sampled_from(["cosine", "l2"]), st.randoms(use_true_random=False))
@settings(max_examples=80, deadline=None)
def test_the_order_of_rows_changes_nothing(problem, distance, random):
    vectors, labels, ids = problem
    order = np.array(random.sample(range(len(ids)), len(ids)))
    one, two = (
        retrieve(vectors, labels, ids, distance=distance),
        retrieve(vectors[order], labels[order], ids[order], distance=distance),
    )
    np.testing.assert_array_equal(one.neighbours[order], two.neighbours)
    np.testing.assert_array_equal(one.first_hit[order], two.first_hit)
    for name in ("MAP@R", "P@R", "recall@1"):
        np.testing.assert_allclose(one.metrics[name], two.metrics[name], rtol=1e-12)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_cosine_and_l2_agree_on_the_sphere(seed):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(40, 5))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[20:25] = vectors[:5]
    labels = rng.integers(0, 6, 40)
    one, two = (retrieve(vectors, labels, np.arange(40), distance=each) for each in ("cosine", "l2"))
    np.testing.assert_array_equal(one.neighbours, two.neighbours)
    assert one.metrics == two.metrics
    np.testing.assert_allclose(2 - 2 * one.similarities, two.similarities**2, atol=1e-6)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["cosine", "l2"]))
@settings(max_examples=25, deadline=None)
def test_equals_pytorch_metric_learning(seed, distance):
    rng = np.random.default_rng(seed)
    labels = np.minimum(rng.geometric(0.25, size=60), 12)  # rare classes, some alone
    vectors = rng.normal(size=(60, 4)) + rng.normal(size=(13, 4))[labels]
    vectors[30:40], labels[30:40] = vectors[:10], labels[:10]  # copies within a class: no order between classes is open
    ours = retrieval_metrics(vectors, labels, distance=distance)
    measure = CosineSimilarity() if distance == "cosine" else LpDistance(normalize_embeddings=False)
    calculator = AccuracyCalculator(
        include=("precision_at_1", "r_precision", "mean_average_precision_at_r"),
        k="max_bin_count",
        device=torch.device("cpu"),
        knn_func=CustomKNN(measure),
    )
    theirs = calculator.get_accuracy(torch.from_numpy(vectors), torch.from_numpy(labels))
    assert ours["P@1"] == pytest.approx(theirs["precision_at_1"], abs=1e-6)
    assert ours["P@R"] == pytest.approx(theirs["r_precision"], abs=1e-6)
    assert ours["MAP@R"] == pytest.approx(theirs["mean_average_precision_at_r"], abs=1e-6)
