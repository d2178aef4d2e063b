"""The main job by keys alone: a field, Start, the pages, the next query, the export. No mouse, no call of a slot."""

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from workbench.entries import catalog
from workbench.ui.state.session import Session
from workbench.ui.window.main_window import MainWindow
from workbench.workspace import Workspace

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::RuntimeWarning:numba"),
    pytest.mark.qt_log_ignore("propagateSizeHints|does not support raise"),
]
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
MOST_STOPS = 80  # of Tab from one control of a page to any other


@pytest.fixture
def window(qtbot, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_SETTINGS", str(tmp_path / "window.ini"))
    session = Session(Workspace(tmp_path / "space", create=True))
    session.set_catalog(catalog.current())
    session.theme.apply()
    made = qtbot.shown(MainWindow(session), 1280, 720)
    made.activateWindow()
    strays = Strays(made)
    QApplication.instance().installEventFilter(strays)
    yield made
    QApplication.instance().removeEventFilter(strays)
    session.close()
    assert strays.shown == [], "a part of a page was shown as a window"


class Strays(QObject):
    """Notes widgets that are shown as windows and are neither dialogs nor menus, nor the window itself."""

    def __init__(self, window):
        super().__init__()
        self._window, self.shown = window, []

    def eventFilter(self, watched, event):  # noqa: N802
        if event.type() != QEvent.Type.Show or not isinstance(watched, QWidget) or watched is self._window:
            return False
        if watched.isWindow() and watched.windowType() in (Qt.WindowType.Window, Qt.WindowType.Widget):
            self.shown.append(repr(watched))
        return False


def press(window, key, modifiers=Qt.KeyboardModifier.NoModifier):
    """A key, wherever the keyboard focus is. The window stays the active one, as on a desktop."""
    window.activateWindow()
    QApplication.processEvents()  # the offscreen platform activates in a turn of the event loop
    QTest.keyClick(window.focusWidget() or window, key, modifiers)


def go_to(window, qtbot, number, name):
    """Another page by its number."""
    press(window, Qt.Key(Qt.Key.Key_0 + number), CONTROL)
    qtbot.waitUntil(lambda: window.pages.currentWidget() is window.pages.page(name) and window.pages.updatesEnabled())
    return window.pages.page(name)


def tab_to(window, wanted: QWidget):
    """Tab until a control has the focus."""
    for _ in range(MOST_STOPS):
        if window.focusWidget() is wanted:
            return
        press(window, Qt.Key.Key_Tab)
    pytest.fail(f"Tab does not reach {wanted.accessibleName() or wanted}")


def enter(window, qtbot, words, field, value):
    """Write a value into a field of Set up that the palette finds by some words."""
    press(window, Qt.Key.Key_P, CONTROL | SHIFT)
    qtbot.waitUntil(lambda: QApplication.activeModalWidget() is not None)
    QTest.keyClicks(QApplication.activeModalWidget().line, f"field {words}")
    QTest.keyClick(QApplication.activeModalWidget().line, Qt.Key.Key_Return)
    row = window.pages.page("setup").groups.row(field)
    qtbot.waitUntil(lambda: window.focusWidget() is row.widget)
    press(window, Qt.Key.Key_A, CONTROL)
    QTest.keyClicks(row.widget, value)


def test_a_person_without_a_mouse_ends_with_a_report(qtbot, window):
    session = window.session
    setup = go_to(window, qtbot, 1, "setup")
    enter(window, qtbot, "epochs training", "training.epochs", "1")
    enter(window, qtbot, "probe every", "evaluation.probe_every", "20")
    assert setup.draft.value("training.epochs") == 1
    qtbot.waitUntil(setup.start.isEnabled)
    press(window, Qt.Key.Key_Return, CONTROL)
    qtbot.waitUntil(lambda: session.page == "train" and session.run_id is not None)

    train = go_to(window, qtbot, 2, "train")
    qtbot.waitUntil(lambda: session.run() is not None and session.run().status in ("done", "failed"))
    assert session.run().problem == ""
    qtbot.waitUntil(lambda: train.tiles.score.number.text() != "–")
    assert train.views.currentWidget() is train.curves
    tab_to(window, train.evaluations.unfold)
    press(window, Qt.Key.Key_Space)
    assert train.evaluations.table.isVisible()
    tab_to(window, train.views.tabBar())
    press(window, Qt.Key.Key_Right)
    assert train.views.currentWidget() is train.anatomy

    maps = go_to(window, qtbot, 3, "map")
    qtbot.waitUntil(lambda: maps.canvas.data is not None)

    retrieval = go_to(window, qtbot, 4, "retrieval")
    qtbot.waitUntil(lambda: bool(retrieval.result.cards) and session.query is not None)
    first = session.query
    tab_to(window, retrieval.queries.table)
    press(window, Qt.Key.Key_J)
    qtbot.waitUntil(lambda: session.query != first)

    report = go_to(window, qtbot, 6, "report")
    qtbot.waitUntil(lambda: report.preview.count > 0)
    tab_to(window, report.export_button)
    press(window, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: bool(report.model.written))
    assert {path.name for path in report.model.written} >= {"report.html", "report.pdf"}
