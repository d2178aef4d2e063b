"""Time to open the tabs of the Compare page with very many runs ticked, and how long the window stalls meanwhile.

    python tests/benchmarks/compare_speed.py [--runs 200] [--points 100000] [--epochs 50] [--seeds 5]
        [--rounds 3] [--keep FOLDER]

Makes a workspace of runs over losses, learning rates, embedding sizes and seeds, each with curves of so many points and
an evaluation for every epoch, ticks all of them, looks at every tab and draws the loss of each batch. A 5 ms timer
ticks on the window's thread; the gap between two ticks, less its interval, is a stall.
"""

import argparse
import json
import sys
import tempfile
from itertools import product
from pathlib import Path
from time import perf_counter, thread_time

import numpy as np
from PySide6.QtWidgets import QApplication
from window_stalls import TICK, Stalls, wait

from workbench.app import share_cores
from workbench.config import RunConfig
from workbench.entries import catalog
from workbench.ui.pages.compare.curves.panel import METRIC
from workbench.ui.state.session import Session
from workbench.ui.window.main_window import MainWindow
from workbench.workspace import Workspace

LOSSES, RATES, DIMS = ("ce", "spce", "triplet", "contrastive"), (1e-4, 1e-3, 1e-2, 1e-1, 1.0), (64, 128)
METRICS = ("recall@1", "recall@2", "recall@4", "recall@8", "P@R", "NMI")
PATIENCE = 60.0  # seconds
SETTLE = 20.0  # seconds for what the window loads after its first paint
FELT = 10.0  # ms


def fill(workspace: Workspace, runs: int, points: int, epochs: int, seeds: int) -> None:
    """Write runs with random values: reading them takes as long as reading real ones."""
    rng = np.random.default_rng(0)
    with workspace.writing() as db:
        db.execute("insert into metrics (name) values ('batch/loss')")
        (loss_id,) = db.execute("select id from metrics").fetchone()
    chosen = list(product(LOSSES, RATES, DIMS, range(seeds)))
    for number in range(runs):
        loss, rate, dim, seed = chosen[number % len(chosen)]
        config = RunConfig(
            name=f"{loss} sweep", seed=seed, loss={"name": loss}, training={"lr": rate}, embedding={"dim": dim}
        )  # type: ignore[arg-type]
        run_id = workspace.create_run(config)
        best = rng.uniform(0.5, 0.9)
        with workspace.writing() as db:
            db.execute("update runs set status = 'done', epoch = ?, epochs = ? where id = ?", (epochs, epochs, run_id))
            db.execute(
                "with recursive steps(n) as (select 1 union all select n + 1 from steps where n < ?) "
                "insert into scalar_points (run_id, metric_id, step, value) "
                "select ?, ?, n, 2.0 / n + (random() & 1023) / 4096.0 from steps",
                (points, run_id, loss_id),
            )
            for epoch in range(epochs + 1):
                score = best * (1 - np.exp(-epoch / 5)) + rng.normal(0, 0.01)
                found = {name: score + rng.normal(0, 0.01) for name in METRICS} | {"MAP@R": score, "queries": 1000}
                limits = {f"{name}/{end}": score for name in METRICS for end in ("low", "high")}
                artefact = db.execute(
                    "insert into artefacts (run_id, kind, path, bytes, blake2b, created) "
                    "values (?, 'embeddings', ?, 0, '', '')",
                    (run_id, f"embeddings-{epoch}.npy"),
                ).lastrowid
                db.execute(
                    "insert into evaluations (run_id, epoch, step, embeddings_id, distance, score, metrics, created) "
                    "values (?, ?, ?, ?, 'cosine', ?, ?, '')",
                    (run_id, epoch, epoch, artefact, score, json.dumps(found | limits)),
                )


class WorkedStalls(Stalls):
    """Stalls, and also processor time of the window's thread between ticks, which other programs do not lengthen."""

    def __init__(self) -> None:
        super().__init__()
        self.worked: list[float] = []
        self._spent = thread_time()

    def tick(self) -> None:
        super().tick()
        now = thread_time()
        self.worked.append(1000 * (now - self._spent))
        self._spent = now


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("runs", 200), ("points", 100_000), ("epochs", 50), ("seeds", 5), ("rounds", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--keep", type=Path, help="make the workspace here, or take the one that is there")
    args = parser.parse_args()
    share_cores()
    app = QApplication(sys.argv[:1])
    app.setStyle("Fusion")
    with tempfile.TemporaryDirectory() as folder:
        place = args.keep or Path(folder) / "space"
        new = not place.exists()
        workspace = Workspace(place, create=True)
        if new:
            started = perf_counter()
            fill(workspace, args.runs, args.points, args.epochs, args.seeds)
            print(
                f"workspace made in {perf_counter() - started:.0f} s, {workspace.database.stat().st_size / 1e6:,.0f} MB"
            )
        session, window = opened(workspace)
        wait(SETTLE)
        stalls = WorkedStalls()
        stalls.start()
        look(session, window, stalls, args.rounds)
        session.close()
        window.close()


def opened(workspace: Workspace) -> tuple[Session, MainWindow]:
    """The window of the program on a workspace, which begins to load what it needs."""
    session = Session(workspace)
    session.theme.apply()
    session.set_catalog(catalog.current())
    window = MainWindow(session)
    window.resize(1440, 900)
    window.show()
    window.make_ready()
    return session, window


def look(session: Session, window: MainWindow, stalls: WorkedStalls, rounds: int) -> None:
    """Open the page, tick all runs and visit every tab; print seconds and the longest stall of each."""
    started = perf_counter()
    session.show_page("compare")
    page = window.pages.page("compare")
    wait(PATIENCE, lambda: window.pages.updatesEnabled() and not session.reading and page.content.isVisible())
    report(stalls, "page opens", started)
    started = perf_counter()
    session.ticks.choose(run.id for run in session.runs())
    wait(PATIENCE, lambda: page.model.overview is not None)
    report(stalls, "all ticked, Metrics shown", started)
    wait(2.0)
    report(stalls, "after that")
    for turn in range(rounds):
        for place in range(page.tabs.count()):
            page.tabs.setCurrentIndex(place)
            wait(1.5)
            report(stalls, f"{page.tabs.tabText(place)}, visit {turn + 1}")
        page.tabs.setCurrentWidget(page.tabs.curves)
        wait(1.5)
        for name in ("batch/loss", METRIC):
            wait(PATIENCE, lambda: not page.tabs.curves.drawing)
            stalls.gaps.clear()
            stalls.worked.clear()
            started = perf_counter()
            page.tabs.curves.choice.setCurrentIndex(page.tabs.curves.choice.findData(name))
            page.tabs.curves.choice.activated.emit(page.tabs.curves.choice.currentIndex())
            wait(PATIENCE, lambda: not page.tabs.curves.drawing)
            report(stalls, f"Curves: {name or 'the metric'}, visit {turn + 1}", started)
            wait(1.5)
            report(stalls, "painted after that")


def report(stalls: WorkedStalls, title: str, started: float | None = None) -> None:
    """Print the stalls; without a start the time is up to the end of the last stall that can be felt."""
    gaps = np.array([gap for gap, _ in stalls.gaps] or [0.0])
    felt = np.flatnonzero(gaps > FELT)
    settled = float((gaps[: felt[-1] + 1] + TICK).sum() / 1000) if len(felt) else 0.0
    seconds = settled if started is None else perf_counter() - started
    worked = max(stalls.worked, default=0.0)
    print(f"{title:28} {seconds:6.2f} s, longest stall {gaps.max():6.1f} ms, {worked:6.1f} ms of work", flush=True)
    stalls.gaps.clear()
    stalls.worked.clear()


if __name__ == "__main__":
    main()
