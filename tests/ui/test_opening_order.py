"""Of several workspaces that are opened at once the one asked for last is shown, and the others are closed."""

import threading
from types import SimpleNamespace

import pytest
from PySide6.QtWidgets import QWidget

from workbench.files import mounts
from workbench.ui.state.session import Session
from workbench.ui.window import opening as module
from workbench.ui.window.opening import Opening
from workbench.workspace import Workspace
from workbench.workspace.news import watched
from workbench.workspace.owners.lease_holder import NAME

pytestmark = pytest.mark.usefixtures("slow_changes")


@pytest.fixture
def disk(tmp_path, monkeypatch):
    """A network disk, where a workspace that is open has a file that says so."""
    folder = tmp_path / "disk"
    folder.mkdir()
    part = SimpleNamespace(mountpoint=str(folder), fstype="nfs4", opts="rw")
    monkeypatch.setattr(mounts.psutil, "disk_partitions", lambda all: [part])
    return folder


@pytest.fixture
def gates(monkeypatch):
    """By name of a workspace: its opening ends once this event is set."""
    events = {name: threading.Event() for name in ("first", "second")}

    def held(path, *, progress):  # its cancel comes too late to be heard
        watch = watched(path)
        events[path.name].wait()
        return watch

    monkeypatch.setattr(module, "watched", held)
    yield events
    for event in events.values():
        event.set()


@pytest.fixture
def opening(qtbot, session):
    window = qtbot.addWidget(QWidget())
    return Opening(session, window)


def is_open(folder):
    return (folder / NAME).exists()


@pytest.mark.parametrize("order", [("first", "second"), ("second", "first")])
def test_the_workspace_asked_for_last_is_shown(qtbot, session, opening, gates, disk, order):
    for name in ("first", "second"):
        opening.open_workspace(disk / name)
        qtbot.waitUntil(lambda name=name: is_open(disk / name))
    lines = dict(zip(("first", "second"), session.activity.items, strict=True))
    for name in order:
        gates[name].set()
        qtbot.waitUntil(lambda name=name: lines[name].state != "working")
        qtbot.deliver()
    qtbot.waitUntil(lambda: session.workspace.path == disk / "second")
    qtbot.waitUntil(lambda: not is_open(disk / "first"))
    assert is_open(disk / "second")


def test_a_workspace_whose_opening_was_cancelled_is_closed(qtbot, session, opening, gates, disk):
    before = session.workspace
    opening.open_workspace(disk / "first")
    qtbot.waitUntil(lambda: is_open(disk / "first"))
    session.activity.newest_working.cancel()
    gates["first"].set()
    qtbot.waitUntil(lambda: not is_open(disk / "first"))
    assert session.workspace is before


def test_a_workspace_that_is_being_opened_is_closed_with_the_session(qtbot, tmp_path, gates, disk):
    session, window = Session(Workspace(tmp_path / "shown", create=True)), QWidget()
    qtbot.addWidget(window)
    Opening(session, window).open_workspace(disk / "first")
    qtbot.waitUntil(lambda: is_open(disk / "first"))
    gates["first"].set()
    session.close()
    assert not is_open(disk / "first")
