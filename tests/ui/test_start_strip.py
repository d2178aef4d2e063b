"""The strip below the form of Set up, which a small window has in place of the right column."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.ui.test_setup import FOUND, choose, found_images, looked, page, typed  # noqa: F401 - fixtures
from workbench.config import Choice, RunConfig
from workbench.entries import catalog
from workbench.problem import Problem
from workbench.running.preflight import Preflight
from workbench.ui.pages.setup import SetupPage
from workbench.ui.preferences import Preferences
from workbench.ui.style.tab_order import stops
from workbench.ui.window.frame.kept_focus import can_stop

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)

COLUMN, SMALL = (1200, 760), (1000, 600)  # px; the second is the page of a window of 1280 x 720


@pytest.fixture
def small(page, qtbot):  # noqa: F811
    page.resize(*SMALL)
    qtbot.waitUntil(page.strip.isVisible)
    qtbot.waitUntil(lambda: found_images(page))
    return page


def test_a_small_window_has_the_strip_and_a_large_one_the_column(small, qtbot):
    wide = small.groups.width()
    for control in (small.start, small.sweep, small.beside.where):
        assert small.strip.isAncestorOf(control)
        assert control.isVisible()
    assert not small.beside.isVisible()
    small.resize(*COLUMN)
    qtbot.waitUntil(small.beside.isVisible)
    assert not small.strip.isVisible()
    for control in (small.start, small.sweep, small.beside.where, small.beside.copy, small.card):
        assert small.beside.isAncestorOf(control)
        assert control.isVisible()
    small.resize(*SMALL)
    qtbot.waitUntil(small.strip.isVisible)
    assert small.strip.isAncestorOf(small.start)
    qtbot.waitUntil(lambda: small.groups.width() == wide)


def test_the_strip_is_as_high_with_a_sentence_as_with_the_numbers(small, qtbot):
    heights = []
    for _ in range(2):
        small.card.show_idle("Correct the highlighted fields to run Preflight.")
        qtbot.waitUntil(small.strip.sentence.isVisible)
        heights.append((small.strip.sizeHint().height(), small.groups.height()))
        small.card.show_result(Preflight(**FOUND), {})
        qtbot.waitUntil(small.strip.time.isVisible)
        heights.append((small.strip.sizeHint().height(), small.groups.height()))
    assert len(set(heights)) == 1, heights


@pytest.mark.parametrize("size", [(1000, 760), (1200, 600)], ids=["narrow", "low"])
def test_little_width_or_little_height_is_enough_for_it(page, qtbot, size):  # noqa: F811
    page.resize(*size)
    qtbot.waitUntil(page.strip.isVisible)


def test_the_numbers_and_the_notes_of_preflight_stand_in_a_line(small):
    strip = small.strip
    found = FOUND | {"note": "All classes are in both sets.", "runs": 3, "unlike_published": []}
    small.card.show_result(Preflight(**found | {"notes": [("one", "is so"), ("two", "is so, too")]}), {})
    assert strip.time.caption.text() == "Time, 3 runs"
    for number, value in ((strip.time, small.card.time.number.text()), (strip.memory, "537")):
        assert number.isVisible()
        assert number.value.text().startswith(value)
    assert strip.speed.value.text().endswith(" img/s")
    assert strip.remarks.accessibleName() == "4 notes"
    assert strip.remarks.isVisible()
    small.card.show_warnings(["Weights file: This file is not read."])
    assert strip.remarks.accessibleName() == "5 notes", "a warning of a field, too, which may be out of sight"
    assert not strip.sentence.isVisible()
    small.card.show_working()
    assert strip.time.isVisible(), "the numbers of the last check stay until the next is done"
    assert not strip.time.isEnabled(), "and are seen to be old"
    small.card.show_result(Preflight(**FOUND), {})
    assert strip.time.isEnabled()


def test_numbers_that_have_no_room_go_and_none_is_cut(small, qtbot):
    strip = small.strip
    for width in (1000, 800, 640):
        small.resize(width, 600)
        small.layout().activate()
        shown = [number for number in (strip.time, strip.memory, strip.speed) if number.isVisible()]
        assert all(number.width() >= number.sizeHint().width() for number in shown)
        assert small.start.width() >= small.start.minimumSizeHint().width()
    assert not strip.speed.isVisible()


def test_the_card_is_shown_on_demand_and_that_is_remembered(small, session, qtbot):
    notes = Preflight(**FOUND | {"note": "All classes are in both sets."})
    small.card.show_result(notes, {})
    small.strip.remarks.click()
    assert small.strip.unfold.isChecked()
    qtbot.waitUntil(small.card.isVisible)
    assert small.card.note.isVisible()
    again = qtbot.addWidget(SetupPage(session))
    again.resize(*SMALL)
    again.show()
    assert again.card.isVisible()
    again.strip.unfold.click()
    assert not again.card.isVisible()
    assert not Preferences().flag("setup/preflight")
    again.runner.drop()


def test_why_nothing_is_known_is_said_and_a_check_is_offered(small, looked, qtbot):  # noqa: F811
    strip = small.strip
    small.card.show_idle("A run is training. Preflight would slow it down.", offer_check=True)
    assert strip.sentence.text() == "A run is training. Preflight would slow it down."
    assert strip.sentence.isVisible()
    assert not strip.time.isVisible()
    asked = len(looked.configs)
    looked.problem = Problem("The folder is empty.", todo="Choose another.")
    strip.check.click()
    qtbot.waitUntil(lambda: len(looked.configs) > asked)
    qtbot.waitUntil(lambda: strip.sentence.text().startswith("The folder is empty."))
    assert strip.sentence.property("role") == "error"


def test_an_error_is_read_to_its_end_and_makes_the_strip_higher_while_it_is_shown(small, qtbot):
    strip, height = small.strip, small.strip.height()
    what = "The data set has 10 classes: with a training fraction of 0.01, 0 would train and 10 be searched."
    todo = "Use a data set of two classes or more, or another fraction."
    small.card.show_problem(Problem(what, kept="Nothing was started.", todo=todo))
    qtbot.waitUntil(lambda: strip.height() > height)
    assert " ".join(strip.sentence.written()) == f"{what} Nothing was started. {todo}"
    tall = strip.height()
    small.card.show_working()
    qtbot.waitUntil(lambda: strip.height() < tall)


def test_a_sentence_without_room_for_its_words_is_not_shown(small, qtbot):
    strip = small.strip
    small.card.show_idle("A run is training. Preflight would slow it down.", offer_check=True)
    assert strip.sentence.isVisible()
    strip.setFixedWidth(
        strip.check.width()
        + strip.unfold.width()
        + sum(control.width() for control in (small.beside.where, small.beside.sweep, small.beside.start))
        + 100
    )
    qtbot.waitUntil(lambda: not strip.sentence.isVisible())
    assert strip.check.isVisible()


def test_what_prevents_starting_and_its_repair_are_in_the_strip(small):
    choose(small, "loss.name", "contrastive")
    mend = small.beside.mend
    assert small.strip.isAncestorOf(mend)
    assert mend.isVisible()
    assert not small.start.isEnabled()
    mend.click()
    assert small.start.isEnabled()
    assert not small.beside.banner.isVisible()


def test_the_repair_and_show_stand_in_one_line(small, qtbot):
    choose(small, "loss.name", "contrastive")
    mend, show = small.beside.mend, small.beside.show_trouble
    qtbot.waitUntil(lambda: mend.isVisible() and show.x() > mend.geometry().right())
    assert show.y() == mend.y()


def test_the_menu_has_what_has_no_room(small, session, qtbot):
    menu = small.strip.more.menu()
    titles = [action.text() for action in menu.actions()]
    assert titles == ["Copy command", "Open config…", "Save config…", "Places…"]
    with qtbot.waitSignal(session.places_asked):
        menu.actions()[3].trigger()
    menu.aboutToShow.emit()
    assert all(action.isEnabled() for action in menu.actions())
    typed(small, "training.epochs", "0")
    menu.aboutToShow.emit()
    assert [action.isEnabled() for action in menu.actions()] == [False, True, False, True]


def test_tab_goes_through_the_strip_in_its_order(small, qtbot):
    small.activateWindow()
    qtbot.waitUntil(small.isActiveWindow)
    strip = small.strip
    strip.unfold.setFocus()
    for control in (strip.remarks, small.beside.where, small.sweep, strip.more, small.start):
        QTest.keyClick(small.window().focusWidget(), Qt.Key.Key_Tab)
        assert small.window().focusWidget() is control


def test_a_weights_file_that_is_not_read_is_said_beside_start(session, qtbot, looked):  # noqa: F811
    session.set_catalog(catalog.current())
    made = qtbot.addWidget(SetupPage(session))
    made.take_config(RunConfig(backbone=Choice(name="squeezenet1_0", params={"weights_file": "mine.pth"})))
    assert made.card.warned.text() == "Weights file: This file is not read, because Weights is none: set it to file."
    made.take_config(RunConfig())
    assert made.card.warned.text() == ""


def test_tab_meets_the_strip_behind_the_form(small):
    met = [stop for stop in stops([small]) if can_stop(stop) and stop is not small]
    assert met.index(small.chooser) < met.index(small.strip.unfold)
    assert met[-1] is small.start
