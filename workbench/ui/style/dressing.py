"""A new palette is applied to the widgets in short turns of the event loop: those on screen first, hidden pages later.

Qt works a style sheet out once for each widget, with the palette of that moment. Setting a sheet anew does so for all
widgets in one piece (two seconds for 2,600); polishing them one by one takes a sixth of that and can be interrupted.
"""

from collections import deque
from collections.abc import Iterable
from time import perf_counter

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

TURN = 0.012  # seconds of work in one turn of the event loop
BETWEEN = 2  # ms


class Dressing(QObject):
    """Polishes the widgets that exist when it begins; widgets made later get the new palette from Qt."""

    finished = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._seen: deque[QWidget] = deque()
        self._hidden: deque[QWidget] = deque()
        self._still: list[QWidget] = []  # windows that are not painted until all visible widgets have the new palette
        self._timer = QTimer(self, interval=BETWEEN, singleShot=True)
        self._timer.timeout.connect(self._turn)

    @property
    def busy(self) -> bool:
        """Whether some widget still has the old palette."""
        return bool(self._seen or self._hidden)

    def begin(self) -> None:
        """Start with every widget of the application."""
        self._seen.clear()
        self._hidden.clear()
        for widget in QApplication.allWidgets():
            (self._seen if widget.isVisible() else self._hidden).append(widget)
        for window in QApplication.topLevelWidgets():
            if window.isVisible() and window.updatesEnabled():
                window.setUpdatesEnabled(False)
                self._still.append(window)
        self._turn()

    def dress_now(self, page: QWidget) -> None:
        """Polish a page that is about to be shown, if its turn has not come yet."""
        if self._hidden:
            inside = {page, *page.findChildren(QWidget)}
            _polish(inside)
            self._hidden = deque(widget for widget in self._hidden if widget not in inside)

    def stop(self) -> None:
        """Stop polishing; windows are painted again."""
        self._timer.stop()
        self._seen.clear()
        self._hidden.clear()
        self._paint_again()

    def _turn(self) -> None:
        until = perf_counter() + TURN
        while self.busy and perf_counter() < until:
            _polish([(self._seen or self._hidden).popleft()])
        if not self._seen:
            self._paint_again()
        if self.busy:
            self._timer.start()
        else:
            self.finished.emit()

    def _paint_again(self) -> None:
        while self._still:
            window = self._still.pop()
            if isValid(window):
                window.setUpdatesEnabled(True)
                # Qt asks for no paint while one is due, and drops one that comes due while updates are disabled
                QApplication.postEvent(window, QEvent(QEvent.Type.UpdateRequest))


def _polish(widgets: Iterable[QWidget]) -> None:
    for widget in widgets:
        if isValid(widget):
            style = widget.style()
            style.unpolish(widget)
            style.polish(widget)
