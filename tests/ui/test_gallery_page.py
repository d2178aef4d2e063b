"""Millions of embeddings on the Retrieval page: opened, indexed in the background, searched, compared with all."""

import numpy as np
import pytest
from PySide6.QtCore import Qt

from workbench.exchange.imported.gallery_import import import_gallery
from workbench.problem import Problem
from workbench.searching import building
from workbench.ui.pages.retrieval import RetrievalPage
from workbench.ui.pages.retrieval.search.gallery_model import Change, GallerySearch
from workbench.ui.pages.retrieval.search.gallery_panel import neighbour_rows, neighbours_csv

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
COUNT = 2_000
FACTS = {
    "count": 10_000_000, "dim": 128, "distance": "cosine", "kind": "float16", "labels": True, "why": "", "index": None,
}  # fmt: skip
RECALLS = [{"k": k, "mean": 0.9912, "low": 0.99, "high": 0.9925} for k in (10, 48, 100)]
INDEXED = FACTS | {"index": {"queries": 1_000, "recalls": RECALLS}}
ANSWER = {
    "row": 6, "rows": [8, 3], "similarities": [0.9, 0.8], "classes": ["cat", "dog"], "right": [True, False],
    "class_name": "cat", "seconds": 0.0312, "exact": False, "missed": None,
}  # fmt: skip


class Played:
    """Keeps what is asked until the test answers."""

    def __init__(self):
        self.asked, self.worked, self.notices = [], [], []

    def describe(self, workspace, run_id, done, failed):
        self.asked.append(("describe", {"run": run_id}, done, failed))

    def ask(self, op, fields, done, failed):
        self.asked.append((op, fields, done, failed))

    def work(self, title, op, fields, done, failed, cancelled):
        self.worked.append((op, fields, done, failed))
        work = type("Work", (), {})()
        work.cancel = cancelled
        return work

    def notify(self, what):
        self.notices.append(str(what))


@pytest.fixture
def played():
    return Played()


@pytest.fixture
def model(played):
    changes = []
    made = GallerySearch(played, changes.append)
    made.changes = changes
    made.show(7, "/space")
    return made


def test_without_an_index_it_says_what_a_search_costs_and_compares_with_all(played, model):
    assert model.head == ""
    played.asked[0][2](FACTS)
    assert model.head.startswith("10,000,000 embeddings of 128 dimensions (float16)")
    assert "There is no index" in model.quality
    model.search(6)
    assert played.worked[-1][:2] == ("search", {"workspace": "/space", "run": 7, "row": 6, "k": 48, "exact": True})
    assert model.searching_exactly
    played.worked[-1][2](ANSWER | {"exact": True})
    assert not model.searching
    assert "compared with all in 31.2" in model.said
    assert "1 of the 2 are of it" in model.said


def test_the_recall_of_the_shown_number_is_stated_with_its_interval(played, model):
    played.asked[0][2](FACTS)
    model.build()
    assert model.building
    played.worked[-1][2](INDEXED)
    assert not model.building
    assert "of the exact 48 nearest it finds 99.12% (95% interval 99.00% to 99.25%" in model.quality
    model.choose_k(10)
    assert "of the exact 10 nearest" in model.quality


def test_only_the_newest_answer_is_shown_and_a_refusal_is_said(played, model):
    played.asked[0][2](INDEXED)
    model.search(1)
    model.search(6)
    (_, _, first, _), (_, _, second, refuse) = played.asked[1:]
    first(ANSWER | {"row": 1})
    assert model.answer is None
    second(ANSWER)
    assert model.answer["row"] == 6
    model.search(2)
    played.asked[-1][3](Problem("The index is damaged."))
    assert played.notices == ["The index is damaged."]
    assert not model.searching
    refuse(Problem("late"))
    assert len(played.notices) == 1


def test_another_run_ends_what_was_asked_of_the_one_before(played, model):
    played.asked[0][2](FACTS)
    model.build()
    model.search(3)
    model.show(None)
    assert (model.building, model.searching, model.facts) == (False, False, None)
    played.worked[0][2](INDEXED)  # came too late
    assert model.facts is None
    assert Change.ANSWER not in model.changes


def test_a_cancelled_index_can_be_asked_for_again(played, model):
    played.asked[0][2](FACTS)
    model.build()
    model.cancel_build()
    assert not model.building
    model.build()
    assert len(played.worked) == 2


@pytest.fixture
def page(qtbot, session, workspace, tmp_path, monkeypatch):
    monkeypatch.setattr(building, "QUERIES", 100)
    random = np.random.default_rng(0)
    labels = random.integers(0, 20, COUNT)
    np.save(tmp_path / "e.npy", (random.normal(size=(20, 8))[labels] + 0.4 * random.normal(size=(COUNT, 8))))
    np.save(tmp_path / "l.npy", labels)
    run = import_gallery(workspace, tmp_path / "e.npy", tmp_path / "l.npy")
    made = qtbot.shown(RetrievalPage(session), 1000, 720)
    session.follower.look()
    session.show_run(run)
    qtbot.waitUntil(lambda: made.gallery.model.facts is not None)
    return made


def test_an_index_is_built_in_the_background_and_rows_lead_from_one_to_the_next(qtbot, session, page):
    panel = page.gallery
    assert page.currentWidget() is panel
    assert "2,000 embeddings of 8 dimensions" in panel.head.text()
    assert not panel.search.isVisible()
    qtbot.mouseClick(panel.make, Qt.MouseButton.LeftButton)
    assert panel.cancel.isVisible()
    qtbot.waitUntil(lambda: panel.model.has_index)
    assert "of the exact 48 nearest it finds" in panel.quality.text()
    assert not panel.cancel.isVisible()
    panel.row.setValue(12)
    qtbot.mouseClick(panel.search, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not panel.model.searching)
    assert panel.said.text().startswith("Row 12, through the index")
    assert len(panel.rows.rows) == 48
    nearest = panel.rows.rows[0][1]
    panel.table.activated.emit(panel.rows.index(0, 0))
    qtbot.waitUntil(lambda: not panel.model.searching)
    assert panel.row.value() == nearest + 1
    qtbot.mouseClick(panel.exact, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not panel.model.searching)
    assert "compared with all" in panel.said.text()
    assert "The index misses" in panel.said.text()
    session.show_run(None)
    qtbot.waitUntil(lambda: page.currentWidget() is page.hint)


def test_index_and_exact_search_can_be_given_up_on_the_page(qtbot, page):
    panel = page.gallery
    qtbot.mouseClick(panel.make, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(panel.bar.isVisible)
    qtbot.mouseClick(panel.cancel, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(panel.make.isVisible)
    assert not panel.model.has_index
    assert not panel.bar.isVisible()
    qtbot.mouseClick(panel.exact, Qt.MouseButton.LeftButton)
    assert panel.exact.text() == "Cancel"
    assert "Activity shows the progress" in panel.said.text()
    qtbot.mouseClick(panel.exact, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.exact.text() == "Search exactly")
    assert panel.model.answer is None


def test_neighbours_are_saved_with_all_digits_of_their_similarities():
    rows = neighbour_rows(ANSWER | {"similarities": [0.9123456789012345, -0.0000123]})
    assert neighbours_csv(rows).splitlines() == [
        "Rank,Row,Class,Same class,Similarity", "1,9,cat,✓,0.9123456789012345", "2,4,dog,✗,-1.23e-05",
    ]  # fmt: skip
