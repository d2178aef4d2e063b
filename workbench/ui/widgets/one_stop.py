"""Groups of many like buttons that Tab does not go through one by one."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from workbench.ui.style.tab_order import follow

ARROWS = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down)


class OneStop(QObject):
    """Tab stops once at a group: at its first button, or at the one used last. The arrow keys go on from there."""

    reached = Signal(object)  # QWidget: the button that an arrow key led to

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._buttons: list[QWidget] = []

    def show(self, buttons: Sequence[QWidget]) -> None:
        """Set the group's buttons, in lines from left to right."""
        self._buttons = list(buttons)
        for button in self._buttons:
            button.installEventFilter(self)  # a second time is none
        used = next((button for button in self._buttons if button.hasFocus()), None)
        if self._buttons:
            self._stop_at(used or self._buttons[0])

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() not in (QEvent.Type.FocusIn, QEvent.Type.KeyPress):
            return False
        here = next((index for index, button in enumerate(self._buttons) if button is watched), None)
        if here is None:
            return False
        if not isinstance(event, QKeyEvent):
            self._stop_at(self._buttons[here])
        elif Qt.Key(event.key()) in ARROWS and not event.modifiers() & Qt.KeyboardModifier.AltModifier:
            self._go(here, ARROWS.index(Qt.Key(event.key())))
            return True
        return False

    def _go(self, here: int, way: int) -> None:
        line = max(1, sum(button.y() == self._buttons[0].y() for button in self._buttons))
        there = here + (-1, 1, -line, line)[way]
        if 0 <= there < len(self._buttons):
            self._buttons[there].setFocus(Qt.FocusReason.OtherFocusReason)
            self.reached.emit(self._buttons[there])

    def _stop_at(self, chosen: QWidget) -> None:
        for button in self._buttons:
            wanted = Qt.FocusPolicy.StrongFocus if button is chosen else Qt.FocusPolicy.ClickFocus
            if button.focusPolicy() != wanted:
                button.setFocusPolicy(wanted)


def in_line(pool: Sequence[QWidget], button: QWidget) -> None:
    """Put a button that was made later right behind the others in the Tab order."""
    if pool:
        follow(pool[-1], [button])
