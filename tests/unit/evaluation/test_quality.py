"""Votes of neighbours, hubs and shape, against plain loops and cases whose answer is known."""

from collections import Counter
from math import isnan, sqrt

import numpy as np
import pytest

from workbench.evaluation import quality as quality_module
from workbench.evaluation.quality import quality
from workbench.evaluation.retrieval import retrieve


def measured(vectors, labels, ids=None):
    ids = np.arange(len(labels)) if ids is None else ids
    return quality(vectors, labels, ids, retrieve(vectors, labels, ids))


def test_votes_and_hubs_against_a_loop():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 6, 120)
    vectors = rng.normal(size=(6, 8))[labels] + rng.normal(size=(120, 8))
    ids = rng.permutation(1000)[:120]
    found = measured(vectors, labels, ids)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    right, times = 0, np.zeros(120)
    for row in range(120):
        gaps = 1 - unit @ unit[row]
        gaps[row] = np.inf
        near = np.lexsort((ids, gaps))[:10]
        times[near] += 1
        votes = Counter(labels[near].tolist())
        most = max(votes.values())
        right += next(label for label in labels[near] if votes[label] == most) == labels[row]
    assert found["kNN@10"] == pytest.approx(right / 120)
    assert found["hubness"] == pytest.approx(((times - times.mean()) ** 3).mean() / times.std() ** 3)
    assert found["geometry/largest_hub"] == times.max()
    same = labels[:, None] == labels
    cosines, others = unit @ unit.T, ~np.eye(120, dtype=bool)
    assert found["geometry/intra_cosine"] == pytest.approx(cosines[same & others].mean())
    assert found["geometry/inter_cosine"] == pytest.approx(cosines[~same].mean())


def test_the_largest_hub_counts_as_if_lists_had_ten_neighbours():
    middle = np.concatenate([np.ones((1, 4)), np.eye(4)])  # by cosine nearest to each of the others
    labels, ids = np.zeros(5, int), np.arange(5)
    found = quality(middle, labels, ids, retrieve(middle, labels, ids, k=2))
    assert found["geometry/largest_hub"] == pytest.approx(4 / 2 * 10)


def test_two_tight_classes_at_right_angles():
    vectors = np.repeat(np.eye(2), 5, axis=0) * 3
    found = measured(vectors, np.repeat([0, 1], 5))
    assert found["geometry/alignment"] == pytest.approx(0)
    assert found["geometry/covering_radius"] == pytest.approx(0)
    assert found["geometry/class_distance"] == pytest.approx(sqrt(2))
    assert (found["geometry/intra_cosine"], found["geometry/inter_cosine"]) == pytest.approx((1, 0))
    assert found["geometry/effective_rank"] == pytest.approx(1)


def test_what_has_no_answer_is_nan():
    alone = measured(np.random.default_rng(0).normal(size=(5, 3)), np.arange(5))
    assert isnan(alone["kNN@10"])
    assert isnan(alone["geometry/intra_cosine"])
    single = measured(np.random.default_rng(0).normal(size=(5, 3)), np.zeros(5, int))
    assert isnan(single["geometry/class_distance"])
    assert isnan(single["geometry/inter_cosine"])
    assert -1 <= single["geometry/intra_cosine"] <= 1
    zero = measured(np.concatenate([np.zeros((1, 3)), np.ones((5, 3))]), np.zeros(6, int))
    assert isnan(zero["geometry/uniformity"])
    assert zero["geometry/effective_rank"] == pytest.approx(1)


def test_a_large_set_is_sampled_evenly():
    rng = np.random.default_rng(1)
    labels = rng.permutation(np.repeat(np.arange(1000), 8))
    vectors = rng.normal(size=(1000, 16))[labels] + 0.3 * rng.normal(size=(8000, 16))
    found = measured(vectors, labels)
    assert 0.8 < found["geometry/intra_cosine"] < 1
    assert abs(found["geometry/inter_cosine"]) < 0.05
    few = quality_module.sampled(np.repeat(np.arange(4), 5000))
    assert np.bincount(few // 5000).tolist() == [750] * 4
    many = quality_module.sampled(np.arange(20_000) // 5)
    assert np.bincount(many // 5)[many // 5].min() == 5, "small classes stay whole"
    assert len(np.unique(many // 5)) == 300


def test_embeddings_of_a_diverged_run_are_measured():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), 8)
    vectors = rng.normal(size=(32, 6)).astype(np.float32)
    numbers, huge = measured(vectors, labels), measured(vectors * np.float32(1e25), labels)
    for name in ("geometry/alignment", "geometry/uniformity", "geometry/intra_cosine", "kNN@10"):
        assert huge[name] == pytest.approx(numbers[name], rel=1e-5), "they are finite, and their squares are not"
    vectors[:8] *= np.float32(1e25)
    assert measured(vectors, labels)["geometry/alignment"] == pytest.approx(numbers["geometry/alignment"], rel=1e-5)


def test_with_a_gallery_hubs_are_among_the_images_that_are_searched():
    """A query is in nobody's list: counted as a sample that is never found, it made hubs of all others."""
    rng = np.random.default_rng(3)
    labels, ids, is_query = np.arange(90) % 7, np.arange(90), np.arange(90) % 3 > 0
    vectors = rng.normal(size=(90, 6))
    found = retrieve(vectors, labels, ids, is_query=is_query)
    times = np.zeros(90)
    for near in found.neighbours[:, :10]:
        times[near] += 1
    assert not times[is_query].any()
    times = times[~is_query]
    expected = ((times - times.mean()) ** 3).mean() / times.std() ** 3
    assert quality(vectors, labels, ids, found)["hubness"] == pytest.approx(expected)


@pytest.mark.parametrize("dtype", [np.float16, np.int16])
def test_small_types_are_measured_as_float32(dtype):
    labels = np.repeat(np.arange(4), 8)
    vectors = (np.random.default_rng(0).normal(size=(32, 6)) * 300).astype(dtype)
    assert measured(vectors, labels) == pytest.approx(measured(vectors.astype(np.float32), labels))
