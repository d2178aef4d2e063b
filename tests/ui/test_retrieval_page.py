"""The Retrieval page of a trained run: order of the list, pictures, its export, the range of similarities."""

import csv
import threading
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.ui.browsed import at_rest, open_page, open_trained
from tests.ui.browsed import listed as listed_in_order
from tests.ui.seen import pictured
from tests.ui.trained import evaluated, image_set, trained_run
from workbench.files import atomic_write
from workbench.files.spreadsheet import plain_cell
from workbench.ui.pages.retrieval.model import reading
from workbench.ui.pages.retrieval.neighbours.result import BIG, SMALL
from workbench.ui.widgets.images.neighbour_card import NO_PICTURE
from workbench.ui.widgets.images.pictures import shared_loader
from workbench.ui.widgets.scrolled import Scrolled
from workbench.ui.widgets.tables.row_table import head_width

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def page(qtbot, session, workspace, tmp_path):
    return open_trained(qtbot, session, workspace, tmp_path / "cache")


@pytest.mark.parametrize(
    ("distance", "words"), [("cosine", "cosine similarity"), ("hyperbolic", "minus the hyperbolic distance")]
)
def test_the_kind_of_the_numbers_is_that_of_the_evaluation(qtbot, session, workspace, tmp_path, distance, words):
    run_id = trained_run(workspace, tmp_path / "cache")
    with workspace.writing() as db:
        db.execute("update evaluations set distance = ?", (distance,))
    page = open_page(qtbot, session, (960, 640))
    session.show_run(run_id)
    at_rest(qtbot, page)
    assert f"by {words}" in page.result.near_title.text()


def test_of_two_answers_about_a_tag_the_later_one_stays(qtbot, session, page, monkeypatch, slow_changes):
    written, taken_away, tag_sample = [], threading.Event(), reading.tag_sample

    def slow(*sample, on):
        if on:
            taken_away.wait(0.5)  # another thread would come in now
        tag_sample(*sample, on=on)
        written.append(on)
        if not on:
            taken_away.set()

    monkeypatch.setattr(reading, "tag_sample", slow)
    for on in (True, False):
        page.browsing.tag("odd", on=on)
    qtbot.waitUntil(lambda: len(written) == 2 and not session.reading)
    assert written == [True, False]
    qtbot.waitUntil(lambda: page.browsing.tags_of_query == [])  # a read may have come between the two


def test_the_head_of_the_pictures_changes_no_order(qtbot, page):
    before, head = listed_in_order(page), page.queries.table.horizontalHeader()
    place = QPoint(head.sectionViewportPosition(0) + 8, head.height() // 2)
    qtbot.mouseClick(head.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert listed_in_order(page) == before
    assert (head.sortIndicatorSection(), head.sortIndicatorOrder()) == (2, Qt.SortOrder.AscendingOrder)


def test_sorting(page, session):
    queries = session.workspace.queries(session.evaluation_id)
    page.queries.table.sortByColumn(3, Qt.SortOrder.DescendingOrder)
    top = page.queries.table.model().index(0, 3).data()
    assert int(top) == queries.first_hit.max()
    page.queries.table.sortByColumn(1, Qt.SortOrder.AscendingOrder)
    assert page.queries.table.model().index(0, 1).data() == "ant"


def test_a_class_name_is_whole_in_the_list_where_the_text_is_large(qtbot, large, page):
    at_rest(qtbot, page)
    table, header = page.queries.table, page.queries.table.horizontalHeader()
    assert table.columnWidth(1) >= table.fontMetrics().horizontalAdvance("sunflower") + 24
    assert all(header.sectionSize(column) >= head_width(header, column) for column in (2, 3))


def test_pictures_arrive_and_a_lost_one_is_said(page, session, qtbot):
    qtbot.waitUntil(lambda: pictured(page.result.cards[0]))
    for cache in session.workspace.path.glob("cache/*.npy"):
        cache.unlink()
    shared_loader(session).forget()
    said = []
    session.noticed.connect(said.append)
    qtbot.keyClick(page.queries.table, Qt.Key.Key_J)
    qtbot.waitUntil(lambda: bool(said))
    assert "cache" in said[0]
    assert len(said) == 1


def test_why_a_query_has_no_picture_is_in_its_tooltip_where_a_long_path_has_no_room(page, session, workspace, qtbot):
    picture = page.result.picture
    qtbot.waitUntil(lambda: not picture.pixmap().isNull())
    assert picture.toolTip() == ""
    workspace.dataset(session.dataset().id).pixels.unlink()
    with workspace.writing() as db:
        db.execute("update datasets set root = ?", (f"/{'folder_' * 20}",))
    shared_loader(session).forget()
    qtbot.keyClick(page.queries.table, Qt.Key.Key_J)
    qtbot.waitUntil(lambda: picture.text() == NO_PICTURE)
    assert "folder_folder_" in picture.toolTip()
    assert picture.toolTip().endswith("Put it back.")


def test_an_evaluation_without_failures_says_so(qtbot, session, workspace, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "tests.ui.trained.evaluated_blobs",
        lambda count, epoch, spread: evaluated(image_set(count), epoch, 0.01),
    )
    page = open_trained(qtbot, session, workspace, tmp_path / "cache")
    page.queries.failures.click()
    assert page.queries.nothing.isVisible()
    assert page.queries.nothing.text() == "No query failed."
    page.browsing.choose_filters(failures_only=False, similarity=(-2.0, -1.5))
    assert page.queries.nothing.text() == "No query passes all of these filters."


@pytest.mark.parametrize("text", [100, 150])
def test_cards_fill_the_width(page, session, qtbot, text):
    grid = page.result.grid
    try:
        session.theme.set_text_size(text)
        for width in (900, 960, 1010, 1100):
            page.resize(width, 640)
            qtbot.deliver()
            cards = page.result.cards
            qtbot.waitUntil(lambda cards=cards: grid.height() == cards[-1].geometry().bottom() + 1)
            first = [card for card in cards if card.y() == cards[0].y()]
            spare = grid.width() - max(card.geometry().right() + 1 for card in first)
            assert 0 <= spare <= len(first), f"what the widths of the cards leave of whole px, at {width} px"
            assert all(card.size() == cards[0].size() for card in cards), width
            assert cards[0].width() >= cards[0].minimumSizeHint().width(), width
    finally:
        session.theme.set_text_size(100)


def test_another_evaluation_keeps_the_query(page, session, qtbot):
    kept = page.result.cards[3].neighbour.sample_id
    session.show_query(kept)
    session.show_evaluation(session.workspace.evaluations(session.run_id)[0].id)
    at_rest(qtbot, page)
    assert session.query == kept


def test_export_has_no_formula(page, tmp_path, qtbot):
    page.export_to(tmp_path / "queries.csv")
    qtbot.waitUntil((tmp_path / "queries.csv").exists)
    rows = list(csv.DictReader((tmp_path / "queries.csv").read_text("utf-8").splitlines()))
    assert len(rows) == 40
    assert {row["class"] for row in rows} == {"ant", "'=bee", "<b>cat</b>", "dog"}


def test_a_list_is_written_in_parts(page, tmp_path, qtbot, monkeypatch):
    written = []

    @contextmanager
    def noting(path):
        with atomic_write(path) as file:
            yield SimpleNamespace(write=lambda content: written.append(content) or file.write(content))

    monkeypatch.setattr("workbench.ui.pages.retrieval.queries.export.files", SimpleNamespace(chosen_file=noting))
    monkeypatch.setattr("workbench.files.spreadsheet.PART", 3, raising=False)
    monkeypatch.setattr("workbench.ui.pages.retrieval.queries.export.BLOCK", 3, raising=False)
    page.export_to(tmp_path / "queries.csv")
    qtbot.waitUntil((tmp_path / "queries.csv").exists)
    assert max(content.count(b"\n") for content in written) == 3
    rows = list(csv.DictReader((tmp_path / "queries.csv").read_text("utf-8").splitlines()))
    samples = page.session.workspace.samples(page.browsing.shown.dataset_id)
    paths = dict(zip(samples.ids.tolist(), samples.paths, strict=True))
    assert [int(row["sample_id"]) for row in rows] == page.browsing.listing.sample_ids.tolist()
    assert all(plain_cell(row["path"]) == paths[int(row["sample_id"])] for row in rows)


def test_a_drag_over_the_histograms_filters_the_list_and_the_chip_clears_it(page, qtbot):
    similarity = page.queries.similarity
    assert not similarity.histograms.isVisible()
    similarity.unfold.click()
    at_rest(qtbot, page)
    everything, drawn = len(page.browsing.listing), similarity.histograms
    QTest.mousePress(drawn, Qt.MouseButton.LeftButton, pos=QPoint(drawn.width() // 2, 20))
    QTest.mouseMove(drawn, QPoint(drawn.width() * 9 // 10, 20))
    QTest.mouseRelease(drawn, Qt.MouseButton.LeftButton, pos=QPoint(drawn.width() * 9 // 10, 20))
    low, high = page.browsing.filters.similarity
    assert 0 < len(page.browsing.listing) < everything
    assert similarity.chip.text() == f"similarity {low:.3f} to {high:.3f}"
    assert (similarity.low.value(), similarity.high.value()) == (low, high)
    similarity.low.setValue(low + 0.01)
    assert page.browsing.filters.similarity == (pytest.approx(low + 0.01), high)
    similarity.chip.click()
    assert len(page.browsing.listing) == everything
    assert not similarity.chip.isVisible()


@pytest.mark.parametrize("width", [700, 360])
def test_the_query_is_whole_where_the_page_is_narrow(page, qtbot, width):
    qtbot.waitUntil(lambda: not page.result.picture.pixmap().isNull())
    result = page.result
    result.setParent(None)
    result.resize(width, 560)
    result.show()
    QApplication.processEvents()
    (outer,) = (area for area in result.findChildren(Scrolled) if area.parentWidget() is result)
    assert outer.horizontalScrollBar().maximum() == 0, "nothing is cut at the right"
    assert result.picture.width() == (BIG if width == 700 else SMALL)
    assert max(result.picture.pixmap().width(), result.picture.pixmap().height()) <= result.picture.width()
    result.deleteLater()
