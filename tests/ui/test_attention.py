"""What the title and the task bar say of the runs while another window is in front."""

import dataclasses

import pytest
from PySide6.QtWidgets import QApplication, QWidget

from workbench.config import RunConfig
from workbench.control import Control
from workbench.ui.window.runs.attention import Attention


class Shown:
    """The runs that a session has, by number, each a row of its workspace with other facts."""

    def __init__(self, session, monkeypatch):
        self.session, self.runs = session, {}
        monkeypatch.setattr(session, "runs", lambda: list(self.runs.values()))
        monkeypatch.setattr(session, "control", lambda run_id: Control() if run_id in self.runs else None)

    def put(self, run_id=None, name="First", **facts):
        run_id = run_id or self.session.workspace.create_run(RunConfig(name=name))
        self.runs[run_id] = dataclasses.replace(self.session.workspace.run(run_id), total=200, **facts)
        self.session.runs_changed.emit()
        return run_id

    def end(self, run_id, status):
        self.put(run_id, status=status)
        self.session.run_ended.emit(run_id, status)


@pytest.fixture
def shown(session, monkeypatch):
    return Shown(session, monkeypatch)


@pytest.fixture
def window(shown, qtbot):
    made = qtbot.addWidget(QWidget())
    made.attention = Attention(shown.session, made)
    return made


@pytest.fixture
def alerts(monkeypatch):
    asked = []
    monkeypatch.setattr(QApplication, "alert", asked.append)
    return asked


def test_the_title_begins_with_the_share_of_the_run_that_works(window, shown):
    space = f"{shown.session.workspace.path.name} - Workbench"
    assert window.windowTitle() == space
    run_id = shown.put(status="running", done=50)
    shown.put(name="Second", status="queued", done=0)
    assert window.windowTitle() == f"25% · First · {space}"
    shown.put(run_id, status="done", done=200)
    assert window.windowTitle() == space


def test_a_run_of_another_program_is_not_in_the_title(window, shown, monkeypatch):
    monkeypatch.setattr(shown.session, "control", lambda run_id: None)
    shown.put(status="running", done=50)
    assert window.windowTitle() == f"{shown.session.workspace.path.name} - Workbench"


@pytest.mark.usefixtures("window")
def test_attention_is_asked_for_when_the_last_run_ends_and_when_one_fails(shown, alerts):
    first, second, third = (shown.put(status=status) for status in ("running", "queued", "queued"))
    shown.end(first, "done")
    assert alerts == [], "others are still to come"
    shown.end(second, "failed")
    assert len(alerts) == 1
    shown.end(third, "done")
    assert len(alerts) == 2


@pytest.mark.usefixtures("window")
def test_attention_is_asked_for_once_when_a_run_waits_for_the_user(shown, alerts):
    run_id = shown.put(status="waiting", problem="")
    assert alerts == [], "the user paused it"
    for _ in range(2):
        shown.put(run_id, status="waiting", problem="The loss is NaN.")
    assert len(alerts) == 1
    shown.put(run_id, status="running", problem="")
    shown.put(run_id, status="waiting", problem="The loss is NaN.")
    assert len(alerts) == 2
