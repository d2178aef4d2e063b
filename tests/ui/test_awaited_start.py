"""A start that is asked for before Preflight has ended waits for it: no run begins that the check refuses."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.ui.test_cancelled_by_user import Gate, gate  # noqa: F401 - fixtures
from tests.ui.test_setup import CATALOG, FOUND, looked, typed  # noqa: F401 - a fixture
from workbench.config import Choice, RunConfig
from workbench.problem import Problem
from workbench.running.preflight import Preflight
from workbench.sweeps import starting
from workbench.ui.pages.setup import SetupPage
from workbench.ui.pages.setup.preflight.card import STARTS
from workbench.ui.places.choice import HERE
from workbench.ui.sweeps.dialog import WAITS

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", "does not support raise", extend=True)

SIZES = {"column": (1200, 760), "strip": (1000, 600)}  # px


@pytest.fixture
def queued(session, monkeypatch):
    """The configs whose runs were queued behind one that works."""
    configs = []

    def add(several, then, failed):
        configs.extend(several)
        then(list(range(1, 1 + several[0].seeds)))

    monkeypatch.setattr(session, "add_runs", add)
    monkeypatch.setattr(type(session), "busy", True)
    return configs


@pytest.fixture
def started(session, monkeypatch):
    """The configs of the runs that were started."""
    configs = []

    def start(config, then=None):
        configs.append(config)
        if then is not None:
            then()

    monkeypatch.setattr(session, "start", start)
    return configs


@pytest.fixture
def checked(gate, monkeypatch):  # noqa: F811
    """What Preflight is asked about on its thread, which stands at the gate before it answers."""
    configs = []

    def preflight(config, progress, cancelled, counted):
        configs.append(config)
        progress("Building the model", 0, 0)
        gate.wait()
        progress("Trying a few steps", 0, 0)
        return Preflight(**FOUND)

    monkeypatch.setattr("workbench.running.preflight.preflight", preflight)
    return configs


@pytest.fixture
def page(session, qtbot, checked):
    session.set_catalog(CATALOG)
    made = qtbot.addWidget(SetupPage(session))
    made.resize(*SIZES["column"])
    made.show()
    yield made
    made.runner.drop()


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_a_start_before_the_check_has_ended_waits_for_it_and_says_so(page, qtbot, gate, started, size):  # noqa: F811
    page.resize(*size)
    qtbot.waitUntil(lambda: page.strip.isVisible() == (size == SIZES["strip"]))
    page.start_run()
    qtbot.waitUntil(gate.begun.is_set)
    assert started == []
    assert page.start.text() == "Cancel start"
    said = page.strip.sentence if page.strip.isVisible() else page.card.starts
    assert said.isVisible()
    assert STARTS in said.text()
    page.start_run()
    assert started == [], "Ctrl+Return once more changes nothing"
    with qtbot.waitSignal(page.session.page_asked) as caught:
        gate.open.set()
    assert caught.args == ["train"]
    assert started == [page.config]
    assert page.start.text() == "Start"
    assert not page.card.starts.isVisible()


def test_a_start_that_the_check_refuses_makes_no_run_and_says_why(page, qtbot, gate, started, said, monkeypatch):  # noqa: F811
    def preflight(config, progress, cancelled, counted):
        gate.wait()
        raise Problem("The folder is empty.", todo="Choose another.")

    monkeypatch.setattr("workbench.running.preflight.preflight", preflight)
    page.start_run()
    qtbot.waitUntil(gate.begun.is_set)
    gate.open.set()
    qtbot.waitUntil(lambda: not page.start.isEnabled())
    assert said == ["The run was not started. The folder is empty. Choose another."]
    assert started == []
    assert page.start.text() == "Start"


@pytest.mark.parametrize("how", ["button", "edit", "activity"])
def test_a_start_that_waits_can_be_cancelled(page, session, qtbot, gate, started, checked, said, how, monkeypatch):  # noqa: F811
    monkeypatch.setattr(QApplication, "doubleClickInterval", lambda: 0)
    page.start_run()
    qtbot.waitUntil(gate.begun.is_set)
    if how == "button":
        QTest.mouseClick(page.start, Qt.MouseButton.LeftButton)
    elif how == "edit":
        typed(page, "training.epochs", "3")
    else:
        session.activity.newest_working.cancel()
    gate.open.set()
    qtbot.waitUntil(lambda: not page.runner.waiting_or_working)
    assert started == []
    assert page.start.text() == "Start"
    assert len(checked) == (2 if how == "edit" else 1)
    assert said == (["The run was not started. Preflight was cancelled."] if how == "activity" else [])
    page.start_run()
    assert started == [page.config], "the check has ended: nothing is waited for"


def test_a_run_that_a_start_card_offers_is_shown_here_and_waits_for_the_check(page, session, qtbot, gate, started):  # noqa: F811
    page.beside.where.show_places(["lab1"])
    page.beside.where.set_value("lab1")
    steps = page.draft.can_undo
    session.start_offered.emit(page.config)
    qtbot.waitUntil(gate.begun.is_set)
    assert page.start.text() == "Cancel start"
    assert page.draft.can_undo == steps, "the form shows it already"
    assert page.beside.where.value() == HERE
    assert started == []
    other = page.config.model_copy(update={"name": "Sample"})
    session.start_offered.emit(other)
    assert page.config.name == "Sample"
    with qtbot.waitSignal(session.page_asked):
        gate.open.set()
    assert [config.name for config in started] == ["Sample"]


def test_an_offered_start_that_comes_before_the_catalog_waits_for_that_too(session, qtbot, gate, checked, started):  # noqa: F811
    session.catalog = {}
    page = qtbot.addWidget(SetupPage(session))
    page.show()
    session.start_offered.emit(RunConfig(name="Early"))
    session.set_catalog(CATALOG)
    qtbot.waitUntil(gate.begun.is_set)
    assert started == []
    gate.open.set()
    qtbot.waitUntil(lambda: bool(started))
    assert [config.name for config in started] == ["Early"]
    page.runner.drop()


def test_an_offered_start_that_cannot_begin_says_why(page, session, started, said):
    session.start_offered.emit(RunConfig(dataset=Choice(name="folder")))
    assert started == []
    assert len(said) == 1
    assert said[0].startswith("The run was not started. ")
    assert not page.awaited.waits


def test_a_start_of_a_page_that_was_left_does_not_turn_the_page(page, session, qtbot, gate, started):  # noqa: F811
    turned = []
    session.page_asked.connect(turned.append)
    page.start_run()
    qtbot.waitUntil(gate.begun.is_set)
    page.hide()
    gate.open.set()
    qtbot.waitUntil(lambda: bool(started))
    assert turned == []


@pytest.fixture
def stored(monkeypatch):
    """The trials of the sweeps that were started."""
    asked = []
    monkeypatch.setattr(starting, "refuse_unusable", lambda plan, known, progress: None)
    monkeypatch.setattr(starting, "store", lambda workspace, plan: asked.append(plan.trials) or 7)
    monkeypatch.setattr(starting, "work_apart", lambda workspace, number, place="": True)
    return asked


def asked_for(page, qtbot, gate):  # noqa: F811
    """The sweep dialog of the page with two trials, whose start waits for Preflight."""
    page.ask_sweep()
    dialog = page.sweep_dialog
    dialog.rows[0].field.set_value("training.lr")
    qtbot.keyClicks(dialog.rows[0].values, "0.1, 0.2")
    qtbot.waitUntil(dialog.start.isEnabled)
    dialog.start_sweep()
    qtbot.waitUntil(gate.begun.is_set)
    assert dialog.summary.text() == WAITS
    assert not dialog.start.isEnabled()
    return dialog


def test_a_sweep_waits_for_the_check_of_its_config(page, qtbot, gate, stored):  # noqa: F811
    asked_for(page, qtbot, gate)
    assert stored == []
    gate.open.set()
    qtbot.waitUntil(lambda: stored == [2])


def test_a_sweep_whose_dialog_was_closed_meanwhile_is_not_started(page, qtbot, gate, stored):  # noqa: F811
    asked_for(page, qtbot, gate).reject()
    with qtbot.waitSignal(page.runner.done):
        gate.open.set()
    assert stored == []


def test_a_sweep_that_was_edited_meanwhile_is_not_started(page, qtbot, gate, stored):  # noqa: F811
    dialog = asked_for(page, qtbot, gate)
    qtbot.keyClicks(dialog.rows[0].values, ", 0.3")
    qtbot.waitUntil(dialog.start.isEnabled)
    with qtbot.waitSignal(page.runner.done):
        gate.open.set()
    assert dialog.start.isEnabled()
    assert stored == []
    dialog.start_sweep()
    qtbot.waitUntil(lambda: stored == [3])


def test_a_sweep_whose_config_the_check_refuses_is_not_started(page, qtbot, gate, stored, monkeypatch):  # noqa: F811
    def preflight(config, progress, cancelled, counted):
        gate.wait()
        raise Problem("The folder is empty.", todo="Choose another.")

    monkeypatch.setattr("workbench.running.preflight.preflight", preflight)
    dialog = asked_for(page, qtbot, gate)
    with qtbot.waitSignal(page.runner.failed):
        gate.open.set()
    qtbot.waitUntil(dialog.problem.isVisible)
    assert dialog.problem.text() == (
        "Preflight refuses this config: nothing was started. The folder is empty. Choose another."
    )
    qtbot.keyClicks(dialog.rows[0].values, ", 0.3")
    qtbot.waitUntil(lambda: dialog.trials.value() == 3)
    assert not dialog.start.isEnabled()
    assert stored == []


def test_a_double_click_on_start_starts_one_run_and_cancels_nothing(page, qtbot, gate, started):  # noqa: F811
    qtbot.waitUntil(page.start.isEnabled)
    for _ in range(2):
        page.start.click()
    qtbot.waitUntil(gate.begun.is_set)
    assert page.start.text() == "Cancel start"
    gate.open.set()
    qtbot.waitUntil(lambda: len(started) == 1)
    page.show()
    for _ in range(2):
        page.start.click()
    assert len(started) == 1, "the run is still being made"


def test_a_run_that_is_queued_behind_another_is_not_checked_and_does_not_wait(page, session, started, queued, checked):
    page.start_run()
    assert (queued, started) == ([page.config], [])
    assert checked == []
    assert page.start.text() == "Add to queue"


def test_what_is_queued_leaves_the_page_and_is_said(page, session, queued, monkeypatch):
    said, pages = [], []
    session.mentioned.connect(said.append)
    session.page_asked.connect(pages.append)
    page.start_run()
    assert said == [f"“{page.config.name}” is in the queue."]
    assert pages == []
    page.start_run()
    assert len(queued) == 1, "the second click of a double-click"
    monkeypatch.setattr(QApplication, "doubleClickInterval", lambda: 0)
    typed(page, "seeds", "2")
    page.start_run()
    assert len(queued) == 2
    assert said[-1] == f"2 runs of “{page.config.name}” are in the queue."
