"""Time and disk space of the neighbours of one evaluation, and time of what the Retrieval page reads.

    python tests/benchmarks/browse_speed.py [--count 60502] [--neighbours 100] [--classes 11316]

Prints seconds and megabytes of storing the neighbours of every query, and milliseconds of one query's neighbours
(through the package and through the documented view), of all queries, and of ordering and filtering them.
"""

import argparse
import contextlib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from workbench.config import RunConfig
from workbench.datasets.image_set import ImageSet
from workbench.events import Evaluated
from workbench.ui.pages.retrieval.model.filters import Filters
from workbench.ui.pages.retrieval.model.listing import Listing
from workbench.ui.pages.retrieval.queries.query_table import TITLES
from workbench.workspace import Workspace
from workbench.workspace.database.connection import Connection
from workbench.workspace.recorder import Recorder

VIEW = "select rank, sample_id, similarity from neighbours where evaluation_id = ? and query_id = ? order by rank"


def random_run(workspace: Workspace, count: int, classes: int) -> tuple[Recorder, ImageSet]:
    """A run on a data set of random labels without images."""
    labels = np.sort(np.random.default_rng(0).integers(0, classes, count))
    paths = [f"{label:05}/{row:06}.jpg" for row, label in enumerate(labels.tolist())]
    names = [f"class {each}" for each in range(classes)]
    images = ImageSet("drawn", None, paths, labels, names, 3, 8, lambda row: np.zeros((8, 8, 3), np.uint8))
    recorder = Recorder(workspace, workspace.create_run(RunConfig(name="drawn")))
    recorder.dataset(workspace.register_dataset(images, None))
    return recorder, images


def random_evaluation(images: ImageSet, neighbours: int, epoch: int) -> Evaluated:
    """An evaluation with random neighbours: it takes the same space as a real one, and needs no search."""
    rng, count, ids = np.random.default_rng(epoch), len(images.labels), images.sample_ids
    near = rng.integers(0, count - 1, (count, neighbours))
    near += near >= np.arange(count)[:, None]
    r = (np.bincount(images.labels)[images.labels] - 1).astype(np.int32)
    first_hit = np.where(r > 0, rng.geometric(0.5, count), 0).astype(np.int32)
    ap = np.where(r > 0, rng.uniform(size=count), np.nan).astype(np.float32)
    similarities = -np.sort(-rng.uniform(-1, 1, (count, neighbours)), axis=1).astype(np.float32)
    metrics = {"recall@1": float((first_hit == 1).mean()), "MAP@R": float(np.nanmean(ap))}
    return Evaluated(
        epoch, epoch, "cosine", metrics, ids, images.labels, np.zeros((count, 1), np.float32), ap, first_hit, r,
        ids[near], similarities,
    )  # fmt: skip


def milliseconds(work: Callable[[], object], rounds: int = 5) -> str:
    """Median and maximum over some rounds, in ms."""
    times = []
    for _ in range(rounds):
        started = perf_counter()
        work()
        times.append(1000 * (perf_counter() - started))
    return f"{np.median(times):6.1f} ms, at most {max(times):.1f}"


def store(workspace: Workspace, recorder: Recorder, event: Evaluated) -> tuple[float, float, float]:
    """Seconds in SQLite, from the rows to the end of the transaction, their processor time, and seconds of all."""
    spent, plain = [], workspace.writing

    @contextlib.contextmanager
    def timed(though_gone: bool = False) -> Iterator[Connection]:
        started, worked = perf_counter(), process_time()
        with plain(though_gone=though_gone) as db:
            yield db
        spent.append((perf_counter() - started, process_time() - worked))

    workspace.writing = timed  # type: ignore[method-assign]
    started = perf_counter()
    recorder(event)
    workspace.writing = plain  # type: ignore[method-assign]
    return *max(spent), perf_counter() - started


def size(workspace: Workspace) -> float:
    """Megabytes (10^6) of the database without its write-ahead log."""
    with workspace.writing() as db:
        (pages,), (bytes_each,) = (db.execute(f"pragma {name}").fetchone() for name in ("page_count", "page_size"))
    return float(pages * bytes_each / 1e6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("count", 60_502), ("neighbours", 100), ("classes", 11_316)):
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Workspace(Path(folder) / "space", create=True) as workspace:
        recorder, images = random_run(workspace, args.count, args.classes)
        print(f"{args.count:,} queries x {args.neighbours} neighbours, {args.classes:,} classes")
        for epoch in (1, 2, 3):
            event, before = random_evaluation(images, args.neighbours, epoch), size(workspace)
            sqlite, worked, whole = store(workspace, recorder, event)
            room = size(workspace) - before
            print(f"stored in {sqlite:5.2f} s ({worked:.2f} s of processor time), {room:6.1f} MB")
            print(f"  with the files beside the database {whole:5.2f} s")
        evaluation, run_id = workspace.evaluations(recorder.run_id)[-1].id, recorder.run_id
        ids = np.random.default_rng(1).permutation(images.sample_ids)
        some = iter(ids.tolist())
        print(f"{'one query, package':26} {milliseconds(lambda: workspace.neighbours(run_id, next(some), evaluation))}")
        with workspace.reading() as db:
            print(
                f"{'one query, view':26} {milliseconds(lambda: db.execute(VIEW, (evaluation, next(some))).fetchall())}"
            )
        print(f"{'all queries':26} {milliseconds(lambda: workspace.queries(evaluation))}")
        listing, names = Listing(), workspace.dataset(workspace.run(run_id).dataset_id or 0).class_names
        listing.show(workspace.queries(evaluation), names)
        for column, name in enumerate(TITLES[1:], start=1):
            listing.column = column
            print(f"{f'order by {name}':26} {milliseconds(lambda: listing.arrange(Filters(failures_only=True)))}")


if __name__ == "__main__":
    main()
