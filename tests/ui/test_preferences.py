"""When the preferences are written: not in the turn of a change, which belongs to the page that is shown."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.waits import HANG
from workbench.ui import preferences
from workbench.ui.preferences import Preferences


@pytest.fixture
def file(tmp_path):
    return tmp_path / "window.ini"


def test_a_change_is_not_written_at_once_but_when_it_is_kept(qtbot, monkeypatch, file):
    monkeypatch.setattr(preferences, "WRITE_AFTER", 10**8)
    stored = Preferences(file)
    stored.set_text("layout/page", "map")
    qtbot.deliver()
    assert not file.exists()
    assert Preferences(file).text("layout/page") == "map", "what was set is read before it is written"
    stored.keep()
    assert "page=map" in file.read_text("utf-8")


def test_a_change_is_written_when_nothing_has_changed_for_a_while(qtbot, monkeypatch, file):
    monkeypatch.setattr(preferences, "WRITE_AFTER", 1)
    stored = Preferences(file)
    for page in ("map", "train"):
        stored.set_text("layout/page", page)
        qtbot.waitUntil(lambda page=page: file.exists() and f"page={page}" in file.read_text("utf-8"))
    stored.forget("layout")
    qtbot.waitUntil(lambda: "page" not in file.read_text("utf-8"))


def test_a_file_that_cannot_be_written_is_said_once_and_written_when_it_can_be(session):
    said, settled = [], []
    session.noticed.connect(said.append)
    session.settled.connect(settled.append)
    session.preferences.keep()
    assert said == []
    session.preferences.file.unlink(missing_ok=True)
    session.preferences.file.mkdir()
    for page in ("map", "train"):
        session.preferences.set_text("layout/page", page)
        session.preferences.keep()
    (problem,) = said
    assert str(problem).startswith(f"The settings of the window could not be written to {session.preferences.file}.")
    assert session.preferences.text("layout/page") == "train", "the window goes on with it"
    session.preferences.file.rmdir()
    session.preferences.keep()
    assert "page=train" in session.preferences.file.read_text("utf-8")
    assert (said, settled) == ([problem], [problem])


OTHER = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from workbench.ui.preferences import Preferences
app = QCoreApplication([])
stored = Preferences(Path(sys.argv[1]))
stored.remember("workspaces", Path("/theirs"))
stored.remember_run(Path("/theirs"), 2)
stored.set_text("theme", "dark")
stored.keep()
"""


def test_what_two_windows_have_used_recently_is_all_remembered(file):
    mine = Preferences(file)
    mine.remember("workspaces", Path("/first"))
    mine.remember_run(Path("/first"), 1)
    mine.keep()
    subprocess.run([sys.executable, "-c", OTHER, file], check=True, timeout=HANG)
    mine.remember("workspaces", Path("/mine"))
    mine.remember_run(Path("/mine"), 3)
    assert mine.newest("workspaces") == Path("/mine"), "before it is written"
    assert mine.shown_run(Path("/mine")) == 3
    mine.keep()
    lines = file.read_text("utf-8").splitlines()
    assert "workspaces=/mine\\n/theirs\\n/first" in lines
    assert "runs=3 /mine\\n2 /theirs\\n1 /first" in lines
    assert mine.text("theme") == "dark"
    mine.remember_run(Path("/theirs"), None)
    assert mine.shown_run(Path("/theirs")) is None
    mine.keep()
    assert "runs=3 /mine\\n1 /first" in file.read_text("utf-8")
