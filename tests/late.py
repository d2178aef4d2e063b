"""A pytest plug-in that makes work off the window's thread begin and end late: `-p tests.late --late 300`.

What a test or a page does before an answer is there, or while it arrives, is then met often, not once in a month.
Each delay is drawn from the test's name and `--late-seed`, so that a failure comes again.
"""

import random
import threading
import time

import pytest

from workbench.ui.state.background.tasks import Task

SOONEST = 0.4  # share of the work that is not delayed: quick answers pass slow ones


def pytest_addoption(parser: pytest.Parser) -> None:
    """How long work may be late, and which delays are drawn."""
    group = parser.getgroup("late")
    group.addoption("--late", type=int, default=300, help="most milliseconds that a task begins, or ends, late")
    group.addoption("--late-seed", type=int, default=0, help="draws other delays")


@pytest.fixture(autouse=True)
def _late_work(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    """Each task sleeps before its work, and before it says how it ended."""
    most = request.config.getoption("--late") / 1000
    draws = random.Random(f"{request.config.getoption('--late-seed')} {request.node.nodeid}")
    lock = threading.Lock()
    run = Task._run

    def delay() -> float:
        with lock:
            return 0.0 if draws.random() < SOONEST else draws.uniform(0, most)

    def late(task, control, emit):
        before, after = delay(), delay()
        time.sleep(before)
        try:
            run(task, control, emit)
        finally:
            time.sleep(after)

    monkeypatch.setattr(Task, "_run", late)
