"""The Retrieval page: pages of the list, filters, the query and its neighbours, history, own images."""

import csv
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolButton

from tests.ui.browsed import at_rest, listed, open_trained
from tests.ui.pointing import choose
from workbench.problem import Problem
from workbench.running import trained_network
from workbench.ui.pages.retrieval.own_image import from_file
from workbench.ui.widgets.pictures import shared_loader

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def page(qtbot, session, workspace, tmp_path):
    return open_trained(qtbot, session, workspace, tmp_path / "cache")


def test_the_worst_query_is_first_and_shown(page, session):
    queries = session.workspace.queries(session.evaluation_id)
    worst = int(np.lexsort((queries.sample_ids, queries.ap))[0])
    assert session.query == queries.sample_ids[worst]
    assert listed(page)[0] == session.query
    assert len(page.result.cards) == 20
    expected = session.workspace.neighbours(session.run_id, session.query, session.evaluation_id)
    assert [card.neighbour for card in page.result.cards] == expected


def test_a_click_on_a_neighbour_makes_it_the_query_and_back_returns(page, session, qtbot):
    first, card = session.query, page.result.cards[2]
    near = card.neighbour.sample_id
    QTest.mouseClick(card, Qt.MouseButton.LeftButton)
    assert session.query == near
    at_rest(qtbot, page)
    page.back.click()
    assert session.query == first
    at_rest(qtbot, page)
    page.forward.click()
    assert session.query == near


def test_j_and_k_walk_through_the_list(page, session, qtbot):
    qtbot.keyClick(page.queries.table, Qt.Key.Key_J)
    assert session.query == listed(page)[1]
    qtbot.keyClick(page.queries.table, Qt.Key.Key_K)
    assert session.query == listed(page)[0]


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_filters(page, session, qtbot):
    queries = session.workspace.queries(session.evaluation_id)
    page.queries.failures.click()
    assert len(listed(page)) == (~queries.right).sum()
    assert page.queries.count.text() == f"{(~queries.right).sum()} of 40 queries"
    page.queries.failures.click()
    choose(page.queries.classes, page.queries.classes.findText("dog"))
    assert len(listed(page)) == 10
    edit = page.queries.classes.lineEdit()
    edit.selectAll()
    qtbot.keyClicks(edit, "All classes")
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    session.select(queries.sample_ids[:7])
    assert len(listed(page)) == 7
    assert page.queries.selected.text() == "7 selected in the map"
    page.queries.selected.click()
    assert len(listed(page)) == 40


def test_sorting(page, session):
    queries = session.workspace.queries(session.evaluation_id)
    page.queries.table.sortByColumn(3, Qt.SortOrder.DescendingOrder)
    top = page.queries.table.model().index(0, 3).data()
    assert int(top) == queries.first_hit.max()
    page.queries.table.sortByColumn(1, Qt.SortOrder.AscendingOrder)
    assert page.queries.table.model().index(0, 1).data() == "ant"


def test_pictures_arrive_and_a_lost_one_is_said(page, session, qtbot):
    qtbot.waitUntil(lambda: page.result.cards[0].has_picture)
    for cache in session.workspace.path.glob("cache/*.npy"):
        cache.unlink()
    shared_loader(session).forget()
    said = []
    session.noticed.connect(said.append)
    qtbot.keyClick(page.queries.table, Qt.Key.Key_J)
    qtbot.waitUntil(lambda: bool(said))
    assert "cache" in said[0]
    assert len(said) == 1


def test_search_with_an_image_of_ones_own(page, session, qtbot, tmp_path, monkeypatch):
    file = session.workspace.folder(session.run_id) / "best.pt"
    file.write_bytes(b"weights")
    best = session.evaluation()
    ids, labels, embeddings = session.workspace.embeddings(best.id)
    data = session.workspace.dataset(session.run().dataset_id)
    network = SimpleNamespace(step=best.step, epoch=best.epoch, dataset=data, embed=lambda images: embeddings[5:6])
    monkeypatch.setattr(trained_network, "trained", lambda *where: network)
    Image.new("L", (20, 20), 90).save(tmp_path / "mine.png")
    page.own_images.search(from_file(tmp_path / "mine.png"))
    qtbot.waitUntil(page.result.own.isVisible)
    assert page.result.cards[0].neighbour.sample_id == ids[5]
    assert page.result.cards[0].neighbour.similarity == pytest.approx(1.0)
    assert page.result.title.text() == "mine.png"
    qtbot.mouseClick(page.result.own.findChild(QToolButton), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(page.result.own.isHidden)
    assert labels[5] >= 0


def test_a_bad_image_of_ones_own_is_a_sentence(page, session, tmp_path, qtbot):
    said = []
    session.noticed.connect(said.append)
    (tmp_path / "bad.png").write_bytes(b"<html>")
    page.own_images.search(from_file(tmp_path / "bad.png"))
    qtbot.waitUntil(lambda: bool(said))
    assert isinstance(said[0], Problem)
    assert "bad.png" in str(said[0])


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
