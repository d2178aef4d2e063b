"""A page is turned at once where nothing runs, else between two steps, and late rather than never."""

import threading

import pytest
from PySide6.QtCore import QObject, QTimer

from workbench.control import Control
from workbench.ui.state.pages.page_turn import PageTurn


class Queue(QObject):
    """As much of a RunQueue as a turn asks for."""

    def __init__(self):
        super().__init__()
        self.stands_back, self.asked = True, 0

    def give_way(self):
        self.asked += 1


@pytest.fixture
def queue(qapp):
    return Queue()


@pytest.fixture
def turned(queue):
    turn = PageTurn(queue, queue)
    turn.heard = []
    turn.turned.connect(turn.heard.append)
    return turn


def test_it_is_at_once_where_nothing_runs(turned):
    turned.turn("map")
    assert turned.heard == ["map"]


def test_it_waits_for_the_end_of_a_step(turned, queue, qtbot):
    queue.stands_back = False
    turned.turn("map")
    assert turned.heard == []
    assert queue.asked == 1
    queue.stands_back = True
    qtbot.waitUntil(lambda: turned.heard == ["map"])
    assert queue.asked == 2, "the run stands back for the whole of the drawing"


def test_a_step_that_takes_long_is_not_waited_for(turned, queue, qtbot):
    queue.stands_back = False
    turned.turn("map")
    qtbot.waitUntil(lambda: turned.heard == ["map"])


def test_the_last_wish_counts(turned, queue, qtbot):
    queue.stands_back = False
    turned.turn("map")
    turned.turn("report")
    qtbot.waitUntil(lambda: bool(turned.heard))
    qtbot.waitUntil(lambda: not any(timer.isActive() for timer in turned.findChildren(QTimer)))
    assert turned.heard == ["report"]


def test_a_run_says_that_it_stands_back():
    control = Control()
    seen = []
    control.give_way(0.2)
    thread = threading.Thread(target=control.stand_back)
    thread.start()
    while thread.is_alive():
        seen.append(control.standing_back)
        thread.join(0.005)
    assert any(seen)
    assert not control.standing_back
