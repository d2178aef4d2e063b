"""A million samples in the window: seconds, peak memory and longest stall of Map, Retrieval and Report.

    python tests/benchmarks/million.py [--count 1000000] [--classes 20000] [--width 64] [--neighbours classes]
        [--folder FOLDER] [--max-points 200000] [--limit 3600]

Drawn embeddings of clustered classes are imported into a workspace in FOLDER (made once, by default for this call),
then a window opens on it offscreen: Map (PCA), Retrieval (all queries, the worst first; causes of failure; order,
filter and scrolling), Report (preview, then a written report), and Map again (UMAP of a sample that it says).
The import and the window are processes of their own; memory is resident memory (RSS), which counts files that are
mapped, sampled ten times a second. "others" is the sum of the processes that the window starts. "stall", "ready" and
"work" are milliseconds, explained in driven_window.py.

--neighbours exact: the import searches exactly, as it always does outside this script: a million times a million takes
hours on two cores. "classes": each sample searches its own class and the seven nearest (more of small ones), so that
ranks beyond them are not those of all samples. The window reads the same rows of the same form after either.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np
import psutil
from driven_window import STEP, DrivenWindow, tell

NEAR_CLASSES = 8
AFTER = 400  # ms of each step in which it is drawn and its memory is seen


# The workspace


def drawn(count: int, width: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Embeddings [n, d] float32 in classes that lie in groups of a hundred, and their labels."""
    rng = np.random.default_rng(0)
    groups = rng.normal(size=(max(1, classes // 100), width))
    centres = groups[rng.integers(0, len(groups), classes)] + 0.7 * rng.normal(size=(classes, width))
    labels = rng.permutation(np.arange(count) % classes)
    vectors = rng.standard_normal((count, width), np.float32)
    vectors *= np.float32(0.7)
    for start in range(0, count, 50_000):
        vectors[start : start + 50_000] += centres[labels[start : start + 50_000]].astype(np.float32)
    return vectors, labels


def near_in_classes(embeddings, labels, sample_ids, k=100, ks=(1, 2, 4, 8), distance="cosine", **_):
    """As `retrieve`, but searches only the nearest classes; only for the data of this script."""
    from workbench.evaluation.retrieval import Retrieval

    unit = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
    order = np.argsort(labels, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
    centres = np.stack([unit[rows].mean(0) for rows in members])
    classes = max(NEAR_CLASSES, 1 + k // min(map(len, members)))  # so many have k neighbours
    count = len(labels)
    ap, first_hit, r = np.empty(count, np.float32), np.empty(count, np.int32), np.empty(count, np.int32)
    neighbours, similarities = np.empty((count, k), np.int64), np.empty((count, k), np.float32)
    for number, rows in enumerate(members):
        near = np.argpartition(-(centres @ centres[number]), classes)[:classes]
        among = np.concatenate([members[other] for other in near])
        scores = unit[rows] @ unit[among].T
        scores[rows[:, None] == among] = -np.inf
        best = np.argsort(-scores, axis=1)
        hits = labels[among[best]] == labels[rows][:, None]
        found = r[rows] = len(rows) - 1
        first_hit[rows] = hits.argmax(1) + 1
        precision = np.cumsum(hits, 1)[:, :found] / np.arange(1, found + 1)
        ap[rows] = (precision * hits[:, :found]).sum(1) / found
        neighbours[rows] = sample_ids[among[best[:, :k]]]
        similarities[rows] = np.take_along_axis(scores, best[:, :k], 1)
    metrics = {f"recall@{rank}": float((first_hit <= rank).mean()) for rank in ks}
    metrics |= {"P@1": metrics["recall@1"], "MAP@R": float(ap.mean()), "queries": count, "queries/left_out": 0}
    return Retrieval(metrics, ap, first_hit, r, neighbours, similarities)


def make(args: argparse.Namespace) -> None:
    """Draw the embeddings and import them."""
    from workbench.evaluation import retrieval
    from workbench.exchange.imported.importing import import_embeddings
    from workbench.workspace import Workspace

    if args.neighbours == "classes":
        retrieval.retrieve = near_in_classes
    vectors, labels = drawn(args.count, args.width, args.classes)
    source = Path(args.folder) / "source"
    source.mkdir(parents=True, exist_ok=True)
    np.save(source / "embeddings.npy", vectors)
    np.save(source / "labels.npy", labels)
    del vectors, labels
    began, last = perf_counter(), ""

    def progress(text: str, done: int, total: int) -> None:
        nonlocal last
        if text != last:
            last = text
            tell(at=f"import: {text}", seconds=perf_counter() - began)

    with Workspace(Path(args.folder) / "space", create=True) as workspace:
        import_embeddings(workspace, source / "embeddings.npy", source / "labels.npy", progress=progress)
    tell(end="import", seconds=perf_counter() - began, note=f"neighbours: {args.neighbours}")


# The window


class Driver(DrivenWindow):
    """Opens the window and visits its pages, as a user would."""

    def __init__(self, folder: Path, limit: float) -> None:
        self.folder, self.limit = folder, limit
        super().__init__(folder)

    def step(
        self,
        name: str,
        begin: Callable[[], object],
        until: Callable[[], bool] = lambda: True,
        note: Callable[[], str] = lambda: "",
    ) -> None:
        """Begin an action, wait until it ends and its result is drawn, and report it."""
        tell(begin=name)
        began, given_up = self.begin(), False
        begin()
        self.turn(1)
        while not until() and not given_up:
            self.turn(20)
            given_up = perf_counter() - began > self.limit
        seconds = perf_counter() - began
        self.turn(AFTER)
        said = f"given up after {self.limit:.0f} s" if given_up else note()
        tell(end=name, seconds=seconds, note=said, **self.stalls)

    def page(self, name: str):
        """A page of the window."""
        return self.window.pages.page(name)

    def close(self) -> None:
        self.session.close()
        self.window.close()


def show(args: argparse.Namespace) -> None:
    """Visit the pages."""
    from workbench.ui.pages.map import MapPage
    from workbench.ui.pages.map.model.method import MapMethod
    from workbench.ui.pages.report.page import ReportPage
    from workbench.ui.pages.retrieval.page import RetrievalPage

    driver = Driver(Path(args.folder), args.limit)
    session, step = driver.session, driver.step
    made = partial(driver.window.findChildren, ReportPage)
    step("window and pages made", lambda: None, lambda: bool(made()))
    import workbench.evaluation.retrieval  # noqa: F401 - and with it torch, as the program does after its first paint

    driver.garbage.settle()
    step("open the run", lambda: session.show_run(session.workspace.runs()[0].id), lambda: bool(session.evaluation_id))
    page: MapPage = driver.page("map")
    model = page.model

    def shown(method: str) -> Callable[[], bool]:
        return lambda: model.map is not None and model.map.method == method

    def caption() -> str:
        return model.caption

    model.choose_method(MapMethod("pca"))
    step("map: PCA", lambda: session.show_page("map"), shown("pca"), caption)
    step("map: selection of half", lambda: session.select(model.map.ids[::2]))
    session.select(np.empty(0, np.int64))
    step("map: hide a class", lambda: model.toggle(0))
    retrieval: RetrievalPage = driver.page("retrieval")
    browsing = retrieval.browsing
    step(
        "retrieval: list and worst query", lambda: session.show_page("retrieval"),
        lambda: browsing.result is not None and not browsing.waiting,
        lambda: f"{len(browsing.listing):,} queries, the first has AP {browsing.listing.query(0).ap:.3f}",
    )  # fmt: skip
    step(
        "retrieval: causes", lambda: None, lambda: not browsing.explaining and browsing.filters.explained is not None
    )  # fmt: skip
    table = retrieval.queries.table
    step("retrieval: order by class", lambda: browsing.sort(1, descending=False))
    step("retrieval: failures only", lambda: browsing.choose_filters(failures_only=True), lambda: not browsing.waiting)
    step("retrieval: all again", lambda: browsing.choose_filters(failures_only=False), lambda: not browsing.waiting)
    bar = table.verticalScrollBar()
    step("retrieval: scroll to the end", lambda: bar.setValue(bar.maximum()))
    before = browsing.result
    last = browsing.listing.sample_id(len(browsing.listing) - 1)
    step("retrieval: the last query", lambda: browsing.choose(last), lambda: browsing.result is not before)
    csv = driver.folder / "queries.csv"
    csv.unlink(missing_ok=True)
    step("retrieval: export as CSV", lambda: retrieval.export_to(csv), csv.exists)
    report: ReportPage = driver.page("report")
    step("report: preview", lambda: session.show_page("report"), lambda: bool(report.preview.count))
    report.folder.setText(str(driver.folder / "report"))
    step(
        "report: written", report.export, lambda: bool(report.model.written),
        lambda: ", ".join(f"{path.name} {path.stat().st_size / 1e6:.1f} MB" for path in report.model.written),
    )  # fmt: skip
    if not args.no_layout:
        wanted = MapMethod("umap", max_points=args.max_points)
        model.choose_method(wanted)
        step("map: UMAP", lambda: session.show_page("map"), shown("umap"), caption)
    driver.close()


# Measuring


class Peaks:
    """Peak memory of a process and of the processes that it started, since the last call."""

    def __init__(self, process: psutil.Process) -> None:
        self._process = process
        self._own = self._others = 0
        self.whole = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._ended.wait(0.1):
            try:
                self._own = max(self._own, self._process.memory_info().rss)
                self._others = max(self._others, sum(_rss(child) for child in self._process.children(recursive=True)))
            except psutil.Error:
                return

    def look(self) -> tuple[float, float]:
        """Megabytes (10^6) of the process and of the others."""
        own, others = self._own, self._others
        self.whole, self._own, self._others = max(self.whole, own), 0, 0
        return own / 1e6, others / 1e6

    def end(self) -> None:
        self._ended.set()
        self._thread.join()


def _rss(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0


def measure(phase: str) -> int:
    """Run a phase of this script as a process of its own and print its cost. Returns its peak memory."""
    command = [sys.executable, __file__, *sys.argv[1:], "--phase", phase]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        peaks = Peaks(psutil.Process(process.pid))
        assert process.stdout is not None
        for line in process.stdout:
            if not line.startswith(STEP):
                print(line, end="", flush=True)
                continue
            fact = json.loads(line.removeprefix(STEP))
            if "begin" in fact:
                peaks.look()
            elif "at" in fact:
                print(f"    {fact['at']}  ({fact.get('seconds', 0):.0f} s, load {os.getloadavg()[0]:.0f})", flush=True)
            else:
                own, others = peaks.look()
                stalls = "".join(f"  {kind} {fact[kind]:4.0f}" for kind in ("stall", "ready", "work") if kind in fact)
                print(
                    f"{fact['end']:32} {fact['seconds']:8.2f} s  {own:6.0f} MB, others {others:6.0f} MB{stalls}  "
                    f"{fact['note']}", flush=True,
                )  # fmt: skip
        peaks.end()
        if process.wait():
            raise SystemExit(f"{phase} ended with {process.returncode}")
    return peaks.whole


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("count", 1_000_000), ("classes", 20_000), ("width", 64), ("max-points", 200_000)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--neighbours", choices=("exact", "classes"), default="classes")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--limit", type=float, default=3600, help="seconds of one step")
    parser.add_argument("--no-layout", action="store_true", help="PCA only")
    parser.add_argument("--phase", choices=("make", "show"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.phase:
        {"make": make, "show": show}[args.phase](args)
        return
    with tempfile.TemporaryDirectory() as made:
        folder = (args.folder or Path(made)).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        sys.argv += ["--folder", str(folder)]
        os.environ |= {"QT_QPA_PLATFORM": "offscreen", "WORKBENCH_SETTINGS": str(folder / "settings.ini")}
        print(f"{args.count:,} x {args.width} in {args.classes:,} classes, load {os.getloadavg()[0]:.1f}", flush=True)
        if not (folder / "made").exists():
            measure("make")
            (folder / "made").touch()
        peak = measure("show")
        print(f"the window at most {peak / 1e6:,.0f} MB")


if __name__ == "__main__":
    main()
