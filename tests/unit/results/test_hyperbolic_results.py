"""What is read of an evaluation by hyperbolic distance, against the distance by Möbius addition in float64."""

import numpy as np
import pytest

from workbench.deploying import pairs
from workbench.deploying.measure import as_an_index_compares, measure, search_of
from workbench.evaluation.health import look
from workbench.evaluation.retrieval import retrieve
from workbench.problem import Problem
from workbench.results import mistakes
from workbench.results.stored import Stored, rows_of
from workbench.running.search.image_search import similarities

COUNT = 60
LABELS = np.arange(COUNT) % 5


def points(lengths=(0.1, 0.95)):
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(5, 6))[LABELS] + rng.normal(size=(COUNT, 6))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True) * rng.uniform(*lengths, (COUNT, 1))).astype("f4")


def moebius(first, second):
    """Distance in the ball of curvature -1: Ermolov et al. 2022, Equations 1 and 2."""
    x, y = -np.asarray(first, np.float64), np.asarray(second, np.float64)
    product, xx, yy = x @ y, x @ x, y @ y
    added = ((1 + 2 * product + yy) * x + (1 - xx) * y) / (1 + 2 * product + xx * yy)
    return 2 * np.arctanh(np.linalg.norm(added))


def unit(vectors):
    return vectors / np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)


def all_distances(vectors):
    return np.array([[moebius(one, other) for other in vectors] for one in vectors])


def stored(vectors):
    found = retrieve(vectors, LABELS, np.arange(COUNT), k=COUNT - 1, distance="hyperbolic")
    near = rows_of(np.arange(COUNT), found.neighbours)
    return Stored(np.arange(COUNT), LABELS, vectors, near, found.first_hit, found.r, "hyperbolic"), found


def test_neighbours_and_distances_are_those_of_moebius_addition():
    evaluation, found = stored(points())
    apart = all_distances(evaluation.embeddings)
    rows = np.arange(COUNT)
    np.testing.assert_allclose(found.similarities, -np.take_along_axis(apart, evaluation.near, 1), rtol=1e-4)
    np.testing.assert_allclose(evaluation.gaps(rows, evaluation.near[:, 7]), apart[rows, evaluation.near[:, 7]])
    by_cosine = retrieve(evaluation.embeddings, LABELS, rows, k=10)
    assert (by_cosine.neighbours != found.neighbours[:, :10]).any(), "the lengths count"
    missed, _, near = mistakes.missed(evaluation, 3, 0)
    np.testing.assert_allclose(near, -apart[3, missed])
    np.testing.assert_allclose(similarities(evaluation.embeddings[3], evaluation.embeddings, "hyperbolic"), -apart[3])


def test_the_largest_hub_is_by_hyperbolic_distance():
    vectors = points()
    apart = all_distances(vectors)
    np.fill_diagonal(apart, np.inf)
    times = np.bincount(np.argsort(apart, axis=1)[:, :10].ravel(), minlength=COUNT)
    assert look(vectors, LABELS, distance="hyperbolic").numbers["largest_hub"] == times.max()
    assert look(vectors, LABELS, distance="l2").numbers["largest_hub"] != times.max()


def test_an_index_ranks_points_of_one_length_as_the_evaluation_does():
    evaluation, found = stored(points((0.6, 0.6)))
    compared = as_an_index_compares(evaluation)
    exact = measure(search_of(compared), [])[0]
    assert exact.metrics["MAP@R"] == pytest.approx(found.metrics["MAP@R"], abs=1e-6)
    assert exact.metrics["recall@1"] == found.metrics["recall@1"]
    cosines = unit(evaluation.embeddings) @ unit(evaluation.embeddings).T
    limit = pairs.limit_of(compared, 0.01).similarity
    first, second = np.triu_indices(COUNT, 1)
    others = cosines[first, second][LABELS[first] != LABELS[second]]
    assert (others >= limit).mean() <= 0.01 < (others >= limit - 0.05).mean(), "the threshold is a cosine, too"


def test_an_index_of_points_of_other_lengths_would_rank_otherwise_and_is_refused():
    vectors = points((0.6, 0.6))
    vectors[[3, 8]] *= 0.9
    with pytest.raises(Problem, match="2 of 60 embeddings are shorter than the longest"):
        as_an_index_compares(stored(vectors)[0])
