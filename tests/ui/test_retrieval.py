"""The Retrieval page with simulated mouse and keys, on a run in a real workspace."""

import csv
import subprocess
import sys
import threading
import traceback
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QToolButton
from small_run import store_run

from tests.ui.browsed import at_rest, judged, listed, marked, open_page
from tests.ui.pointing import choose
from tests.ui.seen import pictured
from tests.waits import HANG
from workbench.problem import Problem
from workbench.running import trained_network
from workbench.ui.pages.retrieval.model import browsing
from workbench.ui.pages.retrieval.model.history import History
from workbench.ui.pages.retrieval.search.own_image import from_file
from workbench.workspace import Workspace

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
LABELS = np.repeat(np.arange(5), 12)


@pytest.fixture
def run(workspace):
    return store_run(workspace, LABELS)


@pytest.fixture
def page(qtbot, session, run):
    session.show_run(run.run_id)
    return open_page(qtbot, session)


@pytest.fixture
def rest(qtbot, page):
    """A function that returns when the page is at rest."""
    return partial(at_rest, qtbot, page)


def click_row(qtbot, page, row):
    table = page.queries.table
    place = table.visualRect(table.model().index(row, 1)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    at_rest(qtbot, page)


# Queries and neighbours


def test_nothing_evaluated_in_a_workspace_without_runs_offers_the_way_to_set_up(qtbot, session):
    page = open_page(qtbot, session)
    asked = []
    session.page_asked.connect(asked.append)
    assert page.currentWidget() is page.hint
    page.hint.pressed.emit()
    assert asked == ["setup"]


def test_the_worst_query_is_shown_first_with_its_facts_and_neighbours(page, session, run):
    worst = run.ids[np.lexsort((run.ids, run.ap))[0]]
    assert session.query == worst
    row = run.ids.tolist().index(worst)
    assert page.result.title.text() == f"class {LABELS[row]:02}"
    right = sum(near.right for near in page.browsing.neighbours)
    assert page.result.scores.text() == (
        f"AP {100 * run.ap[row]:.1f}%, First hit rank {run.first_hit[row]}, "
        f"Right of {len(page.browsing.neighbours)} {right}, Of its class 11"
    )
    assert page.result.place.text() == "1 of 60"
    assert not page.result.before.isEnabled()
    near = session.workspace.neighbours(run.run_id, int(worst))
    assert [card.neighbour for card in page.result.cards] == near
    assert page.queries.count.text() == "60 of 60 queries"


def test_the_worst_query_is_shown_after_every_change_of_run(page, session, workspace, rest):
    other = store_run(workspace, np.repeat(np.arange(3), 9), name="Other")
    session.show_run(other.run_id)
    rest()
    assert session.query == listed(page)[0]
    assert session.query == other.ids[np.lexsort((other.ids, other.ap))[0]]
    assert page.result.cards[0].neighbour == session.workspace.neighbours(other.run_id, session.query)[0]


def test_right_and_wrong_differ_in_sign_and_in_words(page):
    for card in page.result.cards:
        assert judged(card) == card.neighbour.right
        sign = "✓" if card.neighbour.right else "✗"
        assert card.said.startswith(f"{sign} ")
    assert {card.neighbour.right for card in page.result.cards} == {True, False}


def test_a_click_on_a_row_shows_that_query(qtbot, page, session):
    click_row(qtbot, page, 4)
    assert session.query == listed(page)[4]
    assert page.result.path.text() == session.workspace.query(session.evaluation_id, session.query).path


def test_a_click_on_a_neighbour_makes_it_the_query(qtbot, page, session):
    card = page.result.cards[2]
    near = card.neighbour.sample_id
    qtbot.mouseClick(card, Qt.MouseButton.LeftButton)
    assert session.query == near
    assert marked(page) == near


def test_arrows_go_through_the_grid_and_enter_makes_a_neighbour_the_query(qtbot, page, session):
    cards = page.result.cards
    cards[0].setFocus()
    line = sum(card.y() == cards[0].y() for card in cards)
    for key, place in ((Qt.Key.Key_Right, 1), (Qt.Key.Key_Down, line + 1), (Qt.Key.Key_Left, line), (Qt.Key.Key_Up, 0)):
        qtbot.keyClick(QApplication.focusWidget(), key)
        assert QApplication.focusWidget() is cards[place]
    near = cards[0].neighbour.sample_id
    qtbot.keyClick(cards[0], Qt.Key.Key_Return)
    assert session.query == near


def test_j_and_k_go_through_the_list(qtbot, page, session):
    page.queries.table.setFocus()
    for key, row in ((Qt.Key.Key_J, 1), (Qt.Key.Key_J, 2), (Qt.Key.Key_K, 1), (Qt.Key.Key_K, 0), (Qt.Key.Key_K, 0)):
        qtbot.keyClick(page.queries.table, key)
        assert session.query == listed(page)[row]
        assert page.queries.table.currentIndex().row() == row


def test_j_types_a_letter_where_a_class_is_searched(qtbot, page, session):
    edit = page.queries.classes.lineEdit()
    edit.setFocus()
    edit.clear()
    before = session.query
    qtbot.keyClicks(edit, "j")
    assert edit.text() == "j"
    assert session.query == before


def test_back_and_forward_as_in_a_browser(qtbot, page, session, rest):
    seen = [session.query]
    for row in (3, 7):
        click_row(qtbot, page, row)
        seen.append(session.query)
    for way, row in ((page.back, 1), (page.back, 0), (page.forward, 1)):
        qtbot.mouseClick(way, Qt.MouseButton.LeftButton)
        assert session.query == seen[row]
        rest()
        assert page.back.isEnabled() == (row > 0)
    click_row(qtbot, page, 9)
    assert not page.forward.isEnabled(), "a new way forgets the old one"


def test_history_forgets_nothing_but_the_future():
    history = History()
    for each in (1, 2, 2, 3):
        history.visit(each)
    assert (history.back(), history.back(), history.back()) == (2, 1, None)
    assert history.forward() == 2
    history.visit(2)
    assert history.can_go_forward, "the query that `forward` asked for is no new visit"
    history.visit(9)
    assert history.forward() is None
    assert history.back() == 2
    history.clear()
    assert not history.can_go_back


def test_a_query_from_another_page_is_marked_in_the_list(page, session, run, rest):
    session.show_query(int(run.ids[33]))
    assert marked(page) == run.ids[33]
    rest()
    assert page.result.path.text() == "class 02/00033.png"


def test_show_in_map_selects_the_query(qtbot, page, session):
    asked = []
    session.page_asked.connect(asked.append)
    qtbot.mouseClick(page.result.show_in_map, Qt.MouseButton.LeftButton)
    assert asked == ["map"]
    assert session.selection.tolist() == [session.query]


def test_pictures_arrive_in_list_query_and_grid(qtbot, page):
    qtbot.waitUntil(lambda: all(pictured(card) for card in page.result.cards))
    qtbot.waitUntil(lambda: not page.result.picture.pixmap().isNull())
    assert max(page.result.picture.pixmap().width(), page.result.picture.pixmap().height()) == 224
    first = page.queries.table.model().index(0, 0)
    qtbot.waitUntil(lambda: first.data(Qt.ItemDataRole.DecorationRole) is not None)


def test_missing_pictures_are_said_on_the_cards(qtbot, session, run):
    run.pixels.unlink()
    session.show_run(run.run_id)
    page = open_page(qtbot, session)
    qtbot.waitUntil(lambda: all("gone" in card.absent for card in page.result.cards))
    assert all("gone" in card.toolTip() for card in page.result.cards), "the card has no room for the reason"
    qtbot.waitUntil(lambda: "gone" in page.result.picture.text())
    first = page.queries.table.model().index(0, 0)
    qtbot.waitUntil(lambda: "gone" in first.data(Qt.ItemDataRole.ToolTipRole))


def test_a_query_alone_in_its_class_has_no_ap(qtbot, session, workspace):
    run = store_run(workspace, np.array([0, 0, 0, 1]), with_proxies=False)
    session.show_run(run.run_id)
    page = open_page(qtbot, session)
    session.show_query(int(run.ids[3]))
    at_rest(qtbot, page)
    assert "No other image of its class" in page.result.facts.text()


def test_one_query_and_no_neighbours(qtbot, session, workspace):
    run = store_run(workspace, np.array([0]), with_proxies=False)
    session.show_run(run.run_id)
    page = open_page(qtbot, session)
    assert page.queries.count.text() == "1 of 1 queries"
    assert page.result.cards == []


def test_the_buttons_beside_the_query_go_through_the_list(page, session, qtbot):
    order, result = listed(page), page.result
    result.after.click()
    result.after.click()
    assert session.query == order[2]
    qtbot.waitUntil(lambda: result.place.text() == "3 of 60")
    result.before.click()
    assert session.query == order[1]
    session.show_query(order[-1])
    qtbot.waitUntil(lambda: not result.after.isEnabled())
    page.queries.failures.click()
    qtbot.waitUntil(lambda: result.place.text() == f"1 of {len(listed(page))}")


# Filters


def test_failures_only(qtbot, page, run):
    qtbot.keyClick(page.queries.failures, Qt.Key.Key_Space)
    wrong = run.ids[run.first_hit != 1]
    assert set(listed(page)) == set(wrong.tolist())
    assert page.queries.count.text() == f"{len(wrong)} of 60 queries"


def test_the_first_listed_is_shown_where_a_filter_leaves_the_query_out(qtbot, page, session, run):
    right = int(run.ids[run.first_hit == 1][-1])
    session.show_query(right)
    qtbot.keyClick(page.queries.failures, Qt.Key.Key_Space)
    assert page.queries.failures.isChecked()
    assert session.query == listed(page)[0]
    assert page.queries.table.currentIndex().row() == 0
    shown = session.query
    label = (int(run.labels[run.ids == shown][0]) + 1) % 5
    choose(page.queries.classes, label + 1)
    if listed(page):
        assert session.query == listed(page)[0]
    else:
        assert session.query == shown


def test_the_query_stays_marked_when_order_and_filter_change(qtbot, page, session, run):
    failed = run.ids[run.first_hit != 1]
    session.show_query(int(failed[-1]))
    page.queries.failures.setChecked(True)
    header = page.queries.table.horizontalHeader()
    place = header.sectionViewportPosition(3) + 20
    qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=QPointF(place, 8).toPoint())
    assert session.query == failed[-1]
    assert marked(page) == failed[-1]


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_class_is_chosen_or_typed_and_nonsense_is_undone(qtbot, page, run):
    classes = page.queries.classes
    choose(classes, 3)
    assert set(listed(page)) == set(run.ids[LABELS == 2].tolist())
    edit = classes.lineEdit()
    edit.setFocus()
    edit.selectAll()
    qtbot.keyClicks(edit, "class 04")
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert set(listed(page)) == set(run.ids[LABELS == 4].tolist())
    edit.selectAll()
    qtbot.keyClicks(edit, "no such class")
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert classes.currentText() == "class 04"
    assert set(listed(page)) == set(run.ids[LABELS == 4].tolist())


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_part_of_a_name_chooses_the_only_class_that_has_it(qtbot, page, run):
    classes = page.queries.classes
    edit = classes.lineEdit()
    edit.setFocus()
    for typed, chosen in (("ss 04", "class 04"), ("class", "class 04")):
        edit.selectAll()
        qtbot.keyClicks(edit, typed)
        qtbot.keyClick(edit, Qt.Key.Key_Return)
        assert classes.currentText() == chosen
    assert set(listed(page)) == set(run.ids[LABELS == 4].tolist())


def test_filters_hold_in_the_next_evaluation(page, session, run, rest):
    choose(page.queries.classes, 2)
    session.show_evaluation(run.evaluations[0])
    rest()
    assert page.queries.classes.currentText() == "class 01"
    assert set(listed(page)) == set(run.ids[LABELS == 1].tolist())


def test_a_selection_of_the_map_filters_the_list_and_can_be_dropped(qtbot, page, session, run):
    session.select(run.ids[10:31])
    assert set(listed(page)) == set(run.ids[10:31].tolist())
    assert page.queries.selected.text() == "21 selected in the map"
    qtbot.mouseClick(page.queries.selected, Qt.MouseButton.LeftButton)
    assert len(session.selection) == 0
    assert len(listed(page)) == 60
    assert not page.queries.selected.isVisible()


def test_a_selection_made_before_the_page_is_opened_counts(qtbot, session, run):
    session.show_run(run.run_id)
    session.select(run.ids[:5])
    page = open_page(qtbot, session)
    assert set(listed(page)) == set(run.ids[:5].tolist())


def test_a_page_that_is_not_looked_at_reads_nothing(qtbot, session, run, rest, page):
    shown = page.browsing.shown
    page.hide()
    session.show_evaluation(run.evaluations[0])
    session.show_query(int(run.ids[3]))
    assert not page.browsing.waiting
    assert page.browsing.shown is shown
    page.show()
    rest()
    assert page.browsing.shown.evaluation.id == run.evaluations[0]
    assert page.result.path.text() == "class 00/00003.png"


def test_nothing_is_read_on_the_windows_thread(qtbot, session, run, monkeypatch, tmp_path, slow_changes):
    """Every read of the workspace that a file of the page asks for is on another thread."""
    here, read = threading.current_thread(), []
    for name in ("reading", "reader"):
        whole = getattr(session.workspace, name)

        def traced(whole=whole):
            if threading.current_thread() is here:
                files = [Path(frame.filename).as_posix() for frame in traceback.extract_stack()]
                if not any(file.endswith("ui/widgets/images/pictures.py") for file in files):  # asks the session
                    read.extend([file for file in files if "ui/pages/retrieval" in file][-1:])
            return whole()

        monkeypatch.setattr(session.workspace, name, traced)
    session.show_run(run.run_id)
    page = open_page(qtbot, session)
    qtbot.waitUntil(lambda: page.browsing.filters.explained is not None)
    click_row(qtbot, page, 3)
    choose(page.queries.classes, 2)
    page.queries.table.sortByColumn(1, Qt.SortOrder.DescendingOrder)
    choose(page.queries.why.compare, page.queries.why.compare.findData(run.evaluations[0]))
    qtbot.waitUntil(page.queries.why.differences.isVisible)
    at_rest(qtbot, page)  # no query is on screen while it is read again, with what it was: there is none to tag
    page.tagging.put("label wrong", True)
    qtbot.waitUntil(page.result.tags.isVisible)
    session.show_evaluation(run.evaluations[0])
    at_rest(qtbot, page)
    page.export_to(tmp_path / "queries.csv")
    qtbot.waitUntil((tmp_path / "queries.csv").exists)
    assert read == []


@pytest.fixture
def held(monkeypatch):
    """Queries are read once the event is set."""
    let = threading.Event()

    def late(*arguments, read=browsing.read_query):
        let.wait(HANG)
        return read(*arguments)

    monkeypatch.setattr(browsing, "read_query", late)
    yield let
    let.set()


def test_a_query_that_is_read_for_long_leaves_no_other_on_screen(qtbot, page, run, held):
    assert page.result.cards
    page.session.show_query(int(run.ids[7]))
    qtbot.waitUntil(lambda: not page.result.cards)
    assert (page.result.title.text(), page.result.facts.text()) == ("", "Reading the query…")
    assert not page.result.tag.isEnabled()
    held.set()
    at_rest(qtbot, page)
    assert page.result.path.text() == "class 00/00007.png"
    assert page.result.cards


def test_neighbours_of_another_run_never_stand_beside_the_list(qtbot, page, session, workspace, held):
    other = store_run(workspace, LABELS)
    session.show_run(other.run_id)
    qtbot.waitUntil(lambda: page.browsing.shown is not None and page.browsing.shown.evaluation.run_id == other.run_id)
    assert not page.result.cards
    assert page.result.facts.text() == "Reading the query…"
    held.set()
    qtbot.waitUntil(lambda: bool(page.result.cards))


def test_a_query_that_cannot_be_read_is_not_waited_for(qtbot, page, session, run, monkeypatch):
    def broken(*arguments):
        raise Problem("The database is damaged.")

    monkeypatch.setattr(browsing, "read_query", broken)
    with qtbot.waitSignal(session.noticed):
        session.show_query(int(run.ids[7]))
    assert page.result.facts.text() == "No query to show."
    assert not page.result.cards


def test_another_workspace_empties_the_page(page, session, tmp_path):
    session.open_workspace(Workspace(tmp_path / "other", create=True))
    assert page.currentWidget() is page.hint


# Export


def test_the_list_is_exported_in_its_order(qtbot, page, tmp_path, run):
    qtbot.keyClick(page.queries.failures, Qt.Key.Key_Space)
    page.export_to(tmp_path / "queries.csv")
    qtbot.waitUntil((tmp_path / "queries.csv").exists)
    with (tmp_path / "queries.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["sample_id"]) for row in rows] == listed(page)
    place = run.ids.tolist().index(int(rows[0]["sample_id"]))
    assert float(rows[0]["ap"]) == pytest.approx(run.ap[place], abs=1e-6)
    assert rows[0]["path"] == f"class {LABELS[place]:02}/{place:05}.png"


def test_a_place_that_cannot_be_written_is_told(qtbot, page, session, tmp_path):
    told = []
    session.noticed.connect(told.append)
    (tmp_path / "file").write_text("")
    page.export_to(tmp_path / "file" / "queries.csv")
    qtbot.waitUntil(lambda: bool(told))


def test_copy_gives_ranks_classes_and_similarities(qtbot, page):
    qtbot.mouseClick(page.result.copy, Qt.MouseButton.LeftButton)
    lines = QGuiApplication.clipboard().text().splitlines()
    near = page.result.cards[0].neighbour
    assert lines[0] == "rank\tclass\tsimilarity"
    assert lines[1] == f"1\t{near.class_name}\t{near.similarity:.4f}"
    assert len(lines) == 1 + len(page.result.cards)


def test_a_copied_class_name_is_no_formula(qtbot, session, workspace):
    run = store_run(workspace, LABELS, class_names=("=1+1",) * 5)
    session.show_run(run.run_id)
    page = open_page(qtbot, session)
    qtbot.mouseClick(page.result.copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text().splitlines()[1].split("\t")[1] == "'=1+1"


# An image of one's own


@pytest.fixture
def embedder(qtbot, monkeypatch, workspace, run, session, page):
    """A best checkpoint of the first epoch, which is shown; its network puts every image where sample 17 lies."""
    session.show_evaluation(run.evaluations[0])
    qtbot.waitUntil(lambda: page.browsing.shown is not None and page.browsing.shown.evaluation.epoch == 1)
    at_rest(qtbot, page)  # its query, too, is read again
    folder = workspace.folder(run.run_id)
    (folder / "best.pt").write_bytes(b"weights")
    step = workspace.evaluation(run.evaluations[0]).step
    seen = []

    class Network:
        dataset = workspace.dataset(workspace.run(run.run_id).dataset_id)
        epoch = 1

        def embed(self, images):
            seen.append(images[0])
            return np.asarray(workspace.embeddings(run.evaluations[0])[2][17:18])

    Network.step = step
    monkeypatch.setattr(trained_network, "trained", lambda *where: Network())
    return seen


def test_an_image_is_compared_in_the_space_of_the_checkpoint_and_not_judged(
    qtbot, page, session, run, embedder, tmp_path
):
    Image.new("RGB", (30, 20), (200, 10, 10)).save(tmp_path / "mine.png")
    page.own_images.search(from_file(tmp_path / "mine.png"))
    qtbot.waitUntil(page.result.own.isVisible)
    first = page.result.cards[0].neighbour
    assert (first.sample_id, round(first.similarity, 4)) == (run.ids[17], 1.0)
    assert "epoch 1" in page.result.facts.text()
    assert {judged(card) for card in page.result.cards} == {None}, "nobody knows the class of this image"
    assert page.result.title.text() == "mine.png"
    assert embedder[0] == tmp_path / "mine.png", "read as the run read its images"
    near = page.result.cards[1].neighbour.sample_id
    qtbot.mouseClick(page.result.cards[1], Qt.MouseButton.LeftButton)
    assert session.query == near
    qtbot.waitUntil(page.result.own.isHidden)
    assert {judged(card) for card in page.result.cards} <= {True, False}


def test_an_epoch_without_its_network_is_not_searched_with_that_of_another(
    qtbot, page, session, run, embedder, tmp_path
):
    session.show_evaluation(run.evaluations[1])
    Image.new("L", (8, 8)).save(tmp_path / "mine.png")
    with qtbot.waitSignal(session.noticed) as caught:
        page.own_images.search(from_file(tmp_path / "mine.png"))
    assert f"Run {run.run_id} has no checkpoint of epoch 2, only of epoch 1. Choose one" in str(caught.args[0])
    assert not page.result.own.isVisible()


def test_the_banner_is_dropped_and_the_query_comes_back(qtbot, page, session, embedder, tmp_path):
    before = page.result.title.text()
    Image.new("L", (8, 8)).save(tmp_path / "mine.png")
    page.own_images.search(from_file(tmp_path / "mine.png"))
    qtbot.waitUntil(page.result.own.isVisible)
    qtbot.mouseClick(page.result.own.findChild(QToolButton), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(page.result.own.isHidden)
    assert page.result.title.text() == before


def test_the_last_image_is_searched_with_again_in_the_run_that_is_shown(qtbot, page, session, embedder, tmp_path):
    assert not page.own_images.again.isEnabled()
    Image.new("L", (8, 8)).save(tmp_path / "mine & yours.png")
    page.own_images.search(from_file(tmp_path / "mine & yours.png"))
    qtbot.waitUntil(page.result.own.isVisible)
    qtbot.mouseClick(page.result.own.findChild(QToolButton), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(page.result.own.isHidden)
    assert "mine && yours.png" in page.own_images.again.text()
    page.own_images.again.trigger()
    qtbot.waitUntil(page.result.own.isVisible)
    assert len(embedder) == 2
    session.show_run(None)
    page.own_images.again.trigger()
    assert len(embedder) == 2


def drop(page, data):
    none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPointF(5, 5).toPoint(), Qt.DropAction.CopyAction, data, *none)
    enter.ignore()
    page.dragEnterEvent(enter)
    if enter.isAccepted():
        page.dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, *none))
    return enter.isAccepted()


def test_a_dropped_file_is_searched_with_and_a_folder_is_left_to_the_window(qtbot, page, embedder, tmp_path):
    Image.new("RGB", (4, 4)).save(tmp_path / "mine.png")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path))])
    assert not drop(page, data)
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "mine.png"))])
    assert drop(page, data)
    qtbot.waitUntil(page.result.own.isVisible)


def test_a_file_that_is_no_image_is_told_and_the_query_stays(qtbot, page, session, embedder, tmp_path):
    notices, before = [], page.result.title.text()
    session.noticed.connect(notices.append)
    for number, content in enumerate((b"", b"no image at all", b"\x89PNG\r\n\x1a\n and then nothing")):
        (tmp_path / f"broken{number}.png").write_bytes(content)
        page.own_images.search(from_file(tmp_path / f"broken{number}.png"))
        qtbot.waitUntil(lambda number=number: len(notices) > number)
        assert f"broken{number}.png" in str(notices[number])
        assert page.result.title.text() == before
        assert not embedder


def test_what_an_image_could_not_do_is_answered_by_the_search_with_another(qtbot, page, session, embedder, tmp_path):
    told, settled = [], []
    session.said.connect(lambda what, concern: told.append(concern))
    session.settled.connect(settled.append)
    (tmp_path / "broken.png").write_bytes(b"no image at all")
    page.own_images.search(from_file(tmp_path / "broken.png"))
    qtbot.waitUntil(lambda: bool(told))
    assert told[0] not in settled
    Image.new("RGB", (4, 4)).save(tmp_path / "mine.png")
    page.own_images.search(from_file(tmp_path / "mine.png"))
    qtbot.waitUntil(page.result.own.isVisible)
    assert told[0] in settled


def test_an_empty_clipboard_is_told(page, session):
    told = []
    session.noticed.connect(told.append)
    QGuiApplication.clipboard().setText("words")
    page.own_images.paste.trigger()
    assert "clipboard" in str(told[0])


def test_a_run_without_a_checkpoint_is_told(qtbot, page, session, tmp_path):
    told = []
    session.noticed.connect(told.append)
    Image.new("RGB", (4, 4)).save(tmp_path / "mine.png")
    page.own_images.search(from_file(tmp_path / "mine.png"))
    qtbot.waitUntil(lambda: bool(told))
    assert "checkpoint" in str(told[0])


OTHER_PROGRAM = """
import sqlite3, sys
db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
sql = "select sample_id from neighbours where evaluation_id = ? and query_id = ? order by rank"
print(*(row[0] for row in db.execute(sql, sys.argv[2:])))
"""


def test_plain_sql_finds_what_the_page_shows(page, session, run):
    place, wanted = str(session.workspace.database), (str(run.evaluations[-1]), str(session.query))
    told = subprocess.run(
        [sys.executable, "-c", OTHER_PROGRAM, place, *wanted], capture_output=True, text=True, check=True
    ).stdout
    assert [int(word) for word in told.split()] == [card.neighbour.sample_id for card in page.result.cards]
