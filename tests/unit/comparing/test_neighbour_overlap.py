"""Shares of neighbours in common, against sets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.small_run import blobs, store_run
from workbench.comparing.queries.overlap import PairOfRuns, neighbour_overlap, shares_in_common
from workbench.problem import Problem
from workbench.workspace import Workspace

LABELS = np.repeat(np.arange(4), 6)


@given(st.integers(1, 8), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_shares_are_those_of_sets(k, n, seed):
    rng = np.random.default_rng(seed)
    first, second = (np.array([rng.choice(12, k, replace=False) for _ in range(n)]) for _ in range(2))
    expected = [len(set(a) & set(b)) / k for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    np.testing.assert_allclose(shares_in_common(first, second), expected)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    with Workspace(tmp_path_factory.mktemp("overlap") / "space", create=True) as workspace:
        runs = [store_run(workspace, LABELS, embeddings=[blobs(LABELS, 1.0, seed)]) for seed in range(4)]
        other = store_run(workspace, LABELS[:-1], embeddings=[blobs(LABELS[:-1], 1.0, 0)], name="Other data")
        with workspace.writing() as db:
            db.execute("update samples set id = id + 1 where dataset_id = 2")
        yield workspace, runs, other


def pair(first, second):
    return PairOfRuns(first.run_id, second.run_id, first.evaluations[0], second.evaluations[0])


def test_queries_are_means_over_pairs_and_the_largest_movers_come_first(stored):
    workspace, runs, _ = stored
    pairs = [pair(runs[0], runs[1]), pair(runs[2], runs[3])]
    found = neighbour_overlap(workspace, pairs, 5)
    assert found.k == 5
    assert found.pairs.tolist() == [2] * len(LABELS)
    assert (np.diff(found.share) >= 0).all()
    for sample_id, share, first_hit in zip(
        found.sample_ids.tolist(), found.share.tolist(), found.first_hit.tolist(), strict=True
    ):
        sets = [{each.sample_id for each in workspace.neighbours(run.run_id, sample_id)[:5]} for run in runs]
        assert share == pytest.approx((len(sets[0] & sets[1]) + len(sets[2] & sets[3])) / 10)
        assert first_hit == workspace.query(runs[0].evaluations[0], sample_id).first_hit
    assert found.mean == pytest.approx(found.share.mean())


def test_a_run_has_all_in_common_with_itself(stored):
    workspace, runs, _ = stored
    found = neighbour_overlap(workspace, [pair(runs[0], runs[0])], 1000)
    assert found.k == 20, "as many as are stored"
    assert (found.share == 1).all()


def test_runs_without_a_common_query_are_a_sentence(stored, monkeypatch):
    workspace, runs, other = stored
    ranking = workspace.folder(other.run_id) / "ranking-1.npz"
    with np.load(ranking) as file:
        columns = {name: file[name] for name in file.files}
    np.savez(ranking, **{**columns, "sample_ids": columns["sample_ids"] + 1})
    with workspace.writing() as db:  # as an older Workbench stored it
        db.execute("update evaluations set ranking = null")
    with pytest.raises(Problem, match="no query in common"):
        neighbour_overlap(workspace, [pair(runs[0], other)], 5)
