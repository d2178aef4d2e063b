"""What checksums cost: an evaluation stored and opened with and without them, in alternating rounds of one run.

    python tests/benchmarks/stored_evaluation.py [--count 60502] [--dim 512] [--k 100] [--rounds 7]

Storing is what Recorder does with an Evaluated event; opening is embeddings, queries and the neighbours of one page of
the list, in a Workspace that was just opened. "Unchecked" hashes the embeddings after they are written and nothing
else, as before there were checksums.
"""

import argparse
import gc
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from unittest.mock import patch

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workbench import files, jobs
from workbench.config import RunConfig
from workbench.datasets.image_set import ImageSet
from workbench.events import Evaluated
from workbench.workspace import Workspace, arrays, checksums
from workbench.workspace.recorder import Recorder

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


@contextmanager
def at_once(work: Callable[[], object]) -> Iterator[Callable[[], object]]:
    """jobs.meanwhile without a thread."""
    found = work()
    yield lambda: found


def unchecked() -> ExitStack:
    """The code without its checks."""
    stack = ExitStack()
    digest = files.digest
    for name in ("store_sums", "check_columns", "check_queries", "check_samples", "check_small"):
        stack.enter_context(patch.object(checksums, name, lambda *_: None))
    stack.enter_context(patch.object(checksums, "query_sums", lambda *_: np.zeros(0, np.uint32)))
    stack.enter_context(patch.object(checksums, "columns_sum", lambda *_: 0))
    stack.enter_context(patch.object(arrays, "check_hash", lambda *_: None))
    stack.enter_context(patch.object(arrays, "hash_ahead", lambda *_: None))
    stack.enter_context(patch.object(jobs, "meanwhile", at_once))
    stack.enter_context(patch.object(files, "digest", lambda path: "" if path.suffix == ".npz" else digest(path)))
    return stack


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
    arrays._hashed.clear()  # as in another process

    def look() -> None:
        with Workspace(folder) as workspace:
            ids, _, vectors = workspace.embeddings(1)
            workspace.queries(1)
            for sample in ids[:PAGE].tolist():
                workspace.neighbours(1, sample, 1)
            assert len(vectors) == len(ids)

    return {"stored": stored, "opened": timed(look)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("count", 60502), ("dim", 512), ("k", 100), ("rounds", 7)):
        parser.add_argument(f"--{name}", type=int, default=value)
    wanted = parser.parse_args()
    images, made = event(wanted.count, wanted.dim, wanted.k)
    folder = Path(tempfile.mkdtemp(prefix="stored-evaluation-"))
    seconds: dict[tuple[str, bool], list[tuple[float, float]]] = {}
    try:
        for number in range(2 * wanted.rounds):
            checked = number % 2 == (number // 2) % 2  # neither is always the first
            with ExitStack() if checked else unchecked():
                found = one_round(folder / "space", images, made)
            found["both"] = (found["stored"][0] + found["opened"][0], found["stored"][1] + found["opened"][1])
            for what, each in found.items():
                seconds.setdefault((what, checked), []).append(each)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{wanted.count:,} x {wanted.dim}, {wanted.k} neighbours, {wanted.rounds} rounds each")
    for what in ("stored", "opened", "both"):
        for place, name in ((0, "by the clock"), (1, "of the process")):
            checked, plain = ([each[place] for each in seconds[what, side]] for side in (True, False))
            told = [f"{median(each):.3f} s ({min(each):.3f} to {max(each):.3f})" for each in (checked, plain)]
            ratios = f"medians {median(checked) / median(plain):.3f}, minima {min(checked) / min(plain):.3f}"
            print(f"{what:6} {name:14}: checked {told[0]}, unchecked {told[1]}; ratio of {ratios}")


if __name__ == "__main__":
    main()
