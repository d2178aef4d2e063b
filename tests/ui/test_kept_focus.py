"""The keyboard focus stays near a control that is disabled or hidden while it has it, and comes back to it."""

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QHBoxLayout, QPushButton, QVBoxLayout, QWidget
from shiboken6 import delete, isValid

from workbench.ui.window.frame.kept_focus import KeptFocus

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints|does not support raise")


class Parts(QWidget):
    """A window with a card of two buttons, and one more beside it."""

    def __init__(self):
        super().__init__()
        self.card, self.far = QWidget(), QPushButton("Far")
        self.near, self.export = QPushButton("Near"), QPushButton("Export")
        inner = QHBoxLayout(self.card)
        inner.addWidget(self.near)
        inner.addWidget(self.export)
        column = QVBoxLayout(self)
        column.addWidget(self.card)
        column.addWidget(self.far)
        QWidget.setTabOrder(self.export, self.near)  # not as they were made: Qt's order begins elsewhere then
        self.stops = [self.far, self.export, self.near]
        self.kept = KeptFocus(self, self.far, lambda: self.stops)


@pytest.fixture
def window(qtbot):
    made = qtbot.shown(Parts())
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    made.export.setFocus()
    assert made.focusWidget() is made.export
    return made


@pytest.fixture
def other(qtbot):
    """Another window, which can take the place of the active one."""
    return qtbot.shown(QWidget())


@pytest.fixture(params=["active", "inactive"])
def shown(request, window, other, qtbot):
    """The window with the focus on Export, as the active window and while another one is."""
    target = window if request.param == "active" else other
    target.activateWindow()
    qtbot.waitUntil(target.isActiveWindow)
    return window


@pytest.mark.parametrize(("leave", "come_back"), [("setDisabled", "setEnabled"), ("hide", "show")])
def test_the_focus_stays_in_the_part_and_comes_back(shown, leave, come_back):
    getattr(shown.export, leave)(*([True] if leave == "setDisabled" else []))
    assert shown.focusWidget() is shown.card
    getattr(shown.export, come_back)(*([True] if come_back == "setEnabled" else []))
    assert shown.focusWidget() is shown.export


def test_a_part_that_is_hidden_after_its_control_hands_it_on(shown):
    shown.export.hide()
    shown.card.hide()
    assert shown.focusWidget() is shown.far
    shown.card.show()
    shown.export.show()
    assert shown.focusWidget() is shown.export


def test_a_part_that_is_disabled_as_a_whole_hands_it_to_what_is_left(shown):
    shown.card.setEnabled(False)
    assert shown.focusWidget() is shown.far
    shown.card.setEnabled(True)
    assert shown.focusWidget() is shown.export


@pytest.mark.parametrize(
    ("key", "wanted"),
    [((Qt.Key.Key_Tab,), "near"), ((Qt.Key.Key_Backtab, Qt.KeyboardModifier.ShiftModifier), "far")],
)
def test_space_presses_nothing_and_tab_goes_on_from_the_control(window, key, wanted):
    pressed = []
    for button in (window.near, window.far):
        button.clicked.connect(lambda _=False, button=button: pressed.append(button))
    window.export.setEnabled(False)
    QTest.keyClick(window.focusWidget(), Qt.Key.Key_Space)
    assert pressed == []
    QTest.keyClick(window.focusWidget(), *key)
    assert window.focusWidget() is getattr(window, wanted)


def test_a_user_who_has_gone_on_is_not_called_back(window):
    window.export.setEnabled(False)
    window.far.setFocus()
    window.export.setEnabled(True)
    assert window.focusWidget() is window.far


def test_a_control_that_is_gone_is_not_asked(window):
    window.export.setEnabled(False)
    window.export.deleteLater()
    QApplication.sendPostedEvents(window.export, QEvent.Type.DeferredDelete.value)
    window.near.setFocus()
    window.near.setEnabled(False)
    assert window.focusWidget() is window.card


def test_a_window_that_closes_keeps_where_it_was(window):
    window.close()
    assert window.focusWidget() is window.export


def test_a_window_can_be_destroyed_while_a_part_of_it_has_the_focus(qtbot):
    window = Parts()
    with qtbot.waitExposed(window):
        window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    window.export.setFocus()
    window.deleteLater()
    QApplication.sendPostedEvents(window, QEvent.Type.DeferredDelete.value)
    assert not isValid(window)


def test_a_part_that_is_hidden_after_its_control_was_deleted_passes_the_focus_on(window, qtbot):
    window.export.hide()
    assert window.focusWidget() is window.card
    delete(window.export)
    window.stops.remove(window.export)
    window.card.hide()
    qtbot.waitUntil(lambda: window.focusWidget() is window.far)
    window.card.show()
    qtbot.waitUntil(lambda: window.focusWidget() is window.card)
