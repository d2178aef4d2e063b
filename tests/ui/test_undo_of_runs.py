"""Undo of what was done to runs: a run that was deleted for ever takes its steps with it."""

from contextlib import contextmanager

import pytest
from PySide6.QtGui import QUndoStack
from PySide6.QtWidgets import QMessageBox, QWidget

from workbench.ui.state.commands import Commands
from workbench.ui.state.undo import Reversible, StackSteps, UndoCommands
from workbench.workspace.database.problems import Full


@pytest.fixture
def runs(session, workspace, config):
    made = [workspace.create_run(config), workspace.create_run(config)]
    for run_id in made:
        workspace.set_status(run_id, "done")
    session.follower.look()
    return made


def test_what_was_done_to_a_deleted_run_is_not_offered_to_be_undone(session, workspace, actions, runs):
    gone, kept = runs
    stack = actions.undo_stack
    actions.give_name(gone, "Other")
    session.follower.look()
    actions.give_name(kept, "Mine")
    session.trash_run(gone)
    session.follower.look()
    assert stack.undoText().endswith("to the trash")
    workspace.delete(gone)
    session.follower.look()
    assert stack.undoText() == "rename of “Counting”"
    stack.undo()
    session.follower.look()
    assert session.run(kept).name == "Counting"
    assert not stack.canUndo(), "the rename of the deleted run went with it"
    assert session.run_id is None
    stack.redo()
    session.follower.look()
    assert session.run(kept).name == "Mine"


def test_what_was_undone_of_a_deleted_run_is_not_offered_to_be_redone(session, workspace, actions, runs):
    actions.give_name(runs[0], "Other")
    session.follower.look()
    actions.undo_stack.undo()
    workspace.trash(runs[0])
    workspace.delete(runs[0])
    session.follower.look()
    assert not actions.undo_stack.canRedo()


@pytest.mark.parametrize("by_command", [True, False])
def test_a_run_that_was_brought_back_is_not_offered_to_be_brought_back_again(session, actions, runs, by_command):
    first, second = runs
    actions.give_name(first, "Other")
    for run_id in runs:
        session.follower.look()
        session.trash_run(run_id)
    session.follower.look()
    for run_id in (first, second):
        session.show_run(run_id)
        (actions.trash.restore.trigger if by_command else lambda run_id=run_id: actions.trash.undo([run_id]))()
        session.follower.look()
    assert [run.trashed for run in session.runs()] == [None, None]
    assert actions.undo_stack.undoText().startswith("rename of")
    actions.undo_stack.undo()
    session.follower.look()
    assert session.run(first).name == "Counting"


def test_a_run_that_a_full_disk_does_not_let_into_the_trash_is_offered_to_be_deleted(
    qtbot, session, workspace, actions, runs, monkeypatch
):
    def full(run_id):
        raise Full(workspace.database)

    asked = []

    def answer(box):
        asked.append(f"{box.text()} {box.informativeText()}")
        box.buttons()[-1].click()

    monkeypatch.setattr(workspace, "trash", full)
    monkeypatch.setattr(QMessageBox, "exec", answer)
    session.show_run(runs[0])
    session.trash_run(runs[0])
    qtbot.waitUntil(lambda: asked and len(workspace.runs()) < 2)
    assert asked[0].startswith("Delete “Counting” permanently? The disk is full: it cannot be moved to the trash. Its ")
    assert [run.id for run in workspace.runs()] == [runs[1]]
    assert session.run_id is None
    assert not workspace.folder(runs[0]).exists()


def test_a_step_that_a_full_disk_refuses_is_said_and_offered_again(qtbot, session, workspace, actions, runs, said):
    stack = actions.undo_stack
    session.trash_run(runs[0])
    session.follower.look()

    @contextmanager
    def full(*_options, **_more):
        raise Full(workspace.database)
        yield

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workspace, "writing", full)
        stack.undo()
        qtbot.waitUntil(lambda: bool(said))
        qtbot.waitUntil(stack.canUndo)
    assert said == [
        f"The move of “Counting” to the trash was not undone. The disk of {workspace.path} is full. Everything written "
        "before is kept. Free some space and continue."
    ]
    assert stack.undoText() == "move of “Counting” to the trash"
    assert not stack.canRedo()
    assert workspace.run(runs[0]).trashed is not None
    stack.undo()
    qtbot.waitUntil(lambda: workspace.run(runs[0]).trashed is None)
    session.follower.look()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workspace, "writing", full)
        stack.redo()
        qtbot.waitUntil(lambda: len(said) == 2)
        qtbot.waitUntil(stack.canRedo)
    assert said[1].startswith("The move of “Counting” to the trash was not redone. The disk of")
    stack.redo()
    qtbot.waitUntil(lambda: workspace.run(runs[0]).trashed is not None)


@pytest.mark.parametrize("in_trash", [True, False])
def test_the_shown_run_stays_shown_while_the_trash_is_emptied_unless_it_is_there(
    qtbot, session, workspace, actions, runs, monkeypatch, in_trash
):
    def answer(box):
        next(button for button in box.buttons() if button.text() == "Delete").click()

    monkeypatch.setattr(QMessageBox, "exec", answer)
    gone, kept = runs
    workspace.trash(gone)
    session.follower.look()
    session.show_run(gone if in_trash else kept)
    actions.trash.empty.trigger()
    qtbot.waitUntil(lambda: not workspace.runs(trashed=True))
    assert session.run_id == (None if in_trash else kept)


def test_a_page_that_is_shown_again_is_followed_by_the_same_steps(qtbot, session):
    page = qtbot.addWidget(QWidget())
    page.undo_stack = QUndoStack(page)
    commands = UndoCommands(Commands(session.preferences, page), page, QUndoStack(page))
    commands.follow(page)
    before = len(commands.findChildren(StackSteps))
    commands.follow(page)
    assert len(commands.findChildren(StackSteps)) == before


def test_a_window_may_be_freed_with_steps_that_nothing_else_holds(qtbot, session):
    window, runs = QWidget(), QUndoStack()
    runs.push(Reversible("tick of 2 runs", again=list, back=list, tell=list))
    commands = UndoCommands(Commands(session.preferences, window), window, runs)
    assert commands.undo.text() == "Undo tick of 2 runs"
    del runs
    assert commands.undo.text() == "Undo", "the stack is gone, and its signals reach commands that are there"
    window.deleteLater()
    qtbot.deliver()
