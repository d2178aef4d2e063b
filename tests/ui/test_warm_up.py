"""After the first paint the engine is loaded: its device is shown, or that it is not known."""

import importlib
import sys
import threading
from time import sleep

import pytest

from tests.waits import HANG
from workbench.problem import Problem
from workbench.ui.garbage import Garbage
from workbench.ui.main_window import MainWindow
from workbench.ui.session import Session
from workbench.ui.tasks import Task
from workbench.ui.warm_up import WarmUp
from workbench.workspace import Workspace

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)


def refuse(progress):
    raise Problem("A library that the engine needs does not load.")


def find(progress):
    return {}, "cpu"


@pytest.mark.parametrize(("load", "said"), [(find, "Device: CPU"), (refuse, "Device: unknown")])
def test_the_status_bar_does_not_go_on_detecting(qapp, qtbot, session, monkeypatch, load, said):
    monkeypatch.setattr(Garbage, "settle", lambda garbage: None)  # it would freeze what other tests made
    monkeypatch.setattr(session, "keep_spare", lambda: None)
    garbage = Garbage(qapp)
    window = MainWindow(session)
    qtbot.addWidget(window)
    warm_up = WarmUp(session, window, load, garbage)
    assert window.status.device.text() == "Device: detecting…"
    warm_up.begin()
    qtbot.waitUntil(lambda: window.status.device.text() == said)
    garbage.end()


def test_an_engine_that_a_change_of_workspace_dropped_is_loaded_again(
    qapp, qtbot, session, monkeypatch, tmp_path, request
):
    monkeypatch.setattr(Garbage, "settle", lambda garbage: None)
    monkeypatch.setattr(session, "keep_spare", lambda: None)
    begun, go_on = threading.Event(), threading.Event()
    request.addfinalizer(go_on.set)

    def load(progress):
        begun.set()
        assert go_on.wait(HANG)
        return find(progress)

    garbage = Garbage(qapp)
    window = MainWindow(session)
    qtbot.addWidget(window)
    warm_up = WarmUp(session, window, load, garbage)
    warm_up.begin()
    assert begun.wait(HANG)
    session.open_workspace(Workspace(tmp_path / "other", create=True))
    go_on.set()
    qtbot.waitUntil(lambda: window.status.device.text() == "Device: CPU")
    garbage.end()


def test_a_closed_window_loads_no_further_module(qapp, qtbot, workspace, monkeypatch, tmp_path):
    session = Session(workspace)
    (tmp_path / "slow_engine.py").write_text("import slow_engine_first, slow_engine_second")
    for name in ("first", "second"):
        (tmp_path / f"slow_engine_{name}.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    begun = threading.Event()

    def load(progress):
        importlib.import_module("slow_engine_first")
        begun.set()
        tasks = session.findChildren(Task)
        while not (session.closed and any(task.cancelled for task in tasks)):
            sleep(0.001)
        importlib.import_module("slow_engine")
        return find(progress)

    garbage = Garbage(qapp)
    window = MainWindow(session)
    qtbot.addWidget(window)
    warm_up = WarmUp(session, window, load, garbage)
    warm_up.begin()
    assert begun.wait(HANG)
    session.close()
    garbage.end()
    assert "slow_engine_first" in sys.modules
    assert "slow_engine_second" not in sys.modules
