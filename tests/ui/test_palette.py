"""The palette finds runs, fields and classes beside commands, and goes to them."""

import threading

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from trained import trained_run

from tests.waits import HANG
from workbench.entries import catalog
from workbench.ui.window.main_window import MainWindow
from workbench.ui.window.page_stack import PageStack
from workbench.workspace import Workspace

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def window(qtbot, session, workspace, tmp_path, monkeypatch):
    """With the page Set up alone."""
    make = PageStack.make

    def setup_or_blank(stack, info):
        return make(stack, info) if info.name == "setup" else QWidget()

    monkeypatch.setattr(PageStack, "make", setup_or_blank)
    trained_run(workspace, tmp_path / "pixels")
    session.set_catalog(catalog.current())
    session.follower.look()
    session.theme.apply()
    return qtbot.shown(MainWindow(session))


def find(qtbot, window, typed):
    palette = window.show_palette()
    qtbot.keyClicks(palette.line, typed)
    return palette


def test_a_run_is_found_by_its_number_and_shown(qtbot, window, session):
    palette = find(qtbot, window, "#1 blobs")
    first = palette.model.rows[0]
    assert first.words == "Run: #1 blobs"
    assert first.note.startswith("Done, MAP@R")
    qtbot.keyClick(palette.line, Qt.Key.Key_Return)
    assert session.run_id == 1


def test_a_chosen_run_is_seen_also_where_it_was_shown_before(qtbot, window, session):
    session.show_run(1)
    assert session.page == "setup"
    find(qtbot, window, "#1 blobs").run_chosen()
    assert session.page == "train"
    session.show_page("map")
    find(qtbot, window, "#1 blobs").run_chosen()
    assert session.page == "map", "a page about the run stays"


def test_a_field_is_found_and_gets_the_cursor(qtbot, window):
    palette = find(qtbot, window, "field momentum")
    assert palette.model.rows[0].words == "Field: Momentum (Training)"
    palette.run_chosen()
    setup = window.pages.page("setup")
    qtbot.waitUntil(lambda: window.focusWidget() is not None)
    assert window.focusWidget() is setup.groups.row("training.momentum").widget


def test_a_class_is_found_and_selected_on_the_map(qtbot, window, session):
    session.show_run(1)
    palette = find(qtbot, window, "class dog")
    assert palette.model.rows[0].words == "Class: dog"
    palette.run_chosen()
    assert session.page == "map"
    qtbot.waitUntil(lambda: len(session.selection) == 10)


def test_what_is_selected_while_a_class_is_read_stays_selected(qtbot, window, session, monkeypatch):
    read, samples, asked = threading.Event(), Workspace.samples, []

    def samples_late(*of):
        asked.append(of)
        assert read.wait(HANG)
        return samples(*of)

    session.show_run(1)
    palette = find(qtbot, window, "class dog")
    monkeypatch.setattr(Workspace, "samples", samples_late)
    palette.run_chosen()
    qtbot.waitUntil(lambda: bool(asked))
    session.select([7])
    read.set()
    qtbot.waitUntil(lambda: not session.reading)
    assert session.selection.tolist() == [7]
