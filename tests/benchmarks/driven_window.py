"""A window on a large workspace that a benchmark drives offscreen, with the longest stall."""

import json
import sys
from pathlib import Path
from time import perf_counter

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

STEP = "step "  # begins a line that reports a step


def tell(**fact: object) -> None:
    """Send a line to the measuring process."""
    print(STEP + json.dumps(fact), flush=True)


class DrivenWindow:
    """The window of the program, 1440 x 900, on the workspace `space` in a folder."""

    def __init__(self, folder: Path) -> None:
        from workbench.app import share_cores
        from workbench.entries import catalog
        from workbench.ui.garbage import Garbage
        from workbench.ui.main_window import MainWindow
        from workbench.ui.session import Session
        from workbench.workspace import Workspace

        share_cores()
        self.application = QApplication(sys.argv[:1])
        self.application.setStyle("Fusion")
        self.garbage = Garbage(self.application)
        self.session = Session(Workspace(folder / "space"))
        self.session.set_catalog(catalog.current())
        self.session.noticed.connect(lambda notice: tell(at=f"notice: {notice}"))
        self.window = MainWindow(self.session)
        self._last, self.stall = perf_counter(), 0.0  # seconds, the longest since `begin`
        self._ticker = QTimer(self.window, interval=5)
        self._ticker.timeout.connect(self._tick)
        self._ticker.start()
        self.window.resize(1440, 900)
        self.window.show()
        self.window.make_ready()

    def _tick(self) -> None:
        now = perf_counter()
        self.stall, self._last = max(self.stall, now - self._last - 0.005), now

    def begin(self) -> float:
        """Count stalls from now on; returns the time."""
        self._last, self.stall = perf_counter(), 0.0
        return self._last

    def turn(self, milliseconds: int) -> None:
        """Run the event loop of the window for some milliseconds."""
        loop = QEventLoop()
        QTimer.singleShot(milliseconds, loop.quit)
        loop.exec()
