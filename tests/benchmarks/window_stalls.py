"""How long the window's event loop stalls while a run trains, a map is made and retrieval pages load at once.

    python tests/benchmarks/window_stalls.py [--seconds 40] [--epochs 400] [--only thread | process | idle]

A 5 ms timer ticks on the window's thread; the gap between two ticks, less its interval, is a stall. The pages are made
and the engine is warm before the clock starts, as the program does it after the first paint. Prints the longest stall,
percentiles, and the pages of the longest: for a run on a thread of the window, then for one in a process of its own,
with the seconds from Start to the first point of its curves: the engine is loaded in the window for the one, in the
process that waits for the other; then for a window driven the same way whose run has ended, which is what its own
work takes. On Linux also the stalls less the time in which the window's thread could run and had no core, and
everywhere the processor time of that thread between two ticks: on a machine with other work they are nearer to those of
a quiet one.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time, thread_time

import numpy as np
import psutil

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["WORKBENCH_SETTINGS"] = str(Path(tempfile.mkdtemp()) / "settings.ini")

sys.path.insert(0, str(Path(__file__).parents[2]))  # a bare machine has only the repository

from core_waits import Waits
from PySide6.QtCore import QEventLoop, QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication, QTableView

from workbench.app import share_cores
from workbench.running.processes import own_process
from workbench.settings.presets import presets
from workbench.ui.state.runs.run_jobs import OWN_PROCESS
from workbench.ui.state.session import Session
from workbench.ui.window.main_window import MainWindow
from workbench.ui.window.process.garbage import Garbage
from workbench.workspace import Workspace

TICK = 5  # ms
WAYS = ["thread", "process", "idle"]


class Stalls(QObject):
    """The gaps between ticks, with what the driver was doing at each."""

    def __init__(self) -> None:
        super().__init__()
        self.gaps: list[tuple[float, str]] = []
        self.own: list[float] = []  # the gaps less the waits for a core
        self.work: list[float] = []  # processor time of this thread from tick to tick
        self.doing = "start"
        self._waits = Waits()
        self._last = perf_counter()
        self._timer = QTimer(self, interval=TICK, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self.tick)

    def start(self) -> None:
        self._last, self._waited, self._worked = perf_counter(), self._waits.so_far(), thread_time()
        self._timer.start()

    def stop(self) -> None:
        self._timer.stop()

    def tick(self) -> None:
        now, without_core, worked = perf_counter(), self._waits.so_far(), thread_time()
        gap = (now - self._last) * 1000 - TICK
        self.gaps.append((gap, self.doing))
        self.own.append(max(0.0, gap - (without_core - self._waited)))
        self.work.append((worked - self._worked) * 1000)
        self._last, self._waited, self._worked = now, without_core, worked


def wait(seconds: float, until=lambda: False) -> None:
    """Run the event loop; `QApplication.quit` would ask the window to close, and the window would ask the user."""
    end = perf_counter() + seconds
    while perf_counter() < end and not until():
        loop = QEventLoop()
        QTimer.singleShot(round(min(250.0, (end - perf_counter()) * 1000)), loop.quit)
        loop.exec()


def is_run(process: psutil.Process) -> bool:
    return own_process.MODULE in process.cmdline()


def measure(args: argparse.Namespace, garbage: Garbage, way: str) -> np.ndarray:
    """Stalls, ms, of a window of its own whose run trains that way or has ended ("idle"); prints them."""
    apart = way == "process"
    session = Session(Workspace(Path(tempfile.mkdtemp()) / "space", create=True))
    session.theme.apply()
    session.preferences.set_flag(OWN_PROCESS, apart)
    from workbench.entries import catalog

    session.set_catalog(catalog.current())
    window = MainWindow(session)
    window.resize(1440, 900)
    window.show()
    window.make_ready()
    session.keep_spare()  # as the program does after its first paint
    if apart:
        wait(180, lambda: session.spare.ready)
    else:
        from workbench.running import engine as _loaded  # noqa: F401 - as the program does after its first paint
    config = presets()[0].config
    longer = config.model_copy(update={"training": config.training.model_copy(update={"epochs": args.epochs})})
    scalars: list[float] = []
    session.scalars_arrived.connect(lambda points: scalars.append(perf_counter()))
    begun, loading = perf_counter(), process_time()
    before = {child.pid: sum(child.cpu_times()[:2]) for child in psutil.Process().children()}
    session.start(longer)
    wait(180, lambda: bool(scalars))
    to_first, loading = perf_counter() - begun, process_time() - loading
    loading += sum(
        sum(child.cpu_times()[:2]) - before.get(child.pid, 0.0)
        for child in psutil.Process().children() if is_run(child)
    )  # fmt: skip
    wait(180, lambda: len(session.evaluations()) >= 3)  # engine warm, evaluations there
    if way == "idle":
        session.end_run(session.run_id or 0)
        wait(60, lambda: not session.busy)
    garbage.settle()
    stalls = turn_pages(args.seconds, session, window)
    gaps = np.array([gap for gap, _ in stalls.gaps])
    run = session.run()
    print(
        f"{way}: first step after {to_first:.1f} s ({loading:.1f} s of processor time), "
        f"{len(gaps)} ticks in "
        f"{args.seconds:.0f} s ({run.images_per_second if run else 0:.0f} img/s), "
        f"load {os.getloadavg()[0]:.1f}"
    )
    print(
        f"stall ms: median {np.median(gaps):.1f}  p99 {np.percentile(gaps, 99):.1f}  "
        f"p99.9 {np.percentile(gaps, 99.9):.1f}  longest {gaps.max():.1f}"
    )
    own = np.array(stalls.own)
    print(f"less waits for a core: p99 {np.percentile(own, 99):.1f}  longest {own.max():.1f}")
    work = np.array(stalls.work)
    print(f"processor time from tick to tick: p99 {np.percentile(work, 99):.1f}  longest {work.max():.1f}")
    for gap, doing in sorted(stalls.gaps, reverse=True)[:8]:
        print(f"  {gap:7.1f} ms on page {doing}")
    if session.busy:
        session.end_run(session.run_id or 0)
        wait(60, lambda: not session.busy)
    session.close()
    window.close()
    window.deleteLater()
    return gaps


def turn_pages(seconds: float, session: Session, window: MainWindow) -> Stalls:
    """Show one page after another, and scroll its tables."""
    tables = window.findChildren(QTableView)
    stalls = Stalls()
    stalls.start()
    end, turn = perf_counter() + seconds, 0
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
    stalls.stop()
    return stalls


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--epochs", type=int, default=400)
    parser.add_argument("--only", choices=WAYS, help="by default all, one after another")
    args = parser.parse_args()
    share_cores()
    app = QApplication(sys.argv[:1])
    garbage = Garbage(app)
    app.setStyle("Fusion")
    ways = [args.only] if args.only else WAYS
    p99 = {way: np.percentile(measure(args, garbage, way), 99) for way in ways}
    for way in ways[1:]:
        print(f"p99 {way}: {p99[way] / p99['thread']:.2f} of that with the thread")


if __name__ == "__main__":
    main()
