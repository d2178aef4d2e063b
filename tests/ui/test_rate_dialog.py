"""The range test of Set up: its dialog, its curve, and the rate that the form takes."""

import threading
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.ui.test_setup import FOUND
from workbench.entries import catalog
from workbench.problem import Problem
from workbench.running import rate_range
from workbench.running.facts.rate_curve import rising_rates, smoothed, suggest, weight_of
from workbench.running.preflight import Preflight
from workbench.running.rate_range import RateTest
from workbench.settings.changed import read_config
from workbench.ui.pages.setup import SetupPage
from workbench.ui.pages.setup.preflight import runner as preflights
from workbench.ui.pages.setup.rate.dialog import BUSY, CANCELLED, WAITS, RateDialog
from workbench.ui.pages.setup.rate.plot import EMPTY, RatePlot

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", "does not support raise", extend=True)
FALLS = [3.0] * 20 + [3 - 0.1 * at for at in range(20)] + [1 + 0.3 * at for at in range(5)]


@pytest.fixture
def session(session):
    session.set_catalog(catalog.current())
    return session


@pytest.fixture
def trial(monkeypatch):
    """The tests that are asked for, each with these losses, up to the point where `goes_on` is clear."""
    asked = SimpleNamespace(named=[], losses=FALLS, goes_on=threading.Event(), problem=None, reached=0)
    asked.goes_on.set()

    def find(config, *, steps, first, last, progress, point):
        asked.named.append((config, steps, first, last))
        if asked.problem is not None:
            raise asked.problem
        count = len(asked.losses)
        rates = rising_rates(first, last, count).tolist()
        smooth = smoothed(asked.losses, weight_of(count))
        for place in range(count):
            if place == 10:
                asked.reached = place
                while not asked.goes_on.wait(0.01):
                    progress("Trying rates", place, count)
            progress("Trying rates", place, count)
            point(rates[place], asked.losses[place], float(smooth[place]))
        return RateTest(rates, asked.losses, count, suggest(rates, asked.losses, count))

    monkeypatch.setattr(rate_range, "find_rate", find)
    yield asked
    asked.goes_on.set()


@pytest.fixture
def dialog(qtbot, session, trial):
    made = RateDialog(session, read_config("sample-digits"))
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(made)
    made.open()
    return made


def done(qtbot, dialog):
    """Start the test and wait for its end."""
    dialog.start.click()
    assert dialog.cancel.isVisible()
    qtbot.waitUntil(dialog.start.isVisible)


def test_before_the_start_there_is_a_hint(dialog):
    assert dialog.plot.describe() == EMPTY
    assert not dialog.use.isEnabled()
    assert dialog.main is dialog.start
    assert (dialog.first.value(), dialog.last.value()) == (1e-6, 10), "sample-digits trains with SGD"


def test_a_test_marks_the_rate_that_it_suggests(qtbot, dialog, trial):
    done(qtbot, dialog)
    ((config, steps, first, last),) = trial.named
    assert (config.name, steps, first, last) == ("Sample: Digits", None, 1e-6, 10)
    expected = suggest(rising_rates(1e-6, 10, len(FALLS)), FALLS, len(FALLS))
    assert dialog.plot.chosen == expected.rate
    assert dialog.use.text() == f"Use {expected.rate:g}"
    assert dialog.said.text().startswith(f"{expected.rate:g} is suggested: where the smoothed loss falls most steeply.")
    assert len(dialog.plot.rows()) == 1 + len(FALLS)
    assert dialog.plot.rows()[1] == pytest.approx([1, 1e-6, 3.0, 3.0])
    assert dialog.tenth.text() == f"Minimum / 10: {expected.tenth:g}"
    dialog.tenth.click()
    assert dialog.plot.chosen == expected.tenth
    assert f"Chosen: {expected.tenth:g}." in dialog.plot.describe()


def test_the_rate_is_used_by_keys_alone(qtbot, dialog):
    used = []
    dialog.used.connect(used.append)
    dialog.activateWindow()
    dialog.start.setFocus()
    QTest.keyClick(dialog, Qt.Key.Key_Return)
    assert QApplication.focusWidget() is dialog.cancel
    qtbot.waitUntil(dialog.use.isEnabled)
    assert QApplication.focusWidget() is dialog.plot.picture, "a second Enter would cancel nothing"
    suggested = dialog.plot.chosen
    QTest.keyClick(dialog.plot.picture, Qt.Key.Key_Right)
    assert dialog.plot.chosen == pytest.approx(1.1 * suggested, rel=0.05)
    assert dialog.plot.chosen > suggested
    QTest.keyClick(dialog.plot.picture, Qt.Key.Key_Left)
    QTest.keyClick(dialog.plot.picture, Qt.Key.Key_Left)
    assert dialog.plot.chosen < suggested
    chosen = dialog.plot.chosen
    QTest.keyClick(dialog.plot.picture, Qt.Key.Key_Return)
    assert used == [chosen]
    assert not dialog.isVisible()


def test_a_click_in_the_curve_chooses_the_rate_there(qtbot, dialog):
    done(qtbot, dialog)
    picture = dialog.plot.picture
    place = QPointF(dialog.plot.place_of(1e-4, picture.area), 60).toPoint()
    QTest.mouseClick(picture, Qt.MouseButton.LeftButton, pos=place)
    assert dialog.plot.chosen == pytest.approx(1e-4, rel=0.1)
    assert dialog.use.text() == f"Use {dialog.plot.chosen:g}"
    QTest.mouseClick(picture, Qt.MouseButton.LeftButton, pos=QPointF(2, 60).toPoint())
    assert dialog.plot.chosen == 1e-6, "the axis ends there"


def test_a_test_is_cancelled_and_can_be_started_again(qtbot, dialog, trial):
    trial.goes_on.clear()
    dialog.start.click()
    qtbot.waitUntil(lambda: len(dialog.plot.rows()) == 11)
    assert not dialog.use.isEnabled()
    QTest.mouseClick(dialog.plot.picture, Qt.MouseButton.LeftButton)
    assert dialog.plot.chosen is None, "of half a curve nothing is chosen"
    dialog.cancel.click()
    qtbot.waitUntil(dialog.start.isVisible)
    assert dialog.said.text() == CANCELLED
    trial.goes_on.set()
    done(qtbot, dialog)
    assert dialog.use.isEnabled()
    assert len(dialog.plot.rows()) == 1 + len(FALLS)


def test_closing_gives_the_test_up(qtbot, session, dialog, trial):
    trial.goes_on.clear()
    dialog.start.click()
    qtbot.waitUntil(lambda: trial.reached == 10)
    item = session.activity.items[0]
    dialog.reject()
    qtbot.waitUntil(lambda: item.state == "cancelled")


def test_a_curve_without_a_descent_says_why_and_still_lets_a_rate_be_chosen(qtbot, dialog, trial):
    trial.losses = [1.0] * 40
    done(qtbot, dialog)
    assert dialog.said.text().startswith("No rate is suggested. The loss does not fall by more than it differs")
    assert not dialog.use.isEnabled()
    assert not dialog.steepest.isVisible()
    picture = dialog.plot.picture
    QTest.mouseClick(picture, Qt.MouseButton.LeftButton, pos=picture.rect().center())
    assert dialog.use.isEnabled()
    assert not dialog.steepest.isVisible()


def test_a_run_that_trains_is_not_disturbed(dialog, session, trial, monkeypatch):
    monkeypatch.setattr(type(session), "busy", property(lambda session: True))
    dialog.start.click()
    assert dialog.said.text() == BUSY
    assert trial.named == []


@pytest.mark.parametrize(
    ("line", "text", "said"),
    [
        ("first", "much", "“From” is not a number."),
        ("last", "1e-9", "must rise, above 0 and up to 100; 1e-06 to 1e-09 do not"),
        ("steps", "3", "A test of 3 steps is too short."), ("steps", "many", "“Batches” is not a number."),
    ],
)  # fmt: skip
def test_what_is_no_range_is_said_before_anything_starts(dialog, trial, line, text, said):
    getattr(dialog, line).setText(text)
    dialog.start.click()
    assert said in dialog.said.text()
    assert trial.named == []


def test_a_problem_is_said_in_the_dialog(qtbot, dialog, trial):
    trial.problem = Problem("The folder is gone.", todo="Mount it.")
    done(qtbot, dialog)
    assert dialog.said.text() == "The folder is gone. Mount it."


def test_a_loss_that_is_not_finite_is_drawn_up_to_there(qtbot):
    plot = qtbot.addWidget(RatePlot())
    plot.resize(500, 300)
    plot.show()
    plot.begin(1e-6, 1)
    for place, rate in enumerate(rising_rates(1e-6, 1, 30).tolist()):
        loss = float("inf") if place == 29 else 1e30 if place == 28 else 2.0 - place / 30
        plot.add(rate, loss, loss)
    plot.end(suggest([1e-6, 1], [1.0, 1.0], 30))
    assert not plot.grab().isNull()
    assert "last ∞" in plot.describe()


# In Set up


@pytest.fixture
def page(session, qtbot, trial, monkeypatch):
    """Set up, whose check of a run ends when `checked` is set."""
    page_checks = SimpleNamespace(checked=threading.Event(), problem=None)

    def look(config, progress, cancelled, counted):
        while not page_checks.checked.wait(0.01):
            cancelled()
        if page_checks.problem is not None:
            raise page_checks.problem
        return Preflight(**FOUND)

    monkeypatch.setattr("workbench.running.preflight.preflight", look)
    monkeypatch.setattr(preflights, "SETTLES_AFTER", 0)
    made = SetupPage(session)
    made.checks = page_checks
    qtbot.addWidget(made)
    made.resize(1200, 760)
    made.show()
    yield made
    page_checks.checked.set()
    made.runner.drop()


def test_the_form_takes_the_rate_and_undo_gives_the_old_one_back(page, qtbot):
    page.checks.checked.set()
    before = page.draft.value("training.lr")
    page.groups.parts.find_rate.click()
    done(qtbot, page.rate_dialog)
    chosen = page.rate_dialog.plot.chosen
    page.rate_dialog.use.click()
    assert page.draft.value("training.lr") == chosen != before
    assert page.groups.row("training.lr").widget.value() == chosen
    page.undo.click()
    assert page.draft.value("training.lr") == before


def test_a_test_waits_for_the_end_of_preflight(page, qtbot, trial):
    page.ask_rate()
    dialog = page.rate_dialog
    dialog.start.click()
    assert dialog.said.text() == WAITS
    assert trial.named == []
    page.checks.checked.set()
    qtbot.waitUntil(dialog.use.isEnabled)


def test_what_preflight_refuses_is_not_tested(page, qtbot, trial):
    page.ask_rate()
    dialog = page.rate_dialog
    dialog.start.click()
    page.checks.problem = Problem("Too few images.")
    page.checks.checked.set()
    qtbot.waitUntil(dialog.start.isVisible)
    assert dialog.said.text() == "The test was not started. Too few images."
    assert trial.named == []


def test_a_config_that_cannot_start_has_no_test(page):
    page.groups.row("training.lr").editor.setText("much")
    page.groups.row("training.lr").editor.edited.emit()
    assert not page.groups.parts.find_rate.isEnabled()
    page.ask_rate()
    assert not hasattr(page, "rate_dialog")
