"""A damaged workspace in the window: the person is asked, and one answer rebuilds it and opens it."""

import threading

import pytest
from PySide6.QtWidgets import QMessageBox, QWidget

from tests.waits import HANG
from workbench import app
from workbench.config import RunConfig
from workbench.problem import Problem
from workbench.ui.window import opening as opening_module
from workbench.ui.window.opening import Opening
from workbench.workspace import Workspace

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def damaged(tmp_path):
    """A workspace with one run, whose database is noise."""
    space = tmp_path / "space"
    with Workspace(space, create=True) as workspace:
        workspace.create_run(RunConfig(name="Kept"))
    (space / "workspace.db").write_bytes(b"this is no database" * 200)
    return space


@pytest.fixture
def opening(qtbot, session):
    window = qtbot.addWidget(QWidget())
    return Opening(session, window)


def test_a_damaged_workspace_is_repaired_and_opened(qtbot, session, opening, damaged):
    said = []
    session.noticed.connect(lambda what: said.append(str(what)))
    opening.open_workspace(damaged)
    qtbot.waitUntil(lambda: hasattr(opening, "question"))
    assert "The damaged file is kept" in opening.question.words.text()
    opening.question.answers["repair"].click()
    qtbot.waitUntil(lambda: session.workspace.path == damaged)
    assert [run.name for run in session.runs()] == ["Kept"]
    assert any("Rebuilt" in sentence for sentence in said), said
    assert list(damaged.glob("workspace.db.damaged-*"))


def test_left_alone_it_stays_as_it_was(qtbot, session, opening, damaged):
    before = (damaged / "workspace.db").read_bytes()
    opening.open_workspace(damaged)
    qtbot.waitUntil(lambda: hasattr(opening, "question"))
    opening.question.answers["keep"].click()
    qtbot.deliver()
    assert (damaged / "workspace.db").read_bytes() == before
    assert session.workspace.path != damaged


def test_at_the_start_it_is_offered_too(qapp, damaged, monkeypatch):
    said = []

    def answer(box):
        said.append(box.text())
        repair = [button for button in box.buttons() if button.text() == "Repair it"]
        if repair:
            monkeypatch.setattr(box, "clickedButton", lambda: repair[0])

    monkeypatch.setattr(QMessageBox, "exec", answer)
    watch = app.open_workspace(damaged)
    assert watch is not None
    assert [run.name for run in watch.first.runs] == ["Kept"]
    assert len(said) == 2
    assert said[1].startswith("Rebuilt")
    watch.close()
    watch.workspace.close()


def test_nothing_is_repaired_beside_a_run(qtbot, session, opening, damaged, monkeypatch):
    said = []
    session.noticed.connect(lambda what: said.append(str(what)))
    before = (damaged / "workspace.db").read_bytes()
    opening.open_workspace(damaged)
    qtbot.waitUntil(lambda: hasattr(opening, "question"))
    monkeypatch.setattr(type(session.queue), "busy", True)
    opening.question.answers["repair"].click()
    qtbot.waitUntil(lambda: any("Nothing was repaired" in sentence for sentence in said))
    assert (damaged / "workspace.db").read_bytes() == before


def test_what_was_repaired_is_said_although_a_run_that_began_keeps_it_from_being_shown(
    qtbot, session, opening, damaged, monkeypatch
):
    said = []
    session.noticed.connect(lambda what: said.append(str(what)))

    def refuse(workspace, watch):
        raise Problem("A run is still training in this workspace.")

    monkeypatch.setattr(session, "open_workspace", refuse)
    opening.repair(damaged)
    qtbot.waitUntil(lambda: bool(said))
    assert said[-1].startswith("Rebuilt")
    assert said[-1].endswith("A run is still training in this workspace.")


@pytest.fixture
def cancelled_at(qtbot, session, opening, damaged, monkeypatch):
    """`cancelled_at(name)`: repairs, and the user cancels where the function of that name is about to be called."""
    begun, free = threading.Event(), threading.Event()

    def cancel_at(name, instead=None):
        there = getattr(opening_module, name)

        def waits(*args, **named):
            begun.set()
            assert free.wait(HANG)
            return (instead or there)(*args, **named)

        monkeypatch.setattr(opening_module, name, waits)
        opening.repair(damaged)
        qtbot.waitUntil(begun.is_set)
        item = session.activity.newest_working
        item.cancel()
        free.set()
        qtbot.waitUntil(lambda: item.state != "working")

    yield cancel_at
    free.set()


def test_a_cancelled_repair_says_what_is_safe_and_what_to_do(session, said, damaged, cancelled_at):
    before = (damaged / "workspace.db").read_bytes()
    cancelled_at("repaired")
    assert said == [
        "The repair was cancelled, so the workspace is not opened. No run's folder was changed, and a damaged database "
        "is as it was. Open the workspace again to repair it."
    ]
    assert (damaged / "workspace.db").read_bytes() == before
    assert session.workspace.path != damaged


def test_a_cancel_after_the_repair_says_what_it_did_and_that_nothing_is_opened(session, said, damaged, cancelled_at):
    cancelled_at("watched")
    assert len(said) == 1
    assert said[0].startswith("Rebuilt")
    assert said[0].endswith("The workspace is not opened. Open it again to see its runs.")
    assert session.workspace.path != damaged
    assert list(damaged.glob("workspace.db.damaged-*"))


def refuse(*args, **named):
    raise Problem("The disk is gone.")


def test_a_cancel_after_the_repair_is_no_cancelled_repair_where_opening_fails(said, damaged, cancelled_at):
    cancelled_at("watched", refuse)
    assert len(said) == 1
    assert said[0].startswith("Rebuilt")


def test_what_was_repaired_is_said_where_opening_fails(qtbot, said, opening, damaged, monkeypatch):
    monkeypatch.setattr(opening_module, "watched", refuse)
    opening.repair(damaged)
    qtbot.waitUntil(lambda: bool(said))
    assert said[0].startswith("Rebuilt")
    assert said[0].endswith("The disk is gone.")
