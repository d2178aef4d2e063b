"""How long the window's event loop stands still while a run trains, a map is made and retrieval pages load at once.

    python tests/benchmarks/window_stalls.py [--seconds 40] [--epochs 400]

A 5 ms timer ticks on the window's thread; the gap between two ticks, less its interval, is a stall. The pages are made
and the engine is warm before the clock starts, as the program does it after the first paint. Prints the longest stall,
percentiles, and the pages of the longest.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["WORKBENCH_SETTINGS"] = str(Path(tempfile.mkdtemp()) / "settings.ini")

from PySide6.QtCore import QEventLoop, QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication, QTableView

from workbench.app import SWITCH
from workbench.settings.presets import presets
from workbench.ui.garbage import Garbage
from workbench.ui.main_window import MainWindow
from workbench.ui.session import Session
from workbench.workspace import Workspace

TICK = 5  # ms


class Stalls(QObject):
    """The gaps between ticks, with what the driver was doing at each."""

    def __init__(self) -> None:
        super().__init__()
        self.gaps: list[tuple[float, str]] = []
        self.doing = "start"
        self._last = perf_counter()
        self._timer = QTimer(self, interval=TICK, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self.tick)

    def start(self) -> None:
        self._last = perf_counter()
        self._timer.start()

    def tick(self) -> None:
        now = perf_counter()
        self.gaps.append(((now - self._last) * 1000 - TICK, self.doing))
        self._last = now


def wait(seconds: float, until=lambda: False) -> None:
    """Run the event loop; `QApplication.quit` would ask the window to close, and the window would ask the person."""
    end = perf_counter() + seconds
    while perf_counter() < end and not until():
        loop = QEventLoop()
        QTimer.singleShot(round(min(250.0, (end - perf_counter()) * 1000)), loop.quit)
        loop.exec()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--epochs", type=int, default=400)
    args = parser.parse_args()
    sys.setswitchinterval(SWITCH)
    app = QApplication(sys.argv[:1])
    garbage = Garbage(app)
    app.setStyle("Fusion")
    session = Session(Workspace(Path(tempfile.mkdtemp()) / "space", create=True))
    from workbench.entries import catalog

    session.set_catalog(catalog.current())
    window = MainWindow(session)
    window.resize(1440, 900)
    window.show()
    window.make_ready()
    config = presets()[0].config
    longer = config.model_copy(update={"training": config.training.model_copy(update={"epochs": args.epochs})})
    session.start(longer)
    wait(90, lambda: len(session.evaluations()) >= 3)  # engine warm, evaluations there
    garbage.settle()
    tables = window.findChildren(QTableView)
    stalls = Stalls()
    stalls.start()
    end, turn = perf_counter() + args.seconds, 0
    pages = ("train", "map", "retrieval", "train", "retrieval", "map", "report", "setup")
    while perf_counter() < end:
        stalls.doing = pages[turn % len(pages)]
        session.show_page(stalls.doing)
        if stalls.doing == "retrieval":
            for table in tables:
                if table.isVisible() and table.model() is not None:
                    table.verticalScrollBar().setValue((turn * 97) % max(1, table.verticalScrollBar().maximum()))
        wait(1.5)
        turn += 1
    gaps = np.array([gap for gap, _ in stalls.gaps])
    print(f"{len(gaps)} ticks in {args.seconds:.0f} s while training ({session.run().images_per_second:.0f} img/s)")
    print(
        f"stall ms: median {np.median(gaps):.1f}  p99 {np.percentile(gaps, 99):.1f}  "
        f"p99.9 {np.percentile(gaps, 99.9):.1f}  longest {gaps.max():.1f}"
    )
    for gap, doing in sorted(stalls.gaps, reverse=True)[:8]:
        print(f"  {gap:7.1f} ms on page {doing}")
    session.end_run(session.run_id)
    session.close()
    window.close()


if __name__ == "__main__":
    main()
