"""Search across the values of an attribute, against a plain reference and planted data."""

import tracemalloc

import numpy as np
import pytest

from workbench.evaluation import across_values as module
from workbench.evaluation import retrieve
from workbench.evaluation.across_values import ALL, OTHERS, across_values
from workbench.evaluation.class_sizes import chance_of_map, chance_of_recall
from workbench.problem import Problem
from workbench.progress import quiet


def reference(vectors, labels, ids, values, groups, searched, distance):
    """By query and gallery: matches, images, whether the nearest is a match, AP at R; straight from the definition."""
    vectors = vectors.astype(np.float64)
    if distance == "cosine":
        vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    queries = range(len(labels)) if searched.all() else np.flatnonzero(~searched).tolist()
    by_gallery = []
    for query in queries:
        squares = ((vectors - vectors[query]) ** 2).sum(1)
        if distance == "hyperbolic":
            length = (vectors**2).sum(1)
            squares = np.arccosh(1 + 2 * squares / ((1 - length) * (1 - length[query])))
        order = [row for row in np.lexsort((ids, squares)).tolist() if searched[row] and row != query]
        galleries = [[row for row in order if groups[row] == group] for group in range(groups.max() + 1)]
        alike = {row for row in order if labels[row] == labels[query] and values[row] == values[query]}
        galleries += [order, [row for row in order if row not in alike]]
        by_gallery.append([scored([labels[row] == labels[query] for row in gallery]) for gallery in galleries])
    return [np.array(column).T for column in np.moveaxis(np.array(by_gallery), 2, 0).transpose(0, 2, 1)]


def scored(hits):
    matches = sum(hits)
    if not matches:
        return 0, len(hits), False, np.nan
    precision = [sum(hits[: at + 1]) / (at + 1) for at in range(matches) if hits[at]]
    return matches, len(hits), hits[0], sum(precision) / matches


def data(kinds=5, count=120, classes=9):
    random = np.random.default_rng(4)
    labels, values = random.integers(0, classes, count), random.integers(0, kinds, count)
    labels[0], values[:kinds] = classes, np.arange(kinds)  # a class of one image; every value occurs
    vectors = random.normal(size=(classes + 1, 7))[labels] + 1.3 * random.normal(size=(count, 7))
    return vectors, labels, random.permutation(count) * 11, values, np.minimum(values, 2)


def same(made, wanted):
    matches, others, right, ap = wanted
    assert made.matches.tolist() == matches.tolist()
    assert made.others.tolist() == others.tolist()
    assert made.right.tolist() == right.astype(bool).tolist()
    np.testing.assert_allclose(made.ap, ap, atol=1e-12)


@pytest.mark.parametrize("halves", [False, True])
@pytest.mark.parametrize("distance", ["cosine", "l2", "hyperbolic"])
def test_scores_are_those_of_the_definition(distance, halves, monkeypatch):
    vectors, labels, ids, values, groups = data()
    vectors = vectors / 20 if distance == "hyperbolic" else vectors
    searched = np.arange(len(labels)) % 3 > 0 if halves else np.ones(len(labels), bool)
    wanted = reference(vectors, labels, ids, values, groups, searched, distance)
    made = across_values(vectors, labels, ids, values, groups, searched, distance)
    assert made.rows.tolist() == np.flatnonzero(~searched if halves else searched).tolist()
    assert made.ap.shape == (len(made.rows), 3 + 2)
    same(made, wanted)
    monkeypatch.setattr(module, "BLOCK", 400)  # three or four queries at a time
    same(across_values(vectors, labels, ids, values, groups, searched, distance), wanted)


def test_ties_go_to_the_lower_id():
    random = np.random.default_rng(1)
    vectors = random.integers(0, 2, (90, 3)).astype(np.float64)  # eight points: nearly all distances are tied
    labels, values, ids = random.integers(0, 4, 90), random.integers(0, 3, 90), random.permutation(90)
    searched = np.ones(90, bool)
    same(
        across_values(vectors, labels, ids, values, values, searched, "l2"),
        reference(vectors, labels, ids, values, values, searched, "l2"),
    )


@pytest.mark.parametrize("halves", [False, True])
def test_all_images_score_as_in_an_evaluation(halves):
    vectors, labels, ids, values, groups = data(count=300)
    vectors[40:60], vectors[7] = vectors[20:40], 0  # copies, and a vector without a direction
    searched = np.arange(300) % 2 > 0 if halves else np.ones(300, bool)
    stored = retrieve(vectors, labels, ids, k=5, is_query=~searched if halves else None)
    made = across_values(vectors, labels, ids, values, groups, searched)
    assert made.matches[:, ALL].tolist() == stored.r[made.rows].tolist()
    assert made.right[:, ALL].tolist() == (stored.first_hit[made.rows] == 1).tolist()
    np.testing.assert_allclose(made.ap[:, ALL], stored.ap[made.rows], atol=1e-6)  # which is stored as float32


def test_a_score_that_comes_from_the_same_camera_alone_is_gone_without_it():
    random = np.random.default_rng(2)
    labels, cameras = np.repeat(np.arange(40), 12), np.tile(np.repeat(np.arange(3), 4), 40)
    centres = random.normal(size=(40, 3, 16))  # nothing that the cameras share
    vectors = centres[labels, cameras] + 0.05 * random.normal(size=(480, 16))
    searched = np.ones(480, bool)
    made = across_values(vectors, labels, np.arange(480), cameras, cameras, searched)
    assert made.right[:, ALL].all()
    by_chance = chance_of_recall(np.full(1, 8), int(made.others[0, OTHERS]))[0]
    assert made.right[:, OTHERS].mean() == pytest.approx(by_chance, abs=0.03)
    assert made.ap[:, OTHERS].mean() == pytest.approx(chance_of_map(np.full(1, 8), 476)[0], abs=0.03)
    for camera in range(3):
        own = cameras == camera
        assert made.ap[own, camera].min() == 1
        assert made.right[~own, camera].mean() < 0.1


def test_only_matches_of_the_same_value_are_ignored():
    vectors = np.array([[0.0], [1], [2], [3]])
    labels, cameras = np.array([0, 0, 1, 0]), np.array([0, 0, 0, 1])
    made = across_values(vectors, labels, np.arange(4), cameras, cameras, np.ones(4, bool), "l2")
    assert made.others[0].tolist() == [2, 1, 3, 2]
    assert not made.right[0, OTHERS]  # the image of class 1 by the same camera is nearest, and is an error
    assert made.ap[0].tolist() == [1, 1, pytest.approx(1 / 2), 0]


def test_a_gallery_without_an_image_has_no_match():
    labels, values = np.array([0, 0, 0, 0]), np.array([0, 1, 1, 2])
    searched = np.array([False, True, True, False])  # no image of value 0 or 2 is searched
    made = across_values(np.eye(4), labels, np.arange(4), values, values, searched)
    assert made.matches.tolist() == [[0, 2, 0, 2, 2]] * 2
    assert np.isnan(made.ap[:, [0, 2]]).all()


def test_as_many_values_as_images_take_no_table_of_classes_and_values(monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 2**14)
    values, labels = np.arange(2000), np.arange(2000) // 2
    vectors = np.repeat(np.eye(2)[labels[::2] % 2], 2, axis=0)
    tracemalloc.start()
    try:
        made = across_values(vectors, labels, values, values, values % 3, np.ones(2000, bool))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (made.matches[:, OTHERS] == 1).all(), "no two images have one value"
    assert most < 6e6, "bytes; of 1,000 classes and 2,000 values 16 MB"


def test_one_value_leaves_nothing_without_it():
    made = across_values(
        np.eye(3), np.zeros(3, int), np.arange(3), np.zeros(3, int), np.zeros(3, int), np.ones(3, bool)
    )
    assert made.matches.tolist() == [[2, 2, 0]] * 3


def test_embeddings_that_are_not_finite_are_refused():
    vectors, labels, ids, values, groups = data()
    vectors[3, 1] = np.nan
    with pytest.raises(Problem, match="1 of 120 embeddings contain NaN or infinity"):
        across_values(vectors, labels, ids, values, groups, np.ones(120, bool))


def test_nothing_to_search_is_refused():
    vectors, labels, ids, values, groups = data()
    with pytest.raises(Problem, match="at least one query and one image to search"):
        across_values(vectors, labels, ids, values, groups, np.zeros(120, bool))


def test_progress_counts_the_queries():
    vectors, labels, ids, values, groups = data()
    heard = []
    across_values(vectors, labels, ids, values, groups, np.ones(120, bool), progress=lambda *said: heard.append(said))
    assert heard == [("Searching across values", 0, 120)]
    assert quiet(*heard[0]) is None
