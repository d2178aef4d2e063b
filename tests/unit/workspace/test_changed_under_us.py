"""Files that change between a check and their use, and runs of one number that are not the same."""

import errno
import json
import os
import shutil
from pathlib import Path

import pytest

from tests.travelling_runs import first_part
from workbench.commands.terminal import ProgressLine
from workbench.commands.training.ingest import take_in_all
from workbench.config import RunConfig
from workbench.problem import Problem
from workbench.workspace import Workspace, paths
from workbench.workspace.arriving.ingest import ingest
from workbench.workspace.database import columns
from workbench.workspace.folders import journal, travelling
from workbench.workspace.folders.journal import Journal
from workbench.workspace.recorders.folder_recorder import FolderRecorder


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "there" / "run"
    travelling.make(folder, RunConfig())
    recorder = FolderRecorder(folder)
    first_part(recorder, folder)
    recorder.close()
    return folder


@pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX")
@pytest.mark.parametrize("swapped", ["link", "pipe"])
def test_what_takes_a_files_place_after_the_check_is_not_opened(tmp_path, monkeypatch, swapped):
    path = tmp_path / "journal.jsonl"
    (tmp_path / "secret").write_text("secret")
    path.symlink_to(tmp_path / "secret") if swapped == "link" else os.mkfifo(path)
    true, asked = paths.regular, []
    monkeypatch.setattr(paths, "regular", lambda path: true(path) if asked else asked.append(path) or path)
    with pytest.raises(Problem, match=r"is a link|is neither a file|is not a file"):
        paths.opened(path)


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
@pytest.mark.parametrize("write", [lambda path: paths.write_from(path, 0, b"evil"), lambda path: Journal(path.parent)])
def test_what_takes_a_files_place_after_the_check_is_not_written(tmp_path, monkeypatch, write):
    path, victim = tmp_path / "journal.jsonl", tmp_path / "victim"
    victim.write_text("whole")
    true, asked = paths.regular, []

    def swapped(path):
        if not asked:
            asked.append(path)
            path.symlink_to(victim)
            return path
        return true(path)

    monkeypatch.setattr(paths, "regular", swapped)
    monkeypatch.setattr(journal, "regular", swapped)
    with pytest.raises(Problem, match="is a link"):
        write(path)
    assert victim.read_text() == "whole"


@pytest.mark.parametrize("write", ["journal", "from the place on", "log"])
def test_other_names_of_a_file_keep_what_they_had(tmp_path, write):
    """As the files of a backup of hard links, or one outside that a run folder of elsewhere has as its journal."""
    path, other = tmp_path / "run" / "journal.jsonl", tmp_path / "other"
    path.parent.mkdir()
    other.write_text('{"step": 1}\n')
    other.chmod(0o600)
    path.hardlink_to(other)
    if write == "journal":
        lines = Journal(path.parent)
        lines.write(['{"step": 2}'])
        lines.close()
    elif write == "log":
        with paths.unshared(path).open("ab") as file:
            file.write(b'{"step": 2}\n')
    else:
        paths.write_from(path, 12, b'{"step": 2}\n')
    assert other.read_text() == '{"step": 1}\n'
    assert path.read_text() == '{"step": 1}\n{"step": 2}\n'
    assert path.stat().st_mode == other.stat().st_mode, "a private file stays private"
    assert list(path.parent.iterdir()) == [path]


def test_a_file_of_one_name_is_not_copied(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_text("whole")
    with path.open("rb") as file:
        assert os.path.samestat(os.fstat(file.fileno()), paths.unshared(path).stat())


def test_a_copy_that_the_disk_refuses_leaves_both_names_as_they_were(tmp_path, monkeypatch):
    path, other = tmp_path / "journal.jsonl", tmp_path / "other"
    other.write_text('{"step": 1}\n')
    path.hardlink_to(other)

    def full(shared, own):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(shutil, "copyfileobj", full)
    with pytest.raises(Problem, match="There is no space left to write"):
        Journal(tmp_path)
    assert path.samefile(other)
    assert other.read_text() == '{"step": 1}\n'


def test_a_shorter_journal_of_the_same_number_is_another_run(run, tmp_path):
    other = shutil.copytree(run, tmp_path / "other")
    (other / "journal.jsonl").write_text('{"scalars": [["q", 1, 1.0]]}\n')
    with Workspace(tmp_path / "space", create=True) as workspace:
        ingest(workspace, run)
        with pytest.raises(Problem, match="is not the one that run 1 came from"):
            ingest(workspace, other)
        (other / "journal.jsonl").write_bytes((run / "journal.jsonl").read_bytes()[:100])  # a cut copy is none
        assert ingest(workspace, other).points == 0


def test_names_of_folders_and_last_lines_do_not_steer_the_terminal(run, tmp_path, capsys):
    run.rename(run.parent / "x\x1b[2J")
    with Workspace(tmp_path / "space", create=True) as workspace:
        take_in_all(workspace, run.parent, follow=False)
    ProgressLine(0).finish("Run 1 failed. \x1b]0;title\x07")
    assert "\x1b" not in capsys.readouterr().out


def test_an_environment_with_other_kinds_of_values_is_left_out():
    facts, doubts = columns.environment_of(json.dumps({"plugins": [1], "imported": {}, "device": "cpu"}))
    assert facts == {"device": "cpu"}
    assert doubts == ["plugins", "imported: embeddings"]
