"""The first paint of the window against that of an empty window of PySide6 and pyqtgraph, in turns.

    python tests/benchmarks/start.py [--rounds 7] [--first]

Prints the ratio of the medians and of the minima, by the clock and in processor time. With `--first` every start is the
very first one of a machine: no cache, no settings. Both windows have their bytecode, as an installed program does: one
start of each goes before and is not counted.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
EMPTY = """
import sys, time
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMainWindow
import pyqtgraph
class Window(QMainWindow):
    def paintEvent(self, event):
        super().paintEvent(event)
        QTimer.singleShot(0, QApplication.quit)
app = QApplication(sys.argv[:1])
app.setStyle("Fusion")
window = Window()
window.resize(1440, 900)
window.show()
app.exec()
from workbench.app import seconds_since_start
print(f"{seconds_since_start():.3f} s from the start, {time.process_time():.3f} s")
"""


def timed(command: list[str], env: dict[str, str]) -> tuple[float, float]:
    """Seconds by the clock and of the processor, as the program says them."""
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=ROOT, check=True)
    clock, busy = (float(figure) for figure in re.findall(r"([\d.]+) s\b", done.stdout))
    return clock, busy


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--first", action="store_true")
    options = parser.parse_args()
    scratch = Path(tempfile.mkdtemp())
    env = {"QT_QPA_PLATFORM": "offscreen", **os.environ, "PYTHONPATH": str(ROOT)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    env["PYTHONPYCACHEPREFIX"] = str(scratch / "bytecode")
    empty, window = [], []
    for number in range(options.rounds + 1):
        place = str(scratch / (str(number) if options.first else "same"))
        env |= {"WORKBENCH_SETTINGS": f"{place}.ini"} | ({"XDG_CACHE_HOME": place} if options.first else {})
        empty.append(timed([sys.executable, "-c", EMPTY], env))
        command = [sys.executable, "-m", "workbench", "--measure-start", "--workspace", f"{place}-workspace"]
        window.append(timed(command, env))
    empty, window = empty[1:], window[1:]
    for name, part in (("clock", 0), ("processor", 1)):
        ours, theirs = [start[part] for start in window], [start[part] for start in empty]
        print(
            f"{name}: median {median(ours):.2f} s against {median(theirs):.2f} s, {median(ours) / median(theirs):.2f}; "
            f"minimum {min(ours):.2f} s against {min(theirs):.2f} s, {min(ours) / min(theirs):.2f}"
        )


if __name__ == "__main__":
    main()
