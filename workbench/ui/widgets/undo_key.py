"""Ctrl+Z in a part of the window that can undo its own last step; else the key is the window's."""

from collections.abc import Callable

from PySide6.QtCore import QEvent
from PySide6.QtGui import QKeyEvent, QKeySequence


def is_undone(event: QEvent, undo: Callable[[], object] | None) -> bool:
    """Whether an event is the key Undo and belongs to a part of the window, which then undoes its last step.

    Args:
        undo: undoes it; None while there is no step of this part, and the key is the window's.
    """
    if undo is None or not isinstance(event, QKeyEvent) or not event.matches(QKeySequence.StandardKey.Undo):
        return False
    if event.type() == QEvent.Type.KeyPress:
        undo()
    event.accept()
    return True
