"""Places in the window: described and checked in the dialog, chosen in Set up, followed and asked to end."""

import shlex
import sys
import threading
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QObject, QPoint
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget
from shiboken6 import isValid

from tests.ui.test_setup import FOUND
from tests.unit.places.played_place import PlayedPlace
from tests.waits import HANG
from workbench.config import Choice, RunConfig
from workbench.control import Control
from workbench.entries import catalog
from workbench.places import launching, records, sending, working
from workbench.places.contract import Answer, Ending, Finding, JobState, Standing
from workbench.places.place import SshPlace
from workbench.problem import Problem
from workbench.running.preflight import Preflight
from workbench.ui.docks.run_row import about
from workbench.ui.pages.setup import SetupPage
from workbench.ui.places import dialog as dialogs
from workbench.ui.places import install_dialog
from workbench.ui.places.choice import HERE, PlaceChoice
from workbench.ui.places.dialog import PlacesDialog
from workbench.ui.state.runs import place_follower
from workbench.ui.state.runs.place_follower import PlaceFollower
from workbench.ui.state.runs.placed_runs import PlacedRuns
from workbench.ui.state.session import Session
from workbench.ui.style.words import where
from workbench.ui.window.frame.message_bar import MessageBar
from workbench.ui.window.main_window import MainWindow
from workbench.workspace import Workspace
from workbench.workspace.rows import Placement
from workbench.workspace.tables.placements import ELSEWHERE, REMOVED


@pytest.fixture
def played(tmp_path, monkeypatch):
    """The place "box", which every part of the window asks in place of a machine."""
    monkeypatch.setenv("WORKBENCH_PLACES", str(tmp_path / "places"))
    records.store(SshPlace(name="box", host="box"))
    made = PlayedPlace(tmp_path / "place")
    made.check = lambda: [Finding("Connection", "It answers."), Finding("Disk", "It is full.", good=False)]
    for module in (launching, place_follower, working, dialogs):
        monkeypatch.setattr(module, "launcher_of", lambda place, cancelled=None: made)
    return made


@pytest.fixture
def at_box(qtbot, session, played):
    """The session with a run that works at box."""
    session.places.read()
    qtbot.waitUntil(lambda: bool(session.places.all))
    session.start_at(RunConfig(name="away"), session.places.all[0])
    qtbot.waitUntil(lambda: session.run_id is not None and session.run() is not None)
    return session


def test_the_script_of_the_pictures_shows_the_places_that_it_stores(qtbot, session, played, monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "packaging")
    script = import_module("place_pictures")
    window, camera = SimpleNamespace(session=session), SimpleNamespace(wait=qtbot.waitUntil)
    script.store(window, camera, [SshPlace(name="Workstation 1", host="lab1")])
    assert [place.name for place in session.places.all] == ["Workstation 1"]


def test_a_new_place_is_described_checked_and_stored(qtbot, session, played):
    session.places.read()
    qtbot.waitUntil(lambda: bool(session.places.all))
    dialog = PlacesDialog(session)
    (box,) = dialog.cards
    qtbot.waitUntil(lambda: box.state.text() == "1 check failed")
    card = dialog.add_place("ssh")
    dialog.store()
    assert card.form.row("host").error.text() != ""
    for name, text in (("name", "Lab 2"), ("host", "me@lab2")):
        card.form.row(name).widget.setText(text)
        card.form.row(name).widget.textEdited.emit(text)
    assert card.name.text() == "Lab 2"
    with qtbot.waitSignal(session.places.changed):
        dialog.store()
    qtbot.waitUntil(lambda: [place.name for place in session.places.all] == ["Lab 2", "box"])


def fill(card, **texts):
    for name, text in texts.items():
        card.form.row(name).widget.setText(text)
        card.form.row(name).widget.textEdited.emit(text)


def test_a_field_that_is_mended_is_no_longer_marked_and_the_buttons_have_the_new_name(qtbot, session, played):
    dialog = PlacesDialog(session)
    card = dialog.add_place("ssh")
    dialog.store()
    assert "letters, digits, spaces" in card.form.row("name").error.text()
    fill(card, host="me@lab2")
    assert card.form.row("host").error.text() == ""
    assert card.form.row("name").error.text() != "", "it is still wrong"
    fill(card, name="Lab 2")
    assert card.form.row("name").error.text() == ""
    assert [button.accessibleName() for button in (card.check, card.install, card.remove)] == [
        "Check Lab 2", "Install Workbench at Lab 2", "Remove Lab 2",
    ]  # fmt: skip
    dialog.reject()


@pytest.mark.qt_log_ignore("propagateSizeHints")
def test_a_check_keeps_the_focus_and_says_nothing_of_what_was_edited_meanwhile(qtbot, session, played):
    session.places.read()
    qtbot.waitUntil(lambda: bool(session.places.all))
    dialog = PlacesDialog(session)
    dialog.show()
    (card,) = dialog.cards
    qtbot.waitUntil(lambda: card.state.text() == "1 check failed")
    card.check.setFocus()
    card.check.click()
    assert card.state.text() == "Checking…"
    assert dialog.focusWidget() is card.check
    fill(card, host="other")
    qtbot.waitUntil(lambda: not card.checking)
    assert card.state.text() == "Not checked yet."
    card.check.click()
    qtbot.waitUntil(lambda: card.state.text() == "1 check failed")
    dialog.reject()


def test_runs_go_with_a_place_that_gets_another_name(qtbot, at_box, played):
    run_id, said = at_box.run_id, []
    at_box.said.connect(lambda what, concern: said.append(str(what)))
    qtbot.waitUntil(lambda: at_box.run().placement.reached is not None)
    dialog = PlacesDialog(at_box)
    fill(dialog.cards[0], name="tower")
    dialog.store()
    qtbot.waitUntil(lambda: at_box.run().placement.place == "tower")
    played.standing = Standing(JobState.FAILED, "exit status 1")
    qtbot.waitUntil(lambda: at_box.run(run_id).status == "failed")
    at_box.placed.follow()
    assert [place.name for place in records.known()] == ["tower"]
    assert said == []


@pytest.mark.skipif(sys.platform != "linux", reason="the disk may not keep capitals apart")
def test_a_place_gets_its_name_in_capitals(qtbot, at_box, played):
    dialog = PlacesDialog(at_box)
    fill(dialog.cards[0], name="Box")
    dialog.store()
    qtbot.waitUntil(lambda: [place.name for place in at_box.places.all] == ["Box"])
    assert [place.name for place in records.known()] == ["Box"]


def test_a_place_of_the_command_line_is_there_when_the_window_is_active_again(qtbot, session, played):
    window = MainWindow(session)
    qtbot.addWidget(window)
    window.show()
    qtbot.waitUntil(lambda: [place.name for place in session.places.all] == ["box"])
    terminal = QWidget()
    qtbot.addWidget(terminal)
    terminal.show()
    terminal.activateWindow()
    qtbot.waitUntil(terminal.isActiveWindow)
    records.store(SshPlace(name="lab1", host="lab1"))
    window.activateWindow()
    qtbot.waitUntil(lambda: [place.name for place in session.places.all] == ["box", "lab1"])


def test_a_place_of_another_window_is_there_though_this_one_is_not_activated(qtbot, session, played):
    session.places.read()
    names = lambda: [place.name for place in session.places.all]  # noqa: E731
    qtbot.waitUntil(lambda: names() == ["box"])
    records.store(SshPlace(name="lab1", host="lab1"))
    qtbot.waitUntil(lambda: names() == ["box", "lab1"])
    records.store(SshPlace(name="box", host="other"))
    qtbot.waitUntil(lambda: session.places.all[0].host == "other")
    records.remove("lab1")
    qtbot.waitUntil(lambda: names() == ["box"])


@pytest.fixture
def open_places(qtbot, session, played):
    """The dialog of places, with the one of the test."""
    session.places.read()
    qtbot.waitUntil(lambda: bool(session.places.all))
    dialog = PlacesDialog(session)
    yield dialog
    if isValid(dialog):  # else it has closed itself
        dialog.reject()


@pytest.mark.qt_log_ignore("propagateSizeHints")
def test_the_first_wrong_field_is_scrolled_to_and_has_the_cursor(qtbot, open_places):
    for number in (1, 2, 3):
        fill(open_places.add_place("ssh"), name=f"lab{number}", host="lab")
    fill(open_places.cards[-1], host="two words")
    area, wrong = open_places.findChild(QScrollArea), open_places.cards[-1].form.row("host")

    def is_seen() -> bool:
        return 0 <= wrong.widget.mapTo(area.viewport(), QPoint(0, 0)).y() < area.viewport().height()

    open_places.show()
    qtbot.waitUntil(lambda: area.verticalScrollBar().maximum() > 0)
    open_places.cards[0].check.setFocus()
    area.verticalScrollBar().setValue(0)
    assert not is_seen()
    open_places.store()
    qtbot.waitUntil(is_seen)
    assert open_places.focusWidget() is wrong.widget
    assert wrong.error.text() != ""
    assert open_places.isVisible()


def test_saving_one_place_leaves_what_another_window_has_changed_of_the_others(qtbot, session, open_places):
    theirs = records.with_data(records.named("box"), "/birds", "/data/birds")
    records.store(theirs)
    fill(open_places.add_place("ssh"), name="lab1", host="lab1")
    with qtbot.waitSignal(session.places.changed):
        open_places.store()
    assert [place.name for place in records.known()] == ["box", "lab1"]
    assert records.named("box") == theirs


def test_a_place_that_another_window_has_removed_stays_removed(qtbot, session, open_places):
    records.remove("box")
    with qtbot.waitSignal(session.places.changed):
        open_places.store()
    assert records.known() == []


@pytest.mark.parametrize("removed", [False, True])
def test_a_place_that_is_changed_in_two_windows_is_not_overwritten(qtbot, session, open_places, removed):
    records.store(SshPlace(name="box", host="theirs"))
    if removed:
        records.remove("box")
    left = records.known()
    fill(open_places.cards[0], host="mine")
    open_places.store()
    qtbot.waitUntil(lambda: "The place box was changed or removed meanwhile" in open_places.problem.text())
    assert records.known() == left


def test_a_new_place_does_not_replace_one_of_the_same_name_that_another_window_has_added(qtbot, session, open_places):
    records.store(SshPlace(name="lab1", host="theirs"))
    fill(open_places.add_place("ssh"), name="lab1", host="mine")
    open_places.store()
    qtbot.waitUntil(lambda: "A place named lab1 was added meanwhile" in open_places.problem.text())
    assert records.named("lab1").host == "theirs"


def test_a_record_that_cannot_be_read_is_said_once_and_hides_no_other(qtbot, session, played):
    said = []
    session.noticed.connect(lambda message: said.append(str(message)))
    broken = records.folder() / "broken.toml"
    broken.write_text("kind = [")
    for _ in range(3):
        with qtbot.waitSignal(session.places.changed):
            session.places.read()
    assert [place.name for place in session.places.all] == ["box"]
    assert [sentence for sentence in said if "broken.toml cannot be read" in sentence] == said
    assert len(said) == 1
    for text in ('kind = "ssh"\nhost = "b"\n', "kind = ["):
        broken.write_text(text)
        with qtbot.waitSignal(session.places.changed):
            session.places.read()
    assert len(said) == 2, "it was whole in between"


@pytest.mark.qt_log_ignore("propagateSizeHints")
def test_workbench_is_installed_at_a_place_as_the_steps_say(qtbot, session, played, monkeypatch, tmp_path):
    called, status, seen = [], [1], threading.Event()

    class Machine:
        def call(self, words, stdin=b"", *, heard, **_):
            called.append(words)
            heard(f"Collecting {words[-1]}")
            assert seen.wait(HANG)
            return Answer(status[0], b"", "no network")

    monkeypatch.setattr(install_dialog, "host_of", lambda place, cancelled=None: Machine())
    session.places.read()
    qtbot.waitUntil(lambda: bool(session.places.all))
    dialog = PlacesDialog(session)
    (card,) = dialog.cards
    qtbot.waitUntil(lambda: card.state.text() == "1 check failed")
    install = dialog.ask_install(card)
    first, second = install.steps.toPlainText().splitlines()
    assert first == "python3 -m venv workbench-place"
    assert second.startswith("workbench-place/bin/python -m pip install metric-workbench==")
    install.copy.click()
    assert QGuiApplication.clipboard().text() == install.steps.toPlainText()
    install.wheel.take(str(tmp_path / "none.whl"))
    assert "There is no file" in install.problem.text()
    assert not install.install.isEnabled()
    assert not called, "nothing is done before Install"
    wheel = tmp_path / "some.whl"
    wheel.write_bytes(b"")
    install.wheel.take(str(wheel))
    assert install.steps.toPlainText().startswith("copy some.whl to workbench-runs/")
    install.wheel.take("")
    install.install.click()
    qtbot.waitUntil(lambda: install.now.text() == "Collecting workbench-place")
    seen.set()
    qtbot.waitUntil(lambda: "no network" in install.problem.text())
    assert install.now.text() == ""
    status[0] = 0
    called.clear()
    with qtbot.waitSignal(install.installed):
        install.install.click()
    assert [shlex.join(words) for words in called] == [first, second]
    qtbot.waitUntil(lambda: card.state.text() == "1 check failed")
    dialog.reject()


def test_a_place_that_is_forgotten_goes_with_save_alone(qtbot, session, played):
    session.places.read()
    qtbot.waitUntil(lambda: bool(session.places.all))
    for save in (False, True):
        dialog = PlacesDialog(session)
        dialog.cards[0].removed.emit()
        assert dialog.none.isVisibleTo(dialog)
        if save:
            with qtbot.waitSignal(session.places.changed):
                dialog.store()
        else:
            dialog.reject()
            assert len(records.known()) == 1
    assert records.known() == []


@pytest.mark.parametrize("trouble", [None, Problem("The disk is full.")])
def test_a_dialog_that_is_closed_while_it_saves_is_gone_when_the_answer_comes(
    qtbot, session, played, monkeypatch, trouble
):
    begun, goes_on, notices = threading.Event(), threading.Event(), []
    session.noticed.connect(notices.append)
    dialog = PlacesDialog(session)

    def held(place, gone):
        assert not begun.is_set(), "of two presses one saves"
        begun.set()
        assert goes_on.wait(HANG)
        if trouble is not None:
            raise trouble

    monkeypatch.setattr(records, "store", held)
    card = dialog.add_place("ssh")
    for name, text in (("name", "lab"), ("host", "lab.example")):
        card.form.row(name).widget.setText(text)
        card.form.row(name).widget.textEdited.emit(text)
    try:
        for _ in range(2):
            dialog.save.click()
        qtbot.waitUntil(begun.is_set)
        dialog.reject()
        qtbot.waitUntil(lambda: not isValid(dialog))
    finally:
        goes_on.set()
    qtbot.waitUntil(lambda: not session.reading)
    qtbot.deliver()
    assert notices == ([] if trouble is None else [trouble])


def test_the_chosen_place_stays_while_it_is_there(qtbot):
    where = PlaceChoice()
    qtbot.addWidget(where)
    where.show_places(["a", "b"])
    where.set_value("b")
    where.show_places(["b", "c"])
    assert where.value() == "b"
    where.show_places(["c"])
    assert where.value() == HERE


@pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
def test_set_up_says_at_its_field_what_the_place_has_not_and_lets_it_be_tried_again(
    qtbot, session, played, tmp_path, monkeypatch
):
    images = tmp_path / "birds"
    images.mkdir()
    box = SshPlace(name="box", host="box", data={str(tmp_path): "/there"})
    records.store(box)
    session.places.read()
    qtbot.waitUntil(lambda: box in session.places.all)
    monkeypatch.setattr("workbench.running.preflight.preflight", lambda *_: Preflight(**FOUND))
    session.set_catalog(catalog.current())
    page = SetupPage(session)
    qtbot.addWidget(page)
    page.show()
    page.take_config(RunConfig(dataset=Choice(name="folder", params={"folder": str(images)})))
    page.beside.where.set_value("box")
    qtbot.waitUntil(lambda: not page.runner.waiting_or_working)
    played.states_of = {"/there/birds": "missing"}
    with qtbot.waitSignal(session.said) as caught:
        page.start_run()
    assert "box has no /there/birds" in str(caught.args[0])
    field = page.groups.row("dataset.folder")
    qtbot.waitUntil(lambda: "box has no /there/birds" in field.error.text())
    assert session.runs() == []
    assert page.start.isEnabled(), "its files may be copied meanwhile"
    monkeypatch.setattr(QApplication, "doubleClickInterval", lambda: 0)  # a person reads the refusal first
    played.states_of = {}
    page.start_run()
    assert field.error.text() == ""
    qtbot.waitUntil(lambda: bool(session.runs()))
    page.runner.drop()


def test_a_run_at_a_place_is_steered_from_the_window(qtbot, at_box, played):
    run = at_box.run()
    assert (run.name, run.status, about(run, {})) == ("away", "queued", "Queued · at box · digits")
    control = at_box.control(run.id)
    assert isinstance(control, Control)
    assert not control.can_pause
    control.stop()
    qtbot.waitUntil(lambda: played.asked == [(run.placement.uid, Ending.AFTER_EPOCH)])
    at_box.end_run(run.id)
    qtbot.waitUntil(lambda: played.asked[1:] == [(run.placement.uid, Ending.SAVED)])
    played.standing = Standing(JobState.INTERRUPTED)
    qtbot.waitUntil(lambda: at_box.run().status == "interrupted")
    assert at_box.control(run.id) is None
    assert at_box.can_resume()
    played.standing = Standing(JobState.RUNNING)
    at_box.resume_run(run.id)
    qtbot.waitUntil(lambda: at_box.run().status == "queued")


def test_a_run_that_was_never_sent_is_sent_from_the_window(qtbot, at_box):
    """The program that sent it was killed."""
    (run_id,) = sending.prepare(at_box.workspace, RunConfig(name="unsent"), records.named("box"))
    with at_box.workspace.writing() as db:
        db.execute("update runs set born = born - 1000.5 where id = ?", (run_id,))
    at_box.workspace.sweep_dead_runs()
    at_box.show_run(run_id)
    qtbot.waitUntil(lambda: at_box.run() is not None and at_box.run().status == "interrupted")
    assert at_box.can_resume()
    at_box.resume_run(run_id)
    qtbot.waitUntil(lambda: at_box.run().status == "queued" and bool(at_box.run().placement.job))


def test_a_run_whose_place_is_not_reached_is_not_about_to_end(qtbot, at_box, played):
    """It can be asked again, and is not put into the trash when it ends by itself."""
    run_id, said = at_box.run_id, []
    at_box.said.connect(lambda what, concern: said.append(str(what)))
    qtbot.waitUntil(lambda: at_box.run().placement.reached is not None)
    played.gone = "here is not reached."
    at_box.control(run_id).stop()
    assert at_box.control(run_id).stop_asked
    qtbot.waitUntil(lambda: bool(said))
    assert not at_box.control(run_id).stop_asked
    assert said == [
        f"The request to end run {run_id} was not answered: here is not reached. "
        "If it did not arrive, the run continues at box. End it again once the place answers."
    ]
    at_box.discard_run(run_id)
    qtbot.waitUntil(lambda: len(said) == 2)
    played.gone, played.standing = "", Standing(JobState.INTERRUPTED)
    at_box.placed.follow()
    qtbot.waitUntil(lambda: not at_box.run(run_id).placement.open)
    assert at_box.run(run_id).status == "interrupted"
    assert [run.id for run in at_box.trashed_runs()] == []


def test_a_discarded_run_is_in_the_trash_when_it_has_ended_there(qtbot, at_box, played):
    run_id = at_box.run_id
    at_box.discard_run(run_id)
    qtbot.waitUntil(lambda: [how for _, how in played.asked] == [Ending.AT_ONCE])
    played.standing = Standing(JobState.INTERRUPTED)
    qtbot.waitUntil(lambda: [run.id for run in at_box.trashed_runs()] == [run_id])


def test_a_place_that_is_gone_is_said_in_the_list_and_a_new_window_goes_on(qtbot, at_box, played, workspace):
    run_id = at_box.run_id
    qtbot.waitUntil(lambda: at_box.run().placement.reached is not None)
    played.gone = "box is not reached: no route to host."
    qtbot.waitUntil(lambda: "box has not answered since" in about(at_box.run(), {}))
    at_box.placed.close()  # as the end of its window does; its session is closed by the fixture
    played.gone, played.standing = "", Standing(JobState.FAILED, "exit status 1")
    again = Session(Workspace(workspace.path))
    qtbot.waitUntil(lambda: again.run(run_id) is not None and again.run(run_id).status == "failed")
    again.close()


@pytest.mark.qt_log_ignore("propagateSizeHints")
def test_a_place_that_was_removed_is_said_until_it_is_added_again(qtbot, at_box, played):
    bar, (place,) = MessageBar(), at_box.places.all
    qtbot.addWidget(bar)
    at_box.said.connect(lambda what, concern: bar.show_message(what, concern=concern))
    at_box.settled.connect(bar.settle)
    qtbot.waitUntil(lambda: at_box.run().placement.reached is not None)
    dialog = PlacesDialog(at_box)
    dialog.cards[0].removed.emit()
    dialog.store()
    qtbot.waitUntil(lambda: about(at_box.run(), {}) == "box was removed · Queued · digits")
    qtbot.waitUntil(lambda: bar.what.text().startswith("The place box was removed"))
    assert "Add a place named box again" in bar.rest.text()
    at_box.end_run(at_box.run_id)
    said = []
    at_box.noticed.connect(said.append)
    qtbot.waitUntil(lambda: [str(what).partition(":")[0] for what in said] == ["The place box was removed"])
    dialog = PlacesDialog(at_box)
    records.store(place)
    dialog.store()
    qtbot.waitUntil(lambda: about(at_box.run(), {}) == "Queued · at box · digits")
    qtbot.waitUntil(lambda: bar.what.text() == "Runs at box are followed again.")


def test_a_run_is_looked_for_where_its_place_is_now(qtbot, at_box, played, tmp_path, monkeypatch):
    """The user corrects the host of a place while its runs train."""
    qtbot.waitUntil(lambda: at_box.run().placement.reached is not None)
    played.gone = "box is not reached: no route to host."
    qtbot.waitUntil(lambda: "box has not answered since" in about(at_box.run(), {}))
    tower = PlayedPlace(tmp_path / "place")
    tower.standing = Standing(JobState.FAILED, "exit status 1")
    monkeypatch.setattr(
        place_follower, "launcher_of", lambda place, cancelled=None: tower if place.host == "tower" else played
    )
    records.store(SshPlace(name="box", host="tower"))
    at_box.placed.follow()
    qtbot.waitUntil(lambda: at_box.run().status == "failed")


def test_the_shown_run_of_a_place_that_is_followed_later_is_in_every_look(qtbot, at_box, workspace):
    class Work:
        def read(self, work, then):
            then(["box"])

        def run_in_thread(self, *asked, quiet):
            return self

    parent = QObject()
    placed = PlacedRuns(Work(), workspace, parent)
    placed.show(at_box.run())
    placed.follow()
    follower = placed.findChild(PlaceFollower)
    assert (follower.in_view, follower.shown) == (True, at_box.run_id)


def test_data_that_a_place_has_elsewhere_are_asked_for(qtbot, session, played, tmp_path):
    config = RunConfig.model_validate({"dataset": {"name": "folder", "folder": str(tmp_path / "birds")}})
    asked = []
    session.data_asked.connect(lambda path, place: asked.append((path, place.name)))
    session.start_at(config, records.named("box"))
    qtbot.waitUntil(lambda: asked == [(str(tmp_path / "birds"), "box")])
    assert session.runs() == []


def test_where_a_run_is_in_words():
    placed = Placement(1, "0" * 32, "box", "job", "queued", "3rd in line")
    assert where(placed) == "at box, 3rd in line"
    assert where(Placement(1, "0" * 32, "box", silent="no route")) == "box does not answer"
    assert (
        where(Placement(1, "0" * 32, "box", reached="2026-11-01T10:00:00+00:00", silent=REMOVED)) == "box was removed"
    )
    assert where(Placement(1, "0" * 32, "box", silent=ELSEWHERE)) == "box does not know it"
    assert "since" in where(Placement(1, "0" * 32, "box", reached="2026-11-01T10:00:00+00:00", silent="no route"))


@pytest.mark.parametrize("reached", ["yesterday", "", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_place_whose_last_answer_has_no_time_does_not_answer(reached):
    assert where(Placement(1, "0" * 32, "box", reached=reached, silent="no route")) == "box does not answer"
