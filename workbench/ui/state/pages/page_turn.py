"""A page is shown between two training steps, because drawing it during a step takes twice as long."""

from time import monotonic

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.ui.state.runs.run_queue import RunQueue

LOOK_EVERY = 4  # ms
LONGEST = 0.08  # seconds by which a page may be late; less than a user notices


class PageTurn(QObject):
    """Emits `turned` at once when nothing runs, otherwise when the run pauses between two steps, or after LONGEST."""

    turned = Signal(str)  # the page asked for last

    def __init__(self, queue: RunQueue, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._queue = queue
        self._name, self._until = "", 0.0
        self._look = QTimer(self, interval=LOOK_EVERY)
        self._look.timeout.connect(self._turn_if_possible)

    def turn(self, name: str) -> None:
        """Request a page; a later request replaces a waiting one."""
        self._name = name
        if not self._look.isActive():
            self._until = monotonic() + LONGEST
            self._look.start()
        self._queue.give_way()
        self._turn_if_possible()

    def _turn_if_possible(self) -> None:
        if self._queue.stands_back or monotonic() > self._until:
            self._look.stop()
            self._queue.give_way()  # the whole moment, from now
            self.turned.emit(self._name)
