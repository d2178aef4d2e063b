"""Seconds from the opening of the Map page to its first picture (PCA), and the longest stall of the window meanwhile.

    python tests/benchmarks/map_first_picture.py [--count 60502] [--width 128] [--classes 11316] [--rounds 3]

A workspace is made with one evaluation of drawn embeddings. Each round opens a page of its own; the window's event loop
ticks every 5 ms meanwhile, and the longest wait between two ticks is the stall.
"""

import argparse
import os
import tempfile
from pathlib import Path
from time import perf_counter, process_time
from types import SimpleNamespace

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from workbench.config import RunConfig
from workbench.events import Ended, Evaluated
from workbench.ui.pages.map import MapPage
from workbench.ui.pages.map.model.method import MapMethod
from workbench.ui.state.session import Session
from workbench.workspace import Workspace
from workbench.workspace.recorder import Recorder


def stored(workspace: Workspace, count: int, width: int, classes: int) -> int:
    """A run with one evaluation: random embeddings and neighbours."""
    rng = np.random.default_rng(0)
    labels = np.sort(rng.integers(0, classes, count))
    table = (0.5 * rng.normal(size=(classes, width))[labels] + rng.normal(size=(count, width))).astype(np.float32)
    ids = np.arange(count, dtype=np.int64) * 1_000_003
    names = tuple(f"class {each}" for each in range(classes))
    images = SimpleNamespace(
        paths=[f"{row}.png" for row in range(count)], labels=labels, class_names=names, sample_ids=ids,
        fingerprint="drawn", image_size=8, channels=1, name="drawn", root=None, official=None,
    )  # fmt: skip
    pixels = workspace.path / "pixels.npy"
    np.save(pixels, np.zeros((count, 8, 8, 1), np.uint8))
    run_id = workspace.create_run(RunConfig(name="drawn"))
    recorder = Recorder(workspace, run_id)
    recorder.dataset(workspace.register_dataset(images, pixels))
    near = ids[rng.integers(0, count, (count, 10))]
    recorder(
        Evaluated(
            1, 10, "cosine", {"recall@1": 0.5, "MAP@R": 0.5}, ids, labels, table, rng.random(count).astype(np.float32),
            np.ones(count, np.int32), np.ones(count, np.int32), near, np.zeros((count, 10), np.float32),
        )
    )  # fmt: skip
    recorder(Ended("done"))
    return run_id


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("count", 60_502), ("width", 128), ("classes", 11_316), ("rounds", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WORKBENCH_SETTINGS"] = str(Path(folder) / "window.ini")
        application = QApplication([])
        session = Session(Workspace(Path(folder) / "workspace", create=True))
        session.show_run(stored(session.workspace, args.count, args.width, args.classes))
        ticks: list[float] = []
        ticker = QTimer(interval=5)
        ticker.timeout.connect(lambda: ticks.append(perf_counter()))
        for _ in range(args.rounds):
            page = MapPage(session)
            page.model.choose_method(MapMethod("pca"))
            page.resize(1200, 800)
            ticks.clear()
            ticker.start()
            began, work = perf_counter(), process_time()
            loop = QEventLoop()
            page.maker.made.connect(loop.quit)
            page.show()
            loop.exec()
            page.canvas.viewport().repaint()
            seconds = perf_counter() - began
            ticker.stop()
            stall = np.diff([began, *ticks]).max()
            print(
                f"first picture {seconds:.2f} s ({process_time() - work:.2f} of processor), stall {1e3 * stall:.0f} ms"
            )
            page.close()
        session.close()
        application.quit()


if __name__ == "__main__":
    main()
