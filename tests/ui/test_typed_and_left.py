"""What was typed just before the window closes, or before another workspace or run is shown, is stored."""

import threading

import pytest
from PySide6.QtGui import QUndoStack
from PySide6.QtWidgets import QFileDialog

from tests.ui.trained import trained_run
from tests.waits import HANG
from workbench.problem import Problem
from workbench.ui.pages.map.selecting.selection_store import SelectionStore
from workbench.ui.pages.map.selecting.selections_dialog import SelectionsDialog
from workbench.ui.pages.report.page import ReportPage
from workbench.ui.state.background.in_order import InOrder
from workbench.ui.state.session import Session
from workbench.workspace import Workspace
from workbench.workspace.choices.report_templates import arrangements, choice
from workbench.workspace.choices.selections import Selection, all_selections, put

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def session(qapp, workspace):
    """A session that the test closes, or that is closed afterwards."""
    made = Session(workspace)
    yield made
    if not made.closed:
        made.close()


def close(session, tmp_path):
    session.close()


def open_another(session, tmp_path):
    session.open_workspace(Workspace(tmp_path / "another", create=True))
    session.close()


LEAVE = [close, open_another]


@pytest.mark.parametrize("leave", LEAVE)
def test_notes_and_choices_of_a_report(qtbot, session, workspace, tmp_path, leave):
    run_id = trained_run(workspace, tmp_path / "cache")
    page = qtbot.addWidget(ReportPage(session))
    session.show_run(run_id)
    qtbot.waitUntil(lambda: page.ready)
    page.templates.choose("comparison")
    page.choices.notes.setPlainText("What I saw")
    leave(session, tmp_path)
    with Workspace(workspace.path) as again:
        assert arrangements(again)["comparison"]["text"] == "What I saw"
        assert choice(again)["template"] == "comparison"


def test_notes_of_a_report_when_another_run_is_shown(qtbot, session, workspace, tmp_path):
    first, second = (trained_run(workspace, tmp_path / f"cache-{number}") for number in range(2))
    page = qtbot.addWidget(ReportPage(session))
    session.show_run(first)
    qtbot.waitUntil(lambda: page.ready)
    page.choices.notes.setPlainText("What I saw")
    session.show_run(second)
    assert page.choices.notes.toPlainText() == "What I saw"
    qtbot.waitUntil(lambda: "one-run" in arrangements(workspace))


@pytest.fixture
def store(session, workspace, tmp_path):
    """The named selections of a data set that has one, "odd"."""
    dataset = workspace.run(trained_run(workspace, tmp_path / "cache")).dataset_id
    put(workspace, None, Selection(dataset, "odd", (1, 2)))
    made = SelectionStore(session, QUndoStack(session), session)
    made.show_dataset(dataset)
    return made


@pytest.fixture
def dialog(qtbot, session, store):
    made = qtbot.addWidget(SelectionsDialog(session, store))
    made.show()
    qtbot.waitUntil(lambda: made.name.text() == "odd")
    return made


def kept(workspace, store):
    with Workspace(workspace.path) as again:
        return [(one.name, one.note) for one in all_selections(again, store.dataset_id)]


@pytest.mark.parametrize("leave", LEAVE)
def test_the_name_and_note_of_a_selection(qtbot, session, workspace, store, dialog, tmp_path, leave):
    dialog.name.selectAll()
    qtbot.keyClicks(dialog.name, "even")
    qtbot.keyClicks(dialog.note, "Why?")
    leave(session, tmp_path)
    assert kept(workspace, store) == [("even", "Why?")]


def test_no_folder_of_links_is_made_of_a_selection_that_went_while_it_was_chosen(dialog, store, tmp_path, monkeypatch):
    folder = tmp_path / "links"
    folder.mkdir()

    def chosen(*_):
        store.show_dataset(None)
        return str(folder)

    monkeypatch.setattr(QFileDialog, "getExistingDirectory", chosen)
    dialog.folder.click()
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("leave", LEAVE)
def test_changes_of_selections_that_wait_for_another(qtbot, session, workspace, store, tmp_path, leave, monkeypatch):
    qtbot.waitUntil(lambda: bool(store.selections))
    go_on, writing = threading.Event(), workspace.writing

    def slow():
        assert go_on.wait(HANG)
        return writing()

    monkeypatch.setattr(workspace, "writing", slow)
    for number in range(3):
        store.replace(None, Selection(store.dataset_id, f"new {number}", (number,)), "saving")
    threading.Timer(0.2, go_on.set).start()
    leave(session, tmp_path)
    assert sorted(name for name, _ in kept(workspace, store)) == ["new 0", "new 1", "new 2", "odd"]


def test_what_is_typed_stays_when_the_list_is_read_again(qtbot, session, store, dialog):
    qtbot.keyClicks(dialog.note, "Wh")
    store.replace(None, Selection(store.dataset_id, "another", (3,)), "saving")
    qtbot.waitUntil(lambda: len(store.selections) == 2)
    qtbot.keyClicks(dialog.note, "y?")
    assert (dialog.name.text(), dialog.note.text()) == ("odd", "Why?")
    store.replace(store.selections[1], None, "deleting")
    qtbot.waitUntil(lambda: dialog.name.text() == "another")
    assert dialog.note.text() == "", "a note stays with its selection"


def test_changes_are_made_in_the_order_in_which_they_were_asked(qtbot, session, slow_changes):
    begun, go_on, written = threading.Event(), threading.Event(), []

    def refused():
        begun.set()
        go_on.wait(HANG)
        raise Problem("The disk is full.")

    session.change(refused)
    for number in range(20):
        session.change(lambda number=number: written.append(number))
    qtbot.waitUntil(begun.is_set)
    qtbot.deliver()
    assert written == [], "each waits for the one before"
    go_on.set()
    qtbot.waitUntil(lambda: len(written) == 20)
    assert written == list(range(20))


def test_of_two_writes_the_later_one_stays(qtbot, session):
    go_on, written = threading.Event(), []
    writes = InOrder(session, "Write")
    writes.write(lambda: (go_on.wait(HANG), written.append("first")))
    for number in range(20):
        writes.write(lambda number=number: written.append(number))
    go_on.set()
    qtbot.waitUntil(lambda: len(written) == 21)
    assert written == ["first", *range(20)]
