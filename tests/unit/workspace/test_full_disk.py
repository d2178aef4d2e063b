"""A workspace on a disk without a free byte: it is opened, read, and runs in it are deleted for ever."""

import os
import subprocess
import sys

import pytest

from tests.campaign import disks
from workbench.config import RunConfig
from workbench.problem import Problem
from workbench.ui.state.live import Follower
from workbench.workspace import Workspace
from workbench.workspace.database.problems import Full
from workbench.workspace.folders import deleted_checkpoints
from workbench.workspace.news import watched
from workbench.workspace.repairs.repair import repair
from workbench.workspace.schema.going_back import steps_ahead

pytestmark = pytest.mark.skipif(not disks.can_mount(), reason="only root can mount a small disk")


@pytest.fixture
def disk(tmp_path):
    """A disk of 24 MB."""
    with disks.disk(tmp_path) as place:
        if not os.path.ismount(place):
            pytest.skip("no small disk can be mounted here")
        yield place


@pytest.fixture
def space(disk):
    """A full disk with a workspace of three runs; the second is in the trash."""
    with Workspace(disk / "space", create=True) as workspace:
        for name in ("One", "Two", "Three"):
            run_id = workspace.create_run(RunConfig(name=name))
            workspace.set_status(run_id, "done")
            (workspace.folder(run_id) / "best.pt").write_bytes(bytes(1 << 20))
        workspace.trash(2)
    fill(disk, 0)
    return disk / "space"


def fill(disk, left):
    """Leave the disk so many bytes."""
    (disk / "filler").unlink(missing_ok=True)
    disks.fill(disk, left)
    facts = os.statvfs(disk)
    assert abs(facts.f_bavail * facts.f_frsize - left) <= facts.f_frsize


@pytest.mark.parametrize("left", [0, 4096, 8192])
def test_a_new_workspace_without_room_leaves_nothing_behind(disk, left):
    fill(disk, left)
    with pytest.raises(Full, match="is full"):
        Workspace(disk / "mine" / "space", create=True)
    assert [path.name for path in disk.iterdir()] == ["filler"]
    (disk / "mine").mkdir()
    (disk / "mine" / "notes.txt").touch()
    with pytest.raises(Full, match="is full"):
        Workspace(disk / "mine", create=True)
    assert [path.name for path in (disk / "mine").iterdir()] == ["notes.txt"]
    (disk / "filler").unlink()
    with Workspace(disk / "mine", create=True) as workspace:
        assert workspace.runs() == []


def test_it_is_opened_and_read(space):
    assert steps_ahead(space) == 0
    with Workspace(space) as workspace:
        assert workspace.alone
        assert [run.name for run in workspace.runs()] == ["Three", "One"]
        with pytest.raises(Full, match="is full"):
            workspace.rename(1, "Other")
        with pytest.raises(Full):
            workspace.trash(1)
        assert workspace.run(1).name == "One"


def test_where_a_run_seems_to_train_it_is_opened_too(space):
    fill(space.parent, 1 << 20)
    with Workspace(space) as workspace, workspace.writing() as db:
        db.execute("update runs set status = 'running', pid = 1, born = 5.0, host = 'here' where id = 1")
    fill(space.parent, 0)
    watch = watched(space, sweep=True)
    assert [run.id for run in watch.workspace.runs()] == [3, 1]
    watch.workspace.close()


def test_a_run_in_the_trash_is_deleted_and_makes_room_for_the_next(space):
    with Workspace(space) as workspace:
        assert workspace.empty_trash() == 1
        assert not (space / "runs" / "2").exists()
        workspace.trash(1)
        workspace.delete(1)
        assert [run.id for run in workspace.runs()] == [3]


def test_a_run_that_cannot_be_moved_to_the_trash_is_deleted_at_once(space):
    with Workspace(space) as workspace:
        with pytest.raises(Problem, match="Only a run in the trash"):
            workspace.delete(1)
        workspace.delete(1, at_once=True)
        assert [run.id for run in workspace.runs()] == [3]


def test_a_run_that_works_is_not_deleted_at_once(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id = workspace.create_run(RunConfig())
        with pytest.raises(Problem, match="is still working"):
            workspace.delete(run_id, at_once=True)
        assert workspace.folder(run_id).is_dir()


def test_where_the_files_make_no_room_a_sentence_says_what_is_left(space):
    (space / "runs" / "2" / "best.pt").unlink()
    fill(space.parent, 0)
    with Workspace(space) as workspace:
        with pytest.raises(Problem, match=r"The files of run 2 are deleted; it stays in the list\."):
            workspace.delete(2)
        (space.parent / "filler").unlink()
        workspace.delete(2)
        assert workspace.runs(trashed=True) == []


def test_a_repair_without_room_names_the_workspace_and_what_it_needs(space, monkeypatch):
    def full(workspace, *_):
        raise Full(workspace.database)

    monkeypatch.setattr("workbench.workspace.repairs.repair.rebuild", full)
    (space.parent / "filler").unlink()
    database = space / "workspace.db"
    damaged = database.read_bytes()[:60_000] + bytes(20_000)
    database.write_bytes(damaged)
    with pytest.raises(Problem, match="has no room for a new database") as caught:
        repair(space)
    assert ".repair-" not in str(caught.value)
    assert not list(space.glob(".repair-*"))
    assert database.read_bytes() == damaged


OTHER = """
import sys
from workbench.workspace import Workspace
from workbench.workspace.database import connection
connection.WAIT = 0.1
with Workspace(sys.argv[1]) as workspace:
    workspace.rename(1, "by another program")
"""


def another_program(space):
    """What another program says that renames run 1; nothing if it can."""
    return subprocess.run([sys.executable, "-c", OTHER, space], capture_output=True, text=True, check=False).stderr


def test_another_program_is_told_why_it_cannot_open_it(space):
    with Workspace(space):
        said = another_program(space)
    assert "keeps the workspace locked" in said, said


@pytest.mark.usefixtures("qapp")
def test_once_there_is_room_a_window_lets_other_programs_in(space, monkeypatch):
    monkeypatch.setattr("workbench.workspace.news.SHARE_EVERY", 0)
    watch = watched(space)
    place = watch.first.after
    assert watch.look(place) is None
    assert watch.workspace.alone
    (space.parent / "filler").unlink()
    with Workspace(space):  # as of a run of this window, through which the disk's lock is kept
        watch.look(place)
        assert watch.workspace.alone
    follower = Follower(watch)
    told, back = follower.alone, []
    follower.came_back.connect(back.append)
    assert "can be read, and runs can be deleted" in str(told)
    follower.look()
    assert back == [told]
    assert follower.alone is None
    assert another_program(space) == ""
    follower.look()
    assert [run.name for run in follower.runs] == ["Three", "by another program"]
    watch.workspace.rename(1, "by the window")
    assert watch.workspace.run(1).name == "by the window"
    follower.close()
    watch.workspace.close()


def test_checkpoints_are_deleted_on_a_full_disk_and_make_room(space):
    with Workspace(space) as workspace:
        freed = workspace.delete_checkpoints([1, 2, 3])
        assert (freed.freed, list(freed.kept)) == ({1: 1 << 20, 3: 1 << 20}, [2])
        assert deleted_checkpoints.day_of(workspace.folder(1))
    with Workspace(space) as workspace:
        workspace.rename(1, "There is room")


def test_the_newest_run_is_deleted_on_a_full_disk_and_its_number_is_kept(space):
    with Workspace(space) as workspace:
        workspace.delete(3, at_once=True)
        assert workspace.create_run(RunConfig()) == 4
