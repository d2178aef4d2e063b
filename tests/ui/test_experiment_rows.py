"""Runs of one experiment stand in one row of the Runs list, which unfolds by a click; the window starts them all."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from tests.ui.started import started
from workbench.config import Choice, EvaluationParams, RunConfig, TrainingParams
from workbench.running import folds_and_seeds
from workbench.ui.docks.run_row import ICON, PAD
from workbench.ui.models.run_list import FOLD_ROLE, RUN_ROLE, together
from workbench.ui.window.main_window import MainWindow
from workbench.workspace.experiments import experiments

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def config(**changes):
    values = {
        "name": "Three seeds", "device": "cpu", "seeds": 3, "training": TrainingParams(epochs=1, batch_size=64),
        "backbone": Choice(name="conv4", params={"width": 4}), "evaluation": EvaluationParams(probe_size=0),
    }  # fmt: skip
    return RunConfig(**{**values, **changes})


@pytest.fixture
def dock(qtbot, session, monkeypatch):
    monkeypatch.setattr("workbench.ui.window.page_stack.PageStack.make", lambda self, name: QWidget())
    folds_and_seeds.prepare(config(), session.workspace)
    session.workspace.create_run(config(name="Alone", seeds=1))
    session.follower.look()
    session.theme.apply()
    window = qtbot.shown(MainWindow(session), 1280, 720)
    return window.runs


def rows(dock):
    model = dock.model
    return [(index.data(), index.data(FOLD_ROLE)) for index in (model.index(row) for row in range(model.rowCount()))]


def press(dock, row):
    place = dock.list.visualRect(dock.model.index(row)).center()
    QTest.mouseClick(dock.list.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(place))


def test_a_click_unfolds_the_runs_of_an_experiment(dock, session):
    assert rows(dock) == [("Alone", ""), ("Three seeds", "folded")]
    press(dock, 1)
    assert rows(dock) == [
        ("Alone", ""), ("Three seeds", "open"), ("Three seeds, seed 0", "inside"), ("Three seeds, seed 1", "inside"),
        ("Three seeds, seed 2", "inside"),
    ]  # fmt: skip
    press(dock, 3)
    assert session.run().name == "Three seeds, seed 1"
    press(dock, 1)
    assert len(rows(dock)) == 2


def test_the_shown_run_stays_marked_and_the_keys_stay_at_the_row_that_unfolds(dock, session):
    alone = next(run for run in session.runs() if run.name == "Alone")
    session.show_run(alone.id)
    press(dock, 1)
    for _ in range(2):  # the list is read again while runs work
        assert [index.data() for index in dock.list.selectionModel().selectedIndexes()] == ["Alone"]
        assert dock.list.currentIndex().data() == "Three seeds"
        session.runs_changed.emit()
    QTest.keyClick(dock.list, Qt.Key.Key_Return)
    assert rows(dock) == [("Alone", ""), ("Three seeds", "folded")]


def ground(dock, row):
    """The colour of a row, left of its box."""
    place = dock.list.visualRect(dock.model.index(row))
    return dock.list.viewport().grab().toImage().pixelColor(place.x() + 3, place.bottom() - 3).name()


def test_a_folded_group_that_hides_the_shown_run_is_marked(dock, session):
    plain = ground(dock, 1)
    press(dock, 1)
    press(dock, 3)
    assert ground(dock, 1) == plain, "its own row is marked"
    chosen = ground(dock, 3)
    press(dock, 1)
    QTest.mouseMove(dock.list.viewport(), QPoint(5, dock.list.viewport().height() - 5))
    assert [name for name, _ in rows(dock)] == ["Alone", "Three seeds"]
    assert ground(dock, 1) not in (plain, chosen)
    press(dock, 0)
    assert session.run().name == "Alone"
    assert (ground(dock, 0), ground(dock, 1)) == (chosen, plain)


def test_the_arrow_of_a_group_lies_beside_its_name(dock, session):
    def arrow():
        place = dock.list.visualRect(dock.model.index(0))
        shown = dock.list.viewport().grab(place).toImage()
        return shown.copy(place.width() - PAD - ICON - 2, 0, ICON + 2, place.height() // 2)

    pictures = []
    for name in ("A", "A name that is as long as all that was changed of it, and longer"):
        folds_and_seeds.prepare(config(name=name), session.workspace)
        session.follower.look()
        QApplication.processEvents()
        assert dock.model.index(0).data() == name
        pictures.append(arrow())
    assert pictures[0] == pictures[1]


def test_the_row_tells_the_mean_and_how_far_the_work_is(dock, session):
    run = dock.model.index(1).data(RUN_ROLE)
    assert (run.status, run.epoch, run.epochs, run.best) == ("queued", 0, 3, {})
    dock.search.setText("seed 2")
    assert rows(dock) == [("Three seeds", "folded")]


def test_start_runs_every_seed_and_tells_the_result(qtbot, session):
    first = started(session, config(seeds=2))
    assert session.run_id == first
    assert len(session.queue.waiting) == 1
    qtbot.waitUntil(lambda: bool(session.experiments()[0].result))
    (experiment,) = session.experiments()
    runs = experiments.runs_of(session.workspace, experiment.id)
    assert [run.status for run in runs] == ["done", "done"]
    assert experiment.result["separated"]["MAP@R"] == pytest.approx([run.best["MAP@R"] for run in runs])
    assert "concatenated" not in experiment.result


def test_a_score_that_a_damaged_evaluation_has_not_is_no_mean_of_the_experiment(session):
    workspace = session.workspace
    run_ids = folds_and_seeds.prepare(config(), workspace)
    runs = [replace(workspace.run(run_id), status="done", best={"recall@1": 0.5, "MAP@R": 0.25}) for run_id in run_ids]
    stored = next(one for one in experiments.every(workspace) if one.id == workspace.run(run_ids[0]).experiment_id)
    assert together(stored, runs).best == {"recall@1": 0.5, "MAP@R": 0.25}
    runs[1] = replace(runs[1], best={"recall@1": 0.8})
    assert together(stored, runs).best == {"recall@1": pytest.approx(0.6)}
