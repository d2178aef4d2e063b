"""After the first paint the engine is loaded: its device is shown, or that it is not known."""

import importlib
import sys
import threading
from time import sleep

import pytest

from tests.waits import HANG
from workbench.problem import Problem
from workbench.ui.state.background.tasks import Task
from workbench.ui.state.session import Session
from workbench.ui.window.main_window import MainWindow
from workbench.ui.window.process.garbage import Garbage
from workbench.ui.window.warm_up import WarmUp
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
    window = qtbot.addWidget(MainWindow(session))
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
    window = qtbot.addWidget(MainWindow(session))
    warm_up = WarmUp(session, window, load, garbage)
    warm_up.begin()
    assert begun.wait(HANG)
    session.open_workspace(Workspace(tmp_path / "other", create=True))
    go_on.set()
    qtbot.waitUntil(lambda: window.status.device.text() == "Device: CPU")
    garbage.end()


@pytest.fixture
def closed_while_loading(qapp, qtbot, monkeypatch, tmp_path):
    """Closes a session on a workspace while the engine, as torch a library that loads once in a process, is loaded."""
    (tmp_path / "slow_engine.py").write_text(
        "import sys\nif 'slow_engine_first' in sys.modules: raise ImportError('only once per process')\n"
        "import slow_engine_first, slow_engine_second\n"
    )
    for name in ("first", "second"):
        (tmp_path / f"slow_engine_{name}.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()

    def close(workspace, *, ending):
        session, begun, garbage = Session(workspace), threading.Event(), Garbage(qapp)

        def load(progress):
            begun.set()
            tasks = session.findChildren(Task)
            while not (session.closed and any(task.cancelled for task in tasks)):
                sleep(0.001)
            importlib.import_module("slow_engine")
            return find(progress)

        window = qtbot.addWidget(MainWindow(session))
        WarmUp(session, window, load, garbage).begin()
        assert begun.wait(HANG)
        session.close(ending=ending)
        garbage.end()

    yield close
    for name in [name for name in sys.modules if name.startswith("slow_engine")]:
        del sys.modules[name]


def test_a_window_that_is_closed_with_its_process_loads_no_further_module(closed_while_loading, workspace):
    closed_while_loading(workspace, ending=True)
    assert "slow_engine_second" not in sys.modules


def test_a_session_that_is_opened_after_another_was_closed_finds_its_engine_whole(
    closed_while_loading, workspace, qapp, qtbot, monkeypatch, tmp_path
):
    closed_while_loading(workspace, ending=False)
    monkeypatch.setattr(Garbage, "settle", lambda garbage: None)
    monkeypatch.setattr(Session, "keep_spare", lambda session: None)
    session, garbage = Session(Workspace(tmp_path / "other", create=True)), Garbage(qapp)
    window = qtbot.addWidget(MainWindow(session))

    def load(progress):
        importlib.import_module("slow_engine")
        return find(progress)

    WarmUp(session, window, load, garbage).begin()
    qtbot.waitUntil(lambda: window.status.device.text() == "Device: CPU")
    session.close()
    garbage.end()
