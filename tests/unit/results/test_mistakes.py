"""Confusions, hubs, changes and missed neighbours against loops, on random embeddings with copies and ties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.evaluation.retrieval import retrieve
from workbench.results import mistakes
from workbench.results.failures import occurrences_of
from workbench.results.leaving_out import map_at_r_of
from workbench.results.stored import Stored, rows_of


def random_evaluation(seed, *, distance="cosine", is_query=None, count=70, classes=5):
    rng = np.random.default_rng(seed)
    vectors, labels = rng.normal(size=(count, 4)), rng.integers(0, classes, count) * 10
    vectors[5:9] = vectors[4]  # copies: ranks go by id
    if distance == "hyperbolic":
        vectors /= 1 + np.linalg.norm(vectors, axis=1, keepdims=True)  # into the ball
    ids = rng.permutation(10_000)[:count]
    found = retrieve(vectors, labels, ids, k=15, distance=distance, is_query=is_query)
    return Stored(ids, labels, vectors, rows_of(ids, found.neighbours), found.first_hit, found.r, distance)


def test_confusions_count_the_class_of_the_nearest():
    evaluation = random_evaluation(1)
    found = mistakes.confusions(evaluation)
    expected = {}
    for row in range(70):
        taken = evaluation.labels[evaluation.near[row, 0]]
        if taken != evaluation.labels[row]:
            pair = (evaluation.labels[row], taken)
            expected[pair] = expected.get(pair, 0) + 1
    pairs = list(zip(found.true.tolist(), found.taken.tolist(), strict=True))
    assert dict(zip(pairs, found.times.tolist(), strict=True)) == expected
    assert found.times.tolist() == sorted(found.times.tolist(), reverse=True)
    for pair, share in zip(pairs, found.share.tolist(), strict=True):
        assert share == pytest.approx(expected[pair] / (evaluation.labels == pair[0]).sum())


def test_hubs_and_whom_they_disturb():
    evaluation = random_evaluation(2)
    found = occurrences_of(evaluation)
    hubs = mistakes.intruding_hubs(found, 3)
    assert 0 < len(hubs) <= 3
    assert found.hubs[hubs].all()
    assert sorted(found.wrong[hubs].tolist(), reverse=True) == found.wrong[hubs].tolist()
    for hub, disturbed in zip(hubs, mistakes.victims(evaluation, hubs), strict=True):
        expected = {}
        for row in range(70):
            label = int(evaluation.labels[row])
            if hub in evaluation.near[row, :10] and label != evaluation.labels[hub]:
                expected[label] = expected.get(label, 0) + 1
        assert dict(disturbed) == expected
        assert [times for _, times in disturbed] == sorted(expected.values(), reverse=True)
        assert sum(expected.values()) == found.wrong[hub]


def test_no_hubs_disturb_nobody():
    evaluation = random_evaluation(2)
    assert mistakes.victims(evaluation, np.empty(0, np.int64)) == []
    assert mistakes.victims(evaluation, np.array([3])) != []


@given(
    st.dictionaries(st.integers(0, 60), st.integers(0, 4)),
    st.dictionaries(st.integers(0, 60), st.integers(0, 4)),
)
def test_changes_are_sets(before, after):
    def columns(hits):
        return np.array(list(hits), np.int64), np.array(list(hits.values()), np.int64)

    found = mistakes.changes(*columns(before), *columns(after))
    both = {each for each in before if before[each] and after.get(each)}
    assert set(found.won.tolist()) == {each for each in both if before[each] > 1 and after[each] == 1}
    assert set(found.lost.tolist()) == {each for each in both if before[each] == 1 and after[each] > 1}
    assert found.right + found.wrong + len(found.won) + len(found.lost) == len(both)
    back = mistakes.changes(*columns(after), *columns(before))
    assert back.won.tolist() == found.lost.tolist()


@pytest.mark.parametrize("distance", ["cosine", "l2", "hyperbolic"])
@pytest.mark.parametrize("split", [False, True])
def test_missed_neighbours_have_the_rank_that_the_metrics_give_them(distance, split):
    is_query = np.arange(70) % 3 == 0 if split else None
    evaluation = random_evaluation(3, distance=distance, is_query=is_query)
    for row in np.flatnonzero(evaluation.r > 0):
        rows, ranks, similarities = mistakes.missed(evaluation, int(row), 0)
        assert len(rows) == evaluation.r[row]
        assert ranks[0] == evaluation.first_hit[row]
        assert (np.diff(ranks) > 0).all()
        assert (np.diff(similarities) <= 1e-12).all()
        assert (evaluation.labels[rows] == evaluation.labels[row]).all()
        kept = ranks <= evaluation.near.shape[1]
        assert evaluation.near[row, ranks[kept] - 1].tolist() == rows[kept].tolist()
        behind, later, _ = mistakes.missed(evaluation, int(row), 6)
        assert behind.tolist() == rows[ranks > 6].tolist()
        assert later.tolist() == ranks[ranks > 6].tolist()


def test_similarities_of_the_missed():
    vectors = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 2.0]])
    for distance, expected in (("cosine", [0.6, 0.0]), ("l2", [-np.sqrt(0.8), -np.sqrt(5.0)])):
        evaluation = Stored(
            np.arange(3), np.zeros(3, int), vectors, np.array([[1, 2], [0, 2], [1, 0]]), np.ones(3), np.full(3, 2),
            distance,
        )  # fmt: skip
        rows, ranks, similarities = mistakes.missed(evaluation, 0, 0)
        assert (rows.tolist(), ranks.tolist()) == ([1, 2], [1, 2])
        assert similarities == pytest.approx(expected)


@pytest.mark.parametrize("distance", ["cosine", "l2", "hyperbolic"])
@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("gone", [0, 4])
def test_map_at_r_of_what_is_left_is_that_of_ranking_it_anew(distance, split, gone):
    is_query = np.arange(70) % 3 == 0 if split else None
    evaluation = random_evaluation(5, distance=distance, is_query=is_query, classes=12)
    kept = np.ones(70, bool)
    kept[np.random.default_rng(1).choice(70, gone, replace=False)] = False
    left = None if is_query is None else is_query[kept]
    ids, labels, vectors = evaluation.sample_ids[kept], evaluation.labels[kept], evaluation.embeddings[kept]
    expected = retrieve(vectors, labels, ids, k=1, distance=distance, is_query=left)
    assert map_at_r_of(evaluation, kept) == pytest.approx(expected.metrics["MAP@R"], abs=1e-12)


def test_stored_neighbours_that_do_not_reach_give_no_map_at_r():
    evaluation = random_evaluation(5, classes=2)
    assert evaluation.r.max() > evaluation.near.shape[1]
    assert map_at_r_of(evaluation, np.ones(70, bool)) is None
    alone = random_evaluation(5, classes=2)
    kept = np.zeros(70, bool)
    kept[[0, int(np.flatnonzero(alone.labels != alone.labels[0])[0])]] = True
    assert np.isnan(map_at_r_of(alone, kept)), "no class has two"


def test_without_a_stored_neighbour_there_is_no_map_at_r():
    """A gallery of one image has no neighbours of its own, and so none are stored."""
    is_query = np.arange(8) > 0
    evaluation = random_evaluation(5, is_query=is_query, count=8, classes=1)
    assert evaluation.near.shape == (8, 0)
    assert map_at_r_of(evaluation, np.ones(8, bool)) is None
