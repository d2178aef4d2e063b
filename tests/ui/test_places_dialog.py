"""The dialog of places: many of them, on a small screen, by keys; a folder of data that is forgotten."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollArea
from shiboken6 import isValid

from workbench.places import records
from workbench.places.contract import Finding
from workbench.places.place import SlurmPlace, SshPlace
from workbench.ui.places import dialog as dialogs
from workbench.ui.places.dialog import PlacesDialog

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
NAMES = [f"lab{number}" for number in range(1, 10)]


class Ready:
    """A place that has all that runs need."""

    def check(self):
        return [Finding("Connection", "It answers.")]


@pytest.fixture
def opened(qtbot, session, tmp_path, monkeypatch):
    """`opened(places)`: the dialog with these places, shown."""
    monkeypatch.setenv("WORKBENCH_PLACES", str(tmp_path / "places"))
    monkeypatch.setattr(dialogs, "launcher_of", lambda place, cancelled=None: Ready())
    dialogs_open = []

    def shown(places):
        for place in places:
            records.store(place)
        session.places.read()
        qtbot.waitUntil(lambda: len(session.places.all) == len(places))
        dialog = PlacesDialog(session)
        dialogs_open.append(dialog)
        dialog.show()
        return dialog

    yield shown
    for dialog in dialogs_open:
        if isValid(dialog):  # else it has closed itself
            dialog.reject()


@pytest.fixture
def nine(opened):
    """The dialog of nine places, when it has just been shown."""
    return opened([SshPlace(name=name, host=name) for name in NAMES])


def test_each_of_many_places_gets_its_own_turn_of_the_event_loop(qtbot, nine):
    assert 1 <= len(nine.cards) <= 2, "the first, and perhaps that of the turn in which the dialog was shown"
    turns = []
    while len(nine.cards) < len(NAMES):
        before = len(nine.cards)
        qtbot.deliver()
        turns.append(len(nine.cards) - before)
    assert max(turns) <= 2, "one, and perhaps one of the turn in which the wait ended"
    assert [card.draft.title for card in nine.cards] == NAMES
    qtbot.waitUntil(lambda: {card.state.text() for card in nine.cards} == {"Ready"})


def test_a_dialog_that_closes_meanwhile_shows_no_more(qtbot, nine):
    nine.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    shown = len(nine.cards)
    nine.reject()
    qtbot.deliver()
    assert len(nine.cards) == shown < len(NAMES)


def test_save_and_a_new_place_do_not_wait_for_the_others(qtbot, session, nine):
    card = nine.add_place("ssh")
    assert [other.draft.title for other in nine.cards] == [*NAMES, "New place"]
    for name in ("name", "host"):
        card.form.row(name).widget.setText("tower")
        card.form.row(name).widget.textEdited.emit("tower")
    with qtbot.waitSignal(session.places.changed):
        nine.store()
    assert [place.name for place in records.known()] == [*NAMES, "tower"]


def stands(card, area, wide):
    """Whether a card is within its list, its findings beside its fields where there is room, and else below them."""
    room = area.viewport().width()
    beside = card.findings.y() < card.form.geometry().bottom()
    return beside == wide and card.width() <= room and card.minimumSizeHint().width() <= room


@pytest.mark.parametrize("percent", [100, 150])
def test_a_place_fits_on_a_screen_of_800_px(qtbot, session, opened, percent):
    session.theme.set_text_size(percent)
    try:
        dialog = opened([SshPlace(name="box", host="box"), SlurmPlace(name="cluster", host="login")])
        qtbot.waitUntil(lambda: len(dialog.cards) == 2)
        area = dialog.findChild(QScrollArea)
        for width in (720, 1400, 720):
            dialog.resize(width, 520)
            for card in dialog.cards:
                qtbot.waitUntil(lambda card=card, wide=width == 1400: stands(card, area, wide))
    finally:
        session.theme.set_text_size(100)


def test_tab_goes_through_the_dialog_as_it_is_read(qtbot, opened):
    dialog = opened([SshPlace(name="box", host="box", data={str(Path("/birds").absolute()): "/big/birds"})])
    dialog.add_place("ray")
    qtbot.deliver()
    reached, widget = [], dialog.nextInFocusChain()
    while widget is not dialog:
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisibleTo(dialog):
            reached.append(widget)
        widget = widget.nextInFocusChain()
    box, ray = dialog.cards
    order = [*dialog.adds.values()]
    for card in (box, ray):
        order += [card.check, card.install, card.remove, card.form.row("name").widget]
    assert [widget for widget in reached if widget in order] == order
    assert reached[reached.index(ray.check) - 1] is box.data[0].forget
    assert reached[-2:] == [dialog.cancel, dialog.save]
    assert all(widget.accessibleName() or widget.text() for widget in reached)


@pytest.fixture
def with_data(opened, tmp_path):
    """The dialog of a place that has two folders of data."""
    return opened([SshPlace(name="box", host="box", data={str(tmp_path / "a"): "/a", str(tmp_path / "b"): "/b"})])


def test_a_folder_of_data_is_forgotten_with_save_alone(qtbot, session, with_data, tmp_path):
    (card,) = with_data.cards
    qtbot.waitUntil(lambda: card.state.text() == "Ready")
    first, second = card.data
    assert first.words.text() == f"{tmp_path / 'a'} is /a there"
    for row in (first, second):
        row.forget.click()
        assert row.words.text().endswith("is forgotten when you save.")
    assert card.state.text() == "Not checked yet."
    assert set(records.named("box").data.values()) == {"/a", "/b"}
    second.forget.click()
    assert second.words.text() == f"{tmp_path / 'b'} is /b there"
    with qtbot.waitSignal(session.places.changed):
        with_data.store()
    assert records.named("box").data == {str(tmp_path / "b"): "/b"}


def test_escape_forgets_nothing(qtbot, with_data):
    with_data.cards[0].data[0].forget.click()
    qtbot.keyClick(with_data, Qt.Key.Key_Escape)
    assert len(records.named("box").data) == 2


def test_an_installation_without_an_index_is_planned(qtbot, with_data):
    install = with_data.ask_install(with_data.cards[0])
    assert "--no-index" not in install.steps.toPlainText()
    qtbot.keyClicks(install.wheels, "all")
    assert " --no-index --find-links all metric-workbench==" in install.steps.toPlainText()
    install.wheels.clear()
    qtbot.keyClicks(install.wheels, "-r")
    assert "is not a folder there" in install.problem.text()
    assert not install.install.isEnabled()
    install.reject()


def test_the_many_fields_of_a_place_are_made_in_two_turns(qtbot, opened):
    cluster = SlurmPlace(name="cluster", host="login", folder="runs there", at_once=7)
    (card,) = opened([cluster]).cards
    many = len(card.draft.fields())
    assert 0 < len(card.form.names()) < many, "before the event loop has gone on"
    qtbot.waitUntil(lambda: len(card.form.names()) == many)
    values = card.form.values()
    assert (values["folder"], str(values["at_once"])) == ("runs there", "7")
    qtbot.waitUntil(lambda: card.state.text() == "Ready")


def test_save_does_not_wait_for_the_rest_of_a_new_place(qtbot, session, opened):
    dialog = opened([])
    card = dialog.add_place("slurm")
    assert not card.is_complete
    for name in ("name", "host"):
        card.form.row(name).widget.setText("cluster")
        card.form.row(name).widget.textEdited.emit("cluster")
    dialog.store()
    qtbot.waitUntil(lambda: [place.name for place in session.places.all] == ["cluster"])  # not only read as it was
    assert records.named("cluster").folder == SlurmPlace(name="cluster").folder


def test_two_fields_of_a_place_share_a_line_and_three_numbers(qtbot, opened):
    dialog = opened([SlurmPlace(name="cluster", host="login")])
    (card,) = dialog.cards
    qtbot.waitUntil(lambda: card.is_complete and card.form.row("python").y() > 0)
    height = {name: card.form.row(name).y() for name in card.form.names()}
    assert height["name"] == height["host"] < height["ssh_config"]
    assert height["time"] == height["notice"] == height["cpus"] < height["nodes"]
    assert height["folder"] == height["python"]
