"""Dear pictures that come to light together are painted one by one, so that the window answers between them."""

from typing import Any

import shiboken6
from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QGraphicsView

_View: Any = QGraphicsView  # to the type checker anything: it is mixed into views of pyqtgraph, which has no types
_line: list["OneByOne"] = []  # those that were shown and are not painted yet, first come first


class OneByOne(_View):
    """A view that, once shown, stays plain until its turn of the event loop has come. To be mixed into a view."""

    came_to_light = Signal()  # its turn has come: time to take new numbers, right before it is painted
    _waits = False

    def showEvent(self, event: Any) -> None:
        super().showEvent(event)
        if not self._waits:
            self._waits = True
            _line.append(self)
            if len(_line) == 1:
                QTimer.singleShot(0, _next)

    def paintEvent(self, event: Any) -> None:
        if self._waits:
            painter = QPainter(self.viewport())
            painter.fillRect(event.rect(), self.backgroundBrush())
            painter.end()
        else:
            super().paintEvent(event)


def _next() -> None:
    """Let the first in line paint itself, and come back when it has."""
    while _line:
        view = _line.pop(0)
        if shiboken6.isValid(view):
            view._waits = False
            view.came_to_light.emit()
            view.viewport().update()
            break
    if _line:
        QTimer.singleShot(0, _next)
