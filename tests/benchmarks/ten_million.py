"""Ten million embeddings that are only searched: seconds and peak memory of import, index, page and query.

    python tests/benchmarks/ten_million.py [--count 10000000] [--width 128] [--classes 20000] [--folder FOLDER]
        [--queries 200]

Drawn embeddings (float16; classes in groups, some tight and some so wide that they overlap) are imported with
`--search-only` into a workspace in FOLDER (by default a folder made for this call; nothing that is there is made
again). Then a window opens on it offscreen, on the Retrieval page: the page, an exact query before there is an index,
the index built in the background with its recall, queries through the index, and an exact query again. Import, window
and the processes of the window are measured apart: resident memory (RSS) counts files that are mapped, "own" does not.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np
import psutil
from driven_window import STEP, DrivenWindow, tell

BLOCK = 50_000  # rows drawn at once


def draw(args: argparse.Namespace, source: Path) -> None:
    """Embeddings [n, d] float16 and labels [n] int32, block by block."""
    source.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(0)
    groups = random.normal(size=(max(1, args.classes // 100), args.width))
    centres = groups[random.integers(0, len(groups), args.classes)]
    centres = (centres + 0.7 * random.normal(size=centres.shape)).astype(np.float32)
    widths = np.exp(random.uniform(np.log(0.5), np.log(2), args.classes)).astype(np.float32)
    labels = random.integers(0, args.classes, args.count, dtype=np.int32)
    shape = (args.count, args.width)
    vectors = np.lib.format.open_memmap(source / "embeddings.npy", "w+", np.float16, shape)
    for start in range(0, args.count, BLOCK):
        chosen = labels[start : start + BLOCK]
        noise = random.standard_normal((len(chosen), args.width), np.float32)
        vectors[start : start + BLOCK] = centres[chosen] + widths[chosen, None] * noise
    vectors.flush()
    np.save(source / "labels.npy", labels)


def make(args: argparse.Namespace) -> None:
    """Draw and import."""
    from workbench.exchange.imported.gallery_import import import_gallery
    from workbench.workspace import Workspace

    source = args.folder / "source"
    if not (source / "labels.npy").exists():
        draw(args, source)
    began = perf_counter()
    with Workspace(args.folder / "space", create=True) as workspace:
        import_gallery(workspace, source / "embeddings.npy", source / "labels.npy")
    tell(end="import", seconds=perf_counter() - began)


class Driver(DrivenWindow):
    """Opens the window and waits for what it shows."""

    def __init__(self, folder: Path) -> None:
        from workbench.ui.pages.report.page import ReportPage

        super().__init__(folder)
        self.wait(lambda: bool(self.window.findChildren(ReportPage)))

    def wait(self, until: Callable[[], bool]) -> float:
        """Run the window until a condition holds; returns the seconds."""
        began = self.begin()
        while not until():
            self.turn(2)
        return perf_counter() - began

    def step(self, name: str, begin: Callable[[], object], until: Callable[[], bool], note: Callable[[], str]) -> None:
        """Begin an action, wait until it ends, and report it."""
        began = perf_counter()
        begin()
        self.wait(until)
        tell(end=name, seconds=perf_counter() - began, stall=1000 * self.stall, note=note())


def show(args: argparse.Namespace) -> None:
    """Use the page."""
    from workbench.ui.pages.retrieval.page import RetrievalPage

    driver = Driver(args.folder)
    session = driver.session
    retrieval: RetrievalPage = driver.window.pages.page("retrieval")
    model = retrieval.gallery.model

    def open_page() -> None:
        session.show_run(session.workspace.runs()[0].id)
        session.show_page("retrieval")

    driver.step("page opened", open_page, lambda: model.facts is not None, lambda: retrieval.gallery.head.text())
    if model.has_index:
        tell(end="index", seconds=model.facts["index"]["seconds"], note="was there")
    else:
        driver.step("exact query", lambda: model.search(0, exact=True), lambda: not model.searching, lambda: model.said)
        driver.step("index", model.build, lambda: not model.building, lambda: model.quality)
    random, times, inside = np.random.default_rng(1), [], []
    for row in random.integers(0, args.count, args.queries).tolist():
        began = perf_counter()
        model.search(row)
        driver.wait(lambda: not model.searching)
        times.append(1000 * (perf_counter() - began))
        inside.append(1000 * model.answer["seconds"])
    for name, values in (("query, from click to rows", times), ("query, in its process", inside)):
        p50, p95, most = np.quantile(values, [0.5, 0.95, 1])
        tell(end=name, seconds=p50 / 1000, note=f"ms: median {p50:.1f}, p95 {p95:.1f}, longest {most:.1f}")
    driver.step("exact query", lambda: model.search(1, exact=True), lambda: not model.searching, lambda: model.said)
    session.close()
    driver.window.close()


class Peaks:
    """Peak memory of a process and of the processes that it started."""

    def __init__(self, process: psutil.Process) -> None:
        self._process, self._ended = process, threading.Event()
        self.most = {"window": (0, 0), "others": (0, 0)}
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._ended.wait(0.2):
            try:
                self._see("window", [self._process])
                self._see("others", self._process.children(recursive=True))
            except psutil.Error:
                continue

    def _see(self, name: str, processes: list[psutil.Process]) -> None:
        facts = [process.memory_info() for process in processes]
        now = sum(fact.rss for fact in facts), sum(fact.rss - getattr(fact, "shared", 0) for fact in facts)
        self.most[name] = tuple(map(max, self.most[name], now))

    def end(self) -> str:
        self._ended.set()
        self._thread.join()
        return ", ".join(f"{name} {rss / 1e6:,.0f} MB (own {own / 1e6:,.0f})" for name, (rss, own) in self.most.items())


def measure(phase: str, args: argparse.Namespace) -> None:
    """Run a phase of this script as a process of its own and print its cost."""
    words = [f"--{name}={getattr(args, name)}" for name in ("count", "width", "classes", "queries", "folder")]
    with subprocess.Popen(
        [sys.executable, __file__, *words, "--phase", phase], stdout=subprocess.PIPE, text=True
    ) as process:
        peaks = Peaks(psutil.Process(process.pid))
        assert process.stdout is not None
        for line in process.stdout:
            if not line.startswith(STEP):
                print(line, end="", flush=True)
                continue
            fact = json.loads(line.removeprefix(STEP))
            stall = f"  stall {fact['stall']:.0f} ms" if "stall" in fact else ""
            print(f"{fact['end']:28} {fact['seconds']:9.3f} s{stall}  {fact.get('note', '')}  "
                  f"(load {os.getloadavg()[0]:.1f})", flush=True)  # fmt: skip
        used = peaks.end()
        if process.wait():
            raise SystemExit(f"{phase} ended with {process.returncode}")
    print(f"{phase}: most memory: {used}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("count", 10_000_000), ("width", 128), ("classes", 20_000), ("queries", 200)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--phase", choices=("make", "show"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.phase:
        {"make": make, "show": show}[args.phase](args)
        return
    with tempfile.TemporaryDirectory() as made:
        args.folder = (args.folder or Path(made)).absolute()
        args.folder.mkdir(parents=True, exist_ok=True)
        os.environ |= {"QT_QPA_PLATFORM": "offscreen", "WORKBENCH_SETTINGS": str(args.folder / "settings.ini")}
        print(f"{args.count:,} x {args.width} in {args.classes:,} classes, load {os.getloadavg()[0]:.1f}", flush=True)
        if not (args.folder / "space" / "workspace.db").exists():
            measure("make", args)
        measure("show", args)


if __name__ == "__main__":
    main()
