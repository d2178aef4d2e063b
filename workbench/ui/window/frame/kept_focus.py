"""Where the keyboard focus stays while the control that has it is disabled or hidden."""

from collections.abc import Callable, Iterable, Iterator

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

CHANGES = (QEvent.Type.EnabledChange, QEvent.Type.Hide, QEvent.Type.Show)
DIRECTIONS = {int(Qt.Key.Key_Tab): 1, int(Qt.Key.Key_Backtab): -1}


class KeptFocus(QObject):
    """Keeps the focus of a window near a control that cannot have it for a while, and gives it back.

    Qt moves it to the next control of the window that can be used, which may be in another part of it: a second press
    of Space would then do something else, and the keys of the page would be dead. Here the smallest part of the window
    that has the control and can be used gets it: Space does nothing there, and Tab goes on from the control. Once the
    control can be used again, and the focus has not been moved since, it has it back. This needs no active window.

    Args:
        window: whose focus is kept; dialogs keep their own.
        last: gets the focus where the window alone is left, as when a dock is hidden.
        stops: gives what Tab stops at, in its order.
    """

    def __init__(self, window: QWidget, last: QWidget, stops: Callable[[], Iterable[QWidget]]) -> None:
        super().__init__(window)
        self._window, self._last, self._stops = window, last, stops
        self._focused: QWidget | None = None  # the only widget whose events are seen
        self._keeper: QWidget | None = None  # that has the focus in its place
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._follow)

    def _follow(self) -> None:
        if not isValid(self._window):  # it is being destroyed, and takes the focus from its parts
            return
        now, before = QApplication.focusWidget(), self._focused
        moving = self._keeper is before is not None
        if moving or now is None or now.window() is not self._window or now in (before, self._keeper):
            return
        if before is not None and isValid(before):
            if self._keeper is None and not before.isEnabled():
                return  # Qt moved the focus; EnabledChange follows
            before.removeEventFilter(self)
        self._let_go()
        self._focused = now
        now.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """See the control with the focus change."""
        if not isValid(self._window):
            return False
        if watched is self._focused and event.type() in CHANGES and not event.spontaneous():
            usable = self._focused.isEnabled() and self._focused.isVisible()
            if usable and self._keeper is not None:
                self._give_back(self._focused, self._keeper)
            elif not usable and self._keeper is None and self._window.isVisible():
                self._keep(self._focused)
        elif watched is self._keeper and event.type() in CHANGES and not event.spontaneous():
            if self._focused is not None and not (self._keeper.isEnabled() and self._keeper.isVisible()):
                self._keep_once_more(self._focused, self._keeper)
        elif watched is self._keeper and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._go_on(DIRECTIONS.get(event.key(), 0))
        return False

    def _keep(self, control: QWidget) -> None:
        self._keeper = control  # until it is known: focusChanged is answered meanwhile
        for part in (*_parts_with(control, self._window), self._last):
            part.setFocus(Qt.FocusReason.OtherFocusReason)  # or the widget that this part hands the focus to
            holds = self._window.focusWidget()
            if holds is not None and holds is not control and holds.isEnabled() and holds.isVisible():
                break
        holds = self._window.focusWidget()
        self._keeper = None if holds is control else holds
        if self._keeper is not None:
            self._keeper.installEventFilter(self)

    def _keep_once_more(self, control: QWidget, keeper: QWidget) -> None:
        """Keep the focus elsewhere, as where a field hides its button, and then the line of it."""
        self._let_go()
        if not isValid(control):  # a field for a name, deleted when it was typed: its list gets the focus back
            control = self._focused = keeper
            keeper.installEventFilter(self)
        self._keep(control)

    def _go_on(self, by: int) -> bool:
        """Focus the next (1) or the last (-1) control that can be used; False where Qt is to do it.

        Qt would begin at the part, which stands elsewhere in its order than the controls in it.
        """
        stops = list(self._stops()) if by and self._focused is not None and isValid(self._focused) else []
        if self._focused not in stops:
            return False
        at = stops.index(self._focused)
        others = (stops[at + 1 :] + stops[:at])[::by]
        wanted = next((stop for stop in others if can_stop(stop)), None)
        if wanted is not None:
            wanted.setFocus(Qt.FocusReason.TabFocusReason if by > 0 else Qt.FocusReason.BacktabFocusReason)
        return wanted is not None

    def _let_go(self) -> None:
        if self._keeper is not None and isValid(self._keeper):
            self._keeper.removeEventFilter(self)
        self._keeper = None

    def _give_back(self, control: QWidget, keeper: QWidget) -> None:
        self._let_go()
        if isValid(keeper) and self._window.focusWidget() is keeper:
            control.setFocus(Qt.FocusReason.OtherFocusReason)


def can_stop(stop: QWidget) -> bool:
    """Whether Tab stops at a control now."""
    return bool(stop.focusPolicy() & Qt.FocusPolicy.TabFocus) and stop.isEnabled() and stop.isVisible()


def _parts_with(control: QWidget, window: QWidget) -> Iterator[QWidget]:
    """Parts of a window around a control that can be used, from the smallest on; not the window itself."""
    part = control.parentWidget()
    while part is not None and part is not window:
        if part.isEnabled() and part.isVisible():
            yield part
        part = part.parentWidget()
