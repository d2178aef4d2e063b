"""A window on a large workspace that a benchmark drives offscreen, with the longest stall.

A 5 ms timer ticks on the window's thread: the gap between two ticks, less its interval, is a stall. `ready` is the
longest stall less the time in which the thread waited for a core, which other programs take from it: what is left is
its own work and its waits for other threads of the window, such as one that holds the interpreter lock. `work` is the
longest processor time of the window's thread from tick to tick.
"""

import json
import sys
from pathlib import Path
from time import perf_counter, thread_time

from core_waits import Waits
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

TICK = 0.005  # seconds
STEP = "step "  # begins a line that reports a step


def tell(**fact: object) -> None:
    """Send a line to the measuring process."""
    print(STEP + json.dumps(fact), flush=True)


class DrivenWindow:
    """The window of the program, 1440 x 900, on the workspace `space` in a folder."""

    def __init__(self, folder: Path) -> None:
        from workbench.app import share_cores
        from workbench.entries import catalog
        from workbench.ui.state.session import Session
        from workbench.ui.window.main_window import MainWindow
        from workbench.ui.window.process.garbage import Garbage
        from workbench.workspace import Workspace

        share_cores()
        self.application = QApplication(sys.argv[:1])
        self.application.setStyle("Fusion")
        self.garbage = Garbage(self.application)
        self.session = Session(Workspace(folder / "space"))
        self.session.theme.apply()
        self.session.set_catalog(catalog.current())
        self.session.noticed.connect(lambda notice: tell(at=f"notice: {notice}"))
        self.window = MainWindow(self.session)
        self.stall = self.ready = self.work = 0.0  # seconds, the longest since `begin`
        self._waits = Waits()
        self._last = self._now()
        self._ticker = QTimer(self.window, interval=round(1000 * TICK))
        self._ticker.timeout.connect(self._tick)
        self._ticker.start()
        self.window.resize(1440, 900)
        self.window.show()
        self.window.make_ready()

    def _now(self) -> tuple[float, float, float]:
        """Seconds: of the clock, without waits for a core, and of processor time of this thread."""
        clock = perf_counter()
        return clock, clock - self._waits.so_far() / 1000, thread_time()

    def _tick(self) -> None:
        before, self._last = self._last, self._now()
        stall, ready, work = (now - then for now, then in zip(self._last, before, strict=True))
        self.stall, self.ready = max(self.stall, stall - TICK), max(self.ready, ready - TICK)
        self.work = max(self.work, work)

    def begin(self) -> float:
        """Count stalls from now on; returns the time."""
        self.stall = self.ready = self.work = 0.0
        self._last = self._now()
        return self._last[0]

    @property
    def stalls(self) -> dict[str, float]:
        """The longest since `begin`, milliseconds, for `tell`."""
        return {"stall": 1000 * self.stall, "ready": 1000 * self.ready, "work": 1000 * self.work}

    def turn(self, milliseconds: int) -> None:
        """Run the event loop of the window for some milliseconds."""
        loop = QEventLoop()
        QTimer.singleShot(milliseconds, loop.quit)
        loop.exec()
