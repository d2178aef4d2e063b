"""A sweep of a thousand trials at a place, in the window: sent, followed while all of them train, and compared.

    python -m tests.benchmarks.cluster_sweep [--runs 1000] [--seconds 30] [--every 2]

The place is a folder of this machine: a process beside this one writes a line of five points to every run's journal
every so many seconds, as a thousand live runs would. Prints the time to send them, the time of a look at the place,
and stalls of the window: the gaps between ticks of a 5 ms timer, less its interval.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter, process_time, thread_time

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from compare_speed import WorkedStalls, opened, report
from PySide6.QtWidgets import QApplication
from window_stalls import wait

from workbench.app import share_cores
from workbench.config import RunConfig
from workbench.entries import catalog
from workbench.places import records
from workbench.places.contract import Ending, Finding, Has, JobState, Order, Part, Standing
from workbench.places.following import Following
from workbench.places.place import SshPlace
from workbench.sweeps import starting
from workbench.sweeps.at_place import PlaceWorker
from workbench.sweeps.plan import planned
from workbench.sweeps.space import read
from workbench.ui.state.runs import place_follower
from workbench.ui.window.process.garbage import Garbage
from workbench.workspace import Workspace

PATIENCE = 120.0  # seconds
STATE = {"run": {"status": "running", "phase": "Training", "epoch": 1, "epochs": 8}}


class FolderPlace:
    """Launcher whose runs are folders to which another process writes; none of them ends."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.received = 0

    def submit(self, orders: Sequence[Order]) -> list[str]:
        for order in orders:
            (self.folder / order.name).mkdir()
            for name, content in order.files.items():
                (self.folder / order.name / name).write_bytes(content)
            (self.folder / order.name / "journal.jsonl").write_text(json.dumps(STATE) + "\n")
        return [order.name for order in orders]

    def states(self, jobs: Sequence[str]) -> list[Standing]:
        return [Standing(JobState.RUNNING)] * len(jobs)

    def stop(self, job: str, how: Ending) -> None:
        pass

    def read(self, parts: Sequence[Part]) -> list[bytes | None]:
        contents: list[bytes | None] = []
        for part in parts:
            path = self.folder / part.path
            if not path.exists():
                contents.append(None)
                continue
            with path.open("rb") as file:
                file.seek(part.offset)
                contents.append(file.read(part.most))
            self.received += len(contents[-1] or b"")
        return contents

    def put(self, path: str, content: bytes) -> None:
        (self.folder / path).write_bytes(content)

    def has(self, paths: Sequence[str]) -> Has:
        return Has({})

    def check(self) -> list[Finding]:
        return []


def grow(folder: Path, every: float) -> None:
    """Write to all journals until the process is ended."""
    step = 0
    while True:
        began = perf_counter()
        for run in folder.iterdir():
            points = [["batch/loss", step + at, 1 / (step + at + 1)] for at in range(5)]
            with (run / "journal.jsonl").open("a") as file:
                file.write(json.dumps({"scalars": points}) + "\n")
        step += 5
        time.sleep(max(0.0, every - (perf_counter() - began)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--every", type=float, default=2.0)
    parser.add_argument("--grow", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.grow:
        grow(args.grow, args.every)
    share_cores()
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        os.environ["WORKBENCH_PLACES"] = str(base / "places")
        os.environ["WORKBENCH_SETTINGS"] = str(base / "settings.ini")
        there = base / "there"
        there.mkdir()
        launcher = FolderPlace(there)
        place = SshPlace(name="cluster", host="cluster")
        records.store(place)
        place_follower.launcher_of = lambda place, cancelled=None: launcher  # type: ignore[assignment]
        workspace = Workspace(base / "space", create=True)
        send(workspace, place, launcher, args.runs)
        writer = subprocess.Popen([sys.executable, __file__, "--grow", str(there), "--every", str(args.every)])
        try:
            watch(workspace, args.seconds)
        finally:
            writer.kill()
            writer.wait()


def send(workspace: Workspace, place: SshPlace, launcher: FolderPlace, runs: int) -> None:
    """Send a random sweep and follow it once; prints how long this takes."""
    config = RunConfig(name="sweep")
    plan = planned(config, [read("training.lr=1e-4..1e-1:log")], "random", catalog.current(), trials=runs)
    number = starting.store(workspace, plan)
    began, worked = perf_counter(), process_time()

    def say(line: str) -> None:
        there = len(os.listdir(launcher.folder))
        if there in (100, runs):
            print(f"{there} there after {perf_counter() - began:.1f} s, {process_time() - worked:.1f} s of work")
        if there == runs:
            worker.interrupt()

    worker = PlaceWorker(workspace, number, place, launcher, say)
    worker.run()
    following = Following(workspace, place, launcher)
    for title in ("the first look", "a look without news"):
        began, worked = perf_counter(), process_time()
        following.look()
        print(f"{title} {perf_counter() - began:.2f} s, {process_time() - worked:.2f} s of work")


def watch(workspace: Workspace, seconds: float) -> None:
    """Open the window with all runs live: every page, then Compare; prints stalls."""
    app = QApplication(sys.argv[:1])
    garbage = Garbage(app)  # as in the program
    app.setStyle("Fusion")
    session, window = opened(workspace)
    wait(20.0)
    garbage.settle()
    stalls = WorkedStalls()
    stalls.start()
    began, before = perf_counter(), points(workspace)
    turns = 0
    while perf_counter() - began < seconds:
        stalls.doing = ("train", "setup", "train", "report")[turns % 4]
        session.show_page(stalls.doing)
        wait(2.5)
        turns += 1
    came = points(workspace) - before
    worked = np.array(stalls.worked)
    print(f"work of the window's thread between two ticks: p99 {np.percentile(worked, 99):.1f} ms")
    for at in worked.argsort()[::-1][:5]:
        print(f"  {worked[at]:6.1f} ms on page {stalls.gaps[at][1]}")
    report(stalls, f"{seconds:.0f} s of pages, all live", began)
    print(f"{came / (perf_counter() - began):,.0f} points a second came home")
    began, spent, all_spent = perf_counter(), thread_time(), process_time()
    session.show_page("compare")
    page = window.pages.page("compare")
    wait(PATIENCE, lambda: window.pages.updatesEnabled() and not session.reading and page.content.isVisible())
    worked = process_time() - all_spent
    print(f"Compare: {thread_time() - spent:.2f} s of work of the window's thread, {worked:.2f} s of the whole program")
    report(stalls, "Compare opens", began)
    began = perf_counter()
    session.ticks.choose(run.id for run in session.runs())
    wait(PATIENCE, lambda: page.model.overview is not None)
    report(stalls, "all ticked, Metrics shown", began)
    print(f"load {os.getloadavg()[0]:.1f}")
    session.close()
    window.close()
    garbage.end()


def points(workspace: Workspace) -> int:
    """The number of curve points in the workspace."""
    with workspace.reading() as db:
        (count,) = db.execute("select count(*) from scalar_points").fetchone()
    return int(count)


if __name__ == "__main__":
    main()
