"""Set up before it is filled and while a run works: nothing half-made is seen, and a wrong size is refused."""

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox

from tests.ui.test_setup import CATALOG, choose, looked, page, row, typed  # noqa: F401
from workbench.problem import Problem
from workbench.settings.presets import presets
from workbench.ui.pages.setup import SetupPage
from workbench.ui.widgets.card import Card

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)  # Qt's offscreen platform, at every show


class Squeezed(QObject):
    """Remembers each card that is painted smaller than it must be."""

    def __init__(self, groups):
        super().__init__()
        self.found, self.painted = [], 0
        for card in groups.widget().findChildren(Card):
            card.installEventFilter(self)

    def eventFilter(self, card, event):  # noqa: N802
        if event.type() == QEvent.Type.Paint:
            self.painted += 1
            if card.height() < card.minimumSizeHint().height():
                self.found.append((card.height(), card.minimumSizeHint().height()))
        return False


@pytest.fixture
def waiting(session, qtbot, looked):  # noqa: F811
    """The page in sight, before the catalog is there."""
    session.catalog = {}
    made = qtbot.shown(SetupPage(session), 900, 500)
    yield made
    made.runner.drop()


def test_nothing_half_made_is_seen_until_the_form_is_filled(waiting, session, qtbot):
    squeezed = Squeezed(waiting.groups)
    assert not waiting.groups.widget().isVisible()
    assert not waiting.groups.verticalScrollBar().isVisible()
    for quiet in (waiting.beside.banner, waiting.beside.show_trouble, *waiting.groups.offers.values()):
        assert not quiet.isVisible()
    for idle in (waiting.start, waiting.sweep, waiting.beside.save, waiting.beside.copy, waiting.undo, waiting.redo):
        assert not idle.isEnabled()
    assert waiting.card.state.text() == "Waiting for the list of data sets, backbones and losses."
    session.set_catalog(CATALOG)
    qtbot.waitUntil(lambda: squeezed.painted > 0)
    assert waiting.groups.widget().isVisible()
    assert waiting.groups.verticalScrollBar().isVisible()
    assert squeezed.found == []
    assert not waiting.beside.show_trouble.isVisible()
    typed(waiting, "training.lr", "x")
    assert waiting.beside.show_trouble.isVisible()


def test_tab_goes_from_field_to_field_and_then_to_start_also_for_rows_that_came_later(waiting, session, qtbot):
    session.set_catalog(CATALOG)
    waiting.groups.unfold.click()
    choose(waiting, "loss.name", "psce")
    last = [path for fields in waiting.draft.advanced().values() for path in fields][-1]
    qtbot.waitUntil(lambda: any(last in form.names() for form in waiting.groups.forms.values()))
    waiting.activateWindow()
    waiting.chooser.setFocus()
    met = []
    while waiting.start not in met and len(met) < 200:
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        met.append(QApplication.focusWidget())
    rows = [row(waiting, path) for path in waiting.draft.essential()]
    rows += [row(waiting, path) for fields in waiting.draft.advanced().values() for path in fields]
    assert not any(each.help in met for each in rows)
    editors = [each.widget.findChild(QComboBox) or each.widget for each in rows]
    assert [each for each in met if each in editors] == editors
    assert waiting.start in met


def test_a_long_sentence_of_a_preset_takes_two_lines(page, qtbot):  # noqa: F811
    sentence = max((preset.summary for preset in presets()), key=len)
    page.summary.setText(sentence)
    one = page.summary.fontMetrics().horizontalAdvance(sentence)
    page.summary.resize(one * 2 // 3, page.summary.sizeHint().height())
    lines = page.summary.written()
    assert len(lines) == 2
    assert " ".join(lines) == sentence
    assert page.summary.height() >= 2 * page.summary.fontMetrics().height()


def test_coming_back_keeps_what_was_found(page, looked, qtbot):  # noqa: F811
    settled(page, looked, qtbot)
    assert page.card.state.text() == ""
    for again in (page.hide, page.show, page.chooser.edited.emit, page.steps.undo):  # nothing that a look depends on
        again()
        assert not page.runner.waiting_or_working
        assert page.card.state.text() == ""
    assert len(looked.configs) == 1
    typed(page, "training.epochs", "3")
    assert page.card.state.text() == "Starts when you stop editing…"
    qtbot.waitUntil(lambda: len(looked.configs) == 2 and page.card.state.text() == "")


def test_coming_back_counts_again_where_a_count_refused_the_size(page, looked, qtbot):  # noqa: F811
    settled(page, looked, qtbot)
    choose(page, "loss.name", "psce")
    choose(page, "loss.prototypes", "canonical")
    typed(page, "embedding.dim", "4")
    qtbot.waitUntil(lambda: row(page, "embedding.dim").error.text() != "")
    assert not page.runner.waiting_or_working
    looked.configs.clear()
    page.hide()
    page.show()
    qtbot.waitUntil(lambda: bool(looked.configs))
    qtbot.waitUntil(lambda: row(page, "embedding.dim").error.text() != "")
    assert not page.start.isEnabled()


def settled(page, looked, qtbot):  # noqa: F811
    qtbot.waitUntil(lambda: bool(looked.configs) and not page.runner.waiting_or_working)


@pytest.fixture
def counted(page, session, looked, qtbot, monkeypatch):  # noqa: F811
    """While a run works: configs whose classes were counted, and a list of the answer, which may be a Problem."""
    qtbot.waitUntil(lambda: bool(looked.configs) and not page.runner.waiting_or_working)
    page.draft.forget_classes()
    seen, answer = [], [10]

    def count_classes(config, tell):
        tell("Looking", 0, 0)
        seen.append(config)
        if isinstance(answer[0], Problem):
            raise answer[0]
        return answer[0]

    monkeypatch.setattr("workbench.running.preflight.count_classes", count_classes)
    monkeypatch.setattr(type(session), "busy", True)
    looked.configs.clear()
    yield seen, answer
    page.runner.drop()
    monkeypatch.undo()


def test_a_wrong_size_is_refused_at_its_field_while_a_run_works(page, looked, counted, qtbot):  # noqa: F811
    choose(page, "loss.name", "psce")
    typed(page, "embedding.dim", "4")
    choose(page, "loss.prototypes", "canonical")
    size = row(page, "embedding.dim")
    qtbot.waitUntil(lambda: size.error.text() != "")
    assert size.error.text() == "Canonical prototypes of 10 classes need 10 dimensions, not 4."
    assert not page.start.isEnabled()
    assert looked.configs == [], "no step was tried"
    page.groups.ensureWidgetVisible(size)
    QTest.mouseClick(size.fix, Qt.MouseButton.LeftButton)
    assert page.config.embedding.dim == 10
    assert page.start.text() == "Add to queue"
    assert page.start.isEnabled()
    qtbot.waitUntil(lambda: page.card.check.isVisible())
    assert looked.configs == []


def test_no_data_is_read_beside_a_run_for_a_loss_that_takes_any_size(page, counted, qtbot):  # noqa: F811
    typed(page, "training.epochs", "3")
    qtbot.waitUntil(lambda: page.card.check.isVisible())
    assert not page.runner.waiting_or_working
    assert counted[0] == []


def test_data_that_cannot_be_counted_is_said_before_it_is_queued(page, counted, qtbot):  # noqa: F811
    counted[1][0] = Problem("The folder is empty.", todo="Choose another.")
    choose(page, "loss.name", "psce")
    qtbot.waitUntil(lambda: page.card.problem.isVisible())
    assert "The folder is empty." in page.card.problem.text()
    assert not page.start.isEnabled()
