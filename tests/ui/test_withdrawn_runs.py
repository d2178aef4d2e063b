"""Runs that one step took from the queue: one step puts them back."""

import pytest

from tests.ui.started import started
from workbench.workspace import Workspace

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints|does not support raise", extend=True)


@pytest.fixture
def session(counting_session):
    return counting_session


@pytest.fixture
def queued(qtbot, session, config, actions):
    """The first of four runs trains, the others wait."""
    runs = [started(session, config) for _ in range(4)]
    qtbot.waitUntil(lambda: session.workspace.run(runs[0]).status == "running")
    session.follower.look()
    assert session.queue.waiting == runs[1:]
    return runs


def test_one_undo_puts_back_in_order_what_one_step_took_out(session, actions, queued):
    first, *waiting = queued
    session.show_run(first)
    mentioned = []
    session.mentioned.connect(mentioned.append)
    session.end_runs(waiting)
    assert mentioned == ["3 runs left the queue. Undo in the Edit menu puts them back."]
    assert session.queue.waiting == []
    assert actions.undo_stack.undoText() == "removal of 3 runs from the queue"
    actions.undo_stack.undo()
    assert session.queue.waiting == waiting
    assert session.run_id == first, "the shown run stays"
    actions.undo_stack.redo()
    assert session.queue.waiting == []
    assert actions.undo_stack.count() == 1, "it is the same step"


def test_the_step_of_one_run_has_its_name(session, actions, queued):
    session.end_run(queued[2])
    assert actions.undo_stack.undoText() == "removal of “Counting” from the queue"
    actions.undo_stack.undo()
    assert session.queue.waiting == [queued[1], queued[3], queued[2]], "it waits behind the others"


def test_what_another_window_has_taken_meanwhile_is_named_and_the_others_are_put_back(session, actions, queued, said):
    session.end_runs(queued[1:])
    with Workspace(session.workspace.path) as other:
        other.take_over(queued[2])
        actions.undo_stack.undo()
    assert session.queue.waiting == [queued[1], queued[3]]
    assert len(said) == 1
    assert "was not undone" in said[0]


def test_undo_leaves_what_is_in_the_queue_again_and_what_has_ended_since(session, actions, queued, said):
    session.end_runs(queued[1:])
    session.follower.look()
    session.resume_run(queued[3])
    with session.workspace.writing() as db:
        db.execute("update runs set status = 'done', problem = '' where id = ?", (queued[2],))
    actions.undo_stack.undo()
    assert session.queue.waiting == [queued[3], queued[1]]
    assert session.workspace.run(queued[2]).status == "done"
    (sentence,) = said
    assert f"Run {queued[2]} was started again meanwhile, and has ended. It was not changed." in sentence


def test_what_has_begun_is_not_taken_from_the_queue_again(qtbot, session, actions, queued, said):
    session.withdraw(queued[2:])
    session.end_run(queued[1])
    actions.undo_stack.undo()
    session.end_run(queued[0])
    qtbot.waitUntil(lambda: session.queue.running == [queued[1]])
    actions.undo_stack.redo()
    assert session.queue.running == [queued[1]]
    assert len(said) == 1
    assert said[0].endswith("No longer in the queue: 1 run.")


def test_ticked_runs_that_never_began_are_put_back_at_once(session, actions, queued):
    first, *waiting = queued
    action = actions.ticked.queue_again
    session.ticks.choose(queued)
    session.queue.withdraw_waiting()  # as a window does that is closed
    session.follower.look()
    assert action.text() == "Put 3 ticked runs back in the queue"
    assert action in actions.of_ticked.menu().actions()
    action.trigger()
    assert session.queue.waiting == waiting
    session.follower.look()
    assert not action.isEnabled(), "they wait"
    assert session.queue.running == [first]
