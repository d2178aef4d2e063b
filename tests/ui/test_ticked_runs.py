"""What is done to all ticked runs at once: the trash and back, tags, and the end."""

import pytest
from PySide6.QtWidgets import QWidget

from workbench.control import Control
from workbench.ui.actions.run_actions import RunActions
from workbench.ui.state.commands import Commands
from workbench.ui.window.frame.message_bar import MessageBar
from workbench.ui.window.runs.trash_message import TrashMessage

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints|does not support raise", extend=True)
LAST = 4  # the number of the newest run, which trains


@pytest.fixture
def actions(qtbot, session):
    window = QWidget()
    qtbot.addWidget(window)
    return RunActions(session, Commands(session.preferences, window), window)


@pytest.fixture
def ticked(session, workspace, config, actions):
    """Three ended runs and one that trains, all ticked."""
    runs = [workspace.create_run(config) for _ in range(LAST)]
    for run_id in runs:
        workspace.set_status(run_id, "running" if run_id == LAST else "done")
    session.follower.look()
    session.ticks.choose(runs)
    return runs


def numbers(runs):
    return {run.id for run in runs}


def test_without_a_ticked_run_the_actions_are_not_shown(session, actions, ticked):
    of_ticked = (actions.trash.move_ticked, actions.ticked.tags, actions.ticked.end)
    assert [action.isVisible() for action in of_ticked] == [True] * 3
    session.ticks.choose([])
    assert [action.isVisible() for action in of_ticked] == [False] * 3


def test_titles_say_how_many_runs_they_are_about(actions, ticked):
    assert actions.trash.move_ticked.text() == "Move 3 ticked runs to trash"
    assert actions.ticked.tags.text() == "Tags of 4 ticked runs…"
    assert not actions.ticked.end.isEnabled(), "the run that trains is another program's"


def test_ticked_runs_go_to_the_trash_and_one_undo_brings_them_back_ticked(session, actions, ticked):
    session.show_run(2)
    actions.trash.move_ticked.trigger()
    session.follower.look()
    assert (numbers(session.runs()), numbers(session.trashed_runs())) == ({LAST}, {1, 2, 3})
    assert (session.run_id, session.ticks.runs) == (None, {LAST})
    assert actions.undo_stack.undoText() == "move of 3 runs to the trash"
    actions.undo_stack.undo()
    session.follower.look()
    assert numbers(session.runs()) == session.ticks.runs == {1, 2, 3, LAST}
    actions.undo_stack.redo()
    session.follower.look()
    assert numbers(session.trashed_runs()) == {1, 2, 3}


def test_the_message_of_several_runs_has_one_undo(qtbot, session, actions, ticked):
    bar = MessageBar()
    qtbot.addWidget(bar)
    told = TrashMessage(session, bar, actions.trash.undo, bar)
    actions.trash.move_ticked.trigger()
    session.follower.look()
    assert bar.what.text().startswith("“Counting”, “Counting” and “Counting” are in the trash")
    bar.undo.click()
    session.follower.look()
    assert told.parent() is bar
    assert (session.trashed_runs(), bar.isHidden()) == ([], True)
    assert not actions.undo_stack.canUndo() or "trash" not in actions.undo_stack.undoText()


def test_runs_that_began_to_work_meanwhile_stay_and_it_is_said(qtbot, session, workspace, actions, ticked):
    said = []
    session.noticed.connect(lambda message: said.append(str(message)))
    workspace.set_status(2, "running")
    actions.trash.move_ticked.trigger()
    qtbot.waitUntil(lambda: bool(said))
    session.follower.look()
    assert said == ["Of 3 runs 1 were not moved to the trash: they work, or have been deleted."]
    assert numbers(session.trashed_runs()) == {1, 3}


def test_of_runs_that_were_deleted_since_the_others_come_back(session, workspace, actions, ticked):
    actions.trash.move_ticked.trigger()
    session.follower.look()
    workspace.delete(2)
    session.follower.look()
    actions.undo_stack.undo()
    session.follower.look()
    assert numbers(session.runs()) == {1, 3, LAST}


def test_the_step_goes_with_the_last_of_its_runs(session, workspace, actions, ticked):
    actions.trash.move_ticked.trigger()
    session.follower.look()
    workspace.empty_trash()
    session.follower.look()
    assert "trash" not in actions.undo_stack.undoText()


def test_all_runs_in_the_trash_are_restored_at_once(session, workspace, actions, ticked):
    workspace.trash_several([1, 2, 3])
    session.follower.look()
    actions.refresh()
    actions.trash.restore_all.trigger()
    session.follower.look()
    assert (numbers(session.runs()), session.trashed_runs()) == ({1, 2, 3, LAST}, [])
    actions.refresh()
    assert not actions.trash.restore_all.isEnabled()


def test_tags_that_all_have_are_changed_and_those_of_some_stay(session, workspace, actions, ticked, monkeypatch):
    asked = []

    def answer(parent, title, words, *, text, explanation, adds):
        asked.append((words, text, explanation))
        return "new, best"

    monkeypatch.setattr("workbench.ui.actions.ticked_actions.ask_line", answer)
    for run_id, tags in {1: ["old", "best"], 2: ["old"], 3: ["old", "mine"], LAST: ["old"]}.items():
        workspace.set_tags(run_id, tags)
    session.follower.look()
    actions.ticked.tags.trigger()
    session.follower.look()
    assert asked == [
        (
            "Tags that all of 4 ticked runs have, separated by commas",
            "old",
            "Only some of them have best, mine: that stays.",
        )
    ]
    tags = {run.id: run.tags for run in session.runs()}
    assert tags == {1: ("best", "new"), 2: ("best", "new"), 3: ("best", "mine", "new"), LAST: ("best", "new")}
    actions.undo_stack.undo()
    session.follower.look()
    tags = {run.id: run.tags for run in session.runs()}
    assert tags == {1: ("best", "old"), 2: ("old",), 3: ("mine", "old"), LAST: ("old",)}


def test_ticked_runs_are_ended_the_queued_ones_first(qtbot, session, actions, ticked, monkeypatch):
    ended = []
    control = Control()
    monkeypatch.setattr(session.queue, "control", lambda run_id: control if run_id in (1, 2, 3) else None)
    monkeypatch.setattr(session.queue, "end", ended.append)
    monkeypatch.setattr(type(session.queue), "waiting", property(lambda _: [2, 3]))
    actions.refresh()
    assert actions.ticked.end.text() == "End 3 ticked runs now…"
    actions.ticked.end.trigger()
    assert ended == []
    actions.ticked.ask.answers["stop"].click()
    assert set(ended[:2]) == {2, 3}
    assert ended[2:] == [1]


def test_ticked_runs_go_on_where_the_answer_is_to_keep_them(session, actions, ticked, monkeypatch):
    ended = []
    monkeypatch.setattr(session.queue, "control", lambda run_id: Control() if run_id == 1 else None)
    monkeypatch.setattr(session.queue, "end", ended.append)
    actions.refresh()
    actions.ticked.end.trigger()
    actions.ticked.ask.reject()
    assert ended == []
    assert actions.ticked.ask is None
