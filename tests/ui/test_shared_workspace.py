"""A workspace that another machine has open: the window asks, watches for signs of life, and takes it over."""

import json
from types import SimpleNamespace

import pytest
from PySide6.QtWidgets import QMessageBox, QWidget

from workbench import app
from workbench.files import mounts
from workbench.ui.window.opening import Opening
from workbench.workspace import Workspace
from workbench.workspace.owners import lease
from workbench.workspace.owners.lease_holder import NAME

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def space(tmp_path, monkeypatch):
    """A workspace on an NFS disk, as the table of mounts says, that another machine has."""
    disk = tmp_path / "disk"
    disk.mkdir()
    part = SimpleNamespace(mountpoint=str(disk), fstype="nfs4", opts="rw")
    monkeypatch.setattr(mounts.psutil, "disk_partitions", lambda all: [part])
    monkeypatch.setattr(lease, "WATCHED", 0.2)
    monkeypatch.setattr(lease, "LOOK", 0.02)
    Workspace(disk / "space", create=True).close()
    facts = {"machine": "b", "host": "cluster-7", "pid": 5, "born": 1.0, "beat": "2026-11-23T00:00:00+00:00"}
    (disk / "space" / NAME).write_text(json.dumps(facts))
    return disk / "space"


@pytest.fixture
def widget_window(qtbot):
    return qtbot.addWidget(QWidget())


def test_the_person_is_asked_and_the_workspace_is_taken_over(qtbot, session, widget_window, space):
    opening = Opening(session, widget_window)
    opening.open_workspace(space)
    qtbot.waitUntil(lambda: hasattr(opening, "question"))
    assert "is open on cluster-7" in opening.question.findChildren(type(opening.question.words))[0].text()
    assert session.workspace.path != space
    opening.question.answers["take"].click()
    qtbot.waitUntil(lambda: session.workspace.path == space)


def test_left_as_it_is_nothing_changes(qtbot, session, widget_window, space):
    opening = Opening(session, widget_window)
    opening.open_workspace(space)
    qtbot.waitUntil(lambda: hasattr(opening, "question"))
    opening.question.answers["keep"].click()
    assert json.loads((space / NAME).read_text())["host"] == "cluster-7"
    assert session.workspace.path != space


def test_at_the_start_it_is_asked_too(qapp, space, monkeypatch):
    told = []

    def take(box):
        told.append(box.text())
        monkeypatch.setattr(box, "clickedButton", lambda: next(b for b in box.buttons() if "take it over" in b.text()))

    monkeypatch.setattr(QMessageBox, "exec", take)
    opened = app.open_workspace(space)
    assert len(told) == 1
    assert "cluster-7" in told[0]
    assert opened is not None
    opened.close()
    opened.workspace.close()
