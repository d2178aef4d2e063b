"""The window and the command line with thousands of ended runs: how long the window stalls, and how long commands take.

    python tests/benchmarks/many_runs.py [--runs 5000] [--keep FOLDER]

Makes a workspace of runs of four losses, 40 learning rates and two embedding sizes, searches the list of runs letter by
letter, sorts and searches it by size, shows runs, goes from page to page, ticks all runs, moves 500 of them to the
trash and takes that back. Then it lists and compares all of them on the command line. Stalls are the gaps between ticks
of a 5 ms timer, less its interval.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import compare_speed
from compare_speed import WorkedStalls, report
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from window_stalls import wait

from workbench.app import share_cores
from workbench.ui.window.process.garbage import Garbage
from workbench.workspace import Workspace

PATIENCE = 120.0  # seconds
SETTLE = 25.0  # seconds for what the window loads after its first paint
TRASHED = 500
POINTS, EPOCHS, SEEDS = 50, 3, 5  # of a run; runs of one setting


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5000)
    parser.add_argument("--keep", type=Path, help="make the workspace here, or take the one that is there")
    args = parser.parse_args()
    compare_speed.RATES = tuple(1e-5 * 1.1**power for power in range(40))
    with tempfile.TemporaryDirectory() as folder:
        place = args.keep or Path(folder) / "space"
        new = not place.exists()
        workspace = Workspace(place, create=True)
        if new:
            compare_speed.fill(workspace, args.runs, POINTS, EPOCHS, SEEDS)
        numbers = [str(run.id) for run in workspace.runs()]
        look(workspace)  # which closes it
        for words in (["list", "runs"], ["compare", *numbers]):
            began = perf_counter()
            command = [sys.executable, "-m", "workbench", *words, "--workspace", str(place)]
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
            print(f"workbench {words[0]} of {len(numbers):,} runs: {perf_counter() - began:.1f} s")
    print(f"load {os.getloadavg()[0]:.1f}")


def look(workspace: Workspace) -> None:
    """Open the window, do what a person does there, and print the stalls of each step."""
    share_cores()
    app = QApplication(sys.argv[:1])
    garbage = Garbage(app)  # as in the program
    app.setStyle("Fusion")
    began = perf_counter()
    session, window = compare_speed.opened(workspace)
    print(f"shown after {perf_counter() - began:.2f} s")
    wait(SETTLE)
    garbage.settle()
    stalls = WorkedStalls()
    stalls.start()

    def step(
        title: str, do: Callable[[], object], seconds: float = 2.0, until: Callable[[], bool] = lambda: False
    ) -> None:
        began, stalls.doing = perf_counter(), title
        do()
        wait(seconds, until)
        report(stalls, title, began)

    runs = session.runs()
    step("at rest", lambda: None)
    for letter in "triplet":
        step(f"typed: {letter}", lambda letter=letter: QTest.keyClick(window.runs.search, Qt.Key(ord(letter.upper()))))
    step("search cleared", window.runs.search.clear)
    largest = next(action for action in window.runs.arrange.menu().actions() if action.text() == "Largest")
    newest = next(action for action in window.runs.arrange.menu().actions() if action.text() == "Newest")
    step("sorted by size", largest.trigger, PATIENCE, lambda: len(window.runs.sizes.bytes) == len(runs))
    for letter in ("s", "i", "z", "e", ">", "1"):
        step(f"typed: {letter}", lambda letter=letter: QTest.keyClicks(window.runs.search, letter))
    step("search cleared", window.runs.search.clear)
    step("sorted by newest", newest.trigger)
    for run in (runs[0], runs[1], runs[len(runs) // 2]):
        step(f"run {run.id}", lambda run=run: session.show_run(run.id))
    for page in ("train", "setup", "map", "retrieval", "report", "compare"):
        step(f"page {page}", lambda page=page: session.show_page(page))
    model = window.pages.page("compare").model
    every = [run.id for run in runs]
    step("all ticked", lambda: session.ticks.choose(every), PATIENCE, lambda: model.overview is not None)
    step("after that", lambda: None, 4.0)
    step("unticked", lambda: session.ticks.choose([]))
    session.ticks.choose(every[:TRASHED])
    move = window.run_actions.trash.move_ticked.trigger
    step(f"{TRASHED} moved to the trash", move, PATIENCE, lambda: len(session.trashed_runs()) == TRASHED)
    step("taken back", window.run_actions.undo_stack.undo, PATIENCE, lambda: not session.trashed_runs())
    session.close()
    window.close()
    garbage.end()


if __name__ == "__main__":
    main()
