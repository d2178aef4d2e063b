"""The query list reads pages and keys, not tables; pictures come off the window's thread into a bounded cache."""

import threading
from contextlib import closing

import numpy as np
import pytest
from PySide6.QtCore import Qt
from small_run import store_run

from workbench.ui.models import query_table
from workbench.ui.models.query_table import QueryTable
from workbench.ui.widgets import pictures
from workbench.ui.widgets.pictures import as_image, shared_loader
from workbench.workspace import query_listing
from workbench.workspace.connection import open_reader
from workbench.workspace.query_listing import Filter, Listing
from workbench.workspace.rows import Queries

LABELS = np.repeat(np.arange(6), 50)
LONELY = np.concatenate([LABELS, [6]])  # the last class has one image


@pytest.fixture
def run(workspace):
    return store_run(workspace, LONELY, with_proxies=False)


@pytest.fixture
def shown(session, run):
    session.show_run(run.run_id)
    return session


@pytest.fixture
def statements(monkeypatch, workspace):
    """Every statement that a new reader of the workspace runs."""
    found = []
    reader = workspace.reader

    def traced():
        db = reader()
        db.set_trace_callback(found.append)
        return db

    monkeypatch.setattr(workspace, "reader", traced)
    return found


@pytest.fixture
def model(shown, run):
    made = QueryTable(shown.workspace, shared_loader(shown))
    made.show(shown.workspace, run.evaluations[-1], Filter())
    return made


def keys_of(model):
    return [model.sample_id(row) for row in range(model.rowCount())]


def stored(shown, run) -> Queries:
    return shown.workspace.queries(run.evaluations[-1])


def pages(statements):
    """How many pages were read."""
    return len([each for each in statements if "query_rows" in each])


def test_a_jump_to_the_end_reads_one_page(model, statements):
    assert model.index(300, 1).data() == "class 06"
    assert model.index(290, 2).data()
    assert pages(statements) == 1
    assert len(statements) == 6, "the others check what the page shows"


def test_only_some_pages_are_kept(model, monkeypatch, statements):
    monkeypatch.setattr(query_table, "PAGE", 10)
    monkeypatch.setattr(query_table, "PAGES_KEPT", 3)
    for row in (5, 15, 25, 5, 35, 5):
        model.index(row, 1).data()
    assert pages(statements) == 4, "the page that is looked at again and again is kept"
    model.index(15, 1).data()
    assert pages(statements) == 5


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize(("column", "name"), [(1, "labels"), (2, "ap"), (3, "first_hit")])
def test_every_order_and_those_without_a_value_come_last(model, shown, run, column, name, down):
    model.sort(column, Qt.SortOrder.DescendingOrder if down else Qt.SortOrder.AscendingOrder)
    queries = stored(shown, run)
    values = getattr(queries, name).astype(float)
    rows = [queries.sample_ids.tolist().index(key) for key in keys_of(model)]
    assert sorted(rows) == list(range(301))
    if name == "labels":
        ordered = values[rows]
    else:
        assert rows[-1] == 300, "a query without another image of its class has no score"
        ordered = values[rows[:-1]]
    steps = np.diff(ordered)
    assert (steps <= 0).all() if down else (steps >= 0).all()


def test_failures_class_and_selection_filter_together(model, shown, run):
    queries = stored(shown, run)
    wrong = queries.sample_ids[~queries.right & (queries.r > 0)]
    evaluation, workspace = run.evaluations[-1], shown.workspace
    model.show(workspace, evaluation, Filter(failures=True))
    assert 0 < len(wrong) < 300
    assert set(keys_of(model)) == set(wrong.tolist())
    assert run.ids[300] not in keys_of(model), "alone in its class: that is no failure"
    model.show(workspace, evaluation, Filter(label=2))
    assert set(keys_of(model)) == set(run.ids[LONELY == 2].tolist())
    some = tuple(run.ids[90:110].tolist())
    model.show(workspace, evaluation, Filter(failures=True, label=2, samples=some))
    assert set(keys_of(model)) == set(wrong.tolist()) & set(run.ids[100:110].tolist())
    assert model.total == 301
    assert model.labels == [0, 1, 2, 3, 4, 5, 6]


def test_keys_are_answered_from_indexes_alone(shown, run):
    for column in range(4):
        listing = Listing(run.evaluations[-1], Filter(failures=True, label=1), column)
        asked = []
        whole = query_listing.read

        def spy(workspace, fields, source, values, asked=asked, whole=whole):
            asked.append((f"select {fields} from {source}", values))
            return whole(workspace, fields, source, values)

        query_listing.read = spy
        try:
            listing.keys(shown.workspace)
        finally:
            query_listing.read = whole
        assert asked
        with closing(shown.workspace.reader()) as db:
            plans = [" ".join(row[3] for row in db.execute(f"explain query plan {sql}", given)) for sql, given in asked]
        for (sql, _), plan in zip(asked, plans, strict=True):
            assert "COVERING INDEX" in plan, (sql, plan)
            assert "TEMP B-TREE" not in plan, (sql, plan)


def test_the_model_keeps_qts_rules(model, qtmodeltester):
    qtmodeltester.check(model)


def test_what_cannot_be_told_is_a_dash(model):
    assert [model.index(300, column).data() for column in range(4)] == ["", "class 06", "–", "–"]
    assert "AP – %" in model.index(300, 1).data(Qt.ItemDataRole.AccessibleTextRole)


def test_rows_that_another_program_took_away_do_not_break_the_list(model, shown, run):
    with shown.workspace.writing() as db:
        db.execute("delete from queries where evaluation_id = ?", (run.evaluations[-1],))
    assert model.index(3, 1).data() == "gone"
    assert model.index(3, 2).data() == "–"


def test_a_database_that_cannot_be_read_is_told_once_a_page(model, shown, monkeypatch, tmp_path):
    told = []
    model.failed.connect(told.append)
    (tmp_path / "spoilt.db").write_bytes(b"not a database" * 1000)
    monkeypatch.setattr(shown.workspace, "reader", lambda: open_reader(tmp_path / "spoilt.db"))
    model.index(3, 1).data()
    model.index(4, 1).data()
    assert len(told) == 1
    assert "damaged" in told[0].what


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


def test_a_loader_whose_task_was_cancelled_goes_on(qtbot, shown, run):
    loader = shared_loader(shown)
    loader.request("grid", run.ids[:40].tolist(), 64)
    loader._task.cancel()
    qtbot.waitUntil(lambda: loader._task is None)
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
