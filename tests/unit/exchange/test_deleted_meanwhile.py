"""A run that another program deletes while it is exported or reported: a sentence, and no folder of it comes back."""

import os

import pytest

from workbench import reports
from workbench.exchange.formats import export_run
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.folders.run_folders import HIGHEST
from workbench.workspace.tables.runs import Deleted


@pytest.fixture
def delete(workspace, stored_run):
    """Deletes the run as another program does, when a progress begins with these words."""
    with Workspace(workspace.path) as other:

        def at(words):
            def progress(text, done, total):
                if text.startswith(words) and other.runs():
                    other.trash(stored_run)
                    other.delete(stored_run)

            return progress

        yield at


@pytest.mark.parametrize("name", ["csv", "parquet", "tensorboard"])
@pytest.mark.parametrize("inside", [True, False])
def test_curves_of_a_deleted_run_replace_no_earlier_export(
    workspace, stored_run, tmp_path, delete, monkeypatch, name, inside
):
    if name == "parquet":
        pytest.importorskip("pyarrow")
    out = workspace.file(stored_run, "export") if inside else tmp_path / "out"
    [path] = export_run(workspace, stored_run, [name], out)
    before, names, asked = path.read_bytes(), workspace.scalar_names, []

    def names_of_what_was_deleted(run_id):
        if asked:  # the first asks whether there are curves
            delete("")("", 0, 0)
        asked.append(run_id)
        return names(run_id)

    monkeypatch.setattr(workspace, "scalar_names", names_of_what_was_deleted)
    with pytest.raises(Deleted, match="by another window or a command"):
        export_run(workspace, stored_run, [name], out)
    assert os.listdir(workspace.path / "runs") == [HIGHEST]
    assert inside or path.read_bytes() == before


@pytest.mark.parametrize("kind", ["html", "csv"])
def test_a_report_of_a_deleted_run_is_not_written(workspace, stored_run, delete, kind):
    out = workspace.file(stored_run, "report")
    with pytest.raises(Deleted):
        reports.write_report(workspace, [stored_run], out, [kind], progress=delete("Writing"))
    assert os.listdir(workspace.path / "runs") == [HIGHEST]


def test_a_run_that_is_deleted_in_the_last_moment_gets_no_folder_again(workspace, stored_run, delete, monkeypatch):
    out, seen = workspace.file(stored_run, "export"), workspace.check_there

    def last_moment(run_id):
        seen(run_id)
        delete("")("", 0, 0)

    monkeypatch.setattr(workspace, "check_there", last_moment)
    with pytest.raises(Problem, match="no longer exists"):
        export_run(workspace, stored_run, ["config"], out)
    assert os.listdir(workspace.path / "runs") == [HIGHEST]


def test_a_report_on_a_run_that_is_deleted_in_the_last_moment_makes_no_folder(
    workspace, stored_run, delete, monkeypatch
):
    out, seen = workspace.file(stored_run, "report"), workspace.check_there
    monkeypatch.setattr(workspace, "check_there", lambda run_id: (seen(run_id), delete("")("", 0, 0)))
    with pytest.raises(Problem):
        reports.write_report(workspace, [stored_run], out, ["csv"])
    assert os.listdir(workspace.path / "runs") == [HIGHEST]


def test_an_export_makes_no_workspace_again_that_was_taken_away(workspace, stored_run):
    out = workspace.file(stored_run, "export")
    workspace.path.rename(workspace.path.with_name("elsewhere"))
    with pytest.raises(Problem, match="no longer exists"):
        export_run(workspace, stored_run, ["config"], out)
    assert not workspace.path.exists()


@pytest.mark.parametrize("name", ["report", "a/b", "runs/1/export/deep", "runs/notes/export"])
def test_folders_beside_runs_and_in_them_are_made(workspace, stored_run, name):
    workspace.make_folder(workspace.path / name)
    assert (workspace.path / name).is_dir()


def test_a_file_of_a_deleted_run_is_not_recorded(workspace, stored_run, tmp_path, delete):
    (tmp_path / "report.html").write_bytes(b"a report")
    delete("")("", 0, 0)
    with pytest.raises(Deleted):
        workspace.add_artefact(stored_run, "report", tmp_path / "report.html")
