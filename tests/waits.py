"""How long a test waits for what must come: a guard against hangs, never a measure of speed."""

from functools import partialmethod
from typing import Any, TypeVar

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

Widget = TypeVar("Widget", bound=QWidget)
HANG = 240  # seconds; under the suite's own limit for a test, so that the wait is named that failed


class PatientBot(QtBot):
    """pytest-qt's bot, whose waits all take up to HANG."""

    waitUntil = partialmethod(QtBot.waitUntil, timeout=1000 * HANG)  # noqa: N815  Qt's way of naming
    waitSignal = partialmethod(QtBot.waitSignal, timeout=1000 * HANG)  # noqa: N815
    waitSignals = partialmethod(QtBot.waitSignals, timeout=1000 * HANG)  # noqa: N815
    waitExposed = partialmethod(QtBot.waitExposed, timeout=1000 * HANG)  # noqa: N815

    def addWidget(self, widget: Widget, **how: Any) -> Widget:  # noqa: N802  Qt's way of naming
        """The widget, which is closed and deleted when the test ends."""
        super().addWidget(widget, **how)
        return widget

    def shown(self, widget: Widget, *size: int) -> Widget:
        """The widget, on the screen at a size (width, height; px) or its own, until the test ends."""
        self.addWidget(widget)
        if size:
            widget.resize(*size)
        with self.waitExposed(widget):
            widget.show()
        return widget

    def deliver(self) -> None:
        """Return when all that was posted to this thread before has been delivered: what did not come will not."""
        delivered = []
        QTimer.singleShot(0, lambda: delivered.append(True))  # its turn comes after all that is posted
        self.waitUntil(lambda: bool(delivered))

    def settle(self, owner: QObject) -> None:
        """Return when no single-shot timer of an object and its children is to fire any more."""
        timers = owner.findChildren(QTimer)
        assert timers, "nothing to wait for"
        self.waitUntil(lambda: not any(timer.isSingleShot() and timer.isActive() for timer in timers))
        self.deliver()
