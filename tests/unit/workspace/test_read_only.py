"""A workspace on a disk or in a folder where nothing may be written: it is read, also as its owner changes it."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.waits import HANG
from workbench.config import RunConfig
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.database import connection
from workbench.workspace.news import Place, Watch

pytestmark = pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")


@pytest.fixture
def space(tmp_path):
    """A workspace with a run that no program has open."""
    with Workspace(tmp_path / "space", create=True) as made:
        made.create_run(RunConfig(name="First"))
    return tmp_path / "space"


@pytest.fixture
def closed_folder(space, monkeypatch):
    """Its folder may not be written, as `os.access` and SQLite say."""
    true = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and true(path, mode))
    connected = connection.sqlite3.connect

    def connect(address, **options):
        """As in such a folder: without an index of the log a log cannot be read."""
        if "mode=ro" in address and "immutable" not in address and not (space / "workspace.db-shm").exists():
            raise connection.OperationalError("unable to open database file")
        return connected(address, **options)

    monkeypatch.setattr(connection.sqlite3, "connect", connect)


@pytest.fixture
def owner(space):
    """Changes the workspace as another process, which has the right to."""

    def change(code):
        start = f"from workbench.workspace import Workspace\nwith Workspace({str(space)!r}) as space:\n    {code}"
        subprocess.run([sys.executable, "-c", start], check=True, timeout=HANG)

    return change


def test_it_is_read_though_no_log_can_be_made_beside_it(space, closed_folder):
    before = sorted(path.name for path in space.iterdir())
    with Workspace(space) as opened, opened.reader():
        assert opened.read_only
        assert [run.name for run in opened.runs()] == ["First"]
        with pytest.raises(Problem, match="reading only"):
            opened.create_run(RunConfig())
    assert sorted(path.name for path in space.iterdir()) == before


def test_what_its_owner_writes_is_seen(space, closed_folder, owner):
    with Workspace(space) as opened:
        watch = Watch(opened)
        owner("space.rename(1, 'Second')")
        assert opened.run(1).name == "Second"
        news = watch.look(Place(version=watch.first.after.version))
        assert [run.name for run in news.runs] == ["Second"]
        owner("space.rename(1, 'Third')")
        assert [run.name for run in watch.look(news.after).runs] == ["Third"]
        watch.close()


def test_what_its_owner_has_open_is_read_with_its_log(space, closed_folder):
    with Workspace(space) as opened:
        copy = connection.sqlite3.connect(str(space / "workspace.db"), isolation_level=None)
        copy.execute("update runs set name = 'Second'")
        assert (space / "workspace.db-wal").stat().st_size
        assert opened.run(1).name == "Second"
        copy.close()


def test_changes_in_a_log_that_cannot_be_read_there_are_not_left_out_in_silence(space, closed_folder, tmp_path):
    writer = connection.sqlite3.connect(str(space / "workspace.db"), isolation_level=None)
    writer.execute("update runs set name = 'Second'")
    log = tmp_path / "log"
    shutil.copyfile(space / "workspace.db-wal", log)
    writer.close()
    shutil.copyfile(log, space / "workspace.db-wal")
    with pytest.raises(Problem, match=r"last changes of the workspace .* Copy the whole folder"):
        Workspace(space)


def test_one_of_a_network_disk_which_has_no_log_is_read_under_its_locks(space, closed_folder):
    with connection.open_writer(space / "workspace.db", wal=False) as left:
        left.execute("select 1")
    left.close()
    assert connection.lying_still(space / "workspace.db") is None
