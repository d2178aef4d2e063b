"""Requests to the threads of a session, of which the newest wins."""

from threading import Event

from tests.waits import HANG
from workbench.jobs.newest import Newest
from workbench.ui.state.session import Session


def test_the_answer_of_an_older_request_is_dropped(session, qtbot):
    newest, begun, go_on, answers = Newest(session), Event(), Event(), []

    def slow(progress):
        begun.set()
        go_on.wait(HANG)
        return "older"

    newest.ask("Read", slow, answers.append)
    begun.wait(HANG)
    newest.ask("Read", lambda progress: "newer", answers.append)
    go_on.set()
    qtbot.waitUntil(lambda: not newest.busy)
    assert answers == ["newer"]


def test_a_request_that_is_cancelled_in_the_activity_panel_is_over(session, qtbot):
    newest, answers = Newest(session), []
    newest.ask("Read", lambda progress: "answer", answers.append)
    session.activity.newest_working.cancel()
    assert not newest.busy
    newest.ask("Read", lambda progress: "next", answers.append)
    qtbot.waitUntil(lambda: not newest.busy)
    assert answers == ["next"]


def test_after_the_end_of_the_session_nothing_is_asked(qapp, workspace):
    session = Session(workspace)
    newest = Newest(session)
    session.close()
    newest.ask("Read", lambda progress: None)
    assert not newest.busy
