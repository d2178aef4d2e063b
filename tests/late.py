"""A pytest plug-in that makes work off the window's thread begin and end late: `-p tests.late --late 300`.

What a test or a page does before an answer is there, or while it arrives, is then met often, not once in a month. So is
what it does after: timers fire late, and the test itself is held up before it clicks or types and after it has waited.
Each delay is drawn from the test's name and `--late-seed`, so that a failure comes again.
"""

import random
import threading
import time
from collections.abc import Callable
from functools import partial
from weakref import WeakKeyDictionary

import pytest
import shiboken6
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from tests.waits import PatientBot
from workbench.events import Ended
from workbench.jobs import Job
from workbench.ui.state.background.mailbox import Mailbox

AT_ONCE = 0.4  # share of the delays that are none: quick answers pass slow ones
MANY = 20  # messages of one mailbox, or steps of one test, that may be late: a run sends thousands
BY_HAND = ("keyClick", "keyClicks", "keyPress", "mouseClick", "mouseDClick", "mouseMove", "mousePress", "mouseRelease")

Draw = Callable[[], float]


def pytest_addoption(parser: pytest.Parser) -> None:
    """How long work may be late, and which delays are drawn."""
    group = parser.getgroup("late")
    group.addoption("--late", type=int, default=300, help="most milliseconds of one delay")
    group.addoption("--late-seed", type=int, default=0, help="draws other delays")


@pytest.fixture(autouse=True)
def _late_work(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    """Jobs, what other threads tell the window, single-shot timers and the steps of the test are late."""
    most = request.config.getoption("--late") / 1000
    draws = random.Random(f"{request.config.getoption('--late-seed')} {request.node.nodeid}")
    lock = threading.Lock()

    def draw() -> float:
        with lock:
            return 0.0 if draws.random() < AT_ONCE else draws.uniform(0, most)

    _delay_jobs(monkeypatch, draw)
    _delay_messages(monkeypatch, draw)
    _delay_timers(monkeypatch, draw)
    _delay_the_test(monkeypatch, draw)


def _delay_jobs(monkeypatch: pytest.MonkeyPatch, draw: Draw) -> None:
    """Each job sleeps before its work, and its thread goes on for a while after it has told its end."""
    make = Job.__init__

    def make_late(job, name, work, emit, *others, **named):
        def late_work(control, say):
            time.sleep(draw())
            work(control, say)

        def emit_and_stay(event):
            emit(event)
            if isinstance(event, Ended):
                time.sleep(draw())

        make(job, name, late_work, emit_and_stay, *others, **named)

    monkeypatch.setattr(Job, "__init__", make_late)


def _delay_messages(monkeypatch: pytest.MonkeyPatch, draw: Draw) -> None:
    """The first messages of each mailbox are sent late by other threads."""
    sent, send = WeakKeyDictionary(), Mailbox.send

    def late_send(mailbox, *values):
        sent[mailbox] = sent.get(mailbox, 0) + 1
        if threading.current_thread() is not threading.main_thread() and sent[mailbox] <= MANY:
            time.sleep(draw())
        send(mailbox, *values)

    monkeypatch.setattr(Mailbox, "send", late_send)


def _delay_timers(monkeypatch: pytest.MonkeyPatch, draw: Draw) -> None:
    """Single-shot timers fire late; those of 0 ms keep their order, as those of a busy machine do."""
    asked = WeakKeyDictionary()  # timer -> the interval that it was given, and the one that it has instead
    start, interval, shoot = QTimer.start, QTimer.interval, QTimer.singleShot

    def late(wait: int) -> int:
        return wait + round(1000 * draw()) if wait > 0 else wait

    def interval_asked(timer):
        now = interval(timer)
        first, later = asked.get(timer, (now, now))
        return first if now == later else now

    def late_start(timer, *values):
        if not shiboken6.isValid(timer):  # Qt ends a connection to its own slot with the timer
            return
        waits = [value for value in values if isinstance(value, int)]  # a connected signal passes what it carries
        if not timer.isSingleShot():
            start(timer, *waits)
            return
        wait = waits[0] if waits else interval_asked(timer)
        asked[timer] = (wait, late(wait))
        start(timer, asked[timer][1])

    def late_shot(wait, *others):
        shoot(late(wait), *others)

    monkeypatch.setattr(QTimer, "start", late_start)
    monkeypatch.setattr(QTimer, "interval", interval_asked)
    monkeypatch.setattr(QTimer, "singleShot", staticmethod(late_shot))


def _delay_the_test(monkeypatch: pytest.MonkeyPatch, draw: Draw) -> None:
    """The test's own thread has no core before it clicks or types, and after what it waited for has come."""
    steps = [0]

    def sleep() -> None:
        steps[0] += 1
        if steps[0] <= MANY:
            time.sleep(draw())

    def late_step(step, *values, **named):
        sleep()
        return step(*values, **named)

    def wait_and_sleep(bot, *values, **named):
        wait(bot, *values, **named)
        sleep()

    for name in BY_HAND:
        monkeypatch.setattr(QtBot, name, staticmethod(partial(late_step, getattr(QtBot, name))))
    wait = PatientBot.waitUntil
    monkeypatch.setattr(PatientBot, "waitUntil", wait_and_sleep)
