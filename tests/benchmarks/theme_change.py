"""How long a change of the theme blocks the window: all pages are made, a run is shown, light and dark in turns.

    python tests/benchmarks/theme_change.py WORKSPACE [--rounds 6]

WORKSPACE is a folder with a run in it. A 5 ms timer ticks on the window's thread; the gap between two ticks is a stall.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time, thread_time

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["WORKBENCH_SETTINGS"] = str(Path(tempfile.mkdtemp()) / "settings.ini")

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

from tests.benchmarks.window_stalls import Stalls, wait
from workbench.entries import catalog
from workbench.ui.state.pages.page_info import PAGES
from workbench.ui.state.session import Session
from workbench.ui.window.main_window import MainWindow
from workbench.workspace import Workspace


class Turns(QObject):
    """The longest processor time of this thread between two ticks: a busy machine does not lengthen it."""

    def __init__(self) -> None:
        super().__init__()
        self.longest, self._last = 0.0, thread_time()
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._tick)
        self._timer.start()

    def _tick(self) -> None:
        now = thread_time()
        self.longest, self._last = max(self.longest, now - self._last), now


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--rounds", type=int, default=6)
    options = parser.parse_args()
    app = QApplication(sys.argv[:1])
    app.setStyle("Fusion")
    session = Session(Workspace(options.workspace))
    session.theme.apply()
    session.set_catalog(catalog.current())
    session.theme.choose("light")
    window = MainWindow(session)
    window.resize(1440, 900)
    window.show()
    window.make_ready()
    session.show_run(session.runs()[0].id)
    for info in PAGES:
        session.show_page(info.name)
        wait(1.5)
    print(f"{len(app.allWidgets()):,} widgets")
    stalls, turns = Stalls(), Turns()
    stalls.start()
    for page in ("setup", "train"):
        session.show_page(page)
        wait(2)
        for number in range(options.rounds):
            stalls.gaps.clear()
            busy, begun = process_time(), perf_counter()
            dressed: list[float] = []
            session.theme.dressed.connect(lambda ends=dressed: ends.append(perf_counter()))
            turns.longest = 0.0
            session.theme.choose("dark" if number % 2 == 0 else "light")
            wait(30, lambda ends=dressed: bool(ends))
            ended = dressed[0] - begun if dressed else float("nan")
            longest = max(gap for gap, _ in stalls.gaps)
            spent = process_time() - busy
            print(
                f"{page}: longest stall {longest:5.0f} ms (processor {1000 * turns.longest:.0f} ms), "
                f"all dressed after {ended:.2f} s, {spent:.2f} s of processor"
            )
    session.close()
    window.close()


if __name__ == "__main__":
    main()
