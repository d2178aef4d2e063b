"""The list of runs: tick, sort, filter, group, columns, inline rename, and what Ctrl+Z takes back."""

import tomllib
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton, QWidget

from tests.unit.comparing.compared_runs import store, store_test
from workbench.config import Choice, RunConfig
from workbench.control import Control
from workbench.entries import catalog
from workbench.ui.docks.arrange_menu import NONE_DIFFERS, ArrangeButton
from workbench.ui.docks.run_row import about
from workbench.ui.models.run_list import FOLD_ROLE, OTHER_GROUPS, RUN_ROLE, TICK, Arrangement, RunList, together
from workbench.ui.preferences import Preferences
from workbench.ui.window.main_window import MainWindow
from workbench.workspace import Workspace
from workbench.workspace.rows import Experiment

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
TICKED, EMPTY, SOME = Qt.CheckState.Checked, Qt.CheckState.Unchecked, Qt.CheckState.PartiallyChecked


@pytest.fixture
def runs(session, stored_evaluation):
    """Three runs: #1 CE done and best, #2 ICE failed, #3 CE queued."""
    made = []
    for name, loss in (("Beta", "ce"), ("alpha", "ice"), ("Gamma", "ce")):
        made.append(session.workspace.create_run(RunConfig(name=name, loss=Choice(name=loss))))
    stored_evaluation(made[0], 1)
    session.workspace.set_status(made[0], "done")
    session.workspace.set_status(made[1], "failed", "No data.")
    session.follower.look()
    return made


@pytest.fixture
def window(qtbot, session, runs, monkeypatch):
    monkeypatch.setattr("workbench.ui.window.page_stack.PageStack.make", lambda self, info: QWidget())
    session.theme.apply()
    return qtbot.shown(MainWindow(session), 1280, 720)


def names(model):
    return [model.index(row).data() for row in range(model.rowCount())]


def ticks(model):
    return [model.index(row).data(TICK) for row in range(model.rowCount())]


def arranged(session, **parts):
    model = RunList()
    model.show(session.runs(), session.experiments())
    model.arrange(Arrangement(**parts))
    return model


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("newest", ["Gamma", "alpha", "Beta"]),
        ("name", ["alpha", "Beta", "Gamma"]),
        ("best", ["Beta", "Gamma", "alpha"]),
        ("state", ["Beta", "alpha", "Gamma"]),
    ],
)
def test_runs_are_sorted(session, runs, order, expected):
    assert names(arranged(session, order=order)) == expected


@pytest.mark.parametrize(
    ("shown", "expected"),
    [("all", ["Gamma", "alpha", "Beta"]), ("live", ["Gamma"]), ("done", ["Beta"]), ("ended", ["alpha"])],
)
def test_runs_are_filtered_by_state(session, runs, shown, expected):
    assert names(arranged(session, filter=shown)) == expected


def test_runs_are_grouped_by_loss_under_rows_that_fold(session, runs):
    model = arranged(session, grouping="loss")
    assert names(model) == ["ce", "Beta", "Gamma", "ice", "alpha"]
    assert [model.index(row).data(FOLD_ROLE) for row in range(5)] == ["open", "inside", "inside", "open", "inside"]
    model.unfold(-model.index(0).data(Qt.ItemDataRole.UserRole + 1).id)
    assert names(model) == ["ce", "ice", "alpha"]


def test_tests_stand_with_the_loss_and_the_settings_of_the_run_that_trained(session, workspace):
    contrastive = [Choice(name="contrastive", params={"margin": margin}) for margin in (0.1, 0.7)]
    trained = [
        store(workspace, {1: np.full(6, 0.9)}, name=f"run {number}", loss=loss, dataset=Choice(name=data))
        for number, (loss, data) in enumerate(zip([*contrastive, Choice(name="ce")], "aab", strict=True))
    ]
    for number in trained:
        store_test(workspace, number, np.full(6, 0.3), called="snow")
    session.follower.look()
    model = arranged(session, grouping="loss")
    assert names(model) == [
        "ce", "run 2", "run 2 on snow", "contrastive", "run 0", "run 1", "run 0 on snow", "run 1 on snow",
    ]  # fmt: skip
    assert model.index(0).data(RUN_ROLE).best["MAP@R"] == pytest.approx(0.9), "tests are of other images"
    configs = {config: f"margin {tomllib.loads(config)['loss'].get('margin')}" for config in model.configs_for()}
    model.arrange(Arrangement(grouping="loss.margin"))
    model.group("loss.margin", configs)
    assert names(model)[3:6] == ["margin 0.7", "run 1", "run 1 on snow"]
    assert workspace.run(trained[0]).config in model.configs_for("loss.margin")
    assert len(set(model.configs_for("loss.margin"))) == len(trained)
    assert len(set(model.configs_for("dataset.name"))) == 2 * len(trained), "a test has its own data"


def test_an_experiment_says_its_data_and_loss_and_a_group_of_other_runs_does_not(session, runs):
    known = {"loss/ice": {"title": "Instance cross-entropy (ICE)"}, "dataset/digits": {"title": "Digits"}}
    members = [session.workspace.run(runs[1])] * 2
    seeds = together(Experiment(4, "Sample", "", "", {}), members)
    by_data = together(Experiment(OTHER_GROUPS + 4, "Digits", "", "", {}), members)
    assert (about(seeds, known), about(by_data, known)) == ("Digits · ICE · 0 of 2 done", "0 of 2 done")


def test_the_tick_of_a_group_is_that_of_its_runs(session, runs, qtmodeltester):
    model = arranged(session, grouping="loss")
    qtmodeltester.check(model)
    model.tick(1)
    assert ticks(model) == [SOME, TICKED, EMPTY, EMPTY, EMPTY]
    model.tick(0)
    assert ticks(model)[:3] == [TICKED] * 3
    assert model.ticked == [runs[0], runs[2]]
    model.arrange(Arrangement(filter="done"))
    assert model.ticked == [runs[0], runs[2]], "a filter hides ticks and does not take them away"
    model.arrange(Arrangement())
    model.tick_all()
    assert model.ticked == runs
    model.search("alpha")
    assert model.all_ticked == TICKED
    model.tick_all()
    assert model.ticked == [runs[0], runs[2]], "what is not shown keeps its tick"
    model.search("")
    assert model.all_ticked == SOME
    model.tick(2, to=0)
    assert model.ticked == [], "Beta was ticked: all rows between lose their ticks"


def test_ticked_runs_go_to_compare(window, session, runs):
    dock = window.runs
    assert not dock.ticks.isVisible()
    dock.list.setFocus()
    dock.list.setCurrentIndex(dock.model.index(0))
    QTest.keyClick(dock.list, Qt.Key.Key_Space)
    box = dock.list.visualRect(dock.model.index(2)).topLeft() + QPoint(14, 14)
    QTest.mouseClick(dock.list.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, box)
    assert session.run_id == runs[2], "a tick opens nothing"
    assert dock.compare.text() == "Compare 2 runs"
    asked = []
    session.page_asked.connect(asked.append)
    dock.compare.click()
    assert asked == ["compare"]
    assert session.ticks.runs == {runs[0], runs[2]}
    assert dock.all.checkState() == SOME
    dock.untick.click()
    assert not dock.ticks.isVisible()
    middle = dock.list.visualRect(dock.model.index(1)).center()
    QTest.mouseClick(dock.list.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, middle)
    assert dock.model.ticked == [runs[1]]


def test_shift_ticks_from_the_run_that_was_ticked_last_where_a_newer_run_moved_it(qtbot, window, session, runs):
    dock = window.runs

    def click(row, keys):
        place = dock.list.visualRect(dock.model.index(row)).center()
        QTest.mouseClick(dock.list.viewport(), Qt.MouseButton.LeftButton, keys, place)

    click(0, Qt.KeyboardModifier.ControlModifier)
    session.workspace.create_run(RunConfig(name="Newest"))
    session.follower.look()
    qtbot.waitUntil(lambda: names(dock.model) == ["Newest", "Gamma", "alpha", "Beta"])
    click(2, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert dock.model.ticked == runs[1:]


def test_the_newest_run_is_the_one_that_began_last_not_the_one_imported_last(session, runs):
    session.workspace.create_run(RunConfig(name="Curves of 2024"), created="2024-05-01T12:00:00+02:00")
    session.follower.look()
    model = arranged(session, order="newest", grouping="none")
    assert names(model) == ["Gamma", "alpha", "Beta", "Curves of 2024"]


def test_shift_does_not_extend_from_a_run_of_another_workspace(qtbot, window, session, runs, tmp_path):
    dock = window.runs

    def click(row, keys):
        place = dock.list.visualRect(dock.model.index(row)).center()
        QTest.mouseClick(dock.list.viewport(), Qt.MouseButton.LeftButton, keys, place)

    click(0, Qt.KeyboardModifier.ControlModifier)
    other = Workspace(tmp_path / "other", create=True)
    for name in ("First", "Second", "Third"):
        other.create_run(RunConfig(name=name))
    session.open_workspace(other)
    qtbot.waitUntil(lambda: names(dock.model) == ["Third", "Second", "First"])
    click(2, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert dock.model.ticked == [1]


def test_f2_makes_a_name_a_field_and_ctrl_z_gives_the_old_one_back(window, session, runs, qtbot):
    dock = window.runs
    session.show_run(runs[1])
    window.commands["run.rename"].trigger()
    qtbot.waitUntil(lambda: isinstance(QApplication.focusWidget(), QLineEdit))
    editor = QApplication.focusWidget()
    assert editor.text() == "alpha"
    editor.selectAll()
    QTest.keyClicks(editor, "Better name")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: session.workspace.run(runs[1]).name == "Better name")
    session.follower.look()
    assert names(dock.model)[1] == "Better name"
    dock.list.setFocus()
    QTest.keyClick(dock.list, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert session.workspace.run(runs[1]).name == "alpha"


def typed_name(window, session, run_id, qtbot):
    """The field of the name of a run, in which something was typed."""
    session.show_run(run_id)
    window.commands["run.rename"].trigger()
    qtbot.waitUntil(lambda: isinstance(QApplication.focusWidget(), QLineEdit))
    editor = QApplication.focusWidget()
    editor.selectAll()
    QTest.keyClicks(editor, "Better name")
    return editor


def test_a_name_can_be_typed_while_another_window_makes_and_moves_runs(window, session, runs, qtbot):
    editor, dock = typed_name(window, session, runs[1], qtbot), window.runs
    with Workspace(session.workspace.path) as other:
        made = other.create_run(RunConfig(name="new"))
        other.trash(runs[0])
    seen = []
    session.runs_changed.connect(lambda: seen.append({run.id for run in session.runs()}))
    qtbot.waitUntil(lambda: {made, *runs[1:]} in seen)
    assert QApplication.focusWidget() is editor
    QTest.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: session.workspace.run(runs[1]).name == "Better name")
    qtbot.waitUntil(lambda: sorted(names(dock.model)) == sorted(run.name for run in session.runs()))


def test_a_name_that_is_typed_is_not_given_to_a_run_of_another_workspace(window, session, runs, qtbot, tmp_path):
    typed_name(window, session, runs[1], qtbot)
    other = Workspace(tmp_path / "other", create=True)
    for _ in runs:
        other.create_run(RunConfig(name="theirs"))
    session.open_workspace(other)
    qtbot.waitUntil(lambda: names(window.runs.model) == ["theirs"] * len(runs))
    assert not any(line.isVisible() for line in window.runs.list.findChildren(QLineEdit))
    assert {run.name for run in other.runs()} == {"theirs"}


def test_delete_moves_to_the_trash_and_ctrl_z_brings_back(window, session, runs):
    dock = window.runs
    session.show_run(runs[1])
    dock.list.setFocus()
    QTest.keyClick(dock.list, Qt.Key.Key_Delete)
    session.follower.look()
    assert session.workspace.run(runs[1]).trashed
    assert dock.trash.text().startswith("Trash, 1")
    QTest.keyClick(dock.list, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert not session.workspace.run(runs[1]).trashed
    window.commands["view.train"].trigger()
    assert window.commands["edit.redo"].isEnabled(), "on a page without edits of its own"
    window.commands["edit.redo"].trigger()
    assert session.workspace.run(runs[1]).trashed


def test_the_arrangement_is_remembered_but_a_filter_is_not(window, session, tmp_path):
    button = window.runs.arrange
    actions = {action.text(): action for action in button.menu().actions()}
    for title in ("Name", "Loss", "Done", "R@1", "Time"):
        actions[title].trigger()
    assert button.arrangement == Arrangement("name", "loss", "done", ("MAP@R", "time"))
    assert names(window.runs.model) == ["Cross-entropy (CE)", "Beta"], "as the form calls the loss"
    session.preferences.keep()
    again = ArrangeButton(Preferences(session.preferences.file))
    assert again.arrangement == Arrangement("name", "loss", "all", ("MAP@R", "time"))


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("", "Epoch 2 / 3 · digits"),
        ("stop", "Stopping after this epoch · digits"),
        ("interrupt", "Stopping now · digits"),
    ],
)
def test_a_row_says_that_its_run_is_being_ended(session, runs, how, words):
    control = Control()
    run = replace(session.workspace.run(runs[2]), status="running", epoch=1, epochs=3)
    if how:
        getattr(control, how)()
    assert about(run, {}, control) == words


@pytest.mark.parametrize(
    ("words", "fit"),
    [
        ("lr=0.01", ["slow"]),
        ("lr=1e-2", ["slow"]),
        ("lr=0.0", ["slow", "fast"]),
        ("lr=", ["slow", "fast", "other"]),
        ("training.lr=0.01 fast", []),
        ("optimiser=SGD lr=0.02", ["fast"]),
        ("backbone.lr=0.01", []),
        ("loss.name=ice", ["other"]),
        ("nesterov=true", []),
        ("=", ["other"]),
        ("x=1", ["other"]),
        ("lr<0.1", ["slow", "fast"]),
        ("training.lr>=1e-2 lr<=0.02", ["slow", "fast"]),
        ("lr>0.02", ["other"]),
        ("optimiser<3", []),
        ("lr<", ["slow", "fast", "other"]),
        ("backbone.lr<1", []),
    ],
)
def test_runs_are_found_by_their_settings(session, words, fit):
    for name, loss, training in (
        ("slow", "ce", {"lr": 0.01}),
        ("fast", "ce", {"lr": 0.02, "optimiser": "sgd"}),
        ("other", "ice", {"lr": 0.1}),
    ):
        values = {"name": name, "loss": {"name": loss}, "training": training}
        session.workspace.create_run(RunConfig.model_validate(values))
    session.workspace.set_note(3, "with x=1 in its name")
    session.follower.look()
    model = arranged(session, order="newest", grouping="none")
    model.search(words)
    assert sorted(names(model)) == sorted(fit)


def test_runs_are_grouped_by_their_backbone(session):
    for name in ("conv4", "conv4", "identity"):
        session.workspace.create_run(RunConfig(name="run", backbone=Choice(name=name)))
    session.follower.look()
    model = arranged(session, grouping="backbone")
    heads = [model.index(row).data() for row in range(model.rowCount()) if model.index(row).data(FOLD_ROLE) == "open"]
    assert heads == ["identity", "conv4"]


def marked(dock):
    return [index.data() for index in dock.list.selectionModel().selectedIndexes()]


def test_the_shown_run_stays_shown_and_marked_when_the_trash_is_left(window, session, runs, qtbot):
    dock = window.runs
    session.show_run(runs[0])
    assert marked(dock) == ["Beta"]
    dock.trash.click()
    back = next(one for one in dock.findChildren(QPushButton) if one.text() == "Back to the runs")
    back.setFocus()
    back.click()
    QApplication.processEvents()
    assert session.run_id == runs[0]
    assert marked(dock) == ["Beta"]
    dock.search.setText("alpha")  # without the shown run
    window.setFocus()
    dock.list.setFocus()
    QApplication.processEvents()
    assert session.run_id == runs[0]


def test_the_trash_says_how_to_restore_a_run_and_how_to_leave_it(window, session, runs):
    dock = window.runs
    session.show_run(runs[1])
    window.commands["run.trash"].trigger()
    session.follower.look()
    assert not dock.restore.isVisible()
    dock.trash.click()
    assert dock.trash.text() == "Back to the runs"
    assert dock.restore.isVisible()
    assert not dock.restore.isEnabled(), "no run of the trash is chosen"
    session.show_run(runs[1])
    dock.restore.click()
    session.follower.look()
    assert not session.workspace.run(runs[1]).trashed
    dock.trash.click()
    assert dock.trash.text() == "Trash"
    assert not dock.restore.isVisible()


@pytest.mark.parametrize("button", [Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton])
def test_a_click_and_the_keys_show_another_run(window, session, runs, button):
    dock = window.runs
    session.show_run(runs[2])
    for row in (1, 2, 0):
        place = dock.list.visualRect(dock.model.index(row)).center()
        QTest.mouseClick(dock.list.viewport(), button, pos=place)
        assert session.run_id == runs[2 - row]
        assert marked(dock) == [dock.model.index(row).data()]
    for key, row in ((Qt.Key.Key_Down, 1), (Qt.Key.Key_End, 2), (Qt.Key.Key_Up, 1)):
        QTest.keyClick(dock.list, key)
        assert session.run_id == runs[2 - row]


def test_the_first_run_is_shown_by_the_keys_where_none_is(window, session, runs):
    window.runs.list.setFocus()
    assert session.run_id == runs[2]


def heads(model):
    return [model.index(row).data() for row in range(model.rowCount()) if model.index(row).data(FOLD_ROLE) == "open"]


def test_runs_are_grouped_by_any_setting_that_differs_and_that_is_remembered(window, session, runs, qtbot):
    for name, margin in (("wide", 0.7), ("narrow", 0.1), ("as wide", 0.7)):
        loss = Choice(name="contrastive", params={"margin": margin})
        session.workspace.create_run(RunConfig(name=name, loss=loss))
    session.set_catalog(catalog.current())
    session.follower.look()
    button, model = window.runs.arrange, window.runs.model
    button.settings.aboutToShow.emit()
    assert [action.text() for action in button.settings.actions()] == ["Reading…"]
    qtbot.waitUntil(lambda: button.settings.actions()[0].isEnabled())
    (margins,) = button.settings.actions()
    assert margins.text() == "Loss: Margin"
    margins.trigger()
    qtbot.waitUntil(lambda: bool(heads(model)))
    assert heads(model) == ["Margin 0.7", "Margin 0.1", "Without margin"]
    assert names(model)[:3] == ["Margin 0.7", "wide", "as wide"]
    assert button.settings.title() == "Setting (Loss: Margin)"
    session.workspace.create_run(RunConfig(name="late", loss=Choice(name="contrastive", params={"margin": 0.2})))
    session.follower.look()
    qtbot.waitUntil(lambda: "Margin 0.2" in heads(model))
    session.preferences.keep()
    again = ArrangeButton(Preferences(session.preferences.file))
    assert again.arrangement.grouping == "loss.margin"
    {action.text(): action for action in button.menu().actions()}["Loss"].trigger()
    assert (button.arrangement.grouping, button.settings.title()) == ("loss", "Setting")
    assert "Contrastive" in heads(model)


def test_without_a_setting_that_differs_the_menu_says_so(window, session, runs, qtbot):
    button = window.runs.arrange
    button.settings.aboutToShow.emit()
    qtbot.waitUntil(lambda: button.settings.actions()[0].text() != "Reading…")
    assert [(action.text(), action.isEnabled()) for action in button.settings.actions()] == [(NONE_DIFFERS, False)]


def test_the_search_takes_quotes_around_a_tag_with_blanks(session, workspace, config):
    first, _ = (workspace.create_run(config) for _ in range(2))
    workspace.set_tags(first, ["first try"])
    session.follower.look()
    model = RunList()
    model.show(session.runs())
    model.search('tag="first try" state=queued')
    assert [model.index(row).data(RUN_ROLE).id for row in range(model.rowCount())] == [first]
