"""Rule 4: no thread outlives its test, daemons of ours included."""

import _thread
import threading

import pytest

from tests.threads import outliving
from workbench.jobs import start_daemon
from workbench.ui.state.live import Follower
from workbench.workspace.news import Watch


def test_a_follower_that_is_not_closed_is_found(qapp, workspace):
    before = threading.enumerate()
    follower = Follower(Watch(workspace))
    assert outliving(before, wait=0) == ["follower"]
    follower.close()
    workspace.close()
    assert outliving(before) == []


@pytest.mark.parametrize(("name", "found"), [("listener", ["listener"]), ("starter", [])])
def test_only_named_daemons_may_stay(name, found):
    before, over = threading.enumerate(), threading.Event()
    start_daemon(name, over.wait)
    assert outliving(before, wait=0) == found
    over.set()


def test_a_thread_that_is_about_to_end_is_waited_for():
    before, over = threading.enumerate(), threading.Event()
    ending = threading.Thread(target=over.wait, name="open")
    ending.start()
    assert outliving(before, wait=0) == ["open"]
    threading.Timer(0.2, over.set).start()
    assert outliving(before) == []


def test_what_qt_starts_is_left_to_qt():
    before, over, known = threading.enumerate(), threading.Event(), threading.Event()

    def foreign() -> None:
        threading.current_thread()  # Python makes a stand-in for a thread that it did not start
        known.set()
        over.wait()

    _thread.start_new_thread(foreign, ())
    known.wait()
    assert outliving(before, wait=0) == []
    over.set()
