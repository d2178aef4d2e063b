"""The questions for text: a labelled field, Cancel, and a main button that Enter presses; Esc changes nothing."""

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QWidget

from workbench.ui.widgets.dialogs.text_question import TextQuestion, ask_line, ask_lines, ask_name

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def window(qtbot):
    return qtbot.addWidget(QWidget())


@pytest.fixture
def answer(window):
    """A function that has something done with the next question once it is shown."""

    def when_shown(act):
        QTimer.singleShot(0, window, lambda: act(window.findChild(TextQuestion)))

    return when_shown


def test_enter_takes_the_line_and_esc_leaves_it(qtbot, window, answer):
    def type_and(key):
        def act(dialog):
            assert (dialog.words.buddy(), dialog.field.accessibleName()) == (dialog.field, "Tags")
            assert dialog.cancel.x() < dialog.main.x()
            qtbot.keyClick(dialog.field, Qt.Key.Key_End)
            qtbot.keyClicks(dialog.field, ", b")
            qtbot.keyClick(dialog.field, key)

        return act

    answer(type_and(Qt.Key.Key_Return))
    assert ask_line(window, "Tags", "Tags", text="a") == "a, b"
    answer(type_and(Qt.Key.Key_Escape))
    assert ask_line(window, "Tags", "Tags", text="a") is None


@pytest.mark.parametrize(("adds", "line"), [(True, "a, b"), (False, ", b")])
def test_typing_adds_to_tags_and_replaces_other_lines(qtbot, window, answer, adds, line):
    def act(dialog):
        qtbot.keyClicks(dialog.field, ", b")
        dialog.main.click()

    answer(act)
    assert ask_line(window, "Tags", "Tags", text="a", adds=adds) == line


def test_a_name_is_no_space_and_has_no_more_characters_than_are_stored(qtbot, window, answer):
    def act(dialog):
        assert dialog.main.text() == "Rename"
        qtbot.keyClicks(dialog.field, " ")
        assert not dialog.main.isEnabled()
        qtbot.keyClick(dialog.field, Qt.Key.Key_Return)
        assert dialog.isVisible()
        qtbot.keyClicks(dialog.field, "abcdef")
        dialog.main.click()

    answer(act)
    assert ask_name(window, "Rename", "Name", 4, text="old", verb="Rename") == " abc", "what is typed replaces the name"


def test_enter_is_part_of_a_text_of_lines_and_control_enter_takes_it(qtbot, window, answer):
    def act(dialog):
        qtbot.keyClicks(dialog.field, "one")
        qtbot.keyClick(dialog.field, Qt.Key.Key_Return)
        qtbot.keyClicks(dialog.field, "two")
        qtbot.keyClick(dialog.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)

    answer(act)
    assert ask_lines(window, "Note", "Note") == "one\ntwo"
