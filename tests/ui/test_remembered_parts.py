"""Splitters and tabs are at the next start as the user left them."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit, QSplitter, QTabWidget, QWidget

from workbench.ui.main_window import MainWindow
from workbench.ui.session import Session
from workbench.workspace import Workspace


@pytest.fixture
def start(qtbot, tmp_path):
    """`start()`: a window on a new workspace, with the settings that the windows before it kept."""
    sessions = []

    def begin():
        session = Session(Workspace(tmp_path / f"space{len(sessions)}", create=True))
        sessions.append(session)
        window = MainWindow(session)
        qtbot.addWidget(window)
        window.show()
        return window

    yield begin
    for session in sessions:
        session.close()


def shown(qtbot, window, name, kind, part):
    window.session.show_page(name)
    qtbot.waitUntil(lambda: window.findChild(kind, part) is not None)
    return window.findChild(kind, part)


@pytest.mark.parametrize(("page", "part"), [("train", "train-views"), ("compare", "compare-results")])
def test_a_chosen_tab(qtbot, start, page, part):
    tabs = shown(qtbot, start(), page, QTabWidget, part)
    assert tabs.currentIndex() == 0
    tabs.setCurrentIndex(1)
    assert shown(qtbot, start(), page, QTabWidget, part).currentIndex() == 1


def test_a_tab_that_is_not_there_any_more_is_not_chosen(qtbot, start):
    tabs = shown(qtbot, start(), "compare", QTabWidget, "compare-results")
    last = tabs.count() - 1
    tabs.setTabVisible(last, True)
    tabs.setCurrentIndex(last)
    again = shown(qtbot, start(), "compare", QTabWidget, "compare-results")
    assert not again.isTabVisible(last)
    assert again.currentIndex() == 0


def share(splitter):
    """Of the first part, in percent."""
    return 100 * splitter.sizes()[0] / sum(splitter.sizes())


def drag(splitter, by):
    """Move the first handle by some px, as a person does."""
    handle = splitter.handle(1)
    at = handle.rect().center()
    QTest.mousePress(handle, Qt.MouseButton.LeftButton, pos=at)
    QTest.mouseMove(handle, at + QPoint(0, by))
    QTest.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=at + QPoint(0, by))


def split(qtbot, window):
    """A splitter of two parts in the window's care, the second of which gets twice as much room."""
    part = QWidget(window, Qt.WindowType.Window)
    splitter = QSplitter(Qt.Orientation.Vertical, part)
    splitter.setObjectName("two-parts")
    for factor in (1, 2):
        splitter.addWidget(QPlainTextEdit())
        splitter.setStretchFactor(factor - 1, factor)
    window.arrangement.follow(part)
    splitter.resize(500, 600)
    part.resize(500, 600)
    part.show()
    qtbot.waitUntil(lambda: sum(splitter.sizes()) > 0)
    return splitter


def test_a_moved_splitter_and_its_first_place_again(qtbot, start):
    splitter = split(qtbot, start())
    first = share(splitter)
    drag(splitter, 90)
    drag(splitter, 30)
    moved = share(splitter)
    assert moved > first + 15
    window = start()
    again = split(qtbot, window)
    assert share(again) == pytest.approx(moved, abs=1)
    window.reset_layout()
    assert share(again) == pytest.approx(first, abs=1)
    assert share(split(qtbot, start())) == pytest.approx(first, abs=1)


def test_reset_leaves_splitters_that_nobody_moved(qtbot, start):
    window = start()
    splitter = split(qtbot, window)
    before = share(splitter)
    window.reset_layout()
    assert share(splitter) == before


def test_the_splitters_of_the_pages_are_in_its_care(qtbot, start):
    window = start()
    names = {"compare-plots", "compare-settings", "compare-difference"}
    shown(qtbot, window, "compare", QSplitter, "compare-plots")
    assert names <= {part.objectName() for part in window.findChildren(QSplitter)}
    for name in names:
        drag(window.findChild(QSplitter, name), 1)
        assert not window.session.preferences.state(f"layout/{name}-first").isEmpty()
