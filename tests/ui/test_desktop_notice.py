"""What the desktop is told of runs and sweeps while another window is in front."""

import dataclasses
from functools import partial

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

from workbench.config import RunConfig
from workbench.control import Control
from workbench.ui.state.commands import Commands
from workbench.ui.window.runs import desktop_notice, watched_ends
from workbench.ui.window.runs.desktop_notice import DesktopNotice
from workbench.ui.window.runs.outcomes import outcome_of, outcome_of_sweep
from workbench.workspace.experiments import sweeps as stored

ENDED = {"status": "done", "seconds": 720.0, "epoch": 30, "best": {"MAP@R": 0.924}, "best_epoch": 24}
OF_ENDED = "First ended after 30 epochs, 12 min 0 s: best MAP@R 92.4% at epoch 24."


class Played:
    """Runs as a session reads them, and what the desktop got of them: (head, text), newest last."""

    def __init__(self, session, qtbot, monkeypatch):
        self.session, self.runs, self.told = session, {}, []
        self.in_tray = False  # the icon, which the platform of the tests has no place for
        self.front = None  # the active window
        monkeypatch.setattr(session, "runs", lambda: list(self.runs.values()))
        monkeypatch.setattr(session, "run", self.runs.get)
        monkeypatch.setattr(
            session, "control", lambda run_id: Control() if run_id in self.runs and self.runs[run_id].live else None
        )
        monkeypatch.setattr(desktop_notice, "GATHERED", 0)
        monkeypatch.setattr(watched_ends, "RECORDED_WITHIN", 0)
        monkeypatch.setattr(QApplication, "activeWindow", lambda: self.front)
        monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: True)
        monkeypatch.setattr(QSystemTrayIcon, "supportsMessages", lambda: True)
        monkeypatch.setattr(QSystemTrayIcon, "showMessage", self.show_message)
        monkeypatch.setattr(QSystemTrayIcon, "show", partial(self.set_visible, True))
        monkeypatch.setattr(QSystemTrayIcon, "hide", partial(self.set_visible, False))
        self.window, self.qtbot = QWidget(), qtbot
        qtbot.addWidget(self.window)
        monkeypatch.setattr(self.window, "raise_", lambda: None)  # the platform of the tests cannot
        self.commands = Commands(session.preferences, self.window)
        self.notice = DesktopNotice(session, self.commands, self.window)

    def show_message(self, head, text, _icon, _milliseconds):
        self.told.append((head, text))

    def set_visible(self, on):
        self.in_tray = on

    @property
    def tray(self):
        return self.notice.findChild(QSystemTrayIcon)

    def put(self, run_id=None, **facts):
        run_id = run_id or self.session.workspace.create_run(RunConfig())
        row = self.session.workspace.run(run_id)
        self.runs[run_id] = dataclasses.replace(row, **{"name": "First", "epochs": 30, "status": "running", **facts})
        self.session.runs_changed.emit()
        return run_id

    def settle(self):
        self.qtbot.settle(self.notice)
        return self.told


@pytest.fixture
def played(session, qtbot, monkeypatch):
    return Played(session, qtbot, monkeypatch)


def test_the_end_of_a_run_is_told_with_its_result(played):
    played.put(played.put(), **ENDED)
    assert played.settle() == [("Run ended", OF_ENDED)]
    played.session.runs_changed.emit()
    assert len(played.settle()) == 1


def test_a_short_run_and_one_that_the_user_cancelled_are_not_told(played):
    played.put(played.put(), **ENDED | {"seconds": 59.0})
    played.put(played.put(), **ENDED | {"status": "cancelled"})
    assert played.settle() == []


def test_a_failure_is_told_of_a_short_run_too(played):
    played.put(played.put(), status="failed", seconds=2.0, problem="The loss is NaN.")
    assert played.settle() == [("Run failed", "First failed: The loss is NaN.")]


def test_a_run_that_waits_is_told_once(played):
    run_id = played.put()
    for _ in range(2):
        played.put(run_id, status="waiting", problem="The disk is full.")
    assert played.settle() == [("Run waits for you", "First waits: The disk is full.")]


def test_a_failure_that_no_disk_holds_is_told(played, monkeypatch):
    run_id = played.put()
    monkeypatch.setattr(played.session, "control", lambda run_id: None)
    played.session.run_ended.emit(run_id, "failed")
    assert played.settle() == [("Run failed", "First failed, and its end could not be recorded.")]


def test_nobody_is_told_who_has_the_window_in_front(played):
    played.front = played.window
    played.put(played.put(), **ENDED)
    assert played.settle() == []


@pytest.mark.parametrize("lacking", ["isSystemTrayAvailable", "supportsMessages"])
def test_a_desktop_without_a_tray_is_told_nothing(played, monkeypatch, lacking):
    monkeypatch.setattr(QSystemTrayIcon, lacking, lambda: False)
    played.put(played.put(), **ENDED)
    assert played.settle() == []


def test_the_user_can_turn_notices_off_and_it_is_remembered(played, qtbot):
    played.commands["run.notices"].trigger()
    played.put(played.put(), **ENDED)
    assert played.settle() == []
    other = qtbot.addWidget(QWidget())
    commands = Commands(played.session.preferences, other)
    DesktopNotice(played.session, commands, other)
    assert not commands["run.notices"].isChecked()


def test_a_run_of_another_program_is_not_told(played, monkeypatch):
    monkeypatch.setattr(played.session, "control", lambda run_id: None)
    played.put(played.put(), **ENDED)
    assert played.settle() == []


def test_several_ends_within_seconds_are_one_notice(played):
    numbers = [played.put() for _ in range(5)]
    for run_id in numbers:
        played.put(run_id, **ENDED)
    [(head, text)] = played.settle()
    assert head == "5 messages from Workbench"
    assert text.count("\n") == 3
    assert text.endswith("\nAnd 2 more.")


def test_a_name_is_data(played):
    played.put(played.put(), **ENDED | {"name": "<b>A</b>\nB" + "x" * 100})
    [(_, text)] = played.settle()
    assert text.startswith("‹b›A‹/b› Bxxx")
    assert "\n" not in text
    assert "x… ended" in text


def test_a_click_shows_the_run_that_went_wrong(played, monkeypatch):
    shown, pages = [], []
    monkeypatch.setattr(played.session, "show_run", shown.append)
    monkeypatch.setattr(played.session, "show_page", pages.append)
    wrong, right = played.put(), played.put(name="Second")
    played.put(wrong, status="failed", problem="")
    played.put(right, **ENDED)
    played.settle()
    assert played.in_tray
    played.window.showMinimized()
    played.tray.messageClicked.emit()
    assert not played.window.isMinimized()
    assert (shown, pages) == ([wrong], ["train"])
    assert not played.in_tray


def test_the_icon_goes_when_the_user_is_back(played):
    played.put(played.put(), **ENDED)
    played.settle()
    QGuiApplication.instance().applicationStateChanged.emit(desktop_notice.Qt.ApplicationState.ApplicationActive)
    assert not played.in_tray


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"status": "stopped", "epoch": 12}, "First stopped after 12 of 30 epochs, 12 min 0 s: best MAP@R 92.4% at "),
        ({"best_epoch": 0}, "First ended after 30 epochs, 12 min 0 s: best MAP@R 92.4% before training."),
        ({"best": {}}, "First ended after 30 epochs, 12 min 0 s."),
        ({"status": "interrupted", "epoch": 3}, "First was interrupted after 3 of 30 epochs."),
        ({"status": "failed", "epoch": 3, "problem": "Out of memory."}, "First failed after 3 of 30 epochs: Out of "),
    ],
)
def test_sentences(workspace, facts, text):
    run = workspace.run(workspace.create_run(RunConfig(name="First")))
    assert outcome_of(dataclasses.replace(run, epochs=30, **ENDED | facts)).text.startswith(text)
    workspace.close()


@pytest.fixture
def swept(played, workspace):
    """A sweep with the run that works on it."""
    config = RunConfig(name="Digits")
    point = stored.Point({"loss.name": "arcface"}, [(0, 0)])
    number = stored.create(
        workspace, config, how="grid", parameters=["loss.name=arcface"], points=1, metric="MAP@R", reported=True,
        first=[point],
    )  # fmt: skip
    experiment = stored.one(workspace, number).experiment_id
    run_id = workspace.create_run(config, experiment)
    played.session.follower.look()
    return number, played.put(run_id, experiment_id=experiment)


def look(played, qtbot):
    played.notice.watched.look_at_sweeps()
    qtbot.waitUntil(lambda: not played.notice.watched.reading)
    return played.settle()


def test_a_sweep_is_told_as_one(played, swept, qtbot, workspace):
    number, run_id = swept
    played.put(run_id, **ENDED)
    assert played.settle() == [], "the run of a sweep is not told"
    with workspace.writing() as db:
        db.execute("update sweep_trials set state = 'done', objective = 0.924")
    stored.finish(workspace, number)
    assert look(played, qtbot) == [("Sweep ended", "Sweep Digits ended after 1 run: best MAP@R 92.40%.")]


def test_a_sweep_that_the_user_paused_is_not_told_and_one_with_a_reason_is(played, swept, qtbot, workspace):
    number, _ = swept
    stored.set_state(workspace, number, "paused")
    assert look(played, qtbot) == []
    stored.set_state(workspace, number, "paused", "The disk is full.")
    played.session.runs_changed.emit()
    assert look(played, qtbot) == [("Sweep paused", "Sweep Digits was paused: The disk is full.")]


def test_the_sweep_whose_worker_is_gone_is_told(played, swept, qtbot, workspace):
    assert look(played, qtbot) == [("Sweep stalled", "Sweep Digits no longer has a worker process.")]
    played.session.runs_changed.emit()
    assert len(look(played, qtbot)) == 1, "once"
    [sweep] = stored.every(workspace)
    assert outcome_of_sweep(dataclasses.replace(sweep, state="cancelled"), []) is None
