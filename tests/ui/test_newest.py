"""Requests of which the newest wins."""

from threading import Event

import pytest

from tests.waits import HANG
from workbench.problem import Problem
from workbench.ui.newest import Newest
from workbench.ui.session import Session


@pytest.fixture
def newest(session):
    return Newest(session, session)


def test_the_answer_of_an_older_request_is_dropped(newest, qtbot):
    begun, go_on, answers = Event(), Event(), []

    def slow(progress):
        begun.set()
        go_on.wait(HANG)
        return "older"

    older = newest.ask("Read", slow, answers.append)
    begun.wait(HANG)
    with qtbot.waitSignal(older.over):
        newest.ask("Read", lambda progress: "newer", answers.append)
        go_on.set()
    qtbot.waitUntil(lambda: not newest.busy)
    assert answers == ["newer"]


def test_a_cancelled_request_answers_nothing(newest, qtbot):
    answers = []
    task = newest.ask("Read", lambda progress: "answer", answers.append)
    assert newest.busy
    with qtbot.waitSignal(task.over):
        newest.cancel()
    assert not newest.busy
    assert answers == []


def test_a_request_that_a_person_cancels_is_over(newest, qtbot):
    task = newest.ask("Read", lambda progress: None)
    with qtbot.waitSignal(task.over):
        task.cancel()
    assert not newest.busy


def test_the_next_request_can_be_made_from_the_answer_of_the_last(newest, qtbot):
    answers, busy = [], []

    def then(answer):
        busy.append(newest.busy)
        answers.append(answer)
        newest.ask("Read", lambda progress: 2, answers.append)

    newest.ask("Read", lambda progress: 1, then)
    qtbot.waitUntil(lambda: answers == [1, 2])
    assert busy == [False]


def test_a_failure_is_told_and_ends_the_request(newest, qtbot):
    problems = []

    def fail(progress):
        raise Problem("The disk is away.")

    newest.ask("Read", fail, None, problems.append)
    qtbot.waitUntil(lambda: bool(problems))
    assert str(problems[0]) == "The disk is away."
    assert not newest.busy


def test_after_the_end_of_the_session_nothing_is_asked(qapp, workspace):
    session = Session(workspace)
    newest = Newest(session, session)
    session.close()
    newest.ask("Read", lambda progress: None)
    assert not newest.busy
