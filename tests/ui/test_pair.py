"""The query and a neighbour side by side: which pair is shown, zoom, saliency, and its window."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPixmap, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.played_threads import PlayedThreads
from tests.ui.browsed import at_rest, open_page, open_trained
from tests.ui.small_run import blobs, store_run
from workbench.colours import OKABE_ITO
from workbench.config import RunConfig
from workbench.problem import Problem
from workbench.running.search.image_search import Answer
from workbench.running.search.saliency import PairSaliency, Saliency
from workbench.ui.pages.retrieval.neighbours.card_grid import BESIDE
from workbench.ui.pages.retrieval.pair import model as pair_model
from workbench.ui.pages.retrieval.pair.heat import HeatScale, heat_image
from workbench.ui.pages.retrieval.pair.model import KEPT, PairModel, Ranking
from workbench.ui.pages.retrieval.pair.picture import MOST_ZOOM, PairPicture, Zoom
from workbench.ui.widgets.images.image_menu import ImageMenu
from workbench.workspace.rows import Neighbour

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints|does not support raise|grabbing the keyboard", extend=True)
LABELS = np.repeat(np.arange(3), 10)


def near(count=5):
    return [Neighbour(rank, 100 + rank, 1 - rank / 10, rank % 2 == 0, 1, "bee") for rank in range(1, count + 1)]


def ranking(query=1, count=5):
    return Ranking(3, 7, "cosine", query, "ant", True, near(count))


def saliency_of(*arguments, progress=None):
    flat = Saliency(np.zeros((4, 4, 3), np.uint8), np.full((4, 4), float(arguments[-1])))
    return PairSaliency(0.5, "cosine", 2, flat, flat)


@pytest.fixture
def threads():
    played = PlayedThreads()
    played.workspace = "space"
    return played


@pytest.fixture
def model(threads, monkeypatch):
    monkeypatch.setattr(pair_model, "pair_saliency", saliency_of)
    return PairModel(threads, lambda: None)


# The model


def test_the_first_neighbour_is_shown_or_the_chosen_one_and_steps_end_at_both_ends(model):
    model.show(ranking())
    assert model.neighbour.rank == 1
    model.step(-1)
    assert model.neighbour.rank == 1
    model.show(ranking(), 104)
    assert model.neighbour.rank == 4
    model.step(1)
    model.step(1)
    assert model.neighbour.rank == 5
    model.show(ranking(), 999)
    assert model.neighbour.rank == 1


def test_saliency_is_computed_only_when_wanted_and_only_the_newest_pair_counts(model, threads):
    model.show(ranking())
    model.want(True)
    assert model.working
    model.step(1)
    threads.work(1)
    threads.work(0)
    assert model.saliency.largest == 102
    assert not model.working
    model.want(False)
    assert model.saliency is None


def test_a_pair_that_was_seen_is_shown_again_at_once(model, threads):
    model.want(True)
    model.show(ranking())
    threads.work(0)
    model.step(1)
    threads.work(0)
    model.step(-1)
    assert not model.working
    assert model.saliency.largest == 101


def test_no_more_than_some_pairs_are_kept_and_none_of_another_workspace(model, threads):
    model.want(True)
    model.show(ranking(count=KEPT + 2))
    for _ in range(KEPT + 1):
        threads.work(0)
        model.step(1)
    threads.work(0)
    model.show(ranking(count=KEPT + 2), 101)
    assert model.working
    model.forget()
    assert model.neighbour is None
    assert not model.working
    model.show(ranking(count=KEPT + 2), 105)
    assert model.working


def test_a_problem_is_kept_for_the_pair_and_dropped_with_it(model, threads, monkeypatch):
    def fail(*arguments, progress):
        raise Problem("Run 3 has no checkpoint.")

    monkeypatch.setattr(pair_model, "pair_saliency", fail)
    model.show(ranking())
    model.want(True)
    threads.work(0)
    assert "no checkpoint" in str(model.problem)
    assert not model.working
    model.want(False)
    assert model.problem is None


# Zoom and colours


def test_the_place_under_the_pointer_stays_and_the_part_stays_within_the_image(qapp):
    zoom = Zoom()
    at = QPointF(0.8, 0.4)
    seen = at - zoom.centre  # in shares of what is shown
    zoom.enlarge(3, at)
    assert zoom.scale > 1
    assert (at - zoom.centre).x() * zoom.scale == pytest.approx(seen.x())
    assert (at - zoom.centre).y() * zoom.scale == pytest.approx(seen.y())
    zoom.enlarge(100, QPointF(1, 1))
    assert zoom.scale == MOST_ZOOM
    assert zoom.centre.x() <= 1 - 0.5 / MOST_ZOOM
    zoom.enlarge(-100, QPointF(0, 0))
    assert (zoom.scale, zoom.centre) == (1, QPointF(0.5, 0.5))


def test_both_images_are_enlarged_by_the_wheel_over_one_and_dragged_together(qtbot):
    zoom = Zoom()
    pictures = [PairPicture(zoom), PairPicture(zoom)]
    for picture in pictures:
        qtbot.addWidget(picture)
        picture.resize(200, 200)
        picture.show_picture(QPixmap(100, 50), "")
    assert pictures[0].place.width() == 200
    assert pictures[0].place.height() == 100
    turn = QWheelEvent(
        QPointF(100, 100), QPointF(100, 100), QPoint(), QPoint(0, 240), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(pictures[0], turn)
    assert pictures[1].place.width() == pytest.approx(200 * 1.25**2)
    before = pictures[1].place.left()
    QTest.mousePress(pictures[0], Qt.MouseButton.LeftButton, pos=QPoint(100, 100))
    QTest.mouseMove(pictures[0], QPoint(110, 100))
    QTest.mouseRelease(pictures[0], Qt.MouseButton.LeftButton, pos=QPoint(110, 100))
    assert pictures[1].place.left() == pytest.approx(before + 10)
    QTest.mouseDClick(pictures[0], Qt.MouseButton.LeftButton, pos=QPoint(100, 100))
    assert pictures[1].place.width() == 200


def test_colours_tell_the_sign_and_opacity_the_size(qapp):
    heat = np.zeros((40, 40))
    heat[:, :10], heat[:, 30:] = 0.5, -1.0
    layer = heat_image(heat, 1.0)
    left, middle, right = (layer.pixelColor(column, 20) for column in (2, 20, 38))
    for shown, name in ((left, OKABE_ITO[1]), (right, OKABE_ITO[0])):
        wanted = QColor(name)
        assert np.abs(np.subtract(shown.getRgb()[:3], wanted.getRgb()[:3])).max() <= 3  # rounded with its opacity
    assert middle.alpha() == 0
    assert right.alpha() == pytest.approx(2 * left.alpha(), abs=3)


def test_the_scale_says_what_its_colours_mean(qtbot):
    scale = qtbot.addWidget(HeatScale())
    scale.show_scale(0.1234, "cosine")
    assert scale.ends == ("\N{MINUS SIGN}0.12", "+0.12")
    assert "falls by up to 0.123" in scale.accessibleDescription()


# The window


def test_the_pair_of_a_run_is_shown_in_large_and_with_its_saliency(qtbot, session, workspace, tmp_path, monkeypatch):
    monkeypatch.setattr(pair_model, "pair_saliency", saliency_of)
    page = open_trained(qtbot, session, workspace, tmp_path / "pixels")
    qtbot.keyClick(page, Qt.Key.Key_P)
    dialog = page.pairs.dialog
    qtbot.waitUntil(dialog.isActiveWindow)
    cards = page.result.cards
    assert dialog.query.title.text() == f"Query: {page.browsing.result.query.class_name}"
    assert cards[0].neighbour.class_name in dialog.neighbour.title.text()
    qtbot.keyClick(dialog, Qt.Key.Key_Right)
    assert dialog.neighbour.title.text().startswith("Neighbour 2: ")
    assert cards[1].neighbour.similarity_words in dialog.facts.text()
    qtbot.keyClick(dialog, Qt.Key.Key_S)
    qtbot.waitUntil(lambda: page.pairs.model.saliency is not None)
    assert page.pairs.model.saliency.largest == cards[1].neighbour.sample_id  # that of the shown pair
    assert dialog.scale.isVisible()
    assert not dialog.state.text()
    dialog.copy_pair()
    assert not QGuiApplication.clipboard().image().isNull()
    page.browsing.step(1)
    at_rest(qtbot, page)
    assert dialog.neighbour.title.text().startswith("Neighbour 1: ")
    dialog.close()


@pytest.fixture
def page(qtbot, session, workspace):
    run = store_run(workspace, LABELS, embeddings=[blobs(LABELS, 0.5, 0)], class_names=("ant", "bee", "<b>cat</b>"))
    session.show_run(run.run_id)
    return open_page(qtbot, session, (960, 700))


def test_a_neighbour_is_chosen_by_the_menu_of_its_card_and_by_the_focus(qtbot, page):
    card = page.result.cards[3]
    card.customContextMenuRequested.emit(QPoint(5, 5))
    menu = card.findChild(ImageMenu)
    next(action for action in menu.actions() if action.text() == BESIDE).trigger()
    menu.close()
    assert page.pairs.model.neighbour.sample_id == card.neighbour.sample_id
    page.result.cards[2].setFocus()
    page.result.beside.click()
    assert page.pairs.model.neighbour.rank in (1, 3)  # the button may have taken the focus
    page.pairs.dialog.close()


def test_a_run_without_a_network_says_so_beside_the_images(qtbot, page):
    page.pairs.ask()
    dialog = page.pairs.dialog
    dialog.saliency.click()
    qtbot.waitUntil(lambda: page.pairs.model.problem is not None)
    assert "has no checkpoint" in dialog.state.text()
    assert not dialog.scale.isVisible()
    dialog.close()


def test_an_own_image_is_shown_beside_its_neighbours_and_words_are_not(qtbot, page, session):
    shown = page.browsing.shown.evaluation
    page.browsing.show_answer(Answer("mine.png", np.zeros((8, 8, 3), np.uint8), shown, page.browsing.neighbours))
    page.pairs.ask()
    dialog = page.pairs.dialog
    assert dialog.query.title.text() == "Query: mine.png"
    assert "wrong" not in dialog.neighbour.title.text()
    assert page.pairs.model.ranking.query is not None
    query = page.pairs.model.ranking.query
    page.pairs.ask()
    assert page.pairs.model.ranking.query is query
    session.show_run(None)
    at_rest(qtbot, page)
    assert dialog.isVisible()
    assert dialog.query.title.text() == "Query: mine.png"
    dialog.close()


def run_of(workspace, images="Small"):
    """Another run, with other embeddings, called Second; `images` names its data set."""
    names = ("ant", "bee", "<b>cat</b>")
    run = store_run(workspace, LABELS, embeddings=[blobs(LABELS, 3.0, 4)], class_names=names, name=images)
    workspace.rename(run.run_id, "Second")
    return run


def test_another_run_of_the_same_images_shows_the_same_pair(qtbot, session, workspace, page):
    """The neighbour has another rank there, and is the same image also where the run's list does not reach it."""
    page.browsing.step(7)
    at_rest(qtbot, page)
    page.pairs.ask()
    dialog, model = page.pairs.dialog, page.pairs.model
    model.step(5)
    query, near = model.ranking.query, model.neighbour
    assert (
        dialog.source.text() == f"Run {session.run_id}: {session.run().name}, epoch {session.evaluations()[-1].epoch}"
    )
    second = run_of(workspace)
    session.show_run(second.run_id)
    qtbot.waitUntil(lambda: model.ranking.run_id == second.run_id)
    at_rest(qtbot, page)
    assert (model.ranking.query, model.neighbour.sample_id) == (query, near.sample_id)
    assert model.neighbour.similarity != near.similarity
    assert session.query == query
    assert dialog.source.text().startswith(f"Run {second.run_id}: Second, epoch ")
    dialog.close()


def test_a_neighbour_behind_the_stored_ones_is_shown_without_a_rank(qtbot, session, workspace, page, monkeypatch):
    monkeypatch.setattr("workbench.ui.pages.retrieval.model.browsing.SHOWN", 4)
    page.pairs.ask()
    dialog, model = page.pairs.dialog, page.pairs.model
    near = model.neighbour
    second = run_of(workspace)
    stored = workspace.neighbours

    def without(run_id, sample_id, evaluation_id=None):
        return [other for other in stored(run_id, sample_id, evaluation_id) if other.sample_id != near.sample_id]

    monkeypatch.setattr(workspace, "neighbours", without)
    session.show_run(second.run_id)
    qtbot.waitUntil(lambda: model.ranking.run_id == second.run_id)
    assert model.neighbour.sample_id == near.sample_id
    assert dialog.neighbour.title.text().startswith(f"Behind the stored neighbours: {near.class_name}")
    assert not dialog.facts.text()
    dialog.close()


def test_a_run_of_other_images_leaves_the_pair_until_a_query_is_chosen(qtbot, session, workspace, page):
    """Its images have the same ids, as they have the same paths, and are others all the same."""
    page.browsing.step(7)
    at_rest(qtbot, page)
    page.pairs.ask()
    dialog, model = page.pairs.dialog, page.pairs.model
    first, title = model.ranking, dialog.source.text()
    other = run_of(workspace, "Others")
    session.show_run(other.run_id)
    qtbot.waitUntil(lambda: page.browsing.shown is not None and page.browsing.shown.evaluation.run_id == other.run_id)
    at_rest(qtbot, page)
    assert (model.ranking, dialog.source.text(), dialog.isVisible()) == (first, title, True)
    page.browsing.step(1)
    at_rest(qtbot, page)
    assert model.ranking.run_id == other.run_id
    assert model.ranking.query == session.query
    dialog.close()


def test_the_saved_picture_is_a_png_of_both(qtbot, page, tmp_path, monkeypatch):
    page.pairs.ask()
    dialog = page.pairs.dialog
    name, asked = str(tmp_path / "both"), []
    monkeypatch.setattr(
        "workbench.ui.widgets.dialogs.save_file.QFileDialog.getSaveFileName",
        lambda *words: asked.append(words) or (name, "PNG (*.png)"),
    )
    dialog.save.click()
    target = tmp_path / "both.png"
    qtbot.waitUntil(target.exists)
    assert QImage(str(target)).size() == dialog.both.grab().toImage().size()
    assert Path(asked[0][2]).name == f"pair-of-run-{page.pairs.model.ranking.run_id}.png"
    assert dialog.both.isAncestorOf(dialog.source), "pictures of two runs could not be told apart"
    dialog.close()


@pytest.fixture
def boxed(qtbot, session, workspace, tmp_path):
    """boxed(file): the Retrieval page on a run of boxes in one file of 80 x 20 px."""

    def opened(file):
        params = {"name": "csv", "file": str(tmp_path / "list.csv"), "box": "left top width height"}
        config = RunConfig.model_validate({"name": "Boxes", "dataset": params})
        paths = [f"{file}#{2 * number},2,16,16" for number in range(len(LABELS))]
        session.show_run(store_run(workspace, LABELS, config=config, paths=paths).run_id)
        return open_page(qtbot, session, (960, 700))

    Image.new("RGB", (80, 20)).save(tmp_path / "street.png")
    return opened


def shape(picture):
    return round(picture.place.width() / picture.place.height(), 1)


def test_the_whole_files_of_boxes_are_shown_with_the_boxes(qtbot, boxed, monkeypatch):
    monkeypatch.setattr(pair_model, "pair_saliency", saliency_of)
    page = boxed("street.png")
    page.result.beside.click()
    dialog = page.pairs.dialog
    sides = dialog.query.picture, dialog.neighbour.picture
    qtbot.waitUntil(dialog.whole.isVisible)
    qtbot.waitUntil(lambda: [shape(side) for side in sides if not side.place.isEmpty()] == [1.0, 1.0])
    dialog.whole.click()
    qtbot.waitUntil(lambda: [shape(side) for side in sides] == [4.0, 4.0])
    dialog.saliency.click()
    qtbot.waitUntil(lambda: page.pairs.model.saliency is not None)
    assert not dialog.whole.isChecked()
    assert [shape(side) for side in sides] == [1.0, 1.0]
    dialog.whole.click()
    assert not page.pairs.model.wanted, "saliency is drawn over what the network sees"
    assert [shape(side) for side in sides] == [4.0, 4.0]
    dialog.close()


def test_a_whole_file_that_is_gone_is_named_and_what_was_cut_from_it_stays(qtbot, session, boxed, said):
    page = boxed("gone.png")
    page.result.beside.click()
    dialog = page.pairs.dialog
    qtbot.waitUntil(dialog.whole.isVisible)
    dialog.whole.click()
    qtbot.waitUntil(lambda: any("gone.png" in sentence for sentence in said))
    assert shape(dialog.query.picture) == 1.0
    dialog.close()


def test_images_that_are_no_boxes_have_no_whole_files_to_show(qtbot, page):
    page.result.beside.click()
    dialog = page.pairs.dialog
    qtbot.waitUntil(lambda: not dialog.query.picture.place.isEmpty())
    assert not dialog.whole.isVisible()
    dialog.close()
