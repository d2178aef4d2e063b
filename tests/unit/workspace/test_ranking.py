"""The ranking out of its file against what the database says of the same evaluation."""

import numpy as np
import pytest

from tests.ui.small_run import store_run
from workbench.problem import Problem
from workbench.workspace.measured.ranking import read_first_hits, read_ranking


@pytest.fixture
def run(workspace):
    store_run(workspace, np.repeat(np.arange(3), 4), name="Other data")
    return store_run(workspace, np.repeat(np.arange(5), 8))


def test_the_file_and_the_database_agree(workspace, run):
    for evaluation in run.evaluations:
        found, queries = read_ranking(workspace, evaluation), workspace.queries(evaluation)
        assert found.sample_ids.tolist() == queries.sample_ids.tolist()
        assert found.labels.tolist() == queries.labels.tolist()
        assert found.first_hit.tolist() == queries.first_hit.tolist()
        assert found.r.tolist() == queries.r.tolist()
        for row, sample_id in enumerate(found.sample_ids.tolist()):
            near = [each.sample_id for each in workspace.neighbours(run.run_id, sample_id, evaluation)]
            assert found.sample_ids[found.neighbours[row]].tolist() == near
        ids, hits = read_first_hits(workspace, evaluation)
        assert (ids.tolist(), hits.tolist()) == (queries.sample_ids.tolist(), queries.first_hit.tolist())


def test_a_missing_or_damaged_file_is_a_sentence(workspace, run):
    path = workspace.folder(run.run_id) / "ranking-2.npz"
    path.write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(Problem, match="is damaged"):
        read_ranking(workspace, run.evaluations[-1])
    path.unlink()
    with pytest.raises(Problem, match="is missing"):
        read_first_hits(workspace, run.evaluations[-1])


def test_a_ranking_of_other_samples_is_refused(workspace, run):
    path = workspace.folder(run.run_id) / "ranking-1.npz"
    with np.load(path, allow_pickle=False) as stored:
        columns = {name: stored[name] for name in stored.files}
    np.savez(path, **{**columns, "sample_ids": columns["sample_ids"] + 1})
    with workspace.writing() as db:  # as an older Workbench stored it
        db.execute("update evaluations set ranking = null")
    with pytest.raises(Problem, match="names samples that its data set has not"):
        read_ranking(workspace, run.evaluations[0])
