"""A pytest plug-in that makes work off the window's thread begin and end late: `-p tests.late --late 300`.

What a test or a page does before an answer is there, or while it arrives, is then met often, not once in a month.
Each delay is drawn from the test's name and `--late-seed`, so that a failure comes again.
"""

import random
import threading
import time
from weakref import WeakKeyDictionary

import pytest

from workbench.ui.state.background.mailbox import Mailbox
from workbench.ui.state.background.tasks import Task

AT_ONCE = 0.4  # share of the delays that are none: quick answers pass slow ones
MANY = 20  # messages of one mailbox that may be late: a run sends thousands


def pytest_addoption(parser: pytest.Parser) -> None:
    """How long work may be late, and which delays are drawn."""
    group = parser.getgroup("late")
    group.addoption("--late", type=int, default=300, help="most milliseconds that a task begins, or a message is, late")
    group.addoption("--late-seed", type=int, default=0, help="draws other delays")


@pytest.fixture(autouse=True)
def _late_work(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    """Each task sleeps before its work, and what another thread tells the window is sent late."""
    most = request.config.getoption("--late") / 1000
    draws = random.Random(f"{request.config.getoption('--late-seed')} {request.node.nodeid}")
    lock, sent = threading.Lock(), WeakKeyDictionary()
    make, send = Task.__init__, Mailbox.send

    def sleep() -> None:
        with lock:
            delay = 0.0 if draws.random() < AT_ONCE else draws.uniform(0, most)
        time.sleep(delay)

    def make_late(task, title, work, *others, **named):
        def late_work(progress):
            sleep()
            return work(progress)

        make(task, title, late_work, *others, **named)

    def late_send(mailbox, *values):
        sent[mailbox] = sent.get(mailbox, 0) + 1
        if threading.current_thread() is not threading.main_thread() and sent[mailbox] <= MANY:
            sleep()
        send(mailbox, *values)

    monkeypatch.setattr(Task, "__init__", make_late)
    monkeypatch.setattr(Mailbox, "send", late_send)
