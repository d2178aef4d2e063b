"""What checksums cost: an evaluation stored and opened by this code and by an earlier checkout, in alternating rounds.

    git worktree add /tmp/before 80daeab
    python tests/benchmarks/stored_evaluation.py /tmp/before [--count 60502] [--dim 512] [--k 100] [--rounds 7]

Storing is what Recorder does with an Evaluated event; opening is embeddings, queries and the neighbours of one page of
the list, in a Workspace that was just opened. Each round is a process of its own.
"""

import argparse
import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np

from workbench.config import RunConfig
from workbench.datasets.image_set import ImageSet
from workbench.events import Evaluated
from workbench.workspace import Workspace
from workbench.workspace.recorder import Recorder

ROOT = Path(__file__).resolve().parents[2]  # the checkout
PAGE = 30  # queries whose neighbours are looked at


def event(count: int, dim: int, k: int) -> tuple[ImageSet, Evaluated]:
    """A data set and an evaluation of it with made-up ranks."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, max(2, count // 5), count)
    images = ImageSet("made", None, [f"{row:06}.png" for row in range(count)], labels, [str(label) for label in range(
        labels.max() + 1)], 1, 8, lambda row: np.zeros((8, 8), np.uint8))  # fmt: skip
    near = images.sample_ids[rng.integers(0, count, (count, k))]
    similar = np.sort(rng.uniform(0, 1, (count, k)).astype(np.float32), 1)[:, ::-1]
    return images, Evaluated(
        1, 10, "cosine", {"MAP@R": 0.5}, images.sample_ids, labels, rng.normal(size=(count, dim)).astype(np.float32),
        rng.uniform(0, 1, count).astype(np.float32), rng.integers(1, 50, count).astype(np.int32),
        np.full(count, 4, np.int32), near, similar,
    )  # fmt: skip


def timed(work: Callable[[], None]) -> tuple[float, float]:
    """Seconds by the clock and of this process."""
    gc.collect()
    clock, own = perf_counter(), process_time()
    work()
    return perf_counter() - clock, process_time() - own


def one_round(folder: Path, images: ImageSet, made: Evaluated) -> dict[str, tuple[float, float]]:
    """Seconds of storing and of opening one evaluation."""
    shutil.rmtree(folder, ignore_errors=True)
    with Workspace(folder, create=True) as workspace:
        recorder = Recorder(workspace, workspace.create_run(RunConfig(name="made")))
        recorder.dataset(workspace.register_dataset(images, None))
        stored = timed(lambda: recorder(made))
        recorder.close()
    for path in folder.rglob("*"):
        os.utime(path)  # as in another process: what this one has hashed is hashed again

    def look() -> None:
        with Workspace(folder) as workspace:
            ids, _, vectors = workspace.embeddings(1)
            workspace.queries(1)
            for sample in ids[:PAGE].tolist():
                workspace.neighbours(1, sample, 1)
            assert len(vectors) == len(ids)

    return {"stored": stored, "opened": timed(look)}


def in_process(checkout: Path, folder: Path, sizes: list[int]) -> dict[str, tuple[float, float]]:
    """One round with the code of a checkout, in a process of its own."""
    words = [sys.executable, __file__, "--child", str(folder), *map(str, sizes)]
    said = subprocess.run(words, env={**os.environ, "PYTHONPATH": str(checkout)}, check=True, capture_output=True)
    return {what: tuple(each) for what, each in json.loads(said.stdout).items()}


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(one_round(Path(sys.argv[2]), *event(*map(int, sys.argv[3:])))))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="a checkout of the code to compare with")
    for name, value in (("count", 60502), ("dim", 512), ("k", 100), ("rounds", 7)):
        parser.add_argument(f"--{name}", type=int, default=value)
    wanted = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="stored-evaluation-"))
    seconds: dict[tuple[str, bool], list[tuple[float, float]]] = {}
    try:
        for number in range(2 * wanted.rounds):
            checked = number % 2 == (number // 2) % 2  # neither is always the first
            place = ROOT if checked else wanted.before
            found = in_process(place, folder / "space", [wanted.count, wanted.dim, wanted.k])
            found["both"] = (found["stored"][0] + found["opened"][0], found["stored"][1] + found["opened"][1])
            for what, each in found.items():
                seconds.setdefault((what, checked), []).append(each)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{wanted.count:,} x {wanted.dim}, {wanted.k} neighbours, {wanted.rounds} rounds each")
    for what in ("stored", "opened", "both"):
        for at, name in ((0, "by the clock"), (1, "of the process")):
            now, before = ([each[at] for each in seconds[what, side]] for side in (True, False))
            told = [f"{median(each):.3f} s ({min(each):.3f} to {max(each):.3f})" for each in (now, before)]
            ratios = f"medians {median(now) / median(before):.3f}, minima {min(now) / min(before):.3f}"
            print(f"{what:6} {name:14}: now {told[0]}, before {told[1]}; ratio of {ratios}")


if __name__ == "__main__":
    main()
