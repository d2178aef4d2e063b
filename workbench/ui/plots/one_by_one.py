"""Views that are slow to paint are painted one by one, so that the window responds between them."""

from functools import partial
from typing import Any

import shiboken6
from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QGraphicsView

BETWEEN = 3  # ms between the end of one painting and the next
LONGEST = 60  # ms that a view is waited for

_View: Any = QGraphicsView  # to the type checker anything: it is mixed into views of pyqtgraph, which has no types
_line: list["OneByOne"] = []  # views that were shown and wait for their turn, in order
_turn: list["OneByOne"] = []  # the one whose turn it is, until it is painted


class OneByOne(_View):
    """A mixin for a view: when shown, it stays empty until those before it are painted; `take_turn` is for new numbers.

    Delays that differ from view to view do not keep them apart: where the window gets no core all are due at once.
    """

    came_to_light = Signal()  # its turn has come: time to take new numbers, right before it is painted
    _waits = False

    def showEvent(self, event: Any) -> None:
        super().showEvent(event)
        if not self._waits:
            self._waits = True
            self.take_turn()

    def take_turn(self) -> None:
        """Have `came_to_light` emitted, and the view painted, when those before it are painted."""
        if self not in _line:
            _line.append(self)
            if len(_line) == 1 and not _turn:
                QTimer.singleShot(0, _next)

    def paintEvent(self, event: Any) -> None:
        if self._waits:
            painter = QPainter(self.viewport())
            painter.fillRect(event.rect(), self.backgroundBrush())
            painter.end()
        else:
            super().paintEvent(event)
            _over(self)


def _next() -> None:
    """Let the first waiting view paint itself."""
    if _turn:
        return
    while _line:
        view = _line.pop(0)
        if shiboken6.isValid(view):
            view._waits = False
            _turn.append(view)
            view.came_to_light.emit()
            view.viewport().update()
            QTimer.singleShot(LONGEST if _is_seen(view) else 0, partial(_over, view))
            break


def _is_seen(view: OneByOne) -> bool:
    """Whether it will be painted: a view that is scrolled out of sight is not."""
    return not view.visibleRegion().isEmpty()


def _over(view: OneByOne) -> None:
    """The view is painted, or is hidden for now: continue with the next one."""
    if view in _turn:
        _turn.clear()
        if _line:
            QTimer.singleShot(BETWEEN, _next)
