"""Splitters and tabs are at the next start as the user left them."""

import pytest
from PySide6.QtWidgets import QSplitter, QTabWidget

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


def test_a_moved_splitter_and_its_first_place_again(qtbot, start):
    splitter = shown(qtbot, start(), "compare", QSplitter, "compare-settings")
    splitter.resize(500, 600)
    first = share(splitter)
    splitter.moveSplitter(splitter.sizes()[0] + 60, 1)
    moved = share(splitter)
    assert moved > first + 8
    window = start()
    again = shown(qtbot, window, "compare", QSplitter, "compare-settings")
    assert share(again) == pytest.approx(moved, abs=3)
    window.reset_layout()
    assert share(again) == pytest.approx(first, abs=3)
    third = shown(qtbot, start(), "compare", QSplitter, "compare-settings")
    assert share(third) == pytest.approx(first, abs=3)
