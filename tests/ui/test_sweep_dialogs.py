"""The sweep dialog and the Sweeps panel: what is typed, what is refused, what is stored, and what is asked."""

import threading
from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QMainWindow, QMessageBox, QPushButton, QStyleOptionViewItem
from shiboken6 import isValid

from tests.waits import HANG
from workbench.entries import catalog
from workbench.places.place import SshPlace
from workbench.problem import Problem
from workbench.settings.changed import changed, read_config
from workbench.sweeps import starting
from workbench.sweeps.plan import planned
from workbench.sweeps.space import read
from workbench.ui.pages.setup import SetupPage
from workbench.ui.places.choice import HERE
from workbench.ui.state.commands import Commands
from workbench.ui.state.report_offer import ReportOffer
from workbench.ui.style.icons import icon
from workbench.ui.sweeps.actions import SweepActions
from workbench.ui.sweeps.dialog import CHECKING, SweepDialog
from workbench.ui.sweeps.numbered_table import NumberedTable
from workbench.ui.sweeps.panel import HEIGHT, WIDTH, SweepsPanel, show_sweeps
from workbench.workspace import Workspace
from workbench.workspace.experiments import sweep_worker, sweeps

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", "does not support raise", extend=True)


@pytest.fixture
def started(monkeypatch):
    """Sweeps for which a worker was asked for; none is started."""
    asked = []
    monkeypatch.setattr(starting, "work_apart", lambda workspace, number, place="": asked.append(number) or True)
    return asked


@pytest.fixture
def started_at(monkeypatch):
    """The places of sweeps for which a worker was asked for."""
    asked = []
    monkeypatch.setattr(starting, "work_apart", lambda workspace, number, place="": asked.append(place) or True)
    return asked


@pytest.fixture
def session(session):
    session.set_catalog(catalog.current())
    return session


@pytest.fixture
def dialog(qtbot, session, started):
    made = SweepDialog(session, read_config("sample-digits"))
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(made)
    made.open()
    return made


def settled(qtbot, dialog):
    """Wait for the check of what was typed; the summary, or the words of what is wrong."""
    qtbot.settle(dialog)
    qtbot.waitUntil(lambda: dialog.summary.text() != CHECKING)
    return dialog.summary.text() or dialog.problem.text() or dialog.rows[0].problem.text()


def test_a_sweep_is_typed_and_started(qtbot, session, dialog, started):
    notices = []
    session.noticed.connect(notices.append)
    assert settled(qtbot, dialog) == "Enter values for each parameter."
    assert not dialog.start.isEnabled()
    assert dialog.rows[0].field.value().startswith("loss.")
    assert dialog.rows[0].help.wordWrap(), "a long sentence is not cut"
    dialog.rows[0].field.set_value("training.lr")
    qtbot.keyClicks(dialog.rows[0].values, "0.1, 0.2, 0.3")
    dialog.seeds.set_value(2)
    assert settled(qtbot, dialog).startswith("3 trials × 2 runs per trial = 6 runs. Their duration is known once")
    assert dialog.trials.value() == 3
    assert dialog.warning.isVisible(), "there are no held-out classes"
    dialog.take_preflight(SimpleNamespace(seconds=100.0, device="CPU"))
    assert "about 10\u202fmin 0\u202fs on CPU" in dialog.summary.text()
    qtbot.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(notices))
    assert notices == ["Sweep 1 is started. It continues when this window is closed."]
    assert started == [1]
    assert len(sweeps.trials(session.workspace, 1)) == 6
    assert sweeps.one(session.workspace, 1).parameters == ("training.lr=0.1,0.2,0.3",)
    assert dialog.result() == SweepDialog.DialogCode.Accepted
    _forget_panels(qtbot)


def test_tab_goes_through_the_parameters_before_the_buttons_below_them(qtbot, dialog):
    dialog.activateWindow()
    dialog.add.click()
    first, second = dialog.rows
    qtbot.waitUntil(second.isVisible)
    expected = [
        *(part for row in (first, second) for part in (row.field, row.values, row.cross)), dialog.add, dialog.cancel
    ]  # fmt: skip
    dialog.early.setFocus()
    met = []
    for _ in expected:
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        met.append(QApplication.focusWidget())
    assert met == expected
    _forget_panels(qtbot)


def test_what_is_edited_while_the_sweep_starts_is_not_checked_any_more(qtbot, session, started, monkeypatch):
    """The start closes the dialog, and the answer of the check would be for one that is deleted."""
    window = qtbot.addWidget(QMainWindow())
    dialog = SweepDialog(session, read_config("sample-digits"), parent=window)
    dialog.open()
    goes_on, checks, checked = threading.Event(), threading.Event(), threading.Event()
    store, check = starting.store, dialog.draft.check

    def slow_store(workspace, plan):
        assert goes_on.wait(HANG)
        return store(workspace, plan)

    def slow_check(entered, progress):
        checks.set()
        assert checked.wait(HANG)
        return check(entered, progress)

    dialog.rows[0].field.set_value("training.lr")
    qtbot.keyClicks(dialog.rows[0].values, "0.1, 0.2, 0.3")
    settled(qtbot, dialog)
    monkeypatch.setattr(starting, "store", slow_store)
    monkeypatch.setattr(dialog.draft, "check", slow_check)
    dialog.start.click()
    qtbot.keyClicks(dialog.rows[0].values, ", 0.4")
    qtbot.waitUntil(checks.is_set)
    goes_on.set()
    qtbot.waitUntil(lambda: not isValid(dialog))
    checked.set()
    qtbot.waitUntil(lambda: not session.reading)
    assert started == [1]
    assert len(sweeps.trials(session.workspace, 1)) == 3


def _forget_panels(qtbot):
    for panel in (widget for widget in QApplication.topLevelWidgets() if isinstance(widget, SweepsPanel)):
        qtbot.addWidget(panel)


def test_trials_are_stopped_early_where_the_box_is_ticked(qtbot, session, dialog, started):
    assert not dialog.early.isChecked()
    assert dialog.early.toolTip().startswith("Stop a trial after an epoch if its best value so far is worse than")
    dialog.rows[0].field.set_value("training.lr")
    qtbot.keyClicks(dialog.rows[0].values, "0.1, 0.2, 0.3, 0.4, 0.5")
    settled(qtbot, dialog)
    assert not dialog.plan.stop_early
    qtbot.mouseClick(dialog.early, Qt.MouseButton.LeftButton, pos=dialog.early.rect().center() / 4)
    settled(qtbot, dialog)
    assert dialog.plan.stop_early
    assert "No trial will be stopped early" in dialog.warning.text(), "there are four others"
    qtbot.keyClicks(dialog.rows[0].values, ", 0.6")
    settled(qtbot, dialog)
    assert "No trial will be stopped early" not in dialog.warning.text()
    dialog.start.click()
    qtbot.waitUntil(lambda: started == [1])
    qtbot.waitUntil(lambda: not dialog.isVisible())
    assert sweeps.one(session.workspace, 1).stop_early
    _forget_panels(qtbot)


def test_at_a_place_no_trial_is_stopped_early(qtbot, session, dialog):
    session.places.all = [SshPlace(name="box", host="box")]
    session.places.changed.emit()
    dialog.rows[0].field.set_value("training.lr")
    qtbot.keyClicks(dialog.rows[0].values, "0.1, 0.2")
    dialog.early.click()
    settled(qtbot, dialog)
    assert dialog.plan.stop_early
    dialog.where.set_value("box")
    dialog.where.edited.emit()
    assert not dialog.early.isEnabled()
    assert dialog.early.toolTip() == "Trials at a place are not stopped early."
    settled(qtbot, dialog)
    assert not dialog.plan.stop_early
    dialog.where.set_value(HERE)
    dialog.where.edited.emit()
    assert dialog.early.isEnabled()


def test_a_sweep_is_started_at_the_place_that_is_chosen(qtbot, session, dialog, started_at):
    box = SshPlace(name="box", host="box")
    session.places.all = [box]
    session.places.changed.emit()
    assert [dialog.where.itemText(row) for row in range(dialog.where.count())] == ["This machine", "box"]
    dialog.rows[0].field.set_value("training.lr")
    qtbot.keyClicks(dialog.rows[0].values, "0.1, 0.2")
    settled(qtbot, dialog)
    dialog.take_preflight(SimpleNamespace(seconds=100.0, device="CPU"))
    assert "They train at" not in dialog.summary.text()
    dialog.where.set_value("box")
    dialog.where.edited.emit()
    assert " one after the other on CPU here, " in dialog.summary.text()
    assert dialog.summary.text().endswith(" They train at box.")
    dialog.start.click()
    qtbot.waitUntil(lambda: started_at == ["box"])
    qtbot.waitUntil(lambda: not dialog.isVisible())
    _forget_panels(qtbot)


def test_data_that_the_place_has_elsewhere_are_asked_for_before_a_sweep_starts(qtbot, session, started, tmp_path):
    box = SshPlace(name="box", host="box")
    session.places.all = [box]
    config = read_config("sample-digits", ("dataset.name=folder", f"dataset.folder={tmp_path}"))
    dialog = SweepDialog(session, config, place="box")
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    dialog.open()
    asked = []
    session.data_asked.connect(lambda path, place: asked.append((path, place.name)))
    dialog.rows[0].field.set_value("training.lr")
    dialog.rows[0].values.setText("0.1, 0.2")
    settled(qtbot, dialog)
    dialog.start.click()
    qtbot.waitUntil(lambda: asked == [(str(tmp_path), "box")])
    assert sweeps.every(session.workspace) == []
    qtbot.waitUntil(dialog.start.isEnabled)
    dialog.reject()


def test_data_that_cannot_be_used_are_named_before_a_sweep_is_made(qtbot, session, started, tmp_path):
    config = read_config("sample-digits", ("dataset.name=folder", f"dataset.folder={tmp_path / 'gone'}"))
    dialog = SweepDialog(session, config)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    dialog.open()
    dialog.rows[0].field.set_value("training.lr")
    dialog.rows[0].values.setText("0.1, 0.2")
    settled(qtbot, dialog)
    dialog.start.click()
    qtbot.waitUntil(dialog.problem.isVisible)
    assert dialog.problem.text().startswith("There is no folder or archive")
    assert (sweeps.every(session.workspace), started) == ([], [])
    assert dialog.start.isEnabled(), "it can be tried again"
    dialog.reject()


@pytest.mark.parametrize(
    ("typed", "said"),
    [("0.1, 200", "200: Must be 100 or less."), ("0.1..0.2", "A grid needs values"), ("0.2..0.1:3", "must rise")],
)
def test_wrong_values_are_explained_under_their_field(qtbot, dialog, typed, said):
    dialog.rows[0].field.set_value("training.lr")
    dialog.rows[0].values.setText(typed)
    assert said in settled(qtbot, dialog)
    assert said in dialog.rows[0].problem.text()
    assert dialog.rows[0].problem.isVisible()
    assert not dialog.start.isEnabled()


def test_fields_of_the_losses_that_are_varied_are_offered(qtbot, session):
    dialog = SweepDialog(session, read_config("sample-digits", ("sampler.name=classes_images",)))
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    dialog.open()
    dialog.rows[0].field.set_value("loss.name")
    qtbot.keyClicks(dialog.rows[0].values, "ce, contrastive")
    dialog.add.click()
    row = dialog.rows[1]
    assert row.field.findText("Margin (loss.margin)") >= 0
    row.field.set_value("loss.margin")
    row.field.edited.emit()
    qtbot.keyClicks(row.values, "0.2, 0.5")
    assert settled(qtbot, dialog).startswith("3 runs.")
    assert dialog.trials.value() == 3
    dialog.rows[0].values.setText("ce")
    settled(qtbot, dialog)
    assert row.problem.text().startswith("There is no such field.")
    assert row.field.value() == "loss.margin", "what was chosen stays"
    dialog.rows[0].cross.click()
    assert dialog.rows[0].field.findData("loss.dropout") >= 0
    dialog.reject()


def test_the_number_of_trials_of_a_grid_says_why_it_cannot_be_changed(dialog):
    assert not dialog.trials.isEnabled()
    assert "every combination" in dialog.trials.toolTip()
    dialog.how.set_value("random")
    dialog.how.edited.emit()
    assert dialog.trials.isEnabled()
    assert dialog.trials.toolTip() == ""


def test_random_draws_need_a_number_of_settings(qtbot, dialog):
    dialog.rows[0].field.set_value("training.lr")
    dialog.rows[0].values.setText("1e-4..1e-1:log")
    settled(qtbot, dialog)
    dialog.how.set_value("random")
    dialog.how.edited.emit()
    assert settled(qtbot, dialog).startswith("20 runs.")
    dialog.trials.setText("many")
    dialog.trials.edited.emit()
    assert settled(qtbot, dialog) == "trials: Must be a whole number."
    assert not dialog.start.isEnabled()


def test_a_papers_values_fill_the_rows_until_they_are_changed(qtbot, dialog):
    dialog.preset.set_value("rankmi-batch-size")
    dialog.preset.edited.emit()
    assert [row.text for row in dialog.rows] == ["training.batch_size=120,180,240"]
    assert "Table 5" in dialog.about.text()
    assert not dialog.fixed.isVisible()
    settled(qtbot, dialog)
    assert dialog.plan.metric == dialog.figure.value() == "recall@1", "as in the paper's table"
    assert dialog.plan.source == "Values of Kemertas et al. 2020 (RankMI), supplement Table 5"
    dialog.rows[0].values.setText("120,180")
    settled(qtbot, dialog)
    assert (dialog.plan.source, dialog.preset.value()) == ("", "")
    there = {dialog.preset.itemText(place) for place in range(dialog.preset.count())}
    assert "ICE: batch size" in there
    assert not there & {"ICE: scale s", "PSCE: dimension D"}, "scale and prototypes mean nothing to CE"
    dialog.add.click()
    dialog.rows[1].cross.click()
    assert len(dialog.rows) == 1


def test_a_papers_sweep_is_offered_to_a_run_with_another_split(qtbot, session, started):
    """Its folds are a field of the paper's split alone; epsilon is a field of the loss."""
    config = read_config("cub-ccp", ("split.name=classes", "training.patience=0"))
    dialog = SweepDialog(session, config)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    dialog.open()
    dialog.preset.set_value("ccp-proxies-pool")
    dialog.preset.edited.emit()
    assert not dialog.fixed.isVisible()
    assert settled(qtbot, dialog).startswith("20 runs.")
    dialog.preset.set_value("ccp-alternating")
    dialog.preset.edited.emit()
    assert dialog.fixed.words.text() == "Every run also has loss.epsilon = 2, as in the paper."
    assert settled(qtbot, dialog).startswith("8 runs.")


def test_a_papers_fixed_fields_are_taken_until_they_are_left_out(qtbot, session, started):
    dialog = SweepDialog(session, read_config("cub-ccp", ("loss.pool=12",)))
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    dialog.open()
    dialog.preset.set_value("ccp-proxies-penalty")
    dialog.preset.edited.emit()
    fixed = "split.folds = 3, split.fold = 1, loss.pool = 16"
    assert dialog.fixed.words.text() == f"Every run also has {fixed}, as in the paper."
    assert dialog.fixed.isVisible()
    settled(qtbot, dialog)
    assert dialog.plan.config.loss.params["pool"] == 16
    dialog.rows[1].values.setText("1e-4..1e-2:log")
    settled(qtbot, dialog)
    assert dialog.plan.config.loss.params["pool"] == 16, "other values keep what stands in the dialog"
    assert dialog.plan.source == ""
    dialog.fixed.drop.click()
    dialog.rows[0].values.setText("1..12")
    settled(qtbot, dialog)
    assert dialog.plan.config.loss.params["pool"] == 12
    assert not dialog.fixed.isVisible()


def test_a_papers_field_that_is_varied_is_not_told_as_fixed(qtbot, session, started):
    dialog = SweepDialog(session, read_config("cub-ccp", ("loss.pool=12",)))
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    dialog.open()
    dialog.fixed.show_changes({"loss.pool": 16, "training.lr": 0.001})
    dialog.how.edited.emit()
    assert dialog.fixed.words.text() == "Every run also has loss.pool = 16, training.lr = 0.001, as in the paper."
    row = dialog.add_row("loss.pool", "8,12")
    dialog.rows[0].cross.click()
    assert dialog.fixed.words.text() == "Every run also has training.lr = 0.001, as in the paper."
    settled(qtbot, dialog)
    assert [each["loss.pool"] for each in dialog.plan.settings()] == [8, 12]
    assert dialog.plan.config.training.lr == 0.001
    dialog.add_row("training.lr", "0.1,0.2")
    dialog.how.edited.emit()
    assert not dialog.fixed.isVisible(), "nothing is fixed any more"
    row.cross.click()
    assert dialog.fixed.words.text() == "Every run also has loss.pool = 16, as in the paper."
    assert dialog.fixed.isVisible()


def test_set_up_opens_it_with_its_run(qtbot, session, started):
    page = qtbot.addWidget(SetupPage(session))
    assert page.sweep.isEnabled()
    page.ask_sweep()
    assert "Sample: Digits" in page.config.name
    assert page.sweep_dialog.isVisible()
    page.sweep_dialog.reject()
    page.groups.edited.emit("training.lr", "fast")
    assert not page.sweep.isEnabled()


@pytest.fixture
def known(session):
    return session.catalog


@pytest.fixture
def plan(known):
    config = changed(read_config("sample-digits"), {"device": "cpu"}, known, "test")
    return planned(config, [read("training.lr=0.1,0.2,0.3")], "grid", known)


@pytest.fixture
def panel(qtbot, session, plan, started):
    starting.store(session.workspace, plan)
    made = qtbot.addWidget(show_sweeps(session, None))
    qtbot.waitUntil(lambda: made.trials.rowCount() == 3)
    return made


def cells(table):
    columns = range(table.columnCount())
    return [[table.item(row, column).text() for column in columns] for row in range(table.rowCount())]


def both_are_known(qtbot, panel, session):
    """Wait until the session and the panel know the two runs: the panel may have read when there was one."""
    qtbot.waitUntil(lambda: len(session.runs()) == 2)
    qtbot.waitUntil(lambda: cells(panel.sweeps)[0][3] == "2 of 3")


def test_the_panel_shows_sweeps_and_their_line(panel):
    assert cells(panel.sweeps) == [["1", "Sample: Digits", "Worker is gone", "0 of 3", "–", "–"]]
    assert cells(panel.trials)[0] == ["1", "0.1", "0", "Queued", "–", "–", "–"]
    assert "training.lr=0.1,0.2,0.3" in panel.words.text()
    assert "Optimistic" in panel.words.text()
    assert panel.pause.text() == "Resume"
    assert not panel.compare.isEnabled()


def test_the_panel_says_what_a_worker_waits_for(qtbot, panel, session):
    sweep_worker.take(session.workspace, 1, "cpu")
    sweep_worker.remark(session.workspace, 1, "Waiting: a sweep of another workspace has the cpu.")
    panel.refresh()
    qtbot.waitUntil(lambda: cells(panel.sweeps)[0][2] == "Waiting for the device")
    assert panel.words.text().endswith("Waiting: a sweep of another workspace has the cpu.")
    sweep_worker.leave(session.workspace, 1)
    panel.refresh()
    qtbot.waitUntil(lambda: cells(panel.sweeps)[0][2] == "Worker is gone")
    assert "Waiting" not in panel.words.text()


def test_the_line_can_be_changed(qtbot, panel):
    panel.trials.selectRow(2)
    assert (panel.up.isEnabled(), panel.down.isEnabled()) == (True, False)
    qtbot.mouseClick(panel.up, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: [row[1] for row in cells(panel.trials)] == ["0.1", "0.3", "0.2"])
    assert panel.model.trial.setting == {"training.lr": 0.3}, "the choice went with its row"


def picture(shown):
    return shown.pixmap(16).toImage()


def test_a_state_that_is_wider_than_a_longer_one_before_is_shown_whole(qtbot):
    table = qtbot.addWidget(NumberedTable("Sweeps"))
    table.show_rows(("State", "Best"), [(1, ("illicit", "–"))], None)
    table.show_rows(("State", "Best"), [(1, ("WWWWWW", "–"))], None)
    assert table.columnWidth(0) >= table.sizeHintForColumn(0)


def test_a_long_name_leaves_the_other_columns_in_view(qtbot):
    table = qtbot.addWidget(NumberedTable("Sweeps"))
    table.resize(500, 100)
    table.show_rows(("Name", "State", "Best"), [(1, ("a long name " * 20, "Working", "67.0% at margin 0.1"))], None)
    with qtbot.waitExposed(table):
        table.show()
    assert table.horizontalScrollBar().maximum() == 0
    assert table.columnWidth(2) >= table.sizeHintForColumn(2)


def test_a_long_reason_keeps_its_beginning_and_a_long_name_both_its_ends(qtbot):
    """The middle of a sentence was left out, in which it said what had happened."""
    table, modes = NumberedTable("Runs"), {}
    qtbot.addWidget(table)
    table.show_rows(("Run", "Objective"), [(1, ("a long name " * 20, "No memory left for a batch. " * 9))], None)
    for column in (0, 1):
        index, option = table.model().index(0, column), QStyleOptionViewItem()
        table.initViewItemOption(option)
        table.itemDelegateForIndex(index).initStyleOption(option, index)
        modes[column] = option.textElideMode
    assert modes == {0: Qt.TextElideMode.ElideMiddle, 1: Qt.TextElideMode.ElideRight}


def test_all_buttons_of_the_panel_are_in_one_line_at_its_first_size(qtbot, panel, session):
    session.theme.apply()
    panel.resize(WIDTH, HEIGHT)  # the screen of the tests has no room for it
    panel.show()
    feet = (panel.pause, panel.retry, panel.cancel, panel.up, panel.down, panel.show_run, panel.report, panel.compare)
    qtbot.waitUntil(lambda: all(foot.isVisible() for foot in feet))
    assert len({foot.y() for foot in feet}) == 1


def test_resume_asks_for_a_worker_and_pause_for_a_rest(qtbot, panel, session, started):
    qtbot.mouseClick(panel.pause, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: started == [1])
    sweep_worker.take(session.workspace, 1, "cpu")
    sweep_worker.take_device(session.workspace, 1, "cpu")
    panel.refresh()
    qtbot.waitUntil(lambda: cells(panel.sweeps)[0][2] == "Working")
    assert (panel.pause.text(), picture(panel.pause.icon())) == ("Pause", picture(icon("pause")))
    qtbot.mouseClick(panel.pause, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: cells(panel.sweeps)[0][2] == "Pausing")
    sweep_worker.leave(session.workspace, 1)
    qtbot.waitUntil(lambda: cells(panel.sweeps)[0][2] == "Paused")
    assert (panel.pause.text(), picture(panel.pause.icon())) == ("Resume", picture(icon("play")))


def test_the_question_whether_to_cancel_goes_with_its_workspace(qtbot, panel, session, tmp_path):
    qtbot.waitUntil(panel.cancel.isEnabled)
    qtbot.mouseClick(panel.cancel, Qt.MouseButton.LeftButton)
    box = panel.findChild(QMessageBox)
    assert box.isVisible()
    assert box.defaultButton().text() == "Keep it"
    session.open_workspace(Workspace(tmp_path / "other", create=True))
    assert not box.isVisible(), "it would cancel the sweep of the same number there"


def test_cancelled_runs_are_retried(qtbot, panel, session, started):
    qtbot.waitUntil(panel.cancel.isEnabled)
    qtbot.mouseClick(panel.cancel, Qt.MouseButton.LeftButton)
    box = panel.findChild(QMessageBox)
    next(choice for choice in box.buttons() if choice.text() == "Cancel the sweep").click()
    qtbot.waitUntil(lambda: cells(panel.sweeps)[0][2] == "Cancelled")
    assert not panel.pause.isEnabled()
    assert panel.retry.isEnabled()
    qtbot.mouseClick(panel.retry, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: cells(panel.trials)[0][3] == "Queued")
    assert started == [1]


def test_the_runs_of_a_sweep_are_offered_for_comparison(qtbot, panel, session):
    for place, trial in enumerate(sweeps.trials(session.workspace, 1)[:2]):
        sweep_worker.begin(session.workspace, trial, lambda: session.workspace.create_run(read_config("sample-digits")))
        sweep_worker.end(session.workspace, trial, "done", 0.5 + place / 10)
    both_are_known(qtbot, panel, session)
    assert cells(panel.sweeps)[0][5] == "60.00% at learning rate 0.2"
    qtbot.waitUntil(panel.compare.isEnabled)
    qtbot.mouseClick(panel.compare, Qt.MouseButton.LeftButton)
    assert session.ticks.runs == {1, 2}
    assert session.page == "compare"
    assert not panel.isVisible()


def test_a_sweep_without_its_worker_is_told_of(qtbot, session, panel):
    notices, window = [], QMainWindow()
    qtbot.addWidget(window)
    session.noticed.connect(notices.append)
    actions = SweepActions(session, Commands(session.preferences, window), window)
    actions.look()
    qtbot.waitUntil(lambda: bool(notices))
    assert notices == ["Sweep 1 no longer has a worker process. Resume in “Sweeps…” continues where the sweep stopped."]
    assert sweep_worker.announce(session.workspace, 1)
    assert not sweep_worker.announce(session.workspace, 1), "one is on its way"
    actions.look()
    panel.refresh()
    qtbot.waitUntil(lambda: cells(panel.sweeps)[0][2] == "Starting")
    assert panel.pause.text() == "Pause"
    assert len(notices) == 1
    assert actions.show_panel().parent() is window


def test_the_panel_reads_another_workspace_after_one_that_it_could_not_read(
    qtbot, session, panel, plan, tmp_path, monkeypatch
):
    def refuse(workspace, progress):
        raise Problem("The database is locked.")

    with monkeypatch.context() as patched:
        patched.setattr("workbench.ui.sweeps.panel.look", refuse)
        panel.refresh()
        qtbot.waitUntil(lambda: panel.words.text() == "The database is locked.")
    other = Workspace(tmp_path / "other", create=True)
    session.open_workspace(other)
    qtbot.waitUntil(lambda: not panel.reading)
    assert panel.words.text() == ""
    starting.store(other, plan)
    qtbot.waitUntil(lambda: len(cells(panel.sweeps)) == 1)


def test_an_empty_workspace_says_where_sweeps_begin(qtbot, session):
    made = qtbot.addWidget(SweepsPanel(session))
    made.show()
    qtbot.waitUntil(lambda: not made.reading)
    assert made.stack.currentIndex() == 0
    asked = []
    session.page_asked.connect(asked.append)
    qtbot.mouseClick(made.hint.findChild(QPushButton), Qt.MouseButton.LeftButton)
    assert made.isHidden()
    qtbot.waitUntil(lambda: asked == ["setup"])


def test_the_runs_of_a_sweep_are_offered_for_a_report(qtbot, panel, session):
    offered = []
    session.report_offered.connect(offered.append)
    assert not panel.report.isEnabled()
    for trial in sweeps.trials(session.workspace, 1)[:2]:
        sweep_worker.begin(session.workspace, trial, lambda: session.workspace.create_run(read_config("sample-digits")))
        sweep_worker.end(session.workspace, trial, "done", 0.5)
    both_are_known(qtbot, panel, session)
    qtbot.waitUntil(panel.report.isEnabled)
    qtbot.mouseClick(panel.report, Qt.MouseButton.LeftButton)
    assert offered == [ReportOffer((1, 2), "MAP@R", "best")]
    assert session.page == "report"
    assert not panel.isVisible()


def test_a_run_in_the_trash_is_not_offered_for_comparison(qtbot, panel, session):
    workspace = session.workspace
    for trial in sweeps.trials(workspace, 1)[:2]:
        sweep_worker.begin(workspace, trial, lambda: workspace.create_run(read_config("sample-digits")))
        sweep_worker.end(workspace, trial, "done", 0.5)
        workspace.set_status(sweeps.trials(workspace, 1)[trial.point - 1].run_id, "done")
    workspace.trash(1)
    qtbot.waitUntil(lambda: [run.id for run in session.runs()] == [2])
    qtbot.waitUntil(lambda: cells(panel.sweeps)[0][3] == "2 of 3")
    panel.refresh()
    qtbot.waitUntil(panel.compare.isEnabled)
    qtbot.mouseClick(panel.compare, Qt.MouseButton.LeftButton)
    assert session.ticks.runs == {2}
