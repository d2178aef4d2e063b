"""Two windows on one workspace: what is changed in one is shown in the other, and neither loses what the other wrote.

The other window is its writes, through a connection of its own.
"""

import pytest
from PySide6.QtWidgets import QFileDialog, QMessageBox

from workbench.ui.actions.run_actions import RunActions
from workbench.ui.state.commands import Commands
from workbench.workspace import Workspace

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def other(session):
    """The workspace as another window has it."""
    with Workspace(session.workspace.path) as opened:
        yield opened


@pytest.fixture
def actions(qtbot, session, config):
    """The actions on the shown run."""
    window = QFileDialog()
    qtbot.addWidget(window)
    session.show_run(session.workspace.create_run(config))
    session.follower.look()
    return RunActions(session, Commands(session.preferences, window), window)


def test_tags_that_another_window_gave_meanwhile_stay(qtbot, session, actions, other, monkeypatch):
    other.set_tags(1, ["red", "old"])
    qtbot.waitUntil(lambda: session.run(1).tags == ("old", "red"))

    def written(*_, text, **__):
        other.set_tags(1, ["red", "old", "green"])
        return text.replace("old, ", "") + ", blue", True

    monkeypatch.setattr("workbench.ui.actions.run_actions.QInputDialog.getText", written)
    actions.tags.trigger()
    qtbot.waitUntil(lambda: other.run(1).tags == ("blue", "green", "red"))


@pytest.mark.parametrize(
    ("shown", "meanwhile", "kept"),
    [
        ("", "theirs", "mine\ntheirs"),
        ("first", "first\nby the run", "mine\nby the run"),
        ("first", "theirs", "mine\ntheirs"),
        ("first", "first", "mine"),
        ("first", "mine", "mine"),
        ("first", "", "mine"),
    ],
)
def test_a_note_that_was_changed_meanwhile_is_kept_below(
    qtbot, session, actions, other, monkeypatch, shown, meanwhile, kept
):
    other.set_note(1, shown)
    qtbot.waitUntil(lambda: session.run(1).note == shown)

    def written(*_):
        other.set_note(1, meanwhile)
        return "mine", True

    monkeypatch.setattr("workbench.ui.actions.run_actions.QInputDialog.getMultiLineText", written)
    said = []
    session.noticed.connect(said.append)
    actions.note.trigger()
    qtbot.waitUntil(lambda: other.run(1).note == kept)
    qtbot.waitUntil(lambda: len(said) == ("\n" in kept))


def test_only_the_runs_that_the_question_was_about_are_deleted(qtbot, session, actions, other, config, monkeypatch):
    gone, back, later = 1, other.create_run(config), other.create_run(config)
    for run in (gone, back):
        other.trash(run)
    qtbot.waitUntil(lambda: len(session.trashed_runs()) == 2)

    def answer(box):
        other.trash(later)
        other.restore(back)
        next(button for button in box.buttons() if button.text() == "Delete").click()

    monkeypatch.setattr(QMessageBox, "exec", answer)
    actions.empty_trash.trigger()
    qtbot.waitUntil(lambda: len(other.runs()) + len(other.runs(trashed=True)) == 2)
    assert [[run.id for run in other.runs(trashed)] for trashed in (False, True)] == [[back], [later]]
