"""Curves of other programs in the window: the dialog, what is dropped, and what the pages show of such a run."""

import os
from threading import Event, current_thread, main_thread

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QLabel

from tests.waits import HANG
from workbench.config import LARGEST
from workbench.entries import catalog
from workbench.exchange.event_records import record
from workbench.exchange.exported.tensorboard import scalar_event
from workbench.ui.actions import offering
from workbench.ui.actions.exchange.curves import sentences
from workbench.ui.docks.run_row import about
from workbench.ui.style.words import NO_VALUE
from workbench.ui.window.main_window import MainWindow
from workbench.workspace import Workspace
from workbench.workspace.run_names import names_of

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints|does not support raise", extend=True)


@pytest.fixture
def window(qtbot, session):
    return qtbot.addWidget(MainWindow(session))


@pytest.fixture
def runs(tmp_path):
    """A folder of TensorBoard with two runs."""
    for name in ("a", "b"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        events = [record(scalar_event("val/recall", step, step / 10, 1.7e9)) for step in range(5)]
        (tmp_path / "runs" / name / "events.out.tfevents.1.host").write_bytes(b"".join(events))
    return tmp_path / "runs"


def drop(window, path):
    dropped = QMimeData()
    dropped.setUrls([QUrl.fromLocalFile(str(path))])
    copy, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    window.dropEvent(QDropEvent(QPoint(5, 5), copy, dropped, left, none))


def test_the_dialog_imports_a_folder_and_shows_its_newest_run(qtbot, window, session, said, runs):
    dialog = window.run_actions.exchange.ask_curves()
    assert not dialog.start.isEnabled()
    dialog.source.take(str(runs))
    dialog.name.setText("old")
    with qtbot.waitSignal(dialog.accepted):
        qtbot.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
    assert said == ["Imported the curves of 2 runs: #1, #2."]
    assert [run.name for run in session.workspace.runs()] == ["old b", "old a"]
    assert session.page == "train"
    assert [about(run, session.catalog) for run in session.workspace.runs()] == ["Done · imported curves"] * 2
    assert names_of(session.catalog, session.workspace.run(1)) == ("imported curves",) * 3
    qtbot.waitUntil(lambda: session.run_id == 2)
    page = window.pages.page("train")
    qtbot.waitUntil(lambda: page.views.currentWidget() is page.others)
    assert page.others.names == ["val/recall"]
    assert "curves of another program" in page.header.state.text()


@pytest.mark.usefixtures("in_a_thread")
def test_a_run_of_curves_has_no_empty_tiles_above_them(qtbot, window, session, tmp_path, said):
    for name, head in (("mine", "step,mine"), ("known", "step,batch/loss")):
        path = tmp_path / name / "metrics.csv"
        path.parent.mkdir()
        path.write_text(f"{head}\n1,0.5\n2,0.25\n", encoding="utf-8")
    with qtbot.waitExposed(window):
        window.show()
    session.show_page("train")
    page = window.pages.page("train")
    drop(window, tmp_path / "mine")
    qtbot.waitUntil(lambda: page.views.currentWidget() is page.others)
    qtbot.waitUntil(page.tiles.isHidden)
    assert page.header.bar.isHidden()
    drop(window, tmp_path / "known")
    qtbot.waitUntil(lambda: not page.tiles.isHidden())
    assert page.tiles.loss.number.text() != NO_VALUE


@pytest.mark.usefixtures("in_a_thread")
def test_what_is_wrong_stays_in_the_dialog(qtbot, window, said, tmp_path, session):
    dialog = window.run_actions.exchange.ask_curves()
    dialog.source.take(str(tmp_path / "nowhere"))
    qtbot.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
    assert not dialog.start.isEnabled(), "it works"
    qtbot.waitUntil(lambda: dialog.state.property("role") == "error")
    assert dialog.state.text().startswith("There is no file or folder")
    assert (said, dialog.start.isEnabled()) == ([], True)
    dialog.source.take(str(tmp_path))
    assert dialog.state.property("role") == "muted"
    dialog.reject()


def test_a_cancel_in_the_activity_panel_frees_the_dialog(qtbot, window, said, session, runs):
    dialog = window.run_actions.exchange.ask_curves()
    dialog.source.take(str(runs))
    dialog.start.click()
    [item] = [item for item in session.activity.items if item.title == "Import curves"]
    item.cancel()
    assert said == [
        "The import of curves was cancelled. Runs that were imported completely are kept. Import the same folder or "
        "file again for the rest."
    ]
    assert dialog.start.isEnabled()
    dialog.reject()


@pytest.mark.usefixtures("in_a_thread")
def test_a_dropped_folder_of_tensorboard_is_imported_and_not_taken_for_images(qtbot, window, session, said, runs):
    offered = []
    session.config_offered.connect(offered.append)
    drop(window, runs)
    qtbot.waitUntil(lambda: bool(said))
    drop(window, runs)
    qtbot.waitUntil(lambda: len(said) == 2)
    assert said == ["Imported the curves of 2 runs: #1, #2.", f"Nothing new was found in {runs}."]
    assert offered == []


@pytest.mark.usefixtures("in_a_thread")
def test_a_dropped_tree_of_tables_is_imported_and_one_with_images_is_a_data_set(qtbot, window, said, session, tmp_path):
    offered = []
    session.config_offered.connect(offered.append)
    for version in ("version_0", "version_1"):
        (tmp_path / "logs" / version).mkdir(parents=True)
        (tmp_path / "logs" / version / "metrics.csv").write_text("epoch,step,loss\n0,9,2\n", "utf-8")
    drop(window, tmp_path / "logs")
    qtbot.waitUntil(lambda: bool(said))
    assert (said, offered) == (["Imported the curves of 2 runs: #1, #2."], [])
    (tmp_path / "logs" / "version_0" / "1.png").write_bytes(b"")
    drop(window, tmp_path / "logs")
    qtbot.waitUntil(lambda: bool(offered))
    assert offered[0].dataset.params["folder"] == str(tmp_path / "logs")


@pytest.mark.usefixtures("in_a_thread")
def test_a_dropped_table_is_imported_if_it_has_curves(qtbot, window, session, said, tmp_path):
    (tmp_path / "curve.csv").write_text("step,loss\n1,2\n", "utf-8")
    drop(window, tmp_path / "curve.csv")
    qtbot.waitUntil(lambda: bool(said))
    (tmp_path / "other.csv").write_text("a,b\n1,2\n", "utf-8")
    drop(window, tmp_path / "other.csv")
    qtbot.waitUntil(lambda: len(said) == 2)
    assert said[0] == "Imported the curves of 1 run: #1."
    assert said[1].startswith("other.csv is not a folder or archive of images, a config (.toml) or a table")


def test_a_dropped_table_of_image_files_is_a_data_set_with_its_columns(qtbot, window, session, tmp_path):
    session.set_catalog(catalog.current())
    offered, explained = [], []
    session.config_offered.connect(offered.append)
    session.config_explained.connect(explained.append)
    table = tmp_path / "birds.csv"
    table.write_text("File;species;fold\na/1.JPG;cat;train\n", "utf-8")
    drop(window, table)
    qtbot.waitUntil(lambda: bool(explained))
    assert (offered[0].dataset.name, offered[0].name, offered[0].split.name) == ("csv", "birds", "official")
    assert offered[0].dataset.params == {"file": str(table), "path": "file", "label": "species", "split": "fold"}
    assert explained[0]["split.name"] == "The column fold says which images train."


@pytest.mark.parametrize("below", ["", "runs", "runs/1"])
def test_a_dropped_workspace_is_opened_if_the_person_wants_it(qtbot, window, session, said, tmp_path, below):
    offered = []
    session.config_offered.connect(offered.append)
    Workspace(tmp_path / "theirs", create=True).close()
    (tmp_path / "theirs" / "runs" / "1").mkdir(parents=True)
    drop(window, tmp_path / "theirs" / below)
    qtbot.waitUntil(lambda: hasattr(window.opening, "question"))
    question = window.opening.question
    assert any(line.text() == f"{tmp_path / 'theirs'} is a workspace." for line in question.findChildren(QLabel))
    before = session.workspace.path
    question.answers["keep"].click()
    assert session.workspace.path == before
    drop(window, tmp_path / "theirs" / below)
    qtbot.waitUntil(lambda: window.opening.question is not question)
    window.opening.question.answers["open"].click()
    qtbot.waitUntil(lambda: session.workspace.path == tmp_path / "theirs")
    assert offered == []
    drop(window, tmp_path / "theirs")
    qtbot.waitUntil(lambda: said[-1:] == [f"{tmp_path / 'theirs'} is the workspace that is open."])


@pytest.mark.skipif(os.name != "posix", reason="Windows has no pipes among files")
def test_a_dropped_pipe_or_endless_file_is_refused_and_does_not_hold_the_window(qtbot, window, said, tmp_path):
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "large.toml").write_bytes(b"#" * (LARGEST + 1))
    for name, reason in (("pipe", "it is not a file"), ("large", "it is larger than 1 MiB")):
        drop(window, tmp_path / f"{name}.toml")
        words = f"The config {tmp_path / name}.toml cannot be read ({reason}). Nothing was changed."
        qtbot.waitUntil(lambda words=words: said[-1:] == [words])


def test_what_a_dropped_path_is_is_found_out_on_a_thread_and_the_last_path_counts(
    qtbot, window, session, tmp_path, monkeypatch
):
    real, threads, release, offered = offering.looked_at, [], Event(), []
    session.config_offered.connect(offered.append)

    def held(path, near, catalog):
        threads.append(current_thread())
        if path.name == "first":
            release.wait(HANG)
        return real(path, near, catalog)

    monkeypatch.setattr(offering, "looked_at", held)
    try:
        for name in ("first", "second"):
            (tmp_path / name).mkdir()
            drop(window, tmp_path / name)
        qtbot.waitUntil(lambda: bool(offered))
        release.set()
        qtbot.waitUntil(lambda: not threads[0].is_alive())
        qtbot.deliver()
        assert [config.name for config in offered] == ["second"]
        assert main_thread() not in threads
    finally:
        release.set()


@pytest.mark.usefixtures("in_a_thread")
def test_compare_draws_a_curve_of_runs_that_have_no_evaluation(qtbot, window, session, said, runs):
    drop(window, runs)
    qtbot.waitUntil(lambda: bool(said))
    window.show()
    session.ticks.choose([1, 2])
    session.show_page("compare")
    page = window.pages.page("compare")
    curves = page.tabs.curves
    qtbot.waitUntil(lambda: curves.choice.currentData() == "val/recall")
    qtbot.waitUntil(lambda: not curves.drawing)
    assert len(curves.seeds.plot.curves) > 0


def test_the_sentences_of_an_import():
    run = {"run_id": 1, "name": "a", "new": True, "points": 5, "trashed": False, "left": 0}
    more = run | {"run_id": 2, "new": False}
    trashed = run | {"run_id": 3, "new": False, "points": 0, "trashed": True}
    waiting = trashed | {"run_id": 4, "left": 7}
    assert sentences("x", [run, more, trashed], ["one", "two", "three", "four"]) == [
        "Imported the curves of 1 run: #1.", "New points were added to #2.", "In the trash: #3.", "one", "two", "three",
        "1 more remark not shown.",
    ]  # fmt: skip
    assert sentences("x", [trashed, waiting], []) == [
        "Nothing new was found in x.", "In the trash: #3, #4.",
        "New points of #4 were not added there: restore and import again for them.",
    ]  # fmt: skip
    many = [run | {"run_id": number} for number in range(1, 20)]
    assert sentences("x", many, []) == ["Imported the curves of 19 runs: #1 to #19."]
