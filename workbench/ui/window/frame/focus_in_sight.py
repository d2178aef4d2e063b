"""Scrolls to what the keyboard focus goes to: Qt does so only from one control of a scrolled part to another of it."""

from PySide6.QtCore import QObject, QPoint, QRect, Qt
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget
from shiboken6 import isValid

from workbench.ui.style.tab_order import START
from workbench.ui.window.frame.kept_focus import can_stop

NO_FOCUS = Qt.FocusPolicy.NoFocus
ABOVE = 8  # px above a control that is higher than the part it is scrolled in


class FocusInSight(QObject):
    """Brings the control that gets the focus into sight, in the window and in its dialogs.

    A press of the mouse scrolls nothing, neither does a window that becomes the active one, nor a control that has the
    focus back after it was disabled: the person may have scrolled away meanwhile.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._follow)

    def _follow(self, before: QWidget | None, now: QWidget | None) -> None:
        if before is None or now is None or not (isValid(before) and isValid(now)):
            return
        pressed = QApplication.mouseButtons() != Qt.MouseButton.NoButton
        if pressed or before.window() is not now.window() or not can_stop(now):
            return
        if before.focusPolicy() != NO_FOCUS or before.property(START):
            bring_into_sight(now)


def bring_into_sight(control: QWidget) -> None:
    """Scroll everything that is scrolled around a control, from the inside, as little as shows the whole of it.

    Of a control that is higher than its part, the top is shown, unless half of the part shows it already.
    """
    part: QWidget | None = control
    while part is not None and not part.isWindow():
        part = part.parentWidget()
        inside = part.widget() if isinstance(part, QScrollArea) else None
        if isinstance(part, QScrollArea) and inside is not None and inside.isAncestorOf(control):
            _scroll(part, control)


def _scroll(area: QScrollArea, control: QWidget) -> None:
    room = area.viewport().rect()
    place = QRect(control.mapTo(area.viewport(), QPoint(0, 0)), control.size())
    if place.height() <= room.height():
        area.ensureWidgetVisible(control)
    elif place.intersected(room).height() < room.height() // 2:
        bar = area.verticalScrollBar()
        bar.setValue(bar.value() + place.top() - ABOVE)
