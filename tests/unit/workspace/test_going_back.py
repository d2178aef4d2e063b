"""An upgrade of the workspace keeps a copy of the database, which can be put back."""

import errno
from contextlib import closing
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner
from sqlite_utils import Database

from tests.unit.workspace.older import make_older
from workbench.cli import cli
from workbench.config import RunConfig
from workbench.files import parts
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.database.connection import open_reader
from workbench.workspace.schema.going_back import copies, go_back, steps_ahead
from workbench.workspace.schema.migrations import migration

STEP = "m012_owned_runs"


def pending(database):
    with closing(open_reader(database)) as db:
        return [step.name for step in migration.pending(Database(db))]


@pytest.fixture
def older(tmp_path):
    """The folder of a workspace with one run, from before STEP of the schema."""
    with Workspace(tmp_path, create=True) as workspace:
        workspace.create_run(RunConfig(name="of then"))
        database = workspace.database
    make_older(database, STEP)
    return tmp_path


def test_the_database_from_before_the_upgrade_comes_back(older):
    steps = pending(older / "workspace.db")
    assert steps[0] == STEP
    assert steps_ahead(older) == len(steps)
    assert copies(older) == []
    with Workspace(older) as workspace:
        workspace.create_run(RunConfig(name="of now"))
    assert steps_ahead(older) == 0
    said = go_back(older)
    assert "Open it with the older Workbench" in said
    assert pending(older / "workspace.db") == steps
    (replaced,) = older.glob("workspace-after-*.db")
    assert replaced.name in said
    with closing(open_reader(replaced)) as db:
        assert [name for (name,) in db.execute("select name from runs order by id")] == ["of then", "of now"]
    with Workspace(older) as workspace:
        assert [run.name for run in workspace.runs()] == ["of then"]
    assert len(copies(older)) == 2, "opened by this Workbench it is upgraded again, with another copy"


def test_on_windows_which_replaces_no_open_file_the_database_comes_back_too(older, monkeypatch):
    steps = pending(older / "workspace.db")
    with Workspace(older) as workspace:
        workspace.create_run(RunConfig(name="of now"))
    replace = Path.replace

    def refuse_what_is_open(path, target):
        if str(target) in {file.path for file in psutil.Process().open_files()}:
            raise PermissionError(errno.EACCES, "The process cannot access the file", str(target))
        return replace(path, target)

    monkeypatch.setattr(parts, "POSIX", False)
    monkeypatch.setattr(Path, "replace", refuse_what_is_open)
    with (older / "workspace.db").open("rb"), pytest.raises(Problem, match="close the program that has it open"):
        go_back(older)
    assert pending(older / "workspace.db") == []
    assert "Open it with the older Workbench" in go_back(older)
    assert pending(older / "workspace.db") == steps


def test_an_open_workspace_is_not_taken_back(older):
    with Workspace(older) as workspace:
        with pytest.raises(Problem, match="open in another program"):
            go_back(older)
        assert len(workspace.runs()) == 1
        workspace.rename(1, "still here")
    assert not list(older.glob("workspace-after-*.db"))


def test_a_damaged_copy_and_none_are_refused(older):
    with pytest.raises(Problem, match="no copy"):
        go_back(older)
    Workspace(older).close()
    (copy,) = copies(older)
    copy.write_bytes(copy.read_bytes()[:5000])
    with pytest.raises(Problem, match="damaged"):
        go_back(older)
    assert steps_ahead(older) == 0


def test_the_doctor_tells_of_the_upgrade_and_how_to_go_back(older):
    steps = pending(older / "workspace.db")
    told = CliRunner().invoke(cli, ["doctor", "--workspace", str(older)]).output
    assert "made by an older version of Workbench" in told
    assert copies(older)[0].name in told
    assert "--go-back" in told
    both = CliRunner().invoke(cli, ["doctor", "--workspace", str(older), "--go-back", "--repair"])
    assert (both.exit_code, "exclude each other" in both.output) == (2, True)
    ended = CliRunner().invoke(cli, ["doctor", "--workspace", str(older), "--go-back"])
    assert ended.exit_code == 0, ended.output
    assert pending(older / "workspace.db") == steps
