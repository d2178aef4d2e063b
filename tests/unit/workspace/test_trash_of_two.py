"""Two programs and one trash: each deletes what is in it still, and no run that is restored or trains."""

import pytest

from workbench.config import RunConfig
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.folders.run_folders import HIGHEST


@pytest.fixture
def workspace(tmp_path):
    """A workspace with four runs in the trash."""
    with Workspace(tmp_path / "space", create=True) as made:
        for _ in range(4):
            run_id = made.create_run(RunConfig())
            made.set_status(run_id, "done")
            made.trash(run_id)
        yield made


@pytest.fixture
def other(workspace):
    """The same one, as another program has it."""
    with Workspace(workspace.path) as opened:
        yield opened


def numbers(workspace, trashed=False):
    return [run.id for run in workspace.runs(trashed)]


def test_a_trash_that_two_programs_empty_is_empty_but_for_what_one_restores(workspace, other, monkeypatch):
    first_read = workspace.runs(trashed=True)
    other.delete(3)
    other.restore(2)
    monkeypatch.setattr(workspace, "runs", lambda trashed: first_read)  # the list as it was before
    assert workspace.empty_trash() == 2
    assert (numbers(other), numbers(other, trashed=True)) == ([2], [])


def test_a_run_that_is_resumed_leaves_the_trash_and_is_not_deleted(workspace, other):
    workspace.take_over(1)
    workspace.set_status(1, "running")
    assert numbers(other) == [1]
    with pytest.raises(Problem, match="Only a run in the trash"):
        other.delete(1)
    assert other.empty_trash() == 3
    assert workspace.run(1).status == "running"


def test_a_run_in_the_trash_that_works_all_the_same_is_not_deleted(workspace, other):
    workspace.take_over(1)
    workspace.set_status(1, "running")
    with workspace.writing() as db:  # as an older version left it
        db.execute("update runs set trashed = '2026-11-01T10:00:00+00:00' where id = 1")
    with pytest.raises(Problem, match="still working"):
        other.delete(1)
    assert numbers(other, trashed=True)[-1] == 1


def test_the_number_of_the_newest_run_is_not_given_again(workspace):
    newest = max(numbers(workspace, trashed=True))
    assert workspace.empty_trash() == len(range(newest))
    assert workspace.create_run(RunConfig()) == newest + 1
    workspace.set_status(newest + 1, "done")
    workspace.delete(newest + 1, at_once=True)
    with Workspace(workspace.path) as again:
        assert again.create_run(RunConfig()) == newest + 2


@pytest.mark.parametrize("content", [b"", b"-5", b"many", b"9" * 40, b"\xff\xfe", b"01"])
def test_a_file_of_the_highest_number_that_is_not_ours_is_passed_over(workspace, content):
    newest = max(numbers(workspace, trashed=True))
    (workspace.path / "runs" / HIGHEST).write_bytes(content)
    assert workspace.create_run(RunConfig()) == newest + 1


def test_a_link_in_the_place_of_that_file_is_not_followed(workspace, tmp_path):
    (tmp_path / "other").write_text("7000", "utf-8")
    (workspace.path / "runs" / HIGHEST).symlink_to(tmp_path / "other")
    newest = max(numbers(workspace, trashed=True))
    assert workspace.create_run(RunConfig()) == newest + 1
