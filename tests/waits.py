"""How long a test waits for what must come: a guard against hangs, never a measure of speed."""

from functools import partialmethod

from pytestqt.qtbot import QtBot

HANG = 240  # seconds; under the suite's own limit for a test, so that the wait is named that failed


class PatientBot(QtBot):
    """pytest-qt's bot, whose waits all take up to HANG."""

    waitUntil = partialmethod(QtBot.waitUntil, timeout=1000 * HANG)  # noqa: N815  Qt's way of naming
    waitSignal = partialmethod(QtBot.waitSignal, timeout=1000 * HANG)  # noqa: N815
    waitSignals = partialmethod(QtBot.waitSignals, timeout=1000 * HANG)  # noqa: N815
    waitExposed = partialmethod(QtBot.waitExposed, timeout=1000 * HANG)  # noqa: N815
