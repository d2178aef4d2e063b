"""A run that has ended and came whole is not read again, until anything in its folder is another than it was."""

import os
import shutil

import pytest

from tests.travelling_runs import rows
from workbench.commands.training.ingest import take_in_all
from workbench.config import RunConfig
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.arriving.ingest import ingest
from workbench.workspace.folders import journal, travelling

FUTURE, PAST = 4_000_000_000, 0  # in 2096, and in 1970


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path / "run")


@pytest.fixture
def looks(monkeypatch):
    """The journals that were read, by their folders."""
    read, entries = [], journal.entries

    def counted(folder, *having):
        read.append(folder)
        return entries(folder, *having)

    monkeypatch.setattr(journal, "entries", counted)
    return read


@pytest.mark.parametrize("seconds", [None, FUTURE, PAST])
def test_nothing_is_read_again_whatever_the_clock_says(workspace, folder, looks, seconds):
    for path in folder.iterdir() if seconds is not None else ():
        os.utime(path, (seconds, seconds))
    ingest(workspace, folder)
    known = rows(workspace)
    looks.clear()
    for _ in range(3):
        assert take_in_all(workspace, folder, follow=False) == 0
    assert looks == []
    assert rows(workspace) == known


@pytest.mark.parametrize("seconds", [None, FUTURE, PAST])
@pytest.mark.parametrize("cut", [0.3, 0.99])
def test_a_journal_that_grows_is_read_whatever_the_clock_says(workspace, folder, seconds, cut):
    whole = (folder / journal.NAME).read_bytes()
    (folder / journal.NAME).write_bytes(whole[: int(len(whole) * cut)] + b'\n{"run": {"status": "interrupted"}}\n')
    before = ingest(workspace, folder)
    assert not before.status.live
    for _ in range(2):
        ingest(workspace, folder)  # it is settled
    with (folder / journal.NAME).open("ab") as file:
        file.write(b'{"scalars": [["late", 1, 0.5]]}\n{"run": {"status": "done"}}\n')
    if seconds is not None:
        os.utime(folder / journal.NAME, (seconds, seconds))
    taken = ingest(workspace, folder)
    assert (taken.points, taken.status) == (1, "done")


def test_a_journal_that_was_changed_is_noticed_also_with_its_size_and_its_time(workspace, folder):
    ingest(workspace, folder)
    path = folder / journal.NAME
    facts, whole = path.stat(), path.read_bytes()
    path.write_bytes(whole.replace(b"batch/loss", b"other/loss", 1))  # far from its end
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert path.stat().st_size == facts.st_size
    for _ in range(2):
        with pytest.raises(Problem, match="is not the one that run 1 came from"):
            ingest(workspace, folder)
    path.write_bytes(whole)
    assert ingest(workspace, folder).status == "done"


@pytest.mark.parametrize("name", ["best.pt", "embeddings-3.npy", "dataset.json"])
def test_a_file_that_comes_late_or_in_parts_is_imported(workspace, folder, made, tmp_path, name):
    whole = (folder / name).read_bytes()
    (folder / name).unlink()
    for _ in range(2):
        ingest(workspace, folder)
    (folder / name).write_bytes(whole[:-5])
    for _ in range(2):
        ingest(workspace, folder)
    with (folder / name).open("ab") as file:
        file.write(whole[-5:])
    ingest(workspace, folder)
    with Workspace(tmp_path / "other", create=True) as other:
        ingest(other, made)
        assert rows(workspace) == rows(other)


def test_a_file_that_was_deleted_here_comes_again(workspace, folder):
    ingest(workspace, folder)
    (workspace.folder(1) / "best.pt").unlink()
    ingest(workspace, folder)
    assert (workspace.folder(1) / "best.pt").exists()


def test_a_settled_run_that_went_on_here_still_takes_nothing_more(workspace, folder):
    for _ in range(2):
        ingest(workspace, folder)
    workspace.take_over(1)
    with pytest.raises(Problem, match="was continued in this workspace"):
        ingest(workspace, folder)


def test_what_was_refused_is_said_each_time(workspace, folder):
    (folder / "dataset.json").write_text('{"fingerprint": 5}', "utf-8")
    for _ in range(3):
        assert take_in_all(workspace, folder, follow=False) == 1


def test_a_run_that_was_killed_before_its_first_whole_line_is_imported_without_a_journal(workspace, tmp_path):
    """Later looks find it marked as dead, and nothing of a journal here to compare."""
    travelling.make(tmp_path / "begun", RunConfig(name="begun"))
    (tmp_path / "begun" / journal.NAME).write_bytes(b'{"sca')
    run_id = ingest(workspace, tmp_path / "begun").run_id
    with workspace.writing() as db:
        db.execute("update runs set status = 'interrupted' where id = ?", (run_id,))
    for _ in range(2):
        assert ingest(workspace, tmp_path / "begun").status == "interrupted"


def test_a_journal_that_was_deleted_here_is_named(workspace, folder):
    ingest(workspace, folder)
    (workspace.folder(1) / journal.NAME).unlink()
    with pytest.raises(Problem, match=r"journal\.jsonl is missing"):
        ingest(workspace, folder)
