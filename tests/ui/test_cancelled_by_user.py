"""What the user cancels in the Activity panel ends, can be asked for again, and leaves nothing half done."""

import sys
import threading
from time import sleep
from types import SimpleNamespace

import pytest
from PySide6.QtWidgets import QApplication, QWidget

from tests.ui.test_compare_page import shown, two_groups
from tests.ui.test_setup import CATALOG, looked, page  # noqa: F401 - fixtures
from tests.ui.ticking import tick
from tests.waits import HANG
from workbench import plugins, registry
from workbench.comparing.queries.overlap import PairOfRuns
from workbench.control import Cancelled
from workbench.entries import catalog
from workbench.jobs.newest import Newest
from workbench.places import sending, working
from workbench.places.contract import Ending
from workbench.places.place import SshPlace
from workbench.problem import Problem
from workbench.settings.changed import read_config
from workbench.sweeps import starting
from workbench.ui.pages.compare.queries import neighbour_overlap
from workbench.ui.pages.setup.plugins import PluginNotice
from workbench.ui.places import dialog as places_dialog
from workbench.ui.places.dialog import PlacesDialog
from workbench.ui.state.process_work import ProcessWork
from workbench.ui.sweeps.dialog import SweepDialog
from workbench.ui.sweeps.panel import SweepsPanel
from workbench.ui.window import opening
from workbench.workspace.experiments import sweeps

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", "does not support raise", extend=True)


class Gate:
    """Where work stops until the test lets it go on."""

    def __init__(self):
        self.begun, self.open = threading.Event(), threading.Event()

    def wait(self, *_args, **_named):
        self.begun.set()
        assert self.open.wait(HANG)


@pytest.fixture
def gate():
    made = Gate()
    yield made
    made.open.set()


def cancel_at(qtbot, session, gate):
    """Press Cancel in the Activity panel once the work stands at the gate, and let it go on; its line when it ended."""
    qtbot.waitUntil(gate.begun.is_set)
    item = session.activity.newest_working
    item.cancel()
    gate.open.set()
    qtbot.waitUntil(lambda: item.state != "working")
    return item


@pytest.mark.parametrize(("fails", "state"), [(False, "done"), (True, "failed")])
def test_what_lasts_is_not_called_cancelled_when_the_cancel_came_too_late(qtbot, session, gate, fails, state):
    told = []

    def work(progress):
        gate.wait()
        if fails:
            raise Problem("The disk is full.")
        return "written"

    session.run_in_thread(
        "Write", work, told.append, lambda why: told.append(str(why)), cancelled=lambda: told.append("cancelled"),
        lasting=True,
    )  # fmt: skip
    assert cancel_at(qtbot, session, gate).state == state
    assert told == ["The disk is full." if fails else "written"]


def test_whoever_asked_for_what_lasts_can_still_forget_it(qtbot, session, gate):
    told = []
    task = session.run_in_thread("Write", gate.wait, told.append, told.append, lasting=True)
    qtbot.waitUntil(gate.begun.is_set)
    task.cancel()
    with qtbot.waitSignal(task.over):
        gate.open.set()
    assert told == []


def test_a_cancelled_question_says_so_and_the_next_one_begins(qtbot, session, gate):
    newest, told = Newest(session, one_at_a_time=True), []
    newest.ask("Read", gate.wait, told.append, cancelled=lambda: told.append("cancelled"))
    cancel_at(qtbot, session, gate)
    assert told == ["cancelled"]
    first = Gate()
    newest.ask("Read", first.wait, told.append)
    newest.ask("Read", lambda progress: "next", told.append)
    cancel_at(qtbot, session, first)
    qtbot.waitUntil(lambda: told == ["cancelled", "next"])


def test_a_request_that_has_ended_is_not_cancelled_any_more(session):
    told, answers = [], []

    class Client:
        def request(self, op, fields, on_progress, on_result, on_error):
            answers.append(on_result)
            return SimpleNamespace(cancel=lambda: told.append("cancel"))

    work = ProcessWork(session, Client(), "Export", "export", {}, told.append, told.append, lambda: told.append("off"))
    answers[0]({"files": []})
    work.cancel()
    assert told == [{"files": []}]


def test_a_plug_in_folder_whose_loading_was_cancelled_is_not_trusted(qtbot, session, gate, said, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "gate_of_this_test", gate)
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "a.py").write_text("import sys\nsys.modules['gate_of_this_test'].wait()\n")
    (folder / "b.py").write_text("raise SystemError('b was loaded after the cancel')\n")
    monkeypatch.setattr(catalog, "cache_folder", lambda: tmp_path / "cache")
    before = plugins.folders()
    PluginNotice(session, QWidget()).add(folder)
    assert cancel_at(qtbot, session, gate).state == "cancelled"
    qtbot.waitUntil(lambda: bool(said))
    assert said == ["Adding the plug-in folder was cancelled. Nothing was added."]
    assert plugins.folders() == before
    assert not [origin for origin in registry.broken() if origin.startswith(str(folder))]
    assert not (tmp_path / "cache").exists(), "the next start would not know that the folder is gone"


@pytest.fixture
def sweep(qtbot, session, monkeypatch):
    """The dialog on a sweep of two trials; `started` has the sweeps for which a worker was asked for."""
    session.set_catalog(catalog.current())
    made = SweepDialog(session, read_config("sample-digits"))
    made.started = []
    monkeypatch.setattr(starting, "work_apart", lambda workspace, number, place="": made.started.append(number))
    made.rows[0].field.set_value("training.lr")
    made.rows[0].values.setText("0.1, 0.2")
    made.open()
    qtbot.waitUntil(made.start.isEnabled)
    yield made
    for opened in (
        widget for widget in QApplication.topLevelWidgets() if isinstance(widget, SweepDialog | SweepsPanel)
    ):
        opened.close()  # qtbot has closed its own before this fixture ends
        opened.deleteLater()


def test_a_start_of_a_sweep_that_was_cancelled_can_be_pressed_again(qtbot, session, sweep, gate, monkeypatch):
    session.places.all = [SshPlace(name="box", host="box")]
    session.places.changed.emit()
    sweep.where.set_value("box")
    monkeypatch.setattr(sending, "translated", lambda config, place: gate.wait() or config)
    sweep.start.click()
    assert cancel_at(qtbot, session, gate).state == "cancelled"
    qtbot.waitUntil(sweep.start.isEnabled)
    assert sweep.problem.text() == "The start was cancelled. Nothing was started."
    assert (sweeps.every(session.workspace), sweep.started) == ([], [])
    sweep.start.click()
    qtbot.waitUntil(lambda: sweep.started == [1])
    qtbot.waitUntil(lambda: session.activity.items[-1].state == "done")


def test_a_sweep_whose_start_was_cancelled_too_late_is_said_to_be_started(
    qtbot, session, sweep, gate, said, monkeypatch
):
    store = starting.store
    monkeypatch.setattr(starting, "store", lambda workspace, plan: gate.wait() or store(workspace, plan))
    sweep.start.click()
    qtbot.waitUntil(gate.begun.is_set)
    sweep.cancel.click()
    gate.open.set()
    qtbot.waitUntil(lambda: bool(said))
    assert said == ["Sweep 1 is started. It continues when this window is closed."]
    assert sweep.started == [1]


def test_a_request_to_end_a_run_hears_its_cancel_and_can_be_made_again(qtbot, session, said, monkeypatch):
    began = threading.Event()

    def end(workspace, run_id, how, cancelled):
        began.set()
        while not cancelled():
            sleep(0.005)
        raise Cancelled

    monkeypatch.setattr(working, "end", end)
    kept_on = []
    session.placed.kept_on.connect(kept_on.append)
    session.placed.end(7, Ending.AT_ONCE)
    qtbot.waitUntil(began.is_set)
    item = session.activity.newest_working
    item.cancel()
    qtbot.waitUntil(lambda: item.state == "cancelled")
    qtbot.waitUntil(lambda: bool(said))
    assert said == ["The request to end run 7 was cancelled. It may have reached the place before."]
    assert kept_on == [7]


def test_the_check_of_a_place_hears_the_cancel_of_the_activity_panel(qtbot, session, monkeypatch):
    began = threading.Event()

    def launcher_of(place, cancelled):
        def check():
            began.set()
            while not cancelled():
                sleep(0.005)
            raise Cancelled

        return SimpleNamespace(check=check)

    monkeypatch.setattr(places_dialog, "launcher_of", launcher_of)
    session.places.all = [SshPlace(name="box", host="box")]
    qtbot.addWidget(PlacesDialog(session))
    qtbot.waitUntil(began.is_set)
    item = session.activity.newest_working
    item.cancel()
    qtbot.waitUntil(lambda: item.state == "cancelled")


def test_a_cancelled_preflight_says_so_and_can_be_asked_for(qtbot, session, page, looked, gate, monkeypatch):  # noqa: F811
    qtbot.waitUntil(lambda: bool(looked.configs))
    qtbot.waitUntil(lambda: not page.runner.waiting_or_working)

    def preflight(config, progress, cancelled, counted):
        gate.wait()
        progress("Trying a few steps", 0, 0)

    answered = len(looked.configs)
    with monkeypatch.context() as patch:
        patch.setattr("workbench.running.preflight.preflight", preflight)
        page.runner.look()
        assert cancel_at(qtbot, session, gate).state == "cancelled"
    qtbot.waitUntil(page.card.check.isVisible)
    assert page.card.state.text() == "Preflight was cancelled. There are no measurements for this run."
    assert not page.runner.waiting_or_working
    page.card.check.click()
    qtbot.waitUntil(lambda: len(looked.configs) > answered)


def test_cancelled_comparisons_say_so(qtbot, session, workspace, monkeypatch):
    two_groups(workspace, 2)
    compare, first, second = shown(qtbot, session), Gate(), Gate()

    def slow(workspace, progress):
        first.wait()
        progress("Reading", 0, 1)

    with monkeypatch.context() as patch:
        patch.setattr(compare.model, "pair_question", lambda: SimpleNamespace(answer=slow))
        tick(qtbot, compare, 1, 2)
        assert cancel_at(qtbot, session, first).state == "cancelled"
    assert compare.tabs.difference.verdict.text().startswith("The comparison of these two groups was cancelled.")

    def slow_overlap(workspace, paired, k, progress):
        second.wait()
        progress("Runs 1 and 2", 0, 1)

    monkeypatch.setattr(neighbour_overlap, "neighbour_overlap", slow_overlap)
    compare.tabs.neighbours.show_pairs([PairOfRuns(1, 2, 1, 2)], {})
    assert cancel_at(qtbot, session, second).state == "cancelled"
    assert compare.tabs.neighbours.words.text().startswith("Comparing the neighbours was cancelled.")


def test_a_workspace_that_is_being_opened_hears_its_cancel(qtbot, session, monkeypatch, tmp_path):
    shown, window = session.workspace, QWidget()
    qtbot.addWidget(window)
    asked, over = [], threading.Event()

    def watched(path, *, progress):
        while not over.is_set():  # a large database on a slow disk
            asked.append(path)
            progress("Checking the workspace", 0, 0)
            sleep(0.001)

    monkeypatch.setattr(opening, "watched", watched)
    opening.Opening(session, window).open_workspace(tmp_path / "large")
    item = session.activity.items[-1]
    qtbot.waitUntil(lambda: bool(asked))
    item.cancel()
    try:
        qtbot.waitUntil(lambda: item.state == "cancelled")
    finally:
        over.set()
    assert session.workspace is shown
