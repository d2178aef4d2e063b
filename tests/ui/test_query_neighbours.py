"""Compare, Queries: the neighbours of the chosen query in both groups, beside each other."""

import numpy as np
import pytest
from PySide6.QtCore import Qt

from tests.ui.compared_groups import ids_of, store_compared, two_compared
from tests.ui.ticking import tick
from workbench.ui.pages.compare.queries.query_neighbours import MOST, NOT_KEPT, AskedQuery
from workbench.ui.pages.compare.queries.query_rows import WORSE
from workbench.ui.widgets.images.neighbour_card import NeighbourCard
from workbench.workspace.rows import Neighbour

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
LABELS = np.repeat(np.arange(3), 10)
NAMES = ("ant", "bee", "cat & <b>dog</b>")
IDS = ids_of(LABELS)


@pytest.fixture
def page(qtbot, session):
    """Two groups of one run each, of which the second is far worse."""
    compare = two_compared(qtbot, session, LABELS, NAMES)
    compare.tabs.open("Queries")
    return compare


def choose(qtbot, queries, row=0):
    """Choose a row of the table and wait for its neighbours; its sample id."""
    queries.table.setCurrentIndex(queries.model.index(row, 0))
    qtbot.waitUntil(lambda: all(near.cards for near in queries.near.rows))
    return int(queries.model.comparison.queries.sample_ids[queries.model.rows[row]])


def test_the_neighbours_in_both_groups_are_those_that_are_stored(qtbot, page, workspace):
    queries = page.tabs.queries
    assert queries.near.isHidden(), "no query is chosen"
    sample_id = choose(qtbot, queries)
    assert queries.near.isVisible()
    for run_id, side, row in zip((1, 2), ("Baseline", "Other"), queries.near.rows, strict=True):
        stored = workspace.neighbours(run_id, sample_id)
        cards = row.cards
        assert 3 < len(cards) <= MOST
        assert [card.neighbour for card in cards] == stored[: len(cards)]
        first = workspace.query(run_id, sample_id).first_hit
        assert row.title.text() == f"{side}, seed 0: first hit at rank {first}"
    class_name, path = queries.near.name.text(), queries.near.path.text()
    assert queries.near.picture.accessibleName() == f"The query {path}, of class {class_name}"
    assert path == f"{IDS.tolist().index(sample_id):03}.png"
    assert page.model.comparison.first.title in queries.near.rows[0].title.toolTip()


def test_another_query_has_other_neighbours_and_none_hides_them(qtbot, page):
    queries = page.tabs.queries
    before = choose(qtbot, queries)
    shown = [card.neighbour.sample_id for card in queries.near.rows[0].cards]
    queries.table.setCurrentIndex(queries.model.index(queries.model.rowCount() - 1, 0))
    qtbot.waitUntil(lambda: [card.neighbour.sample_id for card in queries.near.rows[0].cards] != shown)
    queries.kind.setCurrentText(WORSE)
    assert queries.near.isHidden(), "no row is chosen any more"
    assert choose(qtbot, queries) == before
    page.tabs.say("Comparing…")
    assert queries.near.isHidden()


def test_a_neighbour_is_opened_in_its_run_by_mouse_and_by_keys(qtbot, page, session):
    queries, asked = page.tabs.queries, []
    session.page_asked.connect(asked.append)
    choose(qtbot, queries)
    first, second = queries.near.rows
    opened = second.cards[1].neighbour.sample_id
    qtbot.mouseClick(second.cards[1], Qt.MouseButton.LeftButton)
    assert (session.run_id, session.query, asked) == (2, opened, ["retrieval"])
    first.cards[0].setFocus()
    qtbot.keyClick(first.cards[0], Qt.Key.Key_Right)
    assert first.cards[1].hasFocus(), "the arrow keys go through a row, which is one stop of Tab"
    qtbot.keyClick(first.cards[1], Qt.Key.Key_Return)
    assert (session.run_id, session.query) == (1, first.cards[1].neighbour.sample_id)
    stops = [card for card in first.cards if card.focusPolicy() == Qt.FocusPolicy.StrongFocus]
    assert len(stops) == 1


def test_a_query_that_cannot_be_read_says_so_and_the_next_is_shown(qtbot, page):
    near = page.tabs.queries.near
    choose(qtbot, page.tabs.queries)
    pair = page.model.paired_runs()[0]
    near.show_query(AskedQuery(12345, pair, "seed 0", ("A", "B")))
    qtbot.waitUntil(lambda: "12345" in near.said.text())
    assert not any(row.isVisible() for row in near.rows)
    near.show_query(AskedQuery(int(IDS[4]), pair, "seed 0", ("A", "B")), ("ant", "004.png"))
    qtbot.waitUntil(lambda: all(row.isVisible() for row in near.rows))
    assert near.said.isHidden()


def test_runs_without_stored_neighbours_say_so(qtbot, page):
    queries = page.tabs.queries
    queries.show_comparison(page.model.comparison, page.model.pair.named, "", [])
    queries.table.setCurrentIndex(queries.model.index(0, 0))
    assert queries.near.said.text() == NOT_KEPT
    assert queries.near.said.isVisible()


def test_the_pair_of_runs_that_has_the_query_is_named(qtbot, page, session, workspace):
    for seed in (1, 2):
        store_compared(workspace, LABELS, NAMES, "A", 0.2, 0.1, seed)
        store_compared(workspace, LABELS, NAMES, "B", 3.0, 0.2, seed)
    tick(qtbot, page, 1, 2, 3, 4, 5, 6)
    qtbot.waitUntil(lambda: page.model.comparison is not None and len(page.model.comparison.seeds) == 3)
    choose(qtbot, page.tabs.queries)
    assert [row.title.text().partition(":")[0] for row in page.tabs.queries.near.rows] == [
        "Baseline, seed 0",
        "Other, seed 0",
    ]


def test_as_many_cards_are_shown_as_have_room(qtbot, page):
    row = page.tabs.queries.near.rows[0]
    choose(qtbot, page.tabs.queries)
    many = len(row.cards)
    page.resize(760, 700)
    qtbot.waitUntil(lambda: 0 < len(row.cards) < many)
    assert row.cards[-1].geometry().right() < row.width()


def test_large_text_scrolls_instead_of_being_cut(qtbot, page, large):
    queries = page.tabs.queries
    page.resize(900, 560)
    choose(qtbot, queries)
    for near in queries.near.rows:
        qtbot.waitUntil(lambda near=near: near.cards[0].height() >= near.cards[0].sizeHint().height())
    assert queries.near.height() >= queries.near.minimumSizeHint().height()


def test_a_small_card_has_its_similarity_in_the_tooltip(qtbot):
    card = qtbot.addWidget(NeighbourCard(side=40, does="Click."))
    card.show_neighbour(Neighbour(3, 7, 0.5, True, 2, NAMES[2]), judged=True)
    assert "0.500" in card.toolTip()
    assert "<b>dog" not in card.toolTip()
    assert card.accessibleName() == f"Neighbour 3, right, {NAMES[2]}, similarity 0.500"
    assert card.sizeHint().width() < 60
    card.show_neighbour(Neighbour(3, 7, -1.25, True, 2, NAMES[2]), judged=True)
    assert card.accessibleName().endswith("similarity −1.250")
