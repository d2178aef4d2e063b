"""A run of one workspace as a folder that another workspace imports."""

import numpy as np
import pytest

from workbench.config import RunConfig
from workbench.exchange.formats import export_run, refusal
from workbench.exchange.source import source_of
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.arriving.ingest import ingest
from workbench.workspace.folders import travelling


@pytest.fixture
def other(tmp_path):
    """The workspace of a colleague."""
    with Workspace(tmp_path / "other", create=True) as made:
        yield made


def curves(workspace, run_id):
    points = {name: workspace.scalars(run_id, name) for name in workspace.scalar_names(run_id)}
    return {name: [list(column) for column in columns] for name, columns in points.items()}


def test_a_colleague_gets_curves_evaluations_neighbours_and_the_note(workspace, stored_run, other, tmp_path):
    workspace.set_note(stored_run, "Look at epoch 2.", "")
    export_run(workspace, stored_run, ["run"], tmp_path / "out")
    taken = ingest(other, tmp_path / "out" / f"run-{stored_run}")
    assert (taken.doubts, taken.evaluations, taken.status) == ([], 2, "done")
    np.testing.assert_equal(curves(other, taken.run_id), curves(workspace, stored_run))
    ours, theirs = workspace.run(stored_run), other.run(taken.run_id)
    assert (theirs.best, theirs.last, theirs.note) == (ours.best, ours.last, "Look at epoch 2.")
    (query, *_) = workspace.queries(workspace.evaluations(stored_run)[-1].id).sample_ids.tolist()
    assert other.neighbours(taken.run_id, query) == workspace.neighbours(stored_run, query)


def test_checkpoints_come_with_a_trained_run(trained_space, other, tmp_path):
    with Workspace(trained_space) as workspace:
        export_run(workspace, 1, ["run"], tmp_path)
        checkpoints = {path.name: path.read_bytes() for path in workspace.artefacts(1, "checkpoint")}
    taken = ingest(other, tmp_path / "run-1")
    assert taken.checkpoints == len(checkpoints) > 0
    assert {path.name: path.read_bytes() for path in other.artefacts(taken.run_id, "checkpoint")} == checkpoints


def test_one_state_of_a_run_is_imported_once(workspace, stored_run, other, tmp_path):
    for out in ("first", "second"):
        export_run(workspace, stored_run, ["run"], tmp_path / out)
    first, second = (ingest(other, tmp_path / out / f"run-{stored_run}") for out in ("first", "second"))
    assert first.run_id == second.run_id
    assert (len(other.runs()), second.evaluations) == (1, 0)


def test_a_file_that_changed_on_the_way_is_not_imported(workspace, stored_run, other, tmp_path):
    export_run(workspace, stored_run, ["run"], tmp_path)
    array = tmp_path / f"run-{stored_run}" / "embeddings-2.npy"
    array.write_bytes(array.read_bytes()[:-1] + b"x")
    taken = ingest(other, tmp_path / f"run-{stored_run}")
    assert (taken.evaluations, taken.lacking, taken.unfinished) == (1, 1, True)


def test_what_is_not_in_the_folder_is_said(workspace, stored_run, tmp_path):
    workspace.set_tags(stored_run, ["baseline"])
    workspace.rename(stored_run, "Best so far")
    workspace.file(stored_run, "ranking-1.npz").unlink()
    said = []
    export_run(workspace, stored_run, ["run"], tmp_path, remark=said.append)
    assert said == [
        "The tags of run 1 are not in the folder.",
        "The name of run 1 is not in the folder: it is called there as in its config.",
        "Arrays of run 1 are missing, and with them its evaluations after epoch 1.",
    ]


def test_a_folder_that_is_there_is_not_overwritten(workspace, stored_run, tmp_path):
    export_run(workspace, stored_run, ["run"], tmp_path)
    with pytest.raises(Problem, match=f"run-{stored_run} is there already. Nothing was written."):
        export_run(workspace, stored_run, ["run"], tmp_path)
    assert travelling.has_run(tmp_path / f"run-{stored_run}")


def test_a_run_that_has_not_ended_stays_where_it_is(workspace):
    run_id = workspace.create_run(RunConfig())
    assert refusal("run", source_of(workspace, run_id)) == f"Run {run_id} has not ended: its files still change."
    workspace.set_status(run_id, "failed")
    assert "no config or no journal" in refusal("run", source_of(workspace, run_id))


def test_the_folder_in_a_workspace_itself_is_refused_with_the_command_that_helps(workspace, stored_run, other):
    with pytest.raises(Problem, match=f"`workbench export {stored_run} --format run --workspace .*` writes it"):
        ingest(other, workspace.folder(stored_run))
    with pytest.raises(Problem, match="export RUN --format run` writes a run as a folder that another"):
        travelling.run_folders(workspace.folder(stored_run).parent)
