"""What the window asks about failed queries, against the database's own rows of the same evaluation."""

import numpy as np
import pytest

from tests.ui.small_run import blobs, store_run
from workbench.control import Cancelled
from workbench.evaluation.retrieval import retrieve
from workbench.problem import Problem
from workbench.results.explanations import FailedQueries, explain_failures
from workbench.results.failures import find_causes
from workbench.results.leaving_out import without_samples
from workbench.results.mistakes import read_changes
from workbench.results.stored import Stored

LABELS = np.repeat(np.arange(5), 12)


@pytest.fixture
def run(workspace):
    return store_run(workspace, LABELS, embeddings=[blobs(LABELS, 1.5, 0), blobs(LABELS, 0.7, 0)])


@pytest.fixture
def found(workspace, run):
    return explain_failures(workspace, run.evaluations[0], lambda text, done, total: None)


def failed_ids(workspace, evaluation):
    queries = workspace.queries(evaluation)
    return queries.sample_ids[queries.first_hit > 1]


def test_every_failed_query_has_one_cause(workspace, run, found):
    failed = failed_ids(workspace, run.evaluations[0])
    assert 5 < len(failed) < 55
    of_causes = [found.of_cause(cause) for cause in found.counts]
    assert [len(each) for each in of_causes] == list(found.counts.values())
    assert sorted(np.concatenate(of_causes).tolist()) == sorted(failed.tolist())
    for sample_id in run.ids.tolist():
        about = found.about(sample_id)
        assert (about is not None) == (sample_id in failed)
        if about is not None:
            assert sample_id in found.of_cause(about.cause)
            assert about.cause not in about.also
            near = workspace.neighbours(run.run_id, sample_id, run.evaluations[0])
            assert (about.nearest, about.nearest_class) == (near[0].sample_id, near[0].class_name)
            assert about.first_hit == workspace.query(run.evaluations[0], sample_id).first_hit
            assert about.gap == pytest.approx(np.sqrt(2 - 2 * near[0].similarity), abs=1e-3)
    assert found.about(-1) is None
    with pytest.raises(KeyError):
        found.standing(-1, 5, most=4)


def test_all_causes_that_hold_are_named_in_their_order():
    labels, ids = np.arange(60) % 5, np.arange(60)
    vectors = blobs(labels, 0.4, 0)
    vectors[[0, 5]] = vectors[[1, 6]]  # copies from the midst of another class
    stored = retrieve(vectors, labels, ids, k=20)
    evaluation = Stored(ids, labels, vectors, stored.neighbours, stored.first_hit, stored.r)
    failures = find_causes(evaluation)
    failed = FailedQueries(1, evaluation, failures, [], [], ("a", "b", "c", "d", "e"))
    names, several = list(failed.counts), 0
    for row, holds in zip(failures.rows.tolist(), failures.holds, strict=True):
        holding = [names[number] for number in np.flatnonzero(holds)] or names[-1:]
        about = failed.about(row)
        assert [about.cause, *about.also] == holding
        several += len(holding) > 1
    assert several


def test_confusions_list_their_queries(workspace, run, found):
    assert sum(pair.times for pair in found.pairs) == len(failed_ids(workspace, run.evaluations[0]))
    for pair in found.pairs:
        ids = found.of_pair(pair.label, pair.taken_label)
        assert len(ids) == pair.times
        assert pair.share == pytest.approx(pair.times / 12)
        for sample_id in ids.tolist():
            assert found.about(sample_id).nearest_class == pair.taken_for
            assert workspace.query(run.evaluations[0], sample_id).class_name == pair.class_name


def test_hubs_are_counted_in_the_lists_of_others(workspace):
    run = store_run(workspace, LABELS, embeddings=[np.random.default_rng(1).normal(size=(60, 40))])
    found = explain_failures(workspace, run.evaluations[0], lambda text, done, total: None)
    assert found.hubs
    lists = [
        [each.sample_id for each in workspace.neighbours(run.run_id, sample_id, run.evaluations[0])[:10]]
        for sample_id in run.ids.tolist()
    ]
    for hub in found.hubs:
        assert hub.times == sum(hub.sample_id in each for each in lists)
        assert hub.wrong_times == sum(times for _, times in hub.victims)


def test_missed_neighbours_go_on_where_the_list_ends(workspace, run, found):
    sample_id = int(failed_ids(workspace, run.evaluations[0])[0])
    near = workspace.neighbours(run.run_id, sample_id, run.evaluations[0])
    shown = [each for each in near[5:] if each.right]
    standing = found.standing(sample_id, 5, most=4)
    missed, total = standing.near, standing.missed
    first = [neighbour.rank for neighbour in near if neighbour.right]
    assert standing.ranks[: len(first)].tolist() == first
    assert (len(standing.ranks), standing.searched) == (11, 59)
    assert total == 11 - sum(each.right for each in near[:5])
    assert len(missed) == min(4, total)
    for expected, each in zip(shown, missed, strict=False):
        assert (each.rank, each.sample_id, each.class_name) == (expected.rank, expected.sample_id, expected.class_name)
        assert each.similarity == pytest.approx(expected.similarity, abs=1e-4)
        assert (each.right, each.label) == (True, expected.label)


@pytest.mark.parametrize("split", [False, True])
def test_the_ranking_of_a_query_holds_what_is_searched_but_itself(split):
    """With a gallery of its own a query is not in it, and the ranking is the whole gallery."""
    labels, ids, is_query = np.arange(30) % 3, np.arange(30), np.arange(30) < 12
    vectors = blobs(labels, 1.5, 0)
    stored = retrieve(vectors, labels, ids, k=5, is_query=is_query if split else None)
    evaluation = Stored(ids, labels, vectors, stored.neighbours, stored.first_hit, stored.r)
    failed = FailedQueries(1, evaluation, find_causes(evaluation), [], [], ("a", "b", "c"))
    standing = failed.standing(0, 0, 1)
    assert (len(standing.ranks), standing.searched) == ((6, 18) if split else (9, 29))


def test_two_evaluations_differ_in_what_is_won_and_lost(workspace, run):
    changed = read_changes(workspace, *run.evaluations)
    before, after = (set(failed_ids(workspace, each).tolist()) for each in run.evaluations)
    assert set(changed.won.tolist()) == before - after
    assert set(changed.lost.tolist()) == after - before
    assert (changed.wrong, changed.right) == (len(before & after), 60 - len(before | after))


def test_it_can_be_cancelled(workspace, run):
    def progress(text, done, total):
        if done:
            raise Cancelled

    with pytest.raises(Cancelled):
        explain_failures(workspace, run.evaluations[0], progress)


@pytest.mark.parametrize("k", [6, 20])
@pytest.mark.parametrize("width", [0, 3])
def test_map_at_r_without_some_samples(workspace, width, k):
    """Against the formula on what is left, ranked by cosine; with 6 stored neighbours all is ranked anew."""
    run = store_run(workspace, LABELS, embeddings=[blobs(LABELS, 1.5, 0)], k=k)
    evaluation, gone = run.evaluations[0], run.ids[10 : 10 + width]
    answer = without_samples(workspace, evaluation, np.append(gone, 1), lambda text, done, total: None)
    ids, labels, embeddings = workspace.embeddings(evaluation)
    left = ~np.isin(ids, gone)
    unit = embeddings[left].astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    labels, scores = labels[left], unit @ unit.T
    precisions = []
    for row in range(len(labels)):
        others = np.delete(np.argsort(-scores[row]), np.flatnonzero(np.argsort(-scores[row]) == row))
        hits = labels[others] == labels[row]
        r = int(hits.sum())
        precisions.append(sum(hits[: j + 1].mean() for j in range(r) if hits[j]) / r)
    assert answer.without == pytest.approx(np.mean(precisions), abs=1e-6)
    assert answer.whole == workspace.evaluation(evaluation).metrics["MAP@R"]
    assert answer.count == width


def test_something_must_be_left(workspace, run):
    with pytest.raises(Problem, match="Fewer than two"):
        without_samples(workspace, run.evaluations[0], run.ids[1:], lambda text, done, total: None)
