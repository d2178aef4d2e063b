"""Delivers on the window's thread what other threads send."""

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal


class Mailbox(QObject):
    """Calls `take` on the window's thread for everything that any thread sends, in the order sent.

    Qt holds a lock of the receiver while a thread posts to it, and emitting a signal of that object waits for the lock.
    A posting thread of low priority may have no core for 0.1 s, in which time the window would stand still. A mailbox
    is its own receiver and emits nothing on the window's thread.

    Args:
        take: called with what was sent; never after this object has been deleted.
    """

    _sent = Signal(object)

    def __init__(self, take: Callable[..., None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._take = take
        self._sent.connect(self._open)

    def send(self, *values: Any) -> None:
        """Have `take(*values)` called on the window's thread; call this on any thread."""
        self._sent.emit(values)

    def _open(self, values: tuple[Any, ...]) -> None:
        self._take(*values)
