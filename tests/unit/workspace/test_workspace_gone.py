"""A workspace whose database, folder or disk is taken away while it is open: nothing is written into nothing."""

import os
import shutil

import pytest

from workbench.config import RunConfig
from workbench.control import Control
from workbench.events import Ended, Noted, Scalar
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.database.problems import Gone
from workbench.workspace.recorder import Recorder

pytestmark = pytest.mark.skipif(os.name == "nt", reason="open files cannot be taken away there")


@pytest.fixture
def space(tmp_path):
    """An open workspace with a run, below a folder that can be taken for its disk."""
    with Workspace(tmp_path / "disk" / "space", create=True) as opened:
        opened.create_run(RunConfig())
        yield opened


def take_away(space, what):
    if what == "database":
        space.database.unlink()
    elif what == "folder":
        shutil.rmtree(space.path)
    else:
        space.path.rename(space.path.with_name("elsewhere"))


@pytest.mark.parametrize("what", ["database", "folder", "moved"])
@pytest.mark.parametrize(
    "change",
    [
        lambda space: space.set_note(1, "typed"),
        lambda space: space.set_tags(1, ["typed"]),
        lambda space: space.trash(1),
        lambda space: space.create_run(RunConfig()),
        lambda space: space.reader().close(),
    ],
)
def test_a_change_is_refused_with_a_sentence_and_makes_nothing(space, what, change):
    take_away(space, what)
    before = sorted(space.path.parent.rglob("*"))
    with pytest.raises(Gone) as refused:
        change(space)
    assert sorted(space.path.parent.rglob("*")) == before
    said = str(refused.value)
    assert ("doctor --repair" in said) == (what == "database")
    assert ("no longer exists" in said) == (what != "database"), "no folder beside it is called kept"


def test_what_is_put_back_can_be_changed_again(space):
    take_away(space, "moved")
    with pytest.raises(Problem):
        space.set_note(1, "typed")
    space.path.with_name("elsewhere").rename(space.path)
    space.set_note(1, "typed")
    assert space.run(1).note == "typed"


def test_a_stopped_run_whose_folder_is_gone_says_so_and_writes_nothing_in_its_place(space, monkeypatch):
    monkeypatch.setattr("workbench.workspace.recorders.recording.COMMIT_EVERY", -1.0)
    monkeypatch.setattr("workbench.workspace.database.connection.LOOK_EVERY", 0.0)
    control = Control(attended=True)
    recorder = Recorder(space, 1, control)
    take_away(space, "folder")
    control.stop()
    recorder(Scalar("batch/loss", 1, 0.5))
    assert not control.paused, "it ends, and does not wait again"
    with pytest.raises(Gone, match="no longer exists"):
        recorder(Noted("It was stopped."))
    with pytest.raises(Gone, match="no longer exists"):
        recorder(Ended("stopped"))
    assert not space.path.exists()
