"""Nothing on the window's thread reads the disk: pages open, runs and epochs are shown, whatever a read takes."""

from types import SimpleNamespace

import pytest

from tests.slow_disk import SlowDisk
from tests.ui.trained import trained_run
from workbench.ui.state.background.tasks import Task
from workbench.ui.state.pages.page_info import PAGES
from workbench.ui.state.session import Session
from workbench.ui.window.main_window import MainWindow
from workbench.workspace import Workspace

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
DELAY = 0.01  # seconds; the thread that reads is what counts, and window_stalls.py measures


@pytest.fixture(autouse=True)
def _disk_without_delay() -> None:
    """Here it has one."""


@pytest.fixture
def runs(workspace, tmp_path):
    """Two finished runs on the same samples."""
    return [trained_run(workspace, tmp_path / "cache", 48, name) for name in ("first", "second")]


@pytest.fixture
def disk(tmp_path):
    with SlowDisk(tmp_path / "workspace", DELAY).at_work() as made:
        yield made


@pytest.fixture
def window(qtbot, runs, disk, workspace, monkeypatch):
    """A window on a slow workspace; what its start reads is not counted, for there is no window yet."""
    workspace.close()
    session = Session(Workspace(workspace.path))
    monkeypatch.setattr(session.analysis, "request", lambda *args, **fields: SimpleNamespace(cancel=lambda: None))
    monkeypatch.setattr(session.drawing, "request", lambda *args, **fields: SimpleNamespace(cancel=lambda: None))
    disk.on_window.clear()
    session.theme.apply()
    made = qtbot.shown(MainWindow(session))
    yield made
    session.close()


def settle(qtbot, session):
    qtbot.waitUntil(lambda: not session.findChildren(Task))
    qtbot.deliver()


def test_pages_open_without_a_read_on_the_windows_thread(qtbot, window, runs, disk):
    session = window.session
    for info in PAGES:
        session.show_run(runs[0])
        qtbot.waitUntil(lambda: session.evaluation() is not None)
        session.show_page(info.name)
        qtbot.waitUntil(lambda name=info.name: window.pages.currentWidget() is window.pages.page(name))
        settle(qtbot, session)
        session.show_earlier()
        settle(qtbot, session)
        session.show_run(runs[1])
        qtbot.waitUntil(lambda: session.evaluation() is not None)
        settle(qtbot, session)
    assert disk.reads, "the workspace was read"
    assert "\n".join(dict.fromkeys(disk.on_window)) == ""


def test_a_run_is_started_and_changed_without_a_read_on_the_windows_thread(qtbot, window, runs, disk):
    session = window.session
    session.show_run(runs[0])
    qtbot.waitUntil(lambda: session.evaluation() is not None)
    session.change(lambda: session.workspace.rename(runs[0], "renamed"))
    qtbot.waitUntil(lambda: session.run().name == "renamed")
    session.trash_run(runs[0])
    qtbot.waitUntil(lambda: [run.id for run in session.trashed_runs()] == [runs[0]])
    settle(qtbot, session)
    assert "\n".join(dict.fromkeys(disk.on_window)) == ""


def test_another_workspace_is_opened_without_a_read_on_the_windows_thread(qtbot, window, disk, tmp_path):
    session, before = window.session, window.session.workspace
    window.opening.open_workspace(disk.folder / "other")
    qtbot.waitUntil(lambda: session.workspace is not before)
    settle(qtbot, session)
    assert session.runs() == []
    assert "\n".join(dict.fromkeys(disk.on_window)) == ""
