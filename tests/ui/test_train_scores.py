"""The Train page of a run that trained nothing: its scores in place of empty curves."""

from dataclasses import replace

import numpy as np
import pytest

from tests.unit.comparing.compared_runs import store, store_test
from workbench.ui.pages.train import TrainPage

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)  # Qt's offscreen platform, at every show
NUMBERS = np.array([0.8, 0.6, 0.4, 0.2, 0.9, 0.7])


@pytest.fixture
def page(session, qtbot):
    made = qtbot.addWidget(TrainPage(session))
    made.resize(900, 700)
    made.show()
    return made


@pytest.fixture
def trained(workspace):
    return store(workspace, {1: NUMBERS, 2: NUMBERS / 2}, name="Trees")


def tabs(page):
    return [page.views.tabText(tab) for tab in range(page.views.count()) if page.views.isTabVisible(tab)]


def cells(table):
    return [
        [table.item(row, column).text() for column in range(table.columnCount())] for row in range(table.rowCount())
    ]


def shown(qtbot, session, run_id):
    session.show_run(run_id)
    qtbot.waitUntil(lambda: bool(session.evaluations()))


def test_a_test_shows_its_scores_beside_those_on_the_own_test_half(qtbot, session, workspace, page, trained):
    test = store_test(workspace, trained, NUMBERS / 4, called="night", asked="best", images="elsewhere/night")
    shown(qtbot, session, test)
    qtbot.waitUntil(lambda: page.scores.tests.isVisible())
    assert tabs(page) == ["Scores", "Geometry"]
    assert page.views.currentWidget() is page.scores
    assert f"run {trained} (“Trees”) after epoch 1 (then its best), on elsewhere" in page.scores.origin.text()
    heads = [page.scores.metrics.horizontalHeaderItem(column).text() for column in range(5)]
    assert heads == ["Metric", "On night", "95%", f"Run {trained}, own test set", "95%"]
    assert cells(page.scores.metrics) == [
        ["R@1", "0.0%", "–", "66.7%", "–"], ["MAP@R", "15.0%", "–", "60.0%", "–"], ["Queries", "6", "", "6", ""],
    ]  # fmt: skip
    for table in (page.scores.metrics, page.scores.tests.table):
        for column in range(table.columnCount()):  # a head stands over its numbers
            assert table.horizontalHeaderItem(column).textAlignment() == table.item(0, column).textAlignment()
    assert not page.tiles.loss.isVisible()
    assert page.tiles.score.number.text() == "15.0"
    assert not page.findings.isVisible()


def test_the_trained_run_is_opened_and_has_its_curves_again(qtbot, session, workspace, page, trained):
    shown(qtbot, session, trained)
    page.views.setCurrentWidget(page.system)
    shown(qtbot, session, store_test(workspace, trained, NUMBERS))
    assert page.views.currentWidget() is page.scores
    page.scores.open.click()
    qtbot.waitUntil(lambda: session.run_id == trained and "Scores" not in tabs(page))
    assert {"Curves", "Anatomy", "Geometry", "System"} <= set(tabs(page))
    assert page.views.currentWidget() is page.system
    assert page.tiles.loss.isVisible()


def test_a_test_says_why_no_own_test_half_stands_beside_it(qtbot, session, workspace, page, trained):
    test = store_test(workspace, trained, NUMBERS, epoch=5)
    shown(qtbot, session, test)
    said = page.scores.missing
    qtbot.waitUntil(lambda: said.text() == f"Run {trained} has no evaluation of epoch 5 on its own test set.")
    workspace.trash(trained)
    qtbot.waitUntil(lambda: "is deleted, in the trash or in another workspace" in said.text())
    assert not page.scores.open.isVisible()


def test_imported_embeddings_have_their_scores_alone(qtbot, session, workspace, page):
    parts = {kind: {"name": "imported"} for kind in ("dataset", "backbone", "loss", "split", "sampler", "augmentation")}
    facts = {"imported": {"embeddings": "mine.npy"}}
    shown(qtbot, session, store(workspace, {1: NUMBERS}, facts=facts, **parts))
    assert tabs(page) == ["Scores", "Geometry"]
    assert page.scores.origin.text() == (
        "Embeddings of a model trained elsewhere, imported from mine.npy: there are no training curves."
    )
    assert [row[0] for row in cells(page.scores.metrics)] == ["R@1", "MAP@R", "Queries"]
    assert not page.scores.tests.isVisible()
    assert page.scores.missing.text() == page.header.epoch.text() == ""
    run = session.run()
    page.scores.show_run(run, None)
    assert page.scores.missing.text() == "", "its evaluation is still being read"
    page.scores.show_run(replace(run, best={}), None)
    assert page.scores.missing.text() == f"Run {run.id} has no evaluation."


def test_a_number_of_queries_that_is_none_is_a_dash(qtbot, session, workspace, page, trained):
    test = store_test(workspace, trained, NUMBERS / 4)
    with workspace.writing() as db:
        db.execute("update evaluations set metrics = json_set(metrics, '$.queries', null) where run_id = ?", (test,))
    shown(qtbot, session, test)
    qtbot.waitUntil(lambda: page.scores.metrics.columnCount() == 5)
    assert cells(page.scores.metrics)[-1] == ["Queries", "–", "", "6", ""]


@pytest.mark.parametrize("epoch", [-5, True])
def test_an_epoch_that_no_network_has_is_not_said(session, workspace, trained, epoch):
    test = store_test(workspace, trained, NUMBERS, epoch=epoch)
    assert workspace.run(test).tested_epoch is None
