"""Steps of the window's thread: at once where no run works, else one in each turn, and none after the end."""

import pytest

from workbench.ui.state.in_turns import InTurns


class Session:
    """As much of a session as is asked for."""

    def __init__(self):
        self.busy, self.closed = True, False


@pytest.fixture
def session(qapp):
    return Session()


@pytest.fixture
def turns(session):
    return InTurns(session)


def test_without_a_run_all_is_done_at_once(turns, session):
    session.busy, done = False, []
    turns.begin(lambda: done.append(1), lambda: done.append(2))
    assert done == [1, 2]
    assert not turns.busy


def test_beside_a_run_there_is_a_turn_between_two_steps(turns, qtbot):
    done = []
    turns.begin(lambda: done.append(turns.busy), lambda: done.append(turns.busy))
    assert done == []
    qtbot.waitUntil(lambda: len(done) == 2)
    assert done == [True, False]


def test_long_work_has_turns_without_a_run_too(turns, session, qtbot):
    session.busy, done = False, []
    turns.begin(lambda: done.append(turns.busy), lambda: done.append(turns.busy), long=True)
    assert done == []
    qtbot.waitUntil(lambda: len(done) == 2)
    assert done == [True, False]


def test_a_later_call_takes_the_place_of_what_is_left(turns, qtbot):
    done = []
    turns.begin(lambda: done.append("old"), lambda: done.append("old"))
    turns.begin(lambda: done.append("new"))
    qtbot.waitUntil(lambda: bool(done))
    qtbot.waitUntil(lambda: not turns.busy)
    qtbot.deliver()
    assert done == ["new"]


def test_after_the_end_of_the_session_nothing_is_done(turns, session, qtbot):
    done = []
    turns.begin(lambda: done.append(1))
    session.closed = True
    qtbot.waitUntil(lambda: not turns.busy)
    assert done == []
