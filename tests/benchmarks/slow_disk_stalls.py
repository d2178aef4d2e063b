"""How long the window stalls on a workspace whose every read takes 300 ms.

    python tests/benchmarks/slow_disk_stalls.py [--delay 0.3] [--settle 8]

Every page is opened with a run shown, an earlier evaluation is shown on it, and then another run; a 5 ms timer ticks on
the window's thread. Prints how many reads there were, how many of them on the window's thread, and for each page the
longest gap between two ticks less its interval, by the clock, and the most processor time of that thread between two
ticks. Painting a page for the first time is in both, waiting for the interpreter or a core only in the first.
`--delay 0` gives what stays without the disk.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["WORKBENCH_SETTINGS"] = str(Path(tempfile.mkdtemp()) / "settings.ini")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).parent))

from compare_speed import WorkedStalls
from PySide6.QtWidgets import QApplication
from window_stalls import wait

from tests.slow_disk import SlowDisk
from tests.ui.trained import trained_run
from workbench.app import share_cores
from workbench.ui.state.background.tasks import Task
from workbench.ui.state.pages.page_info import PAGES
from workbench.ui.state.session import Session
from workbench.ui.window.main_window import MainWindow
from workbench.ui.window.process.garbage import Garbage
from workbench.workspace import Workspace


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, default=0.3, help="seconds that each read takes")
    parser.add_argument("--settle", type=float, default=8, help="seconds in which a page is done, at most")
    args = parser.parse_args()
    share_cores()
    app = QApplication(sys.argv[:1])
    garbage = Garbage(app)  # as in the program; without it Python looks at all objects in some turn, 0.2 to 0.4 s
    app.setStyle("Fusion")
    folder = Path(tempfile.mkdtemp())
    workspace = Workspace(folder / "space", create=True)
    runs = [trained_run(workspace, folder / "cache", 200, name) for name in ("first", "second")]
    workspace.close()
    disk = SlowDisk(folder / "space", 0.0)
    with disk.at_work():
        session = Session(Workspace(folder / "space"))
        session.theme.apply()
        window = MainWindow(session)
        window.resize(1440, 900)
        window.show()
        window.make_ready()
        wait(60, lambda: window.pages.count() == len(PAGES))
        wait(2)  # the last page is laid out
        garbage.settle()
        disk.delay = args.delay
        disk.reads, before = 0, len(disk.on_window)

        def settle() -> None:
            wait(args.settle, lambda: session.evaluation() is not None and not session.findChildren(Task))

        stalls = WorkedStalls()
        stalls.start()
        for info in PAGES:
            stalls.doing = info.name
            session.show_run(runs[0])
            settle()
            session.show_page(info.name)
            settle()
            session.show_earlier()
            settle()
            session.show_run(runs[1])
            settle()
        on_window = disk.on_window[before:]
        session.close()
    garbage.end()
    print(f"{disk.reads} reads of {1000 * args.delay:.0f} ms, {len(on_window)} of them on the window's thread")
    print(f"load {os.getloadavg()[0]:.1f}; longest turn by page, by the clock and in processor time:")
    for info in PAGES:
        turns = [at for at, (_, doing) in enumerate(stalls.gaps) if doing == info.name]
        gap, work = max(stalls.gaps[at][0] for at in turns), max(stalls.worked[at] for at in turns)
        print(f"  {info.name:10} {gap:7.1f} ms {work:7.1f} ms")
    for place in dict.fromkeys(on_window):
        print("  read on the window's thread:", place[:300])


if __name__ == "__main__":
    main()
