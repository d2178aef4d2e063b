"""Where no folder for temporary files can be written there is one sentence, from whatever asked for one."""

import errno
import os
import subprocess
import sys
import tempfile

import pytest

from tests.waits import HANG
from workbench.commands.machine import checks
from workbench.config import RunConfig
from workbench.files.temporary import temporary_file, temporary_folder
from workbench.jobs import run_tool
from workbench.places import sending
from workbench.places.place import SshPlace
from workbench.problem import Problem
from workbench.reports.formats.typesetting import typeset
from workbench.reports.writing.blocks import Document
from workbench.workspace import Workspace

REFUSED = r"No folder for temporary files can be written.*TMPDIR"


@pytest.fixture
def no_folder(monkeypatch):
    def refuse():
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(tempfile, "gettempdir", refuse)


def test_without_a_folder_for_temporary_files_there_is_a_sentence(no_folder):
    with pytest.raises(Problem, match=REFUSED), temporary_folder("workbench"):
        pass
    with pytest.raises(Problem, match=REFUSED):
        temporary_file()
    with pytest.raises(Problem, match=REFUSED):
        run_tool(["true"], b"", seconds=9, most=9)
    with pytest.raises(Problem, match=REFUSED), typeset(Document("title", "", ())):
        pass
    assert [finding.what for finding in checks.temporary_findings()] == ["Temporary files"]


def test_a_run_for_a_place_is_refused_with_the_sentence(no_folder, tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        with pytest.raises(Problem, match=REFUSED):
            sending.prepare(workspace, RunConfig(), SshPlace(name="box", host="box"))
        assert workspace.runs() == []


def test_with_a_folder_there_is_nothing_to_say():
    with temporary_folder("workbench") as folder:
        (folder / "file").write_text("words")
    assert not folder.exists()
    with temporary_file() as file:
        file.write(b"words")
    assert checks.temporary_findings() == []


KILLED = """
import os, signal, sys, tempfile
tempfile.tempdir = sys.argv[1]
from workbench.files.temporary import temporary_folder
with temporary_folder("workbench-report") as folder:
    (folder / "report.json").write_text("{}")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(os.name != "posix", reason="a SIGKILL, and locks on folders")
def test_what_a_kill_leaves_is_removed_by_the_next_and_nothing_else(tmp_path, monkeypatch):
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False, timeout=HANG)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert len(os.listdir(tmp_path)) == 1
    (tmp_path / "workbench-report-notes").mkdir()
    with temporary_folder("workbench-report") as at_work:
        (at_work / "report.json").write_text("{}")
        assert sorted(os.listdir(tmp_path)) == sorted([at_work.name, "workbench-report-notes"])
        assert at_work.stat().st_mode & 0o077 == 0, "for this user alone"
        with temporary_folder("workbench-report"):
            assert (at_work / "report.json").exists(), "that of a living writer stays"
    assert os.listdir(tmp_path) == ["workbench-report-notes"]


@pytest.mark.skipif(os.name != "posix", reason="owners of POSIX")
def test_what_another_user_has_left_stays(tmp_path, monkeypatch):
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False, timeout=HANG)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with temporary_folder("workbench-report"):
        assert len(os.listdir(tmp_path)) == 2
