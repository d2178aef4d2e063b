"""The Retrieval page against another run on the same samples, and its export with causes."""

import csv

import numpy as np
import pytest
from small_run import blobs, store_run

from tests.ui.browsed import at_rest, open_page
from tests.ui.pointing import choose as pick
from workbench.comparing.queries.counterparts import counterparts
from workbench.results.mistakes import read_changes
from workbench.ui.pages.retrieval.model.cause_names import TITLES

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints|does not support raise")
LABELS = np.repeat(np.arange(4), 10)


def tables(seed):
    return [blobs(LABELS, 1.4, seed), blobs(LABELS, 1.0, seed)]


@pytest.fixture
def runs(workspace):
    """Two runs of one data set, and one of another."""
    found = [store_run(workspace, LABELS, embeddings=tables(seed)) for seed in (0, 1)]
    store_run(workspace, LABELS[:-1], name="Other data")
    return found


@pytest.fixture
def page(qtbot, session, runs):
    session.show_run(runs[0].run_id)
    made = open_page(qtbot, session, (960, 700))
    qtbot.waitUntil(lambda: made.browsing.filters.explained is not None)
    qtbot.waitUntil(lambda: made.queries.why.compare.findData(runs[1].evaluations[-1]) >= 0)
    return made


def choose(combo, data):
    pick(combo, combo.findData(data))


def test_only_runs_on_the_same_samples_can_be_compared(workspace, runs):
    every = workspace.runs()
    found = counterparts(workspace, workspace.run(runs[0].run_id), every)
    assert {each.run.id for each in found} == {runs[1].run_id}
    assert [each.evaluation.id for each in found] == [runs[1].evaluations[-1]], "best and last are one"
    with workspace.writing() as db:
        ids = (int(runs[0].ids[0]), runs[1].evaluations[-1])
        db.execute("delete from queries where sample_id = ? and evaluation_id = ?", ids)
    assert counterparts(workspace, workspace.run(runs[0].run_id), every) == [], "another test set"


def test_a_run_on_the_same_images_at_another_size_can_be_compared(workspace, runs):
    large = store_run(workspace, LABELS, pictures=np.zeros((40, 16, 16, 1), np.uint8))
    assert workspace.run(large.run_id).dataset_id != workspace.run(runs[0].run_id).dataset_id
    others = counterparts(workspace, workspace.run(runs[0].run_id), workspace.runs())
    assert {other.run.id for other in others} == {runs[1].run_id, large.run_id}


@pytest.mark.parametrize("ending", ["", ", seed 0", ", seed 0, fold 1"])
def test_another_run_is_listed_with_its_seed_once(qtbot, session, workspace, runs, ending):
    shown, other = runs
    with workspace.writing() as db:
        db.execute("update runs set name = ? where id = ?", (f"Small{ending}", other.run_id))
    session.show_run(shown.run_id)
    compare = open_page(qtbot, session, (960, 700)).queries.why.compare
    qtbot.waitUntil(lambda: compare.findData(other.evaluations[-1]) >= 0)
    words = compare.itemText(compare.findData(other.evaluations[-1]))
    assert words == f"Run {other.run_id}, Small{ending or ', seed 0'}: best, epoch 2"


def test_the_same_query_stands_side_by_side_with_another_run(page, session, runs, qtbot):
    why, result, there = page.queries.why, page.result, runs[1].evaluations[-1]
    assert result.other.isHidden()
    choose(why.compare, there)
    qtbot.waitUntil(why.differences.isVisible)
    expected = read_changes(session.workspace, there, runs[0].evaluations[-1])
    assert why.differences.text().startswith(
        f"Against epoch 2 of run {runs[1].run_id}: {len(expected.won)} won, {len(expected.lost)} lost"
    )
    for key, ids in (("won", expected.won), ("lost", expected.lost)):
        assert len(ids), "the two runs differ"
        session.show_query(int(ids[0]))
        at_rest(qtbot, page)
        near = session.workspace.neighbours(runs[1].run_id, int(ids[0]), there)
        assert [card.neighbour for card in result.other.row.cards] == near[:24]
        first_hit = session.workspace.query(there, int(ids[0])).first_hit
        assert result.other.row.title.text().startswith(
            f"Epoch 2 of run {runs[1].run_id}: first hit at rank {first_hit}"
        )
        assert result.explanation.text().endswith(f": {key}.")
    shown = {card.neighbour.sample_id for card in result.cards}
    both = len({each.sample_id for each in near[:20]} & shown)
    assert f"{both} of the first 20 are in both" in result.other.row.title.text()
    choose(why.compare, None)
    assert result.other.isHidden()
    choose(why.compare, there)
    at_rest(qtbot, page)
    session.show_run(runs[1].run_id)
    at_rest(qtbot, page)
    assert result.other.isHidden()
    assert why.compare.currentData() is None


def test_a_query_that_the_other_run_has_not_is_said(page, session, runs, qtbot):
    choose(page.queries.why.compare, runs[1].evaluations[-1])
    with session.workspace.writing() as db:
        db.execute(
            "delete from queries where evaluation_id = ? and sample_id = ?",
            (runs[1].evaluations[-1], int(runs[0].ids[3])),
        )
    session.show_query(int(runs[0].ids[3]))
    at_rest(qtbot, page)
    assert "is not a query at epoch 2 of run" in page.result.other.row.title.text()
    assert page.result.other.row.cards == []


def exported(page, path, qtbot):
    page.export_to(path)
    qtbot.waitUntil(path.exists)
    return list(csv.DictReader(path.read_text("utf-8").splitlines()))


def test_the_export_says_why_queries_failed(page, session, tmp_path, qtbot):
    rows = exported(page, tmp_path / "queries.csv", qtbot)
    found = page.browsing.filters.explained
    assert {row["cause"] for row in rows} >= {""}
    for row in rows:
        about = found.about(int(row["sample_id"]))
        assert (about is None) == (row["first_hit"] == "1") == (row["cause"] == "")
        if about is not None:
            assert row["cause"] == TITLES[about.cause]
            assert row["other_causes"] == "; ".join(TITLES[each] for each in about.also)
            assert int(row["nearest_sample_id"]) == about.nearest
            assert float(row["nearest_distance"]) == pytest.approx(about.gap)


def test_an_export_without_the_ranking_has_no_causes_and_says_so(session, runs, tmp_path, qtbot):
    (session.workspace.folder(runs[0].run_id) / "ranking-2.npz").unlink()
    said = []
    session.noticed.connect(said.append)
    session.show_run(runs[0].run_id)
    page = open_page(qtbot, session)
    qtbot.waitUntil(lambda: bool(said))
    rows = exported(page, tmp_path / "queries.csv", qtbot)
    qtbot.waitUntil(lambda: "It has no causes: The file" in str(said[-1]))
    assert len(rows) == 40
    assert {row["cause"] for row in rows} == {""}
