"""Where no folder for temporary files can be written there is one sentence, from whatever asked for one."""

import errno
import tempfile

import pytest

from workbench.commands import doctor
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
    with pytest.raises(Problem, match=REFUSED), temporary_folder("workbench-"):
        pass
    with pytest.raises(Problem, match=REFUSED):
        temporary_file()
    with pytest.raises(Problem, match=REFUSED):
        run_tool(["true"], b"", seconds=9, most=9)
    with pytest.raises(Problem, match=REFUSED), typeset(Document("title", "", ())):
        pass
    assert [finding.what for finding in doctor.temporary_findings()] == ["Temporary files"]


def test_a_run_for_a_place_is_refused_with_the_sentence(no_folder, tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        with pytest.raises(Problem, match=REFUSED):
            sending.prepare(workspace, RunConfig(), SshPlace(name="box", host="box"))
        assert workspace.runs() == []


def test_with_a_folder_there_is_nothing_to_say():
    with temporary_folder("workbench-") as folder:
        (folder / "file").write_text("words")
    assert not folder.exists()
    with temporary_file() as file:
        file.write(b"words")
    assert doctor.temporary_findings() == []
