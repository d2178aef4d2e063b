"""The list of queries, ordered and filtered in memory; pictures come from a thread into a bounded cache."""

import threading

import numpy as np
import pytest
from PySide6.QtCore import Qt
from small_run import store_run

from workbench.progress import quiet
from workbench.ui.pages.retrieval.model import listing as listing_module
from workbench.ui.pages.retrieval.model.filters import Filters
from workbench.ui.pages.retrieval.model.listing import CLASS, Listing
from workbench.ui.pages.retrieval.model.reading import read_evaluation
from workbench.ui.pages.retrieval.queries import query_table
from workbench.ui.pages.retrieval.queries.query_table import QueryTable
from workbench.ui.widgets.images import pictures
from workbench.ui.widgets.images.pictures import as_image, shared_loader

LABELS = np.repeat(np.arange(6), 50)
NAMES = tuple(f"class {label:02}" for label in range(7))
LONELY = np.concatenate([LABELS, [6]])  # the last class has one image


@pytest.fixture
def run(workspace):
    return store_run(workspace, LONELY, with_proxies=False)


@pytest.fixture
def shown(session, run):
    session.show_run(run.run_id)
    return session


@pytest.fixture
def model(shown, run):
    """The table of all queries."""
    return QueryTable(made_listing(shown, run), shared_loader(shown))


def made_listing(shown, run, **chosen):
    listing = Listing()
    listing.show(shown.workspace.queries(run.evaluations[-1]), NAMES)
    listing.arrange(Filters(**chosen))
    return listing


def test_classes_that_are_whole_numbers_are_in_the_order_of_numbers_and_others_in_that_of_the_data(shown, run):
    listing = Listing()
    listing.show(shown.workspace.queries(run.evaluations[-1]), ("0", "1", "10", "11", "2", "b", "a"))
    assert listing.names == ["0", "1", "2", "10", "11", "b", "a"]
    assert listing.labels == [0, 1, 4, 2, 3, 5, 6]
    listing.column, listing.descending = CLASS, False
    listing.arrange(Filters())
    ordered = [listing.query(position).class_name for position in range(301)]
    assert list(dict.fromkeys(ordered)) == listing.names


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize(("column", "name"), [(1, "labels"), (2, "ap"), (3, "first_hit")])
def test_every_order_and_those_without_a_value_come_last(shown, run, column, name, descending):
    listing, queries = made_listing(shown, run), shown.workspace.queries(run.evaluations[-1])
    listing.column, listing.descending = column, descending
    listing.arrange(Filters())
    rows = [queries.sample_ids.tolist().index(key) for key in listing.sample_ids.tolist()]
    assert sorted(rows) == list(range(301))
    values = getattr(queries, name).astype(float)
    if name != "labels":
        assert rows[-1] == 300, "a query without another image of its class has no score"
        rows = rows[:-1]
    steps, ids = np.diff(values[rows]), np.diff(queries.sample_ids[rows])
    assert (steps <= 0).all() if descending else (steps >= 0).all()
    assert (ids[steps == 0] > 0).all(), "of equals the lower id first"


def test_failures_class_and_selection_filter_together(shown, run):
    queries = shown.workspace.queries(run.evaluations[-1])
    wrong = queries.sample_ids[~queries.right & (queries.r > 0)]
    assert 0 < len(wrong) < 300
    failed = made_listing(shown, run, failures_only=True)
    assert set(failed.sample_ids.tolist()) == set(wrong.tolist())
    assert run.ids[300] not in failed.sample_ids, "alone in its class: that is no failure"
    assert set(made_listing(shown, run, label=2).sample_ids.tolist()) == set(run.ids[LONELY == 2].tolist())
    all_three = made_listing(shown, run, failures_only=True, label=2, selection=run.ids[90:110])
    assert set(all_three.sample_ids.tolist()) == set(wrong.tolist()) & set(run.ids[100:110].tolist())
    assert all_three.total == 301
    assert all_three.labels == [0, 1, 2, 3, 4, 5, 6]
    assert all_three.names[6] == "class 06"
    assert len(made_listing(shown, run, selection=run.ids[:1])) == 301, "one sample is a query looked at"


def test_places_beyond_the_list_hold_no_query(shown, run):
    listing = made_listing(shown, run)
    assert (listing.sample_id(-1), listing.sample_id(301)) == (None, None)
    assert listing.position_of(None) == listing.position_of(-7) == -1
    assert listing.position_of(listing.sample_id(17)) == 17


def test_the_table_keeps_qts_rules(model, qtmodeltester):
    qtmodeltester.check(model)


def test_what_cannot_be_told_is_a_dash(model):
    assert [model.index(300, column).data() for column in range(4)] == ["", "class 06", "–", "–"]
    assert "AP –," in model.index(300, 1).data(Qt.ItemDataRole.AccessibleTextRole)
    assert "class 06" in model.index(300, 1).data(Qt.ItemDataRole.ToolTipRole)


# Pictures


def test_pictures_come_from_another_thread_and_only_for_what_is_looked_at(qtbot, model, run, monkeypatch):
    threads = []
    whole = pictures.load
    monkeypatch.setattr(
        pictures, "load", lambda *values: threads.append(threading.current_thread().name) or whole(*values)
    )
    changed = []
    model.dataChanged.connect(lambda first, last, roles: changed.append((first.row(), last.row())))
    assert model.index(0, 0).data(Qt.ItemDataRole.DecorationRole) is None
    qtbot.waitUntil(lambda: model.index(0, 0).data(Qt.ItemDataRole.DecorationRole) is not None)
    picture = model.index(0, 0).data(Qt.ItemDataRole.DecorationRole)
    assert max(picture.width(), picture.height()) == query_table.THUMBNAIL
    assert set(threads) == {"Load pictures"}
    assert changed
    assert max(last for _, last in changed) < 100, "far rows were not loaded"


def test_the_newest_wish_of_a_place_replaces_its_older_one_and_other_places_are_not_forgotten(
    qtbot, shown, run, monkeypatch
):
    loader = shared_loader(shown)
    asked = []
    whole = pictures.load
    monkeypatch.setattr(pictures, "load", lambda *values: asked.extend(values[3]) or whole(*values))
    ids = run.ids.tolist()
    loader.request("list", ids[:10], 36)  # on its way at once
    loader.request("list", ids[100:200], 36)
    loader.request("list", ids[200:210], 36)
    loader.request("grid", ids[50:60], 112)
    qtbot.waitUntil(lambda: all(loader.pixmap(each, 112) for each in ids[50:60]))
    qtbot.waitUntil(lambda: all(loader.pixmap(each, 36) for each in ids[200:210]))
    assert not {(each, 36) for each in ids[100:200]} & set(asked)
    assert asked.index((ids[50], 112)) < asked.index((ids[200], 36)), "the newest first"


def test_the_cache_is_bounded_and_drops_what_was_not_looked_at(qtbot, shown, run, monkeypatch):
    monkeypatch.setattr(pictures, "KEPT_BYTES", 20 * 64 * 64 * 4)
    loader, ids = shared_loader(shown), run.ids.tolist()
    loader.request("grid", ids[:20], 64)
    qtbot.waitUntil(lambda: all(loader.pixmap(each, 64) for each in ids[:20]))
    loader.pixmap(ids[0], 64)
    loader.request("grid", ids[20:25], 64)
    qtbot.waitUntil(lambda: all(loader.pixmap(each, 64) for each in ids[20:25]))
    kept = [each for each in ids[:25] if loader.pixmap(each, 64) is not None]
    assert len(kept) == 20
    assert ids[0] in kept
    assert ids[1] not in kept


def test_missing_pictures_are_told_once_and_never_silently_blank(qtbot, shown, run):
    told = []
    shown.noticed.connect(told.append)
    run.pixels.unlink()
    loader, ids = shared_loader(shown), run.ids.tolist()
    loader.request("grid", ids[:4], 64)
    qtbot.waitUntil(lambda: all(loader.absent(each) for each in ids[:4]))
    loader.request("grid", ids[4:8], 64)
    qtbot.waitUntil(lambda: bool(loader.absent(ids[7])))
    assert len(told) == 1
    assert "gone" in loader.absent(ids[0])
    loader.forget()
    assert not loader.absent(ids[0]), "looked for again"


def test_pictures_of_another_data_set_are_never_mixed(qtbot, session, workspace, run):
    bright = store_run(workspace, np.array([0, 0, 1]), pictures=np.full((3, 8, 8, 1), 250, np.uint8), name="Bright")
    session.show_run(run.run_id)
    loader = shared_loader(session)
    loader.request("grid", run.ids[:3].tolist(), 64)
    session.show_run(bright.run_id)  # the same ids in another data set
    loader.request("grid", bright.ids.tolist(), 64)
    qtbot.waitUntil(lambda: loader.pixmap(int(bright.ids[2]), 64) is not None)
    for each in bright.ids.tolist():
        assert loader.pixmap(each, 64).toImage().pixelColor(30, 30).lightness() > 240


def test_what_was_on_its_way_is_not_taken_after_forgetting(qtbot, shown, run):
    loader, first = shared_loader(shown), int(run.ids[0])
    loader.request("grid", [first], 64)
    run.pixels.unlink()
    loader.forget()
    loader.request("grid", run.ids[1:3].tolist(), 64)
    qtbot.waitUntil(lambda: bool(loader.absent(int(run.ids[2]))))
    assert loader.pixmap(first, 64) is None


def test_a_loader_whose_task_was_cancelled_goes_on(qtbot, shown, run, monkeypatch):
    loader, tasks, start = shared_loader(shown), [], shown.run_in_thread
    monkeypatch.setattr(shown, "run_in_thread", lambda *work, **how: tasks.append(start(*work, **how)) or tasks[-1])
    loader.request("grid", run.ids[:40].tolist(), 64)
    with qtbot.waitSignal(tasks[0].ended):
        tasks[0].cancel()
    loader.request("grid", run.ids[:5].tolist(), 64)
    qtbot.waitUntil(lambda: loader.pixmap(int(run.ids[0]), 64) is not None)


def test_all_parts_of_a_session_share_one_loader(shown):
    assert shared_loader(shown) is shared_loader(shown)


def test_pictures_keep_their_shape_and_small_ones_their_pixels(qapp):
    wide = as_image(np.zeros((10, 40, 3), np.uint8), 120)
    assert (wide.width(), wide.height()) == (120, 30)
    two = np.array([[[0, 0, 0], [255, 255, 255]]] * 2, np.uint8)
    image = as_image(two, 100)
    assert {image.pixelColor(x, 50).lightness() for x in range(100)} == {0, 255}


def test_what_was_listed_stays_for_a_thread_that_writes_it(shown, run):
    listing = made_listing(shown, run, failures_only=True)
    ids, rows = listing.sample_ids.tolist(), listing.all()
    expected = [listing.query(position) for position in range(len(listing))]
    listing.arrange(Filters())
    assert [row.sample_id for row in expected] == ids
    assert list(rows) == expected
    listing.show(None, ())
    listing.arrange(Filters())
    assert list(listing.all()) == []


def test_the_thread_that_reads_an_evaluation_puts_it_in_order(shown, run, monkeypatch):
    read = read_evaluation(shown.workspace, run.evaluations[-1], quiet)
    monkeypatch.setattr(listing_module, "in_order", None)  # what is shown needs no sorting any more
    listing = Listing()
    listing.show(read.queries, NAMES, read.sorted_by)
    listing.arrange(Filters())
    assert listing.sample_ids.tolist() == made_order(read.queries)


def test_what_the_thread_knows_needs_no_search_on_the_window_s(shown, run, monkeypatch):
    read = read_evaluation(shown.workspace, run.evaluations[-1], quiet)
    listing = Listing()
    listing.show(read.queries, NAMES, read.sorted_by)
    monkeypatch.setattr(listing, "class_name", None)
    assert listing.names == list(NAMES)
    monkeypatch.setattr(np, "isin", None)  # it sorts all ids, and holds the interpreter lock
    some = np.append(read.queries.sample_ids[::3], -1)
    listing.arrange(Filters(selection=some))
    assert set(listing.sample_ids.tolist()) == set(some[:-1].tolist())


def test_a_list_that_is_arranged_already_stays_and_is_not_drawn_again(shown, run, qtbot):
    listing = made_listing(shown, run)
    model, before = QueryTable(listing, shared_loader(shown)), listing.sample_ids
    resets = []
    model.modelReset.connect(lambda: resets.append(len(listing)))
    listing.arrange(Filters())
    model.relist()
    assert listing.sample_ids is before
    assert resets == []
    listing.descending = True
    listing.arrange(Filters())
    model.relist()
    assert resets == [301]
    listing.arrange(Filters(failures_only=True))
    assert len(listing) < 301
    model.relist()
    listing.show(shown.workspace.queries(run.evaluations[0]), NAMES)
    listing.arrange(Filters())
    model.relist()
    assert len(resets) == 3


def made_order(queries):
    """Ids by rising AP, those without one last, of equals the lower id first."""
    rows = np.lexsort((queries.sample_ids, np.where(queries.r == 0, 0, queries.ap), queries.r == 0))
    return queries.sample_ids[rows].tolist()
