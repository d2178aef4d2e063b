"""The queue with devices of its own: a run on each at once, locked against others, and one that needs several alone."""

import pytest
from PySide6.QtWidgets import QWidget

from tests.ui.started import started
from workbench.control import Control
from workbench.events import Ended
from workbench.sweeps.device_lock import DeviceLock
from workbench.ui.actions.run_actions import RunActions
from workbench.ui.state.commands import Commands
from workbench.ui.state.runs.run_jobs import DEVICES
from workbench.ui.state.session import Session


class Held:
    """A job that ends when the test says so."""

    def __init__(self, listen, device):
        self.listen, self.device, self.ended, self.untold = listen, device, None, None

    def start(self):
        return self

    def join(self, timeout=None):
        return self.ended is not None

    def end(self):
        self.ended = Ended("done")
        self.listen(self.ended)


@pytest.fixture(autouse=True)
def locks(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_LOCKS", str(tmp_path / "locks"))


@pytest.fixture
def jobs():
    """Jobs that were started, by run."""
    return {}


@pytest.fixture
def session(workspace, jobs):
    def make_job(workspace, run_id, control: Control, listen, resume, device=""):
        jobs[run_id] = Held(listen, device)
        return jobs[run_id]

    session = Session(workspace, make_job=make_job)
    yield session
    for job in jobs.values():
        if job.ended is None:
            job.end()
    session.close()


def test_runs_in_line_train_at_once_one_on_each_device(qtbot, session, config, jobs):
    session.preferences.set_text(DEVICES, "0,1")
    first, second, third = (started(session, config) for _ in range(3))
    qtbot.waitUntil(lambda: len(jobs) == 2)
    assert [jobs[first].device, jobs[second].device] == ["cuda:0", "cuda:1"]
    assert session.queue.waiting == [third]
    assert not DeviceLock("cuda:1").take()
    jobs[second].end()
    qtbot.waitUntil(lambda: third in jobs)
    assert (jobs[third].device, session.queue.device_of(third)) == ("cuda:1", "cuda:1")
    assert session.queue.running == [first, third]


def test_a_device_that_a_sweep_has_is_left_to_it(qtbot, session, config, jobs):
    theirs = DeviceLock("cuda:0")
    assert theirs.take()
    session.preferences.set_text(DEVICES, "0,1")
    first, second = started(session, config), started(session, config)
    qtbot.waitUntil(lambda: bool(jobs))
    assert jobs[first].device == "cuda:1"
    theirs.free()
    qtbot.waitUntil(lambda: second in jobs)
    assert jobs[second].device == "cuda:0"


def test_a_run_that_names_several_devices_trains_alone(qtbot, session, config, jobs):
    session.preferences.set_text(DEVICES, "cpu,cpu")
    single, spread = started(session, config), started(session, config.model_copy(update={"device": "cpu,cpu"}))
    behind = started(session, config)
    qtbot.waitUntil(lambda: bool(jobs))
    assert session.queue.waiting == [spread, behind]
    jobs[single].end()
    qtbot.waitUntil(lambda: spread in jobs)
    assert (jobs[spread].device, session.queue.waiting) == ("", [behind])
    jobs[spread].end()
    qtbot.waitUntil(lambda: behind in jobs)
    assert jobs[behind].device == "cpu"


def test_the_devices_are_chosen_in_the_run_menu(qtbot, session, config, jobs, monkeypatch):
    window = qtbot.addWidget(QWidget())
    actions, said = RunActions(session, Commands(session.preferences, window), window), []
    session.noticed.connect(lambda problem: said.append(str(problem)))
    first, second = started(session, config), started(session, config)
    qtbot.waitUntil(lambda: first in jobs)
    answers = ["0,gpu", "0,1"]
    monkeypatch.setattr("workbench.ui.actions.run_actions.ask_line", lambda *asked, **options: answers.pop(0))
    actions.devices.trigger()
    assert "'gpu' is not a device" in said[0]
    assert session.preferences.text(DEVICES) == ""
    actions.devices.trigger()
    assert session.queue.waiting == [second], "a run that has no device of the queue may have any of them"
    jobs[first].end()
    qtbot.waitUntil(lambda: second in jobs)
    assert jobs[second].device == "cuda:0"
