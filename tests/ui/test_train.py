"""The Train page on a real workspace: header, curves, table, steering, trouble, and a run that works elsewhere."""

import dataclasses
import math
import os

import numpy as np
import pytest
from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel, QToolButton, QWidget

from tests.ui.seen import Counted
from workbench.config import RunConfig
from workbench.control import Control
from workbench.entries import catalog
from workbench.events import Ended, Progress, Resumed, Scalar, Status, Waiting
from workbench.exchange.own_loop import record_run
from workbench.machine_load import LIMITS, MEMORY
from workbench.problem import Problem
from workbench.ui.actions.run_actions import RunActions
from workbench.ui.pages.train import TrainPage
from workbench.ui.pages.train.anatomy.loss_parts import AT_FIRST
from workbench.ui.pages.train.curves.epoch_table import EpochTable
from workbench.ui.pages.train.findings.findings import NOTHING, NOTHING_YET
from workbench.ui.pages.train.head.run_header import IN_LINE
from workbench.ui.pages.train.page import FINDINGS_PX, NEVER, NOT_YET, READ_AFTER
from workbench.ui.pages.train.system.costs import read_costs
from workbench.ui.pages.train.system.panel import SystemPanel
from workbench.ui.plots.curve_plot import CurvePlot
from workbench.ui.state.commands import Commands
from workbench.ui.state.pages.in_parts import finish
from workbench.ui.window.frame.rail import Rail
from workbench.ui.window.runs.run_activity import RunActivity
from workbench.workspace import Workspace
from workbench.workspace.recorder import Recorder
from workbench.workspace.rows import Evaluation

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)  # Qt's offscreen platform, at every show
NAN = float("nan")
TROUBLE = "The loss exploded to 9.1e+04 at step 7. The last good checkpoint is kept."


@pytest.fixture
def page(session, qtbot):
    made = qtbot.addWidget(TrainPage(session))
    made.resize(900, 700)
    made.show()
    return made


class Work:
    """A run as its thread would write it: its own workspace, its recorder, its control."""

    def __init__(self, session):
        self.run_id = session.workspace.create_run(RunConfig(name="First", training={"epochs": 10}))
        self.own = Workspace(session.workspace.path)
        self.record = Recorder(self.own, self.run_id)
        self.control = Control(attended=True)

    def say(self, *events):
        for event in events:
            self.record(event)
        self.record.flush()

    def close(self):
        self.record(Ended("done"))
        self.own.close()


@pytest.fixture
def work(session, monkeypatch):
    made = Work(session)
    monkeypatch.setattr(session.queue, "control", lambda run_id: made.control if run_id == made.run_id else None)
    yield made
    made.close()


def evaluation(epoch, map_at_r, step=0):
    metrics = {"recall@1": 0.8123, "P@R": 0.5, "MAP@R": map_at_r, "MAP@R/low": 0.41, "MAP@R/high": 0.52}
    return Evaluation(epoch, 1, epoch, step, "cosine", metrics, "")


def values(page, name):
    return next(plot for plot in page.curves.findChildren(CurvePlot) if name in plot.curves).curves[name].values


def test_without_a_run_the_page_says_what_will_stand_there(page, session, qtbot):
    assert page.currentWidget() is page.hint
    with qtbot.waitSignal(session.page_asked) as caught:
        page.hint.pressed.emit()
    assert caught.args == ["setup"]


def test_the_header_reflects_the_row_of_the_run(page, session, work, qtbot):
    work.say(Status("Training"), Progress(250, 1000, 1234.5, 700_000_000, 130.0))
    session.show_run(work.run_id)
    assert page.header.name.text() == "First"
    assert page.header.state.text() == "Running: Training"
    assert page.header.epoch.text() == "Epoch 1 / 10"
    shown = [
        tile.accessibleName().replace("\u202f", " ") for tile in (page.tiles.time, page.tiles.speed, page.tiles.memory)
    ]
    batch = RunConfig.recorded(session.run().config).training.batch_size
    speed = f"Speed: 1,234 img/s, {1000 * batch / 1234.5:.1f} ms per step"
    assert shown == ["Time left: 2 min 10 s", speed, "Peak memory: 700 MB"]
    assert page.header.bar.value() == 250
    assert page.header.pause.isEnabled()
    assert not page.header.resume.isVisible()
    work.say(Progress(500, 1000, 99.96, 0, 60.0))
    qtbot.waitUntil(lambda: page.header.bar.value() == 500)
    assert page.tiles.speed.accessibleName().startswith("Speed: 100 img/s")
    assert page.tiles.memory.number.text() == "700", "the peak stays"


def test_no_time_is_told_before_it_is_known_and_an_ended_run_says_what_it_took(page, session, work, qtbot):
    work.say(Status("Evaluating"))
    session.show_run(work.run_id)
    assert page.header.state.text() == "Running: Evaluating"
    assert page.tiles.time.number.text() == "–", "not “0 s left”"
    run = session.run()
    page.tiles.show_run(dataclasses.replace(run, status="done", seconds=130.0))
    assert page.tiles.time.caption.text() == "Time"
    assert page.tiles.time.number.text() == "2\u202fmin 10\u202fs"


def test_an_import_that_a_kill_cut_off_says_what_to_do(page, session, work):
    run = dataclasses.replace(
        session.workspace.run(work.run_id), status="interrupted", loss="imported", best={}, last={}
    )
    page.header.show_run(run, None, False, catalog.current())
    assert "its import ended before it was complete: import it again" in page.header.state.text()
    page.header.show_run(dataclasses.replace(run, status="done"), None, False, catalog.current())
    assert "imported embeddings, so there are no training curves" in page.header.state.text()


def test_a_queued_run_says_why_it_cannot_be_paused(page, session, work):
    session.show_run(work.run_id)
    assert session.run().status == "queued"
    header = page.header
    assert header.state.text() == "Queued: starts when the runs before it have ended"
    assert [each.toolTip() for each in (header.pause, header.stop, header.end)] == [IN_LINE, IN_LINE, ""]
    assert header.end.isEnabled()
    actions = RunActions(session, Commands(session.preferences, page), page)
    assert not actions.pause.isEnabled(), "nor by its key: it would hold up the queue when its turn comes"
    work.say(Status("Training"))
    session.show_run(None)
    session.show_run(work.run_id)
    assert header.pause.isEnabled()
    assert actions.pause.isEnabled()


def test_an_accuracy_that_a_loop_logs_in_percent_is_drawn_as_it_is(page, session, work, qtbot):
    work.say(Scalar("train/accuracy", 10, 0.5))
    session.show_run(work.run_id)
    qtbot.waitUntil(lambda: values(page, "train/accuracy").tolist() == [50.0])
    work.say(Scalar("train/accuracy", 20, 85.0), Scalar("train/accuracy", 30, 0.25))
    qtbot.waitUntil(lambda: values(page, "train/accuracy").tolist() == [0.5, 85.0, 0.25])
    session.show_run(session.workspace.create_run(RunConfig(name="Second")))
    session.show_run(work.run_id)
    qtbot.waitUntil(lambda: values(page, "train/accuracy").tolist() == [0.5, 85.0, 0.25])


def test_curves_follow_the_run_and_start_anew_with_another(page, session, work, qtbot):
    work.say(Scalar("probe/ce", 10, 2.0), Scalar("probe/spce", 10, 1.5), Scalar("train/accuracy", 10, 0.25))
    session.show_run(work.run_id)
    qtbot.waitUntil(lambda: values(page, "probe/ce").tolist() == [2.0])
    work.say(Scalar("probe/ce", 20, 1.0), Scalar("batch/loss", 1, NAN), Scalar("unheard/of", 1, 1.0))
    qtbot.waitUntil(lambda: values(page, "probe/ce").tolist() == [2.0, 1.0])
    assert values(page, "train/accuracy").tolist() == [25.0], "the header says %"
    assert page.curves.batch.marks() == [(1.0, "Loss: NaN at step 1")]
    work.say(Scalar("batch/loss", 2, 1.0), Scalar("batch/loss", 3, float("inf")))
    qtbot.waitUntil(lambda: len(page.curves.batch.marks()) == 2)
    assert page.curves.batch.marks()[1] == (3.0, "Loss: infinite at step 3")
    other = session.workspace.create_run(RunConfig(name="Second"))
    session.show_run(other)
    assert len(values(page, "probe/ce")) == 0
    assert page.header.name.text() == "Second"
    session.show_run(work.run_id)
    qtbot.waitUntil(lambda: values(page, "probe/ce").tolist() == [2.0, 1.0])


def test_a_page_made_late_shows_what_was_told_before(session, work, qtbot):
    work.say(*(Scalar("batch/loss", step, 1 / step) for step in range(1, 50)))
    session.show_run(work.run_id)
    session.follower.look()
    page = qtbot.addWidget(TrainPage(session))
    qtbot.waitUntil(lambda: len(values(page, "batch/loss")) == 49)
    np.testing.assert_array_equal(values(page, "batch/loss"), 1 / np.arange(1, 50))
    work.say(Scalar("batch/loss", 50, 0.5))
    qtbot.waitUntil(lambda: len(values(page, "batch/loss")) == 50)


def test_a_picture_of_the_window_while_the_page_is_half_made(session, qtbot):
    window = qtbot.addWidget(QWidget())
    made = TrainPage(session, window, in_parts=True)
    next(made.making)
    window.resize(900, 700)
    made.resize(window.size())
    assert window.grab().height() == 700, "it sends the page its new size"
    finish(made.making)
    assert made.findings.width() == session.theme.side(FINDINGS_PX)


def test_pause_continue_and_stop_reach_the_control(page, session, work):
    work.say(Status("Training"), Progress(1, 10, 1.0))
    session.show_run(work.run_id)
    page.header.pause.click()
    assert work.control.paused
    assert page.header.pause.text() == "Resume"
    page.header.pause.click()
    assert not work.control.paused
    page.header.stop.click()
    assert work.control.stop_asked
    assert not work.control.interrupted
    assert page.header.stop.text() == "Stopping…"
    assert not page.header.stop.isEnabled()


@pytest.mark.parametrize(
    ("how", "words"),
    [("stop", "Stopping after this epoch"), ("interrupt", "Stopping now"), ("stop_now", "Stopping now")],
)
def test_a_run_that_was_asked_to_stop_says_so_whatever_it_does(page, session, work, qtbot, how, words):
    work.say(Status("Training"), Progress(1, 10, 1.0))
    session.show_run(work.run_id)
    lines = RunActivity(session)
    getattr(work.control, how)()
    work.say(Status("Evaluating"))
    session.follower.look()
    assert page.header.state.text() == f"{words}: Evaluating"
    assert not page.header.stop.isEnabled()
    assert page.header.pause.isEnabled() == (how == "stop")
    qtbot.waitUntil(lambda: session.activity.newest_working.now.text == f"{words}: Evaluating")
    lines.deleteLater()


@pytest.mark.parametrize("end", ["end_run", "discard_run"])
def test_a_run_that_is_ended_or_discarded_says_so_at_once(page, session, work, end):
    work.say(Status("Training"), Progress(1, 10, 1.0))
    session.show_run(work.run_id)
    getattr(session, end)(work.run_id)
    assert page.header.state.text() == "Stopping now: Training"


def test_a_button_that_goes_while_it_has_the_focus_does_not_hand_it_to_the_end_of_the_run(page, session, work):
    work.say(Status("Training"), Progress(1, 10, 1.0))
    session.show_run(work.run_id)
    rail = Rail(session, [])
    page.header.stop.setFocus()
    page.header.stop.click()
    assert not page.header.stop.isEnabled()
    assert page.window().focusWidget() is page, "Enter or Space must press nothing here"
    assert rail.run.text().endswith(": stopping after this epoch, epoch 1 / 10")
    page.header.end.setFocus()
    page.header.show_run(session.run(), work.control, can_resume=False, known=session.catalog)
    assert page.window().focusWidget() is page.header.end, "it can still be pressed"


def test_ending_is_asked_of_the_window(page, session, work):
    work.say(Status("Training"))
    session.show_run(work.run_id)
    asked = []
    session.end_asked.connect(asked.append)
    page.header.end.click()
    page.banner.buttons["Discard"][1].click()
    assert asked == [work.run_id, work.run_id]


@pytest.mark.parametrize(
    ("words", "obeyed"),
    [
        ("Go on", lambda control: not control.paused and not control.interrupted),
        ("Stop and keep", lambda control: control.interrupted and not control.paused),
    ],
)
def test_trouble_is_named_marked_and_answered(page, session, work, qtbot, words, obeyed):
    work.say(Status("Training"), Progress(7, 10, 1.0), Scalar("batch/loss", 7, 9.1e4))
    session.show_run(work.run_id)
    assert not page.banner.isVisible()
    work.control.reason = TROUBLE
    work.control.pause()
    work.say(Waiting(TROUBLE))
    qtbot.waitUntil(page.banner.isVisible)
    assert page.banner.sentence.text() == TROUBLE
    assert page.header.state.text() == "Waiting for you"
    assert page.curves.batch.marks() == [(7.0, "Loss exploded to 9.1e+04")]
    page.banner.buttons[words][1].click()
    assert obeyed(work.control)
    assert not page.banner.isVisible(), "answered: it goes at once"
    work.say(Resumed())
    expected = "Stopping now: Training" if words == "Stop and keep" else "Running: Training"
    qtbot.waitUntil(lambda: page.header.state.text() == expected)
    assert page.curves.batch.marks(), "the mark stays"


def test_a_pause_by_hand_needs_no_banner(page, session, work, qtbot):
    session.show_run(work.run_id)
    work.control.pause()
    work.say(Status("Training"), Waiting())
    qtbot.waitUntil(lambda: page.header.state.text() == "Paused")
    assert not page.banner.isVisible()
    assert page.header.pause.text() == "Resume"


def test_a_run_of_another_program_is_watched_but_not_steered(page, session, work, monkeypatch):
    monkeypatch.setattr(session.queue, "control", lambda run_id: None)
    work.say(Status("Training"))
    session.show_run(work.run_id)
    for each in (page.header.pause, page.header.stop, page.header.end):
        assert each.isVisible()
        assert not each.isEnabled()
        assert "another program" in each.toolTip()
    work.say(Waiting(TROUBLE))
    session.follower.look()
    assert "another program" in page.banner.sentence.text()
    assert not page.banner.buttons["Go on"][1].isEnabled()


def test_an_ended_run_with_a_checkpoint_can_be_resumed(page, session, qtbot, monkeypatch):
    run_id = session.workspace.create_run(RunConfig())
    session.workspace.set_status(run_id, "stopped", "")
    session.show_run(run_id)
    assert not page.header.resume.isVisible()
    (session.workspace.folder(run_id) / "last.pt").write_bytes(b"x")
    session.show_run(None)
    session.show_run(run_id)
    assert page.header.resume.isVisible()
    assert not page.header.pause.isVisible()
    resumed = []
    monkeypatch.setattr(session, "resume_run", resumed.append)
    page.header.resume.click()
    assert resumed == [run_id]


def test_a_run_that_is_being_resumed_says_so_and_is_queued_once(page, session, qtbot, monkeypatch):
    run_id = session.workspace.create_run(RunConfig())
    session.workspace.set_status(run_id, "stopped", "")
    (session.workspace.folder(run_id) / "last.pt").write_bytes(b"x")
    session.show_run(run_id)
    asked, queued, said = [], [], []
    monkeypatch.setattr(session, "change", lambda *of: asked.append(of))
    monkeypatch.setattr(session.queue, "add", lambda run_id, **how: queued.append(run_id))
    session.noticed.connect(said.append)
    page.header.resume.click()
    assert page.header.resume.isVisible()
    assert not page.header.resume.isEnabled(), "the disk may take long"
    assert page.header.resume.toolTip() == "It is being put into the queue."
    session.resume_run(run_id)
    [(take_over, then, failed)] = asked
    failed(Problem("The disk is full."))
    assert page.header.resume.isEnabled()
    assert [problem.what for problem in said] == ["The disk is full."]
    page.header.resume.click()
    then(take_over())
    assert queued == [run_id]
    session.follower.look()
    assert not session.resumes(run_id)
    session.queue.ended.emit(run_id, "stopped", "")
    assert not page.header.resume.isVisible(), "it is queued"


@pytest.mark.parametrize("how", ["ended", "withdrawn"])
def test_a_run_that_left_the_queue_before_it_was_read_as_queued_can_be_resumed(page, session, monkeypatch, how):
    run_id = session.workspace.create_run(RunConfig())
    session.workspace.set_status(run_id, "stopped", "")
    (session.workspace.folder(run_id) / "last.pt").write_bytes(b"x")
    session.show_run(run_id)
    monkeypatch.setattr(session, "change", lambda *of: None)
    page.header.resume.click()
    assert not page.header.resume.isEnabled()
    if how == "ended":
        session.queue.ended.emit(run_id, "failed", "")
    else:
        monkeypatch.setattr(type(session.queue), "waiting", [run_id])
        monkeypatch.setattr(session.queue, "end", lambda run_id: None)
        session.end_run(run_id)
    assert page.header.resume.isEnabled()


def test_resume_of_a_paused_run_resumes_it_though_somebody_else_did_so_first(page, session, work, qtbot):
    work.say(Status("Training"))
    session.show_run(work.run_id)
    qtbot.waitUntil(page.header.pause.isEnabled)
    page.header.pause.click()
    assert work.control.paused
    assert page.header.pause.text() == "Resume"
    work.control.resume()  # nothing has told the page yet
    page.header.pause.click()
    assert not work.control.paused, "the button said Resume"
    assert page.header.pause.text() == "Pause"


def test_a_pause_on_another_page_is_known_when_the_page_is_shown_again(page, session, work, qtbot):
    work.say(Status("Training"))
    session.show_run(work.run_id)
    qtbot.waitUntil(page.header.pause.isEnabled)
    page.hide()
    session.pause_shown(True)
    page.show()
    assert page.header.pause.text() == "Resume", "before the run has reached its next step"


def test_an_ended_run_leads_on_to_what_it_found(page, session, work, qtbot):
    work.say(Status("Training"))
    session.show_run(work.run_id)
    buttons = page.header.look
    run = dataclasses.replace(session.run(), last={"MAP@R": 0.5})
    page.header.show_run(run, None, False, {})
    assert not any(each.isVisible() for each in buttons.values()), "it still works"
    page.header.show_run(dataclasses.replace(run, status="done", last={}), None, False, {})
    assert not any(each.isVisible() for each in buttons.values()), "it found nothing"
    page.header.show_run(dataclasses.replace(run, status="done"), None, False, {})
    assert [each.text() for each in buttons.values() if each.isVisible()] == ["Map", "Retrieval", "Report"]
    asked = []
    session.page_asked.connect(asked.append)
    buttons["map"].setFocus()
    for each in buttons.values():
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space)
        qtbot.keyClick(each, Qt.Key.Key_Tab)
    assert asked == ["map", "retrieval", "report"]


def test_tab_goes_on_from_the_last_plot_to_the_folded_evaluations(page, session, work, qtbot):
    session.show_run(work.run_id)
    page.resize(760, 640)  # no room for the card
    evaluations = page.curves.evaluations
    qtbot.waitUntil(evaluations.unfold.isVisible)
    assert not evaluations.table.isVisible()
    page.curves.rate.canvas.setFocus()
    qtbot.keyClick(page.curves.rate.canvas, Qt.Key.Key_Tab)
    assert page.window().focusWidget() is evaluations.unfold


def said_by(findings):
    return [words.text() for words in findings.findChildren(QLabel) if words.isVisible() and words.text().endswith(".")]


def test_empty_plots_say_whether_values_may_still_come(page, session, work, qtbot):
    session.show_run(work.run_id)
    plots = (*page.curves.plots, *page.anatomy.plots)
    assert {plot.empty.text() for plot in plots} == {NOT_YET}
    assert said_by(page.findings) == [NOTHING_YET]
    assert all(plot.empty.isVisible() for plot in page.curves.plots)
    work.say(Scalar("batch/loss", 1, 2.0))
    qtbot.waitUntil(lambda: not page.curves.batch.empty.isVisible())
    assert page.curves.probe.empty.isVisible()
    run_id = session.workspace.create_run(RunConfig())
    session.workspace.set_status(run_id, "done", "")
    session.show_run(run_id)
    assert {plot.empty.text() for plot in plots} == {NEVER}
    page.views.setCurrentWidget(page.anatomy)
    qtbot.waitUntil(lambda: len(page.anatomy.plots) == 2 + AT_FIRST)
    assert {plot.empty.text() for plot in page.anatomy.plots} == {NEVER}
    page.views.setCurrentWidget(page.curves)
    assert said_by(page.findings) == [NOTHING]
    qtbot.waitUntil(page.curves.batch.empty.isVisible)


def test_a_failed_run_is_red_and_leads_to_its_settings(page, session, work, qtbot):
    session.catalog = catalog.current()
    session.show_run(work.run_id)
    session.workspace.set_status(work.run_id, "failed", "No folder or archive is chosen for MNIST.")
    qtbot.waitUntil(page.header.edit.isVisible)
    assert page.header.state.property("role") == "error"
    offered = []
    session.config_offered.connect(offered.append)
    page.header.edit.click()
    assert [config.name for config in offered] == [session.run().name]
    assert session.page == "setup"


def test_the_gradient_stands_beside_the_loss_of_runs_that_have_it(page, session, work, qtbot):
    plot, name = page.curves.batch, "batch/gradient_norm"
    legend = plot.legend[name]
    assert (legend.text(), legend.toolTip()) == ("Gradient (right)", "Show or hide Gradient norm (right)")
    work.say(Scalar("batch/loss", 2, 0.5))
    session.show_run(work.run_id)
    qtbot.waitUntil(lambda: values(page, "batch/loss").tolist() == [0.5])
    assert legend.isHidden(), "as of runs of older versions"
    work.say(Scalar(name, 2, 3.25), Scalar(name, 5, float("inf")))
    qtbot.waitUntil(lambda: not legend.isHidden())
    assert values(page, name).tolist() == [3.25, float("inf")]
    assert plot.marks() == [(5.0, "Gradient norm (right): infinite at step 5")]
    session.show_run(session.workspace.create_run(RunConfig(name="Second")))
    assert legend.isHidden()


def test_one_slider_smooths_every_curve(page, session, work, qtbot):
    session.show_run(work.run_id)
    falling = np.linspace(2.3, 0.6, 30)
    work.say(*(Scalar("batch/loss", step, loss) for step, loss in enumerate(falling, start=1)))
    qtbot.waitUntil(lambda: len(values(page, "batch/loss")) == 30)
    page.options.smoother.slider.setValue(40)
    page.views.setCurrentWidget(page.anatomy)
    qtbot.waitUntil(lambda: len(page.anatomy.plots) == 2 + AT_FIRST)
    assert {plot.smoothing for plot in (*page.curves.plots, *page.anatomy.plots)} == {0.4}
    page.curves.batch.redraw()
    smooth = page.curves.batch.canvas.lines["batch/loss"].smooth.getOriginalDataset()[1]
    np.testing.assert_allclose(smooth, falling, atol=0.1)


def test_a_failed_run_says_why(page, session):
    run_id = session.workspace.create_run(RunConfig())
    session.workspace.set_status(run_id, "failed", "The folder is gone.")
    session.show_run(run_id)
    assert page.header.state.text() == "Failed: The folder is gone."


def test_the_table_has_newest_on_top_and_marks_the_best(qtmodeltester):
    accuracies = {0: None, 10: 91.25, 20: 99.0}
    model = EpochTable(accuracies.get)
    model.show([evaluation(0, 0.2, 0), evaluation(1, 0.4567, 10), evaluation(2, 0.4, 20)])
    qtmodeltester.check(model)
    rows = [[model.index(row, column).data() for column in range(6)] for row in range(3)]
    assert rows == [
        ["2", "81.2", "50.0", "40.0", "-5.7", "99.0"],
        ["1 ★ best", "81.2", "50.0", "45.7", "+25.7", "91.2"],
        ["0 (untrained)", "81.2", "50.0", "20.0", "–", "–"],
    ]
    titles = [model.headerData(column, Qt.Orientation.Horizontal) for column in range(model.columnCount())]
    assert titles == ["Epoch", "R@1 % ↑", "P@R % ↑", "MAP@R % ↑", "Δ ↑", "Acc. % ↑"]
    assert "41.0% to 52.0%" in model.index(1, 3).data(Qt.ItemDataRole.ToolTipRole)
    tips = [
        model.headerData(column, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
        for column in range(model.columnCount())
    ]
    assert all(tips), "no column without a word of what it is"
    assert "among the 1 nearest" in tips[1]
    alike = evaluation(0, 1.0)
    alike.metrics.update({"MAP@R/low": 1.0, "MAP@R/high": 1.0})
    model.show([alike])
    assert model.index(0, 3).data(Qt.ItemDataRole.ToolTipRole) == "No interval: all queries have the same value"
    model.show([evaluation(0, NAN)])
    assert model.index(0, 0).data() == "0 (untrained)", "NaN is never the best"


def test_tiles_tell_the_best_epoch_and_the_smoothed_loss(page):
    page.tiles.show_evaluations([evaluation(0, 0.48), evaluation(7, 0.759), evaluation(8, 0.757)], evaluation(7, 0.759))
    assert page.tiles.score.accessibleName() == "Best MAP@R ★: 75.9%, epoch 7 · from 48.0"
    assert page.tiles.recall.accessibleName() == "R@1: 81.2%, epoch 7"
    assert (page.tiles.score.unit.text(), page.tiles.recall.unit.text()) == ("%", "%")
    page.tiles.show_loss(np.array([2.0, NAN, 2.0]))
    assert page.tiles.loss.number.text() == "2"
    page.tiles.show_evaluations([evaluation(0, 0.48), evaluation(1, 0.25)], evaluation(0, 0.48))
    assert page.tiles.score.accessibleName() == "Best MAP@R ★: 48.0%, untrained"
    page.tiles.show_evaluations([], None)
    assert page.tiles.score.number.text() == "–"


def test_beside_the_anatomy_tiles_and_letters_are_of_the_probe(page, session, work, qtbot):
    usual, of_probe = [page.tiles.loss, page.tiles.memory, page.tiles.speed], [page.tiles.ce, page.tiles.spce]
    session.show_run(work.run_id)
    for step, ce, pce in ((10, 2.0, 1.0), (20, 1.0, 2.0), (30, 0.5, 0.25)):
        known = {"probe/ce": ce, "probe/spce": ce + 1, "anatomy/ce": ce, "anatomy/pce": pce, "anatomy/lambda": 0.1}
        work.say(*(Scalar(name, step, value) for name, value in known.items()))
    qtbot.waitUntil(lambda: "first at step 20" in page.findings.text())
    assert all(tile.isVisible() for tile in usual)
    page.views.setCurrentWidget(page.anatomy)
    qtbot.waitUntil(lambda: "from A to B (step 20)" in page.findings.text())
    assert [tile.accessibleName() for tile in of_probe] == [
        "CE on the probe: 0.5 nats, from 2",
        "SPCE on the probe: 1.5 nats, from 3",
    ]
    assert all(tile.isVisible() for tile in of_probe)
    assert [tile.isVisible() for tile in usual] == [False, False, True], "H(Y) − CE was not measured"
    assert not page.tiles.information.isVisible()
    qtbot.waitUntil(lambda: [ring.letter for ring in page.anatomy.bound.rings()] == ["A", "B"])
    page.views.setCurrentWidget(page.curves)
    qtbot.waitUntil(lambda: "first at step 20" in page.findings.text())
    assert all(tile.isVisible() for tile in usual)


def test_the_head_says_data_backbone_and_loss_unless_a_sentence_needs_the_line(page, session, work):
    session.show_run(work.run_id)
    assert page.header.about.text() == "Digits · Four convolutions · Cross-entropy (CE)"
    assert page.header.about.isVisible()
    failed = dataclasses.replace(session.run(), status="failed", problem="The loss is NaN.")
    page.header.show_run(failed, None, False, session.catalog)
    assert not page.header.about.isVisible()
    with record_run(session.workspace, "Mine", ["a", "a", "b", "b"], epochs=1, settings={"loss": "my loss"}) as mine:
        mine.evaluate(1, np.eye(4))
    page.header.show_run(session.workspace.run(mine.id), None, False, session.catalog)
    assert page.header.about.text() == "own loop · my loss"


@pytest.mark.parametrize(
    ("others", "apart"),
    [(True, 80), *(pytest.param(others, 20, marks=pytest.mark.slow) for others in (True, False))],
)
def test_all_tabs_fit_beside_the_options_at_every_width(page, session, qtbot, others, apart):
    recorder = Recorder(session.workspace, session.workspace.create_run(RunConfig(name="live")))
    recorder(Status("Training"))
    for step in (1, 2):
        recorder(Scalar("batch/loss", step, 1.0))
        if others:
            recorder(Scalar("validation/MAP@R", step, 0.5))
    recorder.flush()
    session.show_run(recorder.run_id)
    session.follower.look()
    views = page.views
    qtbot.waitUntil(lambda: views.isTabVisible(views.indexOf(page.others)) == others)
    arrows = views.tabBar().findChildren(QToolButton)
    assert len(arrows) == 2
    for width in range(720, 1300, apart):
        page.resize(width, 720)
        for tab in filter(views.isTabVisible, range(views.count())):
            views.setCurrentIndex(tab)
            for _ in range(4):  # a layout that changes asks for another
                QApplication.processEvents()
            assert not any(arrow.isVisible() for arrow in arrows), (width, views.tabText(tab))
    recorder.close()


def test_a_loop_of_the_users_own_is_asked_to_stop_if_it_looks(page, session, qtbot):
    actions = RunActions(session, Commands(session.preferences, page), page)
    header, stop = page.header, actions.stop
    with record_run(session.workspace, "Mine", ["a", "a", "b", "b"], epochs=1) as mine:
        mine.scalars(1, {"batch/loss": 1.0})
        session.follower.look()
        session.show_run(mine.id)
        qtbot.waitUntil(lambda: "does not check whether it should stop" in header.stop.toolTip())
        assert not header.stop.isEnabled()
        assert not stop.isEnabled()
        assert not mine.stop_asked
        qtbot.waitUntil(lambda: header.stop.isEnabled() and stop.isEnabled())
        assert (header.stop.text(), header.pause.isEnabled(), header.end.isEnabled()) == ("Stop", False, False)
        assert header.pause.toolTip() == "Your own training loop can only be asked to stop."
        header.stop.click()
        qtbot.waitUntil(lambda: header.state.text().startswith("Asked to stop"))
        assert (header.stop.text(), header.stop.isEnabled(), stop.isEnabled()) == ("Stopping…", False, False)
        qtbot.waitUntil(lambda: mine.stop_asked)
    qtbot.waitUntil(lambda: header.state.text().startswith("Stopped"))


def test_the_table_of_epochs_is_folded_until_it_is_asked_for(page, session, work, qtbot):
    session.show_run(work.run_id)
    assert not page.evaluations.table.isVisible()
    page.evaluations.unfold.click()
    assert page.evaluations.table.isVisible()
    assert session.preferences.flag("train/table")


def test_a_run_that_has_ended_without_evaluations_says_no_more_that_none_is_there_yet(page, session, workspace, qtbot):
    run_id = workspace.create_run(RunConfig())
    session.show_run(run_id)
    session.follower.look()
    qtbot.waitUntil(lambda: session.run() is not None)
    assert (page.evaluations.unfold.text(), page.evaluations.count.text()) == ("No evaluations yet", "none yet")
    workspace.set_status(run_id, "done")
    session.follower.look()
    qtbot.waitUntil(lambda: page.evaluations.unfold.text() == "No evaluations")
    assert page.evaluations.count.text() == "none"


def test_where_three_cards_have_room_the_evaluations_are_one_of_them(page, session, work, qtbot):
    page.resize(1160, 760)
    session.show_run(work.run_id)
    shown, table = page.evaluations, page.evaluations.table
    shown.show_evaluations([evaluation(0, 0.2), evaluation(1, 0.4567), evaluation(2, 0.4567)], 3)
    qtbot.waitUntil(lambda: table.isVisible() and not shown.unfold.isVisible())
    qtbot.waitUntil(lambda: abs(shown.y() - page.curves.rate.y()) <= 1 and shown.x() > page.curves.rate.x())

    def heads():
        columns = range(shown.model.columnCount())
        names = (shown.model.headerData(column, Qt.Orientation.Horizontal) for column in columns)
        return [name for column, name in enumerate(names) if not table.isColumnHidden(column)]

    some = heads()
    assert some[0] == "Epoch"
    assert {"MAP@R %", "Δ"} <= set(some)
    assert "Acc. %" not in some
    assert shown.count.text() == f"3; {len(some)} of {shown.model.columnCount()} columns"
    assert shown.count.written() == [shown.count.text()], "it has its room"
    assert "Acc. %" in shown.more.toolTip()
    assert table.horizontalScrollBar().maximum() == 0
    assert [shown.model.index(row, 0).data() for row in range(3)] == ["2", "1 ★", "0"]
    shown.full_size_asked.emit()
    qtbot.waitUntil(lambda: shown.size() == page.curves.viewport().size())
    qtbot.waitUntil(lambda: "Acc. %" in heads())
    assert shown.count.text() == "3"
    assert "Acc. %" not in shown.more.toolTip()
    shown.table_actions.copy.trigger()
    copied = [line.split("\t") for line in QGuiApplication.clipboard().text().splitlines()]
    assert copied[0] == heads()
    assert [line[copied[0].index("Δ")] for line in copied[1:]] == ["0.0", "+25.7", "–"]
    shown.full_size_asked.emit()
    qtbot.waitUntil(lambda: heads() == some)
    page.resize(800, 700)
    qtbot.waitUntil(lambda: shown.unfold.isVisible() and not table.isVisible())
    qtbot.waitUntil(lambda: shown.y() > page.curves.rate.y())


def test_smoothing_and_axis_are_offered_where_curves_are(page, session, work):
    session.show_run(work.run_id)
    offered = []
    for view in (page.curves, page.anatomy, page.method, page.geometry_panel, page.system):
        page.views.setCurrentWidget(view)
        offered.append(page.options.isVisible())
    assert offered == [True, True, False, False, True]


def test_the_method_tab_is_there_while_pictures_may_come(page, session, work):
    session.show_run(work.run_id)
    place = page.views.indexOf(page.method)
    assert page.views.isTabVisible(place)
    run_id = session.workspace.create_run(RunConfig())
    session.workspace.set_status(run_id, "done", "")
    session.show_run(run_id)
    assert not page.views.isTabVisible(place)


def test_the_method_tab_stays_when_a_run_without_charts_ends(page, session, qtbot):
    run_id = session.workspace.create_run(RunConfig())
    session.workspace.set_status(run_id, "running", "")
    session.runs_changed.emit()
    session.show_run(run_id)
    page.views.setCurrentWidget(page.method)
    assert page.method.hint.title.text() == "Nothing is drawn yet"
    session.workspace.set_status(run_id, "stopped", "")
    qtbot.waitUntil(lambda: not session.run(run_id).live)
    session.runs_changed.emit()
    qtbot.waitUntil(lambda: page.method.hint.title.text() == "Nothing was drawn")
    assert page.views.currentWidget() is page.method
    assert page.views.isTabVisible(page.views.indexOf(page.method))
    session.show_run(None)
    session.show_run(run_id)
    qtbot.waitUntil(lambda: not page.views.isTabVisible(page.views.indexOf(page.method)))


def test_a_curve_that_no_other_tab_shows_has_a_tab_of_its_own(page, session, work, qtbot):
    session.show_run(work.run_id)
    tab = page.views.indexOf(page.others)
    work.say(Status("Training"), Scalar("batch/loss", 1, 2.0), Scalar("test/MAP@R", 1, 0.5), Scalar("anatomy/ce", 1, 1))
    qtbot.waitUntil(lambda: len(values(page, "batch/loss")) == 1)
    assert not page.views.isTabVisible(tab)
    work.say(Scalar("mine/norm", 1, 4.0))
    qtbot.waitUntil(lambda: page.views.isTabVisible(tab))
    page.views.setCurrentWidget(page.others)
    qtbot.waitUntil(lambda: len(page.others.plots) == 1)
    assert page.others.plots[0].smoothing == page.options.smoother.weight
    assert page.options.isVisible()
    session.show_run(None)
    assert not page.views.isTabVisible(tab)


def test_the_system_tab_says_what_bounds_a_run(page, session, work, qtbot):
    times = {"batch/feed_wait": 0.03, "system/forward": 0.02, "system/loss": 0.001, "system/backward": 0.04,
             "system/optimiser": 0.005, "system/probe": 0.004, "system/memory": 1e9}  # fmt: skip
    session.show_run(work.run_id)
    page.views.setCurrentWidget(page.system)
    assert page.system.verdict.text() == "The first steps are being timed."
    work.say(*(Scalar(name, 10, value) for name, value in times.items()))
    qtbot.waitUntil(lambda: "the data feed" in page.system.verdict.text())
    assert "Wait for data 30\u202fms" in page.system.bar.accessibleName()
    qtbot.waitUntil(lambda: len(page.system.plots) == 2)
    memory, parts = page.system.plots
    assert memory.curves["system/memory"].values.tolist() == [1.0]
    assert parts.curves["system/backward"].values.tolist() == [40.0]


def test_the_charts_of_a_run_without_a_gpu_are_all_in_sight(session, qtbot):
    panel = qtbot.addWidget(SystemPanel())
    panel.resize(1000, 560)
    panel.show()
    panel.add([(f"system/{name}", 10, 0.5) for name in ("processor", "memory", "forward")])
    panel.refresh()
    qtbot.waitUntil(lambda: len(panel.plots) == 3)
    panel.widget().layout().activate()
    QApplication.processEvents()
    assert panel.verticalScrollBar().maximum() == 0


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf"), -1e300])
def test_times_and_limits_that_are_no_numbers_are_left_out(session, qtbot, number):
    """A workspace from elsewhere may hold them: a bar of infinite parts crashed the process."""
    names = [f"system/{name}" for name in ("forward", "backward")]
    assert read_costs({name: (np.arange(2.0), np.full(2, number)) for name in names}) is None
    some = read_costs({name: (np.arange(2.0), np.array([number, 0.02])) for name in names})
    assert some.whole == pytest.approx(0.04)
    panel = qtbot.addWidget(SystemPanel())
    panel.resize(1000, 560)
    panel.show()
    panel.add([(name, step, number) for name in (*names, "system/memory") for step in (1, 2)])
    panel.add([(f"system/{LIMITS[MEMORY]}", 1, number)])
    panel.refresh()
    qtbot.waitUntil(lambda: len(panel.plots) == 2)
    assert not panel.grab().isNull()
    assert panel.verdict.text() == "The first steps are being timed."


def test_numbers_that_come_without_a_break_are_read_meanwhile(page, session, work, qtbot):
    """News comes twice a second: the tab, the sentences and the loss must not wait for a moment without any."""
    session.show_run(work.run_id)
    page.views.setCurrentWidget(page.system)
    steps = []

    def tell():
        steps.append(len(steps) + 1)
        session.scalars_arrived.emit([("batch/loss", steps[-1], 1 / steps[-1]), ("system/forward", steps[-1], 0.02)])

    def read():
        return page.system.verdict.text().startswith("Bound by: the network")

    news = QTimer(page, interval=READ_AFTER // 6)
    news.timeout.connect(tell)
    news.start()
    qtbot.waitUntil(lambda: read() or len(steps) > 40)
    news.stop()
    assert read()
    assert page.tiles.loss.number.text() != "–"


def test_the_system_tab_has_eight_charts_of_a_run_on_a_gpu_with_their_limits(page, session, work, qtbot):
    values = {"gpu_load": 0.71, "gpu_memory": 6 * 2**30, "gpu_power": 212, "gpu_temperature": 65, "processor": 0.31,
              "machine_memory": 9 * 2**30, "disk_read": 4e5, "forward": 0.02, "limit/gpu_power": 350}  # fmt: skip
    session.show_run(work.run_id)
    page.views.setCurrentWidget(page.system)
    work.say(*(Scalar(f"system/{name}", 10, value) for name, value in values.items()))
    qtbot.waitUntil(lambda: len(page.system.plots) == 8)
    shown = {plot.title: curve.values[-1] for plot in page.system.plots for curve in plot.curves.values() if len(curve)}
    assert shown["GPU load, %"] == 71
    assert shown["Power, W"] == 212
    assert shown["Temperature, °C"] == 65
    assert shown["Disk read, MB/s"] == pytest.approx(0.4)
    page.session.show_run(session.workspace.create_run(RunConfig()))
    assert all(plot.isHidden() for plot in page.system.plots)
    assert not page.system.nothing.isHidden()


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"limit/machine_memory": 16e9}, "16 GB, installed"),
        ({"limit/group_memory": 4e9}, "4 GB, limit of the container or job"),
        ({"limit/machine_memory": 16e9, "limit/group_memory": 4e9}, "4 GB, limit of the container or job"),
    ],
)
def test_the_system_tab_names_what_limits_the_memory(page, session, work, qtbot, limits, words):
    session.show_run(work.run_id)
    page.views.setCurrentWidget(page.system)
    work.say(*(Scalar(f"system/{name}", 10, value) for name, value in {"machine_memory": 2e9, **limits}.items()))
    qtbot.waitUntil(lambda: len(page.system.plots) == 1)
    items = page.system.plots[0].canvas.item.items
    assert words in [item.label.format for item in items if getattr(item, "angle", None) == 0]


def test_curves_stand_over_steps_epochs_or_time_and_the_choice_is_kept(page, session, work, qtbot):
    session.show_run(work.run_id)
    work.say(*(Scalar("batch/loss", step, 1.0) for step in (10, 20)),
             *(Scalar("system/seconds", step, step / 2) for step in (10, 20)))  # fmt: skip
    qtbot.waitUntil(lambda: page.options.axis.buttons["time"].isEnabled())
    qtbot.mouseClick(page.options.axis.buttons["time"], Qt.MouseButton.LeftButton)
    table = page.curves.batch.numbers()
    assert table.titles == ["time, s", "Loss"], "this run has no norms of the gradient"
    assert table.steps.tolist() == [5.0, 10.0]
    assert page.curves.retrieval.x_title in ("epoch", "time, s")
    assert session.preferences.text("train/axis") == "time"
    page.curves.batch.show_values(5.1)
    assert page.curves.batch.read_out.text().startswith("step 10 · 5\u202fs")


def test_evaluations_become_points_per_epoch(page):
    page.curves.show_evaluations([evaluation(0, 0.25), evaluation(1, NAN)])
    curves = page.curves.retrieval.curves
    assert curves["recall/0"].steps.tolist() == [0, 1]
    np.testing.assert_allclose(curves["recall/0"].values, [81.23, 81.23])
    assert len(curves["recall/3"]) == 0, "what was not measured is not drawn"
    assert curves["MAP@R"].values[0] == 25.0
    assert math.isnan(curves["MAP@R"].values[1])
    assert page.curves.retrieval.marks() == [(1.0, "MAP@R: NaN at epoch 1")]


@pytest.mark.skipif(os.name == "nt", reason="an open database cannot be taken away there")
def test_a_workspace_whose_database_is_gone_is_told_once_and_followed_when_it_is_back(session, work, monkeypatch):
    monkeypatch.setattr("workbench.workspace.database.connection.LOOK_EVERY", 0.0)
    told, runs = [], []
    session.follower.failed.connect(lambda problem: told.append(str(problem)))
    session.follower.runs_changed.connect(lambda: runs.append(True))
    database = session.workspace.database
    database.rename(database.with_name("away.db"))
    session.follower.look()
    session.follower.look()
    assert len(told) == 1
    assert "doctor --repair" in told[0]
    database.with_name("away.db").rename(database)
    work.say(Scalar("batch/loss", 1, 0.5))
    session.follower.look()
    assert runs


def test_a_plot_at_full_size_has_all_the_room(page, qtbot):
    page.setCurrentIndex(1)
    curves = page.curves
    for plot in curves.plots:
        plot.full_size_asked.emit()
        qtbot.waitUntil(lambda plot=plot: plot.size() == curves.size())
        curves.grid.show_all()
        qtbot.waitUntil(lambda plot=plot: plot.width() < 0.6 * curves.width() and plot.height() < 0.6 * curves.height())


def test_progress_changes_no_layout(page, session, work, qtbot):
    work.say(Status("Training"), Progress(100, 1000, 50.0))
    session.show_run(work.run_id)
    session.follower.look()
    qtbot.settle(page)
    layouts = Counted(page, QEvent.Type.LayoutRequest)
    work.say(Progress(110, 1000, 51.0))
    session.follower.look()
    qtbot.deliver()
    assert page.header.bar.value() == 110
    assert layouts.count == 0


def test_a_page_that_is_not_seen_takes_the_news_when_it_is_shown(page, session, work):
    work.say(Status("Training"), Progress(100, 1000, 50.0))
    session.show_run(work.run_id)
    session.follower.look()
    assert page.header.bar.value() == 100
    page.hide()
    work.say(Progress(200, 1000, 50.0))
    session.follower.look()
    assert page.header.bar.value() == 100
    page.show()
    assert page.header.bar.value() == 200
