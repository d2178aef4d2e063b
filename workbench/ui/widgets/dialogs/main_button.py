"""A dialog in which Enter does what its main button does."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QDialog, QPushButton

ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class MainButtonDialog(QDialog):
    """Enter presses the button that has the focus, and from any other place `main`, which the dialog sets.

    Without a main button, Enter in a table chooses a row of it and nothing else.
    """

    main: QPushButton | None = None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() not in ENTER:
            super().keyPressEvent(event)
            return
        focused = self.focusWidget()
        pressed = focused if isinstance(focused, QAbstractButton) else self.main
        if pressed is not None and pressed.isEnabled():
            pressed.click()
