"""Checkpoints that were deleted come back where the window says that they are gone, and at an import that has them."""

import shutil

import pytest
from PySide6.QtWidgets import QApplication, QFileDialog

from tests.travelling_runs import in_folder
from workbench.events import Ended, Saved
from workbench.ui.actions.exchange.run_folders import import_run_folders
from workbench.ui.pages.train.page import TrainPage
from workbench.ui.widgets.dialogs.question import Question
from workbench.ui.window.main_window import MainWindow
from workbench.workspace import Workspace
from workbench.workspace.recorder import Recorder

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints|does not support raise", extend=True)
MB = 1_000_000


@pytest.fixture
def stopped(session, workspace, config):
    """A run that was stopped and has both checkpoints."""
    run_id = workspace.create_run(config)
    recorder = Recorder(workspace, run_id)
    for number, (kind, name) in enumerate({"last": "last.pt", "best": "best.pt"}.items(), 1):
        path = workspace.file(run_id, name)
        path.write_bytes(bytes([number]) * number * MB)
        recorder(Saved(kind, path, 1, 10))
    recorder(Ended("stopped"))
    session.follower.look()
    session.show_run(run_id)
    return run_id


@pytest.fixture
def said(session):
    heard = []
    session.noticed.connect(lambda message: heard.append(str(message).replace("\u202f", " ")))
    return heard


def choose(monkeypatch, folder):
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *args: str(folder))


def open_question():
    """The question that is open, or None."""
    return next((shown for shown in QApplication.topLevelWidgets() if isinstance(shown, Question)), None)


def asked(qtbot):
    """The question, once it is open."""
    qtbot.waitUntil(lambda: open_question() is not None)
    return open_question()


def test_the_train_page_offers_it_beside_the_words_that_they_are_gone(
    qtbot, session, workspace, actions, stopped, said, tmp_path, monkeypatch
):
    page = qtbot.addWidget(TrainPage(session))
    assert page.header.bring_back.isHidden()
    copy = shutil.copytree(workspace.folder(stopped), tmp_path / "backup")
    workspace.delete_checkpoints([stopped])
    session.follower.look()
    qtbot.waitUntil(lambda: bool(session.why_not_resumed()))
    page.show()
    qtbot.waitUntil(lambda: not page.header.bring_back.isHidden())
    choose(monkeypatch, copy)
    page.header.bring_back.click()
    qtbot.waitUntil(lambda: bool(said))
    assert said == [f"Brought back 2 checkpoints of run {stopped}: last.pt and best.pt, 3 MB."]
    session.follower.look()
    qtbot.waitUntil(session.can_resume)
    assert session.why_not_resumed() == ""
    qtbot.waitUntil(page.header.bring_back.isHidden)


def test_a_folder_without_them_changes_nothing_and_says_so(
    qtbot, session, workspace, actions, stopped, said, tmp_path, monkeypatch
):
    workspace.delete_checkpoints([stopped])
    (tmp_path / "empty").mkdir()
    choose(monkeypatch, tmp_path / "empty")
    actions.checkpoints.bring_back.trigger()
    qtbot.waitUntil(lambda: bool(said))
    assert f"holds no checkpoint of run {stopped}" in said[0]
    assert not workspace.has_file(stopped, "last.pt")


def test_a_run_that_has_them_is_not_asked_for_a_folder(qtbot, session, actions, stopped, said, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *args: pytest.fail("a dialog was opened"))
    actions.checkpoints.bring_back.trigger()
    qtbot.waitUntil(lambda: said == [f"Run {stopped} has its checkpoints. Nothing was changed."])


def test_it_is_offered_only_for_a_run_that_has_ended(session, workspace, actions, stopped):
    assert actions.checkpoints.bring_back.isEnabled()
    workspace.set_status(stopped, "running")
    session.follower.look()
    assert not actions.checkpoints.bring_back.isEnabled()


@pytest.fixture
def deleted(qtbot, session, said, tmp_path):
    """A folder whose run was imported, and whose checkpoints were deleted here since; and the window."""
    window = qtbot.addWidget(MainWindow(session))
    in_folder(tmp_path / "theirs")
    import_run_folders(session, tmp_path / "theirs", window)
    qtbot.waitUntil(lambda: said == ["Imported 1 run: #1."])
    session.workspace.delete_checkpoints([1])
    said.clear()
    return tmp_path / "theirs", window


def test_an_import_asks_whether_deleted_checkpoints_come_back(qtbot, session, said, deleted):
    folder, window = deleted
    import_run_folders(session, folder, window)
    question = asked(qtbot)
    assert said == [f"Nothing new was found in {folder}."]
    assert "has 2 checkpoints of #1" in question.words.text()
    assert question.answers["leave"].isDefault()
    question.answers["all"].click()
    qtbot.waitUntil(lambda: said[1:] == ["Brought back 2 checkpoints of #1."])
    assert session.workspace.has_file(1, "last.pt")


def test_a_no_is_asked_again_at_the_next_import(qtbot, session, said, deleted):
    folder, window = deleted
    for _ in range(2):
        import_run_folders(session, folder, window)
        question = asked(qtbot)
        question.reject()
        qtbot.waitUntil(lambda: open_question() is None)
    assert said == 2 * [f"Nothing new was found in {folder}."]
    assert not session.workspace.has_file(1, "last.pt")


def test_another_workspace_takes_the_question_away(qtbot, session, deleted, tmp_path):
    folder, window = deleted
    import_run_folders(session, folder, window)
    asked(qtbot)
    before = session.workspace.path
    session.open_workspace(Workspace(tmp_path / "other", create=True))
    qtbot.waitUntil(lambda: open_question() is None)
    with Workspace(before) as again:
        assert not again.has_file(1, "last.pt")
