"""An open menu of a page keeps the letters that are typed: they are not keys of the page."""

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication

from workbench.ui.widgets.page_menu import PageMenu


@pytest.mark.parametrize(
    ("keys", "kept"), [(Qt.KeyboardModifier.NoModifier, True), (Qt.KeyboardModifier.ControlModifier, False)]
)
def test_a_letter_that_is_typed_into_an_open_menu_is_not_a_key_of_the_page(qtbot, keys, kept):
    menu = qtbot.addWidget(PageMenu())
    event = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_M, keys, "m")  # Qt asks so before it looks for a key
    event.ignore()
    QApplication.sendEvent(menu, event)
    assert event.isAccepted() == kept
