"""The message of a full disk goes once there is room, and not before."""

import pytest
from PySide6.QtWidgets import QWidget

from workbench.problem import Problem
from workbench.ui.state.concern import EVERYWHERE
from workbench.ui.window.frame import full_disk
from workbench.ui.window.frame.full_disk import FullDisk
from workbench.ui.window.frame.message_bar import MessageBar
from workbench.workspace.database.problems import Full


@pytest.fixture
def disk(monkeypatch):
    """Whether the disk is full, and how often it was asked."""
    state = {"full": True, "asked": 0}

    def is_full(folder, scarce):
        state["asked"] += 1
        return state["full"]

    monkeypatch.setattr(full_disk, "is_full", is_full)
    monkeypatch.setattr(full_disk, "EVERY", 10)
    return state


@pytest.fixture
def message(qtbot, session, disk):
    window = qtbot.addWidget(QWidget())
    bar = MessageBar(window)
    bar.looks = FullDisk(session, window)
    session.said.connect(lambda what, concern, details: bar.show_message(what, details, concern=concern))
    session.settled.connect(bar.settle)
    yield bar  # the window lives until then
    window.close()


def test_the_message_stays_while_the_disk_is_full_and_goes_once_it_has_room(qtbot, session, message, disk):
    problem = Full(session.workspace.path / "workbench.db")
    session.notify(problem, EVERYWHERE)
    qtbot.waitUntil(lambda: disk["asked"] >= 2)
    assert message.has(problem)
    disk["full"] = False
    qtbot.waitUntil(lambda: not message.has(problem))


def test_another_message_is_not_taken_for_that_of_the_disk(qtbot, session, message, disk):
    other = Problem("The file could not be written.")
    session.notify(other, EVERYWHERE)
    message.looks.look()
    qtbot.waitUntil(lambda: not session.reading)
    assert message.has(other)
    assert disk["asked"] == 0


def test_the_message_of_another_workspace_is_not_waited_for(qtbot, session, message, disk, tmp_path):
    session.notify(Full(session.workspace.path / "workbench.db"), EVERYWHERE)
    session.workspace_changed.emit()
    disk["asked"] = 0
    message.looks.look()
    qtbot.waitUntil(lambda: not session.reading)
    assert disk["asked"] == 0
