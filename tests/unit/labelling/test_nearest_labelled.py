"""Nearest classes and the threshold, against loops over single images written from the definitions."""

import numpy as np
import pytest

from tests.unit.results.test_few_shot import clusters, stored
from workbench.evaluation.conventions import ball_distances, ball_gaps
from workbench.labelling import nearest as module
from workbench.labelling.nearest import labelled, nearest, threshold
from workbench.problem import Problem


def evaluation(labels, vectors, distance="cosine"):
    of = stored(labels, vectors, distance)
    of.r[:] = np.bincount(labels)[labels] - 1
    return of


def similarity(query, other, distance):
    if distance == "cosine":
        return float(query @ other / (np.linalg.norm(query) * np.linalg.norm(other)))
    gap = float(((query - other) ** 2).sum())
    if distance == "hyperbolic":
        return -float(ball_distances(ball_gaps(np.array(gap), (query**2).sum(), (other**2).sum())))
    return -(gap**0.5)


@pytest.mark.parametrize("distance", ["cosine", "l2", "hyperbolic"])
@pytest.mark.parametrize("block", [1, 1 << 24])
def test_the_two_nearest_classes_are_those_of_a_loop(distance, block, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", block)
    labels = np.array([3, 0, 5, 3, 0, 5, 5, 0, 3, 7])
    vectors = clusters(labels, 2.0)
    vectors *= 0.9 / np.linalg.norm(vectors, axis=1).max()  # inside the ball
    of = evaluation(labels, vectors, distance)
    by = nearest(of.embeddings, np.arange(10), labelled(of))
    for query in range(10):
        best = {}
        for other in set(range(10)) - {query}:
            similar = similarity(*of.embeddings[[query, other]].astype(np.float64), distance)
            best[labels[other]] = max(best.get(labels[other], (-np.inf, -1)), (similar, other))
        first, second, *_ = sorted(best, key=best.get, reverse=True)
        assert (by.label[query], by.row[query], by.second_label[query]) == (first, best[first][1], second)
        np.testing.assert_allclose(by.similarity[query], best[first][0], atol=2e-6)
        np.testing.assert_allclose(by.second_similarity[query], best[second][0], atol=2e-6)


def test_a_new_image_may_be_a_copy_and_an_image_of_the_evaluation_is_no_neighbour_of_itself():
    labels = np.array([0, 0, 1, 1])
    of = evaluation(labels, np.eye(4))
    new = nearest(of.embeddings[:1], np.array([-1]), labelled(of))
    assert (new.row[0], new.label[0], new.similarity[0]) == (0, 0, 1)
    own = nearest(of.embeddings[:1], np.array([0]), labelled(of))
    assert own.similarity[0] == 0


@pytest.mark.parametrize("fpir", [0.02, 0.1, 0.3])
def test_the_threshold_is_the_lowest_that_keeps_the_rate(fpir):
    labels = np.repeat(np.arange(6), 20)
    of = evaluation(labels, clusters(labels, 2.5))
    limit = threshold(of, labelled(of), fpir)
    own, other = np.full(120, -np.inf), np.full(120, -np.inf)
    for query in range(120):
        for row in set(range(120)) - {query}:
            side = own if labels[row] == labels[query] else other
            side[query] = max(side[query], round(similarity(*of.embeddings[[query, row]], "cosine"), 6))
    assert (other > limit.similarity + 1e-7).mean() <= fpir
    assert (other > limit.similarity - 1e-7).mean() > fpir, "any lower one is reached by more"
    reach = np.maximum(own, other) > limit.similarity + 1e-7
    assert limit.named[0] == pytest.approx(reach.mean())
    assert limit.right[0] == pytest.approx((own > other)[reach].mean())
    assert limit.named[1] <= limit.named[0] <= limit.named[2]
    reached = [int((other > limit.similarity + 1e-7)[labels == label].sum()) for label in range(6)]
    assert limit.worst == (int(np.argmax(reached)), max(reached), 20)


def test_a_rate_that_no_image_can_show_is_refused():
    labels = np.repeat(np.arange(2), 10)
    of = evaluation(labels, clusters(labels, 1.0))
    with pytest.raises(Problem, match=r"1% cannot be measured with 20 labelled images.*5% or more"):
        threshold(of, labelled(of), 0.01)
    assert threshold(of, labelled(of), 0.05).queries == 20


def test_classes_of_one_image_only_count_as_unknown():
    labels = np.arange(30)
    limit = threshold(of := evaluation(labels, clusters(labels, 1.0)), labelled(of), 0.1)
    assert (limit.queries, limit.known, limit.named, limit.right, limit.worst) == (30, 0, None, None, None)


def test_one_class_is_refused():
    with pytest.raises(Problem, match="fewer than two classes"):
        labelled(evaluation(np.zeros(4, np.int64), np.eye(4)))


def test_of_classes_that_tie_the_nearest_image_is_one_of_the_class_that_is_named():
    of = evaluation(np.array([0, 1, 2]), np.array([[1, 0], [1, 7e-4], [0, 1]], np.float32))
    by = nearest(np.array([[1, 7e-4]]), np.array([-1]), labelled(of))
    assert (by.label[0], by.row[0], by.second_label[0]) == (0, 0, 1)
    turned = evaluation(np.array([1, 0, 2]), np.array([[1, 7e-4], [1, 0], [0, 1]], np.float32))
    by = nearest(np.array([[1, 7e-4]]), np.array([-1]), labelled(turned))
    assert (by.label[0], by.row[0], by.second_label[0]) == (0, 1, 1)


def test_with_a_gallery_the_threshold_is_measured_with_the_queries():
    labels = np.tile(np.repeat(np.arange(4), 5), 2)
    of = stored(labels, clusters(labels, 0.5))
    of.r[:] = np.repeat([5, 0], 20)
    limit = threshold(of, labelled(of), 0.1)
    assert (limit.queries, limit.known) == (20, 20)


def test_a_share_of_all_has_an_interval_with_a_width():
    labels = np.repeat(np.arange(2), 10)
    of = evaluation(labels, np.eye(2)[labels])
    limit = threshold(of, labelled(of), 0.1)
    assert limit.right == limit.named == (1.0, pytest.approx(0.8389, abs=1e-4), 1.0)  # 20 of 20, Wilson
