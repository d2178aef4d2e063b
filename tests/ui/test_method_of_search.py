"""Retrieval and Deployment with a method of search: lists beside plain neighbours, what each query gains, one more."""

import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRectF, Qt

from tests.ui.browsed import at_rest, listed, open_page
from tests.ui.small_run import blobs, store_run
from tests.ui.test_science_panels import Written
from workbench.deploying.request import added, deployment
from workbench.deploying.searched_queries import search_queries
from workbench.jobs import processes
from workbench.ui.pages.retrieval import method_search
from workbench.ui.pages.retrieval.deployment.more_methods import COSINES, MoreMethods
from workbench.ui.pages.retrieval.deployment.plots import Point, TradePlot
from workbench.ui.pages.retrieval.model.listing import AP, FIRST_HIT, GAIN
from workbench.ui.style import theme
from workbench.ui.style.words import NO_VALUE
from workbench.workspace.measured.searched import read_searched, store_searched

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
LABELS = np.repeat(np.arange(4), 12)
AQE = "float32+aqe10"


@pytest.fixture
def run(session, workspace):
    stored = store_run(
        workspace, LABELS, embeddings=[blobs(LABELS, spread, 3, width=16) for spread in (2.0, 1.5)], k=47
    )
    session.show_run(stored.run_id)
    return stored


def choose(page, value):
    box = page.queries.why.compare
    box.setCurrentIndex(box.findData(value))
    box.activated.emit(box.currentIndex())


def served(monkeypatch, folder, source):
    """Have the server of deployments be this source."""
    (folder / "served.py").write_text(source, encoding="utf-8")
    monkeypatch.setattr(processes, "python", lambda module: [sys.executable, str(folder / "served.py")])


WAITING = "import sys\nfor line in sys.stdin: pass\n"
FAILING = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"id": asked["id"], "event": "error", "what": "No memory."}), flush=True)
"""


def test_a_query_is_shown_by_a_method_with_what_moved(qtbot, session, workspace, run):
    evaluation = run.evaluations[-1]
    searched = search_queries(workspace, evaluation, AQE)
    page = open_page(qtbot, session)
    choose(page, AQE)
    at_rest(qtbot, page)
    other, row = page.result.other, int(np.flatnonzero(run.ids == session.query)[0])
    near, before = searched.near[row], searched.before[row]
    assert [card.neighbour.sample_id for card in other.row.cards] == run.ids[near[:24]].tolist()
    written = [card.ranked for card in other.row.cards]
    assert written == [f"{at}" if at == rank else f"{at} ← {rank}" for at, rank in enumerate(before[:24].tolist(), 1)]
    assert "By αQE 10: AP " in other.row.title.text()
    place = {sample: at for at, sample in enumerate(run.ids[near].tolist(), 1)}
    for card in page.result.cards:
        at = card.neighbour.rank
        now = place[card.neighbour.sample_id]
        assert card.ranked == (str(at) if now == at else f"{at} → {now}")
        assert card.accessibleName().startswith(f"Neighbour {card.ranked}, ")
    choose(page, None)
    at_rest(qtbot, page)
    assert not other.isVisible()
    assert [card.ranked for card in page.result.cards] == [str(at) for at in range(1, 48)]


def test_queries_are_ordered_by_what_the_method_changes_and_filtered(qtbot, session, workspace, run):
    searched = search_queries(workspace, run.evaluations[-1], AQE)
    gains = dict(zip(run.ids[searched.queries].tolist(), (searched.ap - searched.plain_ap).tolist(), strict=True))
    page = open_page(qtbot, session)
    table = page.queries.table
    assert table.isColumnHidden(GAIN)
    choose(page, AQE)
    at_rest(qtbot, page)
    assert not table.isColumnHidden(GAIN)
    assert table.isColumnHidden(FIRST_HIT)
    for descending in (True, False):
        page.browsing.sort(GAIN, descending=descending)
        ordered = [gains[sample] for sample in listed(page)]
        assert ordered == sorted(ordered, reverse=descending)
    assert table.model().index(0, GAIN).data() == f"−{-100 * min(gains.values()):.1f}"
    page.export_to(workspace.path / "listed.csv")
    qtbot.waitUntil(lambda: (workspace.path / "listed.csv").exists())
    written = [line.split(",") for line in (workspace.path / "listed.csv").read_text(encoding="utf-8").splitlines()]
    assert written[0][-1] == "ap_gain_by_float32+aqe10"
    assert [float(row[-1]) for row in written[1:]] == ordered
    mean = 100 * np.mean(list(gains.values()))
    assert (
        f"MAP@R {'+' if mean > 0 else '−'}{abs(mean):.2f} points over 48 queries" in page.queries.why.differences.text()
    )
    won = int(((LABELS[searched.near[:, 0]] == LABELS[searched.queries]) & (run.first_hit[searched.queries] > 1)).sum())
    box = page.queries.why.causes
    box.setCurrentIndex(box.findData("won"))
    assert box.currentText() == f"Won: right only by the method ({won})"
    box.activated.emit(box.currentIndex())
    assert len(listed(page)) == won > 0
    choose(page, None)
    at_rest(qtbot, page)
    assert table.isColumnHidden(GAIN)
    header = table.horizontalHeader()
    assert header.sortIndicatorSection() == AP
    ap = [page.browsing.listing.query(at).ap for at in range(len(listed(page)))]
    assert ap == sorted(ap), "what cannot be sorted by the gain any more is sorted by AP"


def test_the_choice_is_kept_for_the_run(qtbot, session, workspace, run):
    search_queries(workspace, run.evaluations[-1], AQE)
    other = store_run(workspace, LABELS, name="Other", k=47)
    page = open_page(qtbot, session)
    choose(page, AQE)
    at_rest(qtbot, page)
    session.show_run(other.run_id)
    at_rest(qtbot, page)
    assert page.browsing.comparison.method is None
    session.show_run(run.run_id)
    at_rest(qtbot, page)
    assert page.queries.why.compare.currentData() == AQE
    assert page.browsing.filters.by_method is not None
    later = open_page(qtbot, session)
    at_rest(qtbot, later)
    assert later.browsing.comparison.method == AQE
    session.preferences.set_text(method_search.KEY, '{"1 x": 5, "2 y": "int8", "3 z": ["a"]}')
    assert method_search.read_methods(session.preferences) == {}
    session.preferences.set_text(method_search.KEY, "[[[")
    assert method_search.read_methods(session.preferences) == {}


def test_a_short_search_begins_by_itself_and_is_the_real_one(qtbot, session, workspace, run):
    page = open_page(qtbot, session)
    choose(page, AQE)
    qtbot.waitUntil(lambda: page.browsing.filters.by_method is not None)
    searched = read_searched(workspace, run.evaluations[-1], AQE, len(LABELS))
    assert page.result.other.row.cards
    assert searched.queries.tolist() == page.browsing.filters.by_method.searched.queries.tolist()
    assert not page.queries.why.search.isVisible()


def test_a_long_search_is_offered_with_its_cost_and_can_be_cancelled(
    qtbot, session, workspace, run, tmp_path, monkeypatch
):
    served(monkeypatch, tmp_path, WAITING)
    monkeypatch.setattr(method_search, "AT_ONCE", 0.5)
    page, why = open_page(qtbot, session), None
    why = page.queries.why
    choose(page, AQE)
    at_rest(qtbot, page)
    assert why.search.text() == "Search by αQE 10"
    assert why.search_said.text() == "αQE 10 takes about 2 s, estimated from 30 ns a pair of images."
    assert not page.methods.works, "nothing is begun"
    why.search.click()
    assert why.search.text() == "Cancel"
    assert "Activity" in why.search_said.text()
    why.search.click()
    assert not page.methods.works
    assert why.search.text() == "Search by αQE 10"


def test_a_search_that_fails_is_said_once_and_offered_again(qtbot, session, run, tmp_path, monkeypatch):
    served(monkeypatch, tmp_path, FAILING)
    page, said = open_page(qtbot, session), []
    session.said.connect(lambda what, concern: said.append(str(what)))
    choose(page, AQE)
    qtbot.waitUntil(lambda: bool(said))
    qtbot.waitUntil(lambda: page.queries.why.search.isVisible())
    assert said == ["No memory."]
    assert page.queries.why.search.text() == "Search by αQE 10"


def test_one_more_method_is_measured_beside_the_stores(qtbot, session, workspace, run):
    evaluation = run.evaluations[-1]
    deployment(workspace, evaluation, ["int8"], 0.01)
    page = open_page(qtbot, session, (1200, 760))
    panel = page.views.make(2)
    page.views.setCurrentIndex(2)
    qtbot.waitUntil(lambda: panel.measured is not None)
    more = panel.more
    more.neighbours.setValue(4)
    assert more.name == "float32+aqe4"
    assert more.said.text() == "αQE 4 takes about 2 s, estimated from the measured times."
    more.measure.click()
    assert more.measure.text() == "Cancel"
    assert panel.currentIndex() == 2, "the table stays in sight"
    qtbot.waitUntil(lambda: panel.work.newest.over)
    assert [row.name for row in panel.stores.rows] == ["float32", "int8", "float32+aqe4"]
    assert panel.chosen == "float32+aqe4"
    assert not more.measure.isEnabled()
    assert more.said.text() == "αQE 4 is in the table."
    panel.look.click()
    assert page.views.currentIndex() == 0
    assert page.browsing.comparison.method == "float32+aqe4"
    assert page.queries.why.compare.currentText() == "By αQE 4"
    qtbot.waitUntil(lambda: page.browsing.filters.by_method is not None)
    panel.choose("int8")
    assert not panel.look.isEnabled()


def test_the_number_of_a_method_is_of_what_it_counts(qtbot):
    more = qtbot.addWidget(MoreMethods())
    offered = {}
    for at in range(more.ways.count()):
        more.ways.setCurrentIndex(at)
        box = more.neighbours
        offered[more.name] = (box.minimum(), box.maximum(), box.suffix(), box.isHidden())
    assert offered == {
        "float32+aqe10": (1, 100, " neighbours", False), "float32+dba10": (1, 100, " neighbours", False),
        "float32+reciprocal": (1, 100, " neighbours", True), "float32+candidates300": (22, 1000, " images", False),
    }  # fmt: skip


def rows_in_sight(panel):
    """Rows of the table that are whole in the part of the page that is seen at first."""
    table, seen = panel.table, panel.column.viewport()
    below = table.viewport().mapTo(seen, table.viewport().rect().bottomLeft()).y()
    assert table.viewport().mapTo(seen, QPoint()).y() >= 0
    return (min(below, seen.height()) + 1 - table.viewport().mapTo(seen, QPoint()).y()) // table.rowHeight(0)


@pytest.mark.parametrize(
    ("percent", "size", "is_low"), [(150, (890, 560), True), (100, (890, 560), True), (100, (1200, 760), False)]
)
def test_five_stores_are_in_sight_at_once_and_the_plots_are_scrolled_to(
    qtbot, session, workspace, run, percent, size, is_low
):
    deployment(workspace, run.evaluations[-1], ["int8", "pca4", "binary", "first4", AQE], 0.01)
    session.theme.set_text_size(percent)
    page = open_page(qtbot, session, size)
    panel = page.views.make(2)
    page.views.setCurrentIndex(2)
    qtbot.waitUntil(lambda: panel.measured is not None)
    qtbot.deliver()
    assert rows_in_sight(panel) >= 5
    assert panel.column.begins_with_table is is_low
    panel.column.ensureWidgetVisible(panel.by_time)
    foot = panel.by_time.mapTo(panel.column.viewport(), panel.by_time.rect().bottomLeft()).y()
    assert foot <= panel.column.viewport().height(), "the axis of the plot can be seen"
    page.resize(1400, 1100)
    qtbot.deliver()
    assert not panel.column.begins_with_table


def test_measuring_again_asks_for_what_was_added(qtbot, session, workspace, run, tmp_path, monkeypatch):
    evaluation = run.evaluations[-1]
    deployment(workspace, evaluation, ["int8"], 0.01)
    added(workspace, evaluation, "float32+aqe4")
    source = FAILING.replace("    print", f"    open({str(tmp_path / 'asked')!r}, 'w').write(line)\n    print")
    served(monkeypatch, tmp_path, source)
    page = open_page(qtbot, session, (1200, 760))
    panel = page.views.make(2)
    page.views.setCurrentIndex(2)
    qtbot.waitUntil(lambda: panel.measured is not None)
    panel.measure()
    qtbot.waitUntil(lambda: panel.work.newest.over)
    asked = json.loads((tmp_path / "asked").read_text(encoding="utf-8"))
    assert (asked["op"], asked["also"]) == ("deploy", ["float32+aqe4"])
    panel.more.show_measured({**panel.measured, "distance": "l2"}, "")
    panel.more.neighbours.setValue(5)
    assert panel.more.said.text() == COSINES
    assert not panel.more.measure.isEnabled()


def test_two_lists_in_a_low_page_leave_the_query_a_small_picture(qtbot, session, workspace, run):
    search_queries(workspace, run.evaluations[-1], AQE)
    page = open_page(qtbot, session, (1000, 560))
    large = page.result.picture.width()
    choose(page, AQE)
    at_rest(qtbot, page)
    assert page.result.picture.width() < large
    choose(page, None)
    at_rest(qtbot, page)
    assert page.result.picture.width() == large


def test_the_axis_of_quality_ends_at_all(qtbot):
    plot = qtbot.addWidget(TradePlot("Quality by size", "bytes per image"))
    plot.show_points([Point("float32", "float32", 64, 100.0, 99.9, 100.0), Point("int8", "int8", 16, 99.2, 98.9, 99.5)])
    written = Written([])
    theme_now = theme.current()
    plot.paint(written, QRectF(0, 0, 300, 160), theme_now)
    written.end()
    shares = [float(words) for words in written.words if words.replace(".", "").isdigit() and float(words) > 90]
    assert max(shares) == 100


def test_a_query_that_was_not_asked_says_so_and_stands_last(qtbot, session, workspace, run):
    whole = search_queries(workspace, run.evaluations[-1], AQE)
    columns = ("queries", "near", "before", "similarities", "ap", "plain_ap")
    some = replace(whole, **{name: getattr(whole, name)[::2] for name in columns})
    store_searched(workspace, run.evaluations[-1], some)
    page = open_page(qtbot, session)
    choose(page, AQE)
    at_rest(qtbot, page)
    page.browsing.sort(GAIN, descending=True)
    asked = set(run.ids[some.queries].tolist())
    assert [sample in asked for sample in listed(page)] == [True] * 24 + [False] * 24
    table = page.queries.table.model()
    assert table.index(47, GAIN).data() == NO_VALUE
    assert "over 24 of 48 queries" in page.queries.why.differences.text()
    page.browsing.choose(listed(page)[-1])
    at_rest(qtbot, page)
    said = "αQE 10 did not search with this image: as in Deployment, only 24 of 48 queries are searched."
    assert page.result.other.row.title.text() == said
    assert not page.result.other.row.cards


def test_what_is_offered_for_one_run_is_not_offered_for_another(qtbot, session, workspace, run, monkeypatch):
    monkeypatch.setattr(method_search, "AT_ONCE", 0.5)
    other = store_run(workspace, LABELS, name="Other", k=47)
    page = open_page(qtbot, session)
    choose(page, AQE)
    at_rest(qtbot, page)
    assert page.queries.why.search.isVisible()
    session.show_run(other.run_id)
    at_rest(qtbot, page)
    assert not page.queries.why.search.isVisible()
    assert page.queries.why.compare.currentData() is None


def test_the_stores_can_be_sorted_and_the_chosen_one_stays(qtbot, session, workspace, run):
    deployment(workspace, run.evaluations[-1], ["int8", "pca4", "binary"], 0.01)
    page = open_page(qtbot, session, (1200, 760))
    panel = page.views.make(2)
    page.views.setCurrentIndex(2)
    qtbot.waitUntil(lambda: panel.measured is not None)
    measured = ["float32", "int8", "pca4", "binary"]
    assert [row.name for row in panel.stores.rows] == measured
    panel.choose("pca4")
    panel.table.sortByColumn(1, Qt.SortOrder.AscendingOrder)
    assert [row.name for row in panel.stores.rows] == ["binary", "int8", "pca4", "float32"]
    assert panel.chosen == "pca4"
    panel.gallery.setValue(5_000)
    assert panel.chosen == "pca4"
    panel.table.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
    assert [row.name for row in panel.stores.rows] == measured
    assert panel.chosen == "pca4"
