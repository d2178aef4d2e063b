"""Wherever Tab goes on a page, one sees where the keyboard focus is, in light and in dark."""

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QScrollArea, QTabWidget

from tests.ui.started import shown_window
from tests.ui.trained import trained_run
from workbench.ui.pages.setup.preflight import runner as preflight

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
PAGES = ("setup", "train", "map", "retrieval", "compare", "report")
MOST_STOPS = 120
MOST_FRAMES = 20
AROUND = 4  # px beside a control that its frame may take


@pytest.fixture
def window(qtbot, session, workspace, tmp_path, monkeypatch):
    monkeypatch.setattr(preflight, "SETTLES_AFTER", 10**8)  # no check of the run meanwhile
    run_id = trained_run(workspace, tmp_path / "pixels")
    session.show_run(run_id)
    session.ticks.choose([run_id])
    made = shown_window(qtbot, session)
    made.activateWindow()
    return made


def at_rest(session, qtbot, page):
    """Return when nothing is read or drawn any more."""
    qtbot.deliver()
    qtbot.waitUntil(lambda: not session.reading and session.activity.newest_working is None)
    qtbot.settle(page)


def stops(window):
    """What has the focus after each Tab, until it comes to one of them again."""
    window.setFocus()
    met = []
    for _ in range(MOST_STOPS):
        QTest.keyClick(window.focusWidget() or window, Qt.Key.Key_Tab)
        if window.focusWidget() in met:
            break
        met.append(window.focusWidget())
    return met


def still(window, seen):
    """A part of the window once it looks the same twice."""
    before = None
    for _ in range(MOST_FRAMES):
        QApplication.processEvents()
        now = window.grab(seen).toImage()
        if now == before:
            break
        before = now
    return now


def looks_alike(window, control):
    """Whether a control looks the same with the focus and without, once it is scrolled into sight."""
    area = control
    while (area := area.parentWidget()) is not None:
        if isinstance(area, QScrollArea):
            area.ensureWidgetVisible(control)
    corner = control.mapTo(window, control.rect().topLeft())
    seen = QRect(corner, control.size()).adjusted(-AROUND, -AROUND, AROUND, AROUND).intersected(window.rect())
    if not control.isVisible() or not control.isEnabled():
        return False
    control.clearFocus()
    without = still(window, seen)
    for _ in range(MOST_FRAMES):  # a busy machine paints it late, and what it reads late may take the focus
        control.setFocus(Qt.FocusReason.TabFocusReason)
        QApplication.processEvents()
        if window.grab(seen).toImage() != without:
            return False
    return True


def unseen_stops(window, page):
    """The stops of a page that look the same with the focus and without."""
    tab = Qt.FocusPolicy.TabFocus  # what keeps the focus for a disabled control is no stop
    met = [control for control in stops(window) if page.isAncestorOf(control) and control.focusPolicy() & tab]
    return [control.accessibleName() or repr(control) for control in met if looks_alike(window, control)]


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_stop_of_tab_shows_that_it_has_the_focus(window, session, qtbot, theme):
    session.theme.choose(theme)
    unseen = {name: unseen_on_page(window, session, qtbot, name) for name in PAGES}
    assert unseen == {name: [] for name in PAGES}


def unseen_on_page(window, session, qtbot, name):
    """Those of all tabs of a page, which is shown for that."""
    window.show_page(name)
    page = window.pages.page(name)
    if name == "setup":
        page.runner.drop()
    qtbot.waitUntil(lambda: window.pages.currentWidget() is page and window.pages.updatesEnabled())
    at_rest(session, qtbot, page)
    if name == "compare":
        qtbot.waitUntil(page.groups.isVisible)
    assert any(page.isAncestorOf(control) for control in stops(window))
    unseen = unseen_stops(window, page)
    for tabs in [tabs for tabs in page.findChildren(QTabWidget) if tabs.isVisible()]:
        there = [index for index in range(1, tabs.count()) if tabs.isTabEnabled(index) and tabs.isTabVisible(index)]
        for index in there:
            tabs.setCurrentIndex(index)
            at_rest(session, qtbot, page)
            unseen += unseen_stops(window, page)
    return unseen
