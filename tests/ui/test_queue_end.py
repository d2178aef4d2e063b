"""What the queue does between a run's last word and the end of its thread."""

import threading

from tests.ui.started import started
from tests.waits import HANG
from workbench.control import Control
from workbench.events import Ended
from workbench.ui.state.session import Session


class Lingering:
    """A job that has said its last word and whose thread is not over before the test lets it be."""

    ended = untold = None

    def __init__(self, listen):
        self.let_go, self.told = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, args=(listen,))

    def start(self):
        self._thread.start()

    def join(self, timeout=None):
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self, listen):
        listen(Ended("done"))
        self.told.set()
        self.let_go.wait(HANG)


def test_the_window_does_not_wait_for_the_end_of_a_runs_thread(qtbot, workspace, config):
    made = []

    def make_job(workspace, run_id, control: Control, listen, resume):
        made.append(Lingering(listen))
        return made[-1]

    session = Session(workspace, make_job=make_job)
    run_id = started(session, config)
    ended = []
    session.queue.ended.connect(lambda *told: ended.append(told))
    qtbot.waitUntil(lambda: bool(made) and made[0].told.is_set())
    qtbot.deliver()
    assert not ended
    assert session.queue.running == [run_id]
    made[0].let_go.set()
    qtbot.waitUntil(lambda: ended == [(run_id, "done", "")])
    assert not session.busy
    session.close()
