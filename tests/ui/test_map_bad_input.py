"""What may go wrong under the map: images that were moved, and an analysis process that is killed in the middle."""

import os
from contextlib import closing

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QFileDialog

from tests.processes import analysis_processes
from tests.ui.seen import pictured
from tests.ui.trained import trained_run
from workbench.ui.pages.map.model.method import MapMethod
from workbench.ui.pages.map.page import MapPage
from workbench.ui.pages.map.side.inspector import InspectorPanel
from workbench.ui.pages.retrieval import RetrievalPage
from workbench.ui.window.process.defects import Defects
from workbench.workspace import Workspace
from workbench.workspace.database.connection import open_writer

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def open_page(qtbot, session, run_id, method):
    page = MapPage(session)
    page.model.choose_method(MapMethod(method))
    page.commands.pictures.setChecked(False)  # else the map itself requests pictures as soon as it rests
    qtbot.addWidget(page)
    page.resize(900, 640)
    page.show()
    session.show_run(run_id)
    qtbot.waitUntil(lambda: page.canvas.data is not None)
    return page


@pytest.fixture
def lost(qtbot, session, workspace, tmp_path, monkeypatch):
    """The Map page of a run whose images were moved and whose cache is gone."""
    monkeypatch.setattr(session.analysis, "request", lambda *args: pytest.fail("no UMAP is asked for here"))
    run_id = trained_run(workspace, tmp_path / "cache")
    dataset = workspace.dataset(workspace.run(run_id).dataset_id)
    for path in workspace.samples(dataset.id).paths:
        (tmp_path / "new" / path).parent.mkdir(parents=True, exist_ok=True)
        QPixmap(16, 16).save(str(tmp_path / "new" / path))
    dataset.pixels.unlink()
    with workspace.writing() as db:
        db.execute("update datasets set root = ?", (str(tmp_path / "old"),))
    return open_page(qtbot, session, run_id, "pca")


def test_moved_images_are_told_on_the_card_and_located_all_at_once(qtbot, lost, tmp_path):
    assert not lost.locating.isVisible()
    lost.canvas.hovered.emit(5, lost.canvas.place_of(5))
    qtbot.waitUntil(lambda: "Put it back" in lost.hover_card.picture.text())
    assert lost.locating.isVisible()
    lost.locating.take(tmp_path / "new")
    qtbot.waitUntil(lambda: not lost.locating.isVisible())
    lost.canvas.hovered.emit(6, lost.canvas.place_of(6))
    qtbot.waitUntil(lambda: not lost.hover_card.picture.pixmap().isNull())


def test_a_folder_without_the_images_is_told_and_the_way_stays(qtbot, lost, session, tmp_path):
    told = []
    session.noticed.connect(lambda what: told.append(str(what)))
    lost.canvas.hovered.emit(5, lost.canvas.place_of(5))
    qtbot.waitUntil(lost.locating.isVisible)
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "inner").mkdir()
    lost.locating.take(tmp_path / "empty" / "inner")
    qtbot.waitUntil(lambda: any("None of the 40 images" in each for each in told))
    assert lost.locating.isVisible()


def test_a_killed_analysis_process_is_told_the_pca_stays_and_the_next_map_gets_a_new_one(
    qtbot, session, workspace, tmp_path
):
    told, before = [], analysis_processes()
    session.noticed.connect(lambda what: told.append(str(what)))
    page = open_page(qtbot, session, trained_run(workspace, tmp_path / "cache"), "umap")
    qtbot.waitUntil(lambda: page.strip.isVisible())
    (killed,) = analysis_processes() - before
    killed.kill()
    qtbot.waitUntil(lambda: any("ended unexpectedly" in each for each in told))
    assert page.canvas.data.method == "pca"
    assert not page.strip.isVisible()
    page.model.want_again()
    qtbot.waitUntil(lambda: page.strip.isVisible())
    assert analysis_processes() - before - {killed}
    page.maker.cancel()


def test_every_place_that_misses_an_image_offers_the_way_and_one_mends_all(qtbot, lost, session, tmp_path):
    lost.canvas.hovered.emit(5, lost.canvas.place_of(5))
    qtbot.waitUntil(lost.locating.isVisible)
    retrieval, inspector = RetrievalPage(session), InspectorPanel(session)  # made when the loss is known already
    for each in (retrieval, inspector):
        qtbot.addWidget(each)
        each.resize(900, 640)
        each.show()
    qtbot.waitUntil(lambda: bool(retrieval.result.cards))
    qtbot.waitUntil(lambda: all(card.absent for card in retrieval.result.cards))
    qtbot.waitUntil(lambda: "Put it back" in inspector.picture.text())
    strips = [lost.locating, retrieval.locating, inspector.locating]
    assert all(strip.isVisible() for strip in strips)
    inspector.locating.take(tmp_path / "new")
    qtbot.waitUntil(lambda: not any(strip.isVisible() for strip in strips))
    qtbot.waitUntil(lambda: all(pictured(card) for card in retrieval.result.cards))
    qtbot.waitUntil(lambda: not retrieval.result.picture.pixmap().isNull())
    qtbot.waitUntil(lambda: not inspector.picture.pixmap().isNull())
    first = retrieval.queries.table.model().index(0, 0)
    qtbot.waitUntil(lambda: first.data(Qt.ItemDataRole.DecorationRole) is not None)


def test_the_locate_button_asks_for_a_folder_and_takes_it(qtbot, lost, tmp_path, monkeypatch):
    lost.canvas.hovered.emit(5, lost.canvas.place_of(5))
    qtbot.waitUntil(lost.locating.isVisible)
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *args: str(tmp_path / "new"))
    qtbot.mouseClick(lost.locating.locate, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not lost.locating.isVisible())


@pytest.fixture
def both(qtbot, session, workspace, tmp_path, monkeypatch):
    """Map and Retrieval on one run, with what the message bar is told."""
    monkeypatch.setattr(session.analysis, "request", lambda *args: pytest.fail("no UMAP is asked for here"))
    told = []
    session.noticed.connect(lambda what: told.append(str(what)))
    mapped = open_page(qtbot, session, trained_run(workspace, tmp_path / "cache"), "pca")
    retrieval = qtbot.addWidget(RetrievalPage(session))
    retrieval.resize(900, 640)
    retrieval.show()
    qtbot.waitUntil(lambda: bool(retrieval.result.cards))
    return mapped, retrieval, told


def test_a_writer_that_holds_the_database_stops_neither_map_nor_retrieval(qtbot, both, session, workspace):
    mapped, retrieval, told = both
    first = workspace.evaluations(session.run_id)[0].id
    with Workspace(workspace.path) as other, other.writing() as db:
        db.execute("update runs set note = 'held'")
        session.show_evaluation(first)
        qtbot.waitUntil(lambda: mapped.canvas.data.evaluation == first)
        qtbot.keyClick(retrieval, Qt.Key.Key_J)
        qtbot.waitUntil(lambda: retrieval.browsing.shown.evaluation.id == first)
        qtbot.waitUntil(lambda: bool(retrieval.result.cards))  # those of the query are read after its evaluation
    assert told == []


@pytest.fixture
def uncaught():
    """What nobody catches in the window, as Defects hands it to the message bar."""
    defects, found = Defects(), []
    defects.noticed.connect(lambda problem, trace: found.append(problem))
    defects.install()
    yield found
    defects.remove()


@pytest.mark.qt_no_exception_capture
def test_a_database_cut_short_is_told_by_map_and_retrieval(qtbot, uncaught, both, session, workspace):
    mapped, retrieval, told = both
    first = workspace.evaluations(session.run_id)[0].id
    with workspace.writing() as db:
        db.execute("update runs set note = 'x'")
    with closing(open_writer(workspace.database)) as db:
        db.execute("pragma wal_checkpoint(truncate)")
    os.truncate(workspace.database, 8192)
    mapped.maker.make(first, mapped.model.request)
    qtbot.waitUntil(lambda: "damaged" in mapped.problem.text())
    assert mapped.canvas.data is None
    retrieval.browsing.show_evaluation(workspace, first)
    qtbot.waitUntil(lambda: any("damaged" in each for each in told))
    assert all("damaged" in str(problem) for problem in uncaught)  # none is told as a defect of ours


@pytest.mark.parametrize("names", ["{}", "[1]", "no list"])
def test_class_names_that_cannot_be_read_are_told_and_numbers_stand_for_them(
    qtbot, session, workspace, tmp_path, monkeypatch, names
):
    monkeypatch.setattr(session.analysis, "request", lambda *args: pytest.fail("no UMAP is asked for here"))
    run_id, said = trained_run(workspace, tmp_path / "cache"), []
    with workspace.writing() as db:
        db.execute("update datasets set class_names = ?", (names,))
    session.noticed.connect(lambda what: said.append(str(what)))
    page = open_page(qtbot, session, run_id, "pca")
    assert any("The names of the classes" in words and "Numbers are shown instead." in words for words in said)
    assert [name for _, name in page.model.map.classes] == [str(label) for label, _ in page.model.map.classes]
    assert page.canvas.data is not None, "the map itself is whole"
    page.session.select(page.model.map.ids[:3])
    inspector = qtbot.addWidget(InspectorPanel(session))
    inspector.show()
    qtbot.waitUntil(lambda: "3" in inspector.title.text())
