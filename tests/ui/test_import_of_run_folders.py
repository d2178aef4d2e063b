"""Run folders that a person chooses or drops become runs of the workspace that is shown."""

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QFileDialog

from tests.ui.trained import trained_run
from workbench.exchange.formats import export_run
from workbench.ui.actions.exchange.run_folders import import_run_folders
from workbench.ui.window.main_window import MainWindow
from workbench.workspace import Workspace

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints|does not support raise", extend=True)


@pytest.fixture
def window(qtbot, session):
    return qtbot.addWidget(MainWindow(session))


@pytest.fixture
def colleague(tmp_path):
    """A folder with the run folder of another workspace."""
    with Workspace(tmp_path / "theirs", create=True) as workspace:
        run_id = trained_run(workspace, tmp_path / "cache")
        export_run(workspace, run_id, ["run"], tmp_path / "folders")
    return tmp_path / "folders"


def test_a_chosen_folder_of_run_folders_is_imported_once(qtbot, window, session, said, colleague, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *args: str(colleague))
    window.commands["file.import-runs"].trigger()
    qtbot.waitUntil(lambda: bool(said))
    assert said == ["Imported 1 run: #1."]
    qtbot.waitUntil(lambda: session.run_id == 1)
    assert session.workspace.run(1).best
    window.commands["file.import-runs"].trigger()
    qtbot.waitUntil(lambda: len(said) == 2)
    assert said[1] == f"Nothing new was found in {colleague}."
    assert len(session.workspace.runs()) == 1


def test_a_dropped_run_folder_is_imported_and_not_taken_for_images(qtbot, window, session, said, colleague):
    offered = []
    session.config_offered.connect(offered.append)
    (folder,) = colleague.iterdir()
    dropped = QMimeData()
    dropped.setUrls([QUrl.fromLocalFile(str(folder))])
    copy, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    window.dropEvent(QDropEvent(QPoint(5, 5), copy, dropped, left, none))
    qtbot.waitUntil(lambda: bool(said))
    assert (said, offered) == (["Imported 1 run: #1."], [])


def test_a_folder_that_was_exported_from_here_is_named_beside_its_run(qtbot, window, session, said, tmp_path):
    run_id = trained_run(session.workspace, tmp_path / "cache")
    export_run(session.workspace, run_id, ["run"], tmp_path / "out")
    import_run_folders(session, tmp_path / "out", window)
    qtbot.waitUntil(lambda: bool(said))
    assert f"Run {run_id + 1} is run {run_id} as it was exported" in said[0]


def test_what_did_not_come_whole_is_said(qtbot, window, session, said, colleague, monkeypatch):
    (folder,) = colleague.iterdir()
    for array in folder.glob("embeddings-*.npy"):
        array.unlink()
    (colleague / "cut").mkdir()
    (colleague / "cut" / "config.toml").write_text("")
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *args: str(colleague))
    window.commands["file.import-runs"].trigger()
    qtbot.waitUntil(lambda: bool(said))
    assert "#1 lacks the arrays of" in said[0]
    assert f"There is no run.json in {colleague / 'cut'}" in said[0]
