"""Builds the index of a gallery in passes over its blocks, and measures its recall against the exact nearest. faiss."""

import contextlib
import errno
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import log2, sqrt
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from workbench import files
from workbench.evaluation.intervals import bootstrap_interval
from workbench.files import parts
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.searching.exact import exact_nearest
from workbench.searching.index import CENTROIDS, CODES, NOTE, ROWS, STARTS, STEPS, Index, IndexNote, Lists, Recall
from workbench.workspace.measured.arrays import read_array
from workbench.workspace.measured.galleries import INDEX, Gallery, StoredFile, rows_at_once, write_array
from workbench.workspace.paths import inside, remove_folder
from workbench.workspace.times import now

SHOWN = (10, 48, 100)  # k that recall is measured at; a list of neighbours is as long as one of them
CHOSEN_AT = 48  # k
WANTED = 0.995  # recall of the queries by which the number of lists is chosen
MOST_SCANNED = 1_000_000  # rows that one query compares at most: about 50 ms
QUERIES, TRIED = 1_000, 200  # queries that recall is stated on; others, by which the number of lists is chosen
ITERATIONS = 10  # of k-means
OF_A_LIST = 64  # rows of each list that k-means sees
WRITING = 400  # what reading, scaling and writing one number costs, in additions and products
SEED = 0
TRIES = 10  # to put an index in its place while other programs do the same
PARTS = 1_000  # of the whole work


@dataclass
class Stages:
    """Progress of the whole out of that of its stages, whose costs are estimated: so the time left means something."""

    progress: Progress
    costs: dict[str, float]
    done: float = 0.0
    reported: int = 0

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[Callable[[int, int], None]]:
        """The next stage; the function takes what is done and the total of it."""
        cost = self.costs[name]
        whole = sum(self.costs.values())

        def tell(done: int, total: int) -> None:
            part = self.done + cost * min(1.0, done / max(1, total))
            self.reported = max(self.reported, round(PARTS * part / whole))  # what is tried again takes none of it back
            self.progress(name, self.reported, PARTS)

        tell(0, 1)
        yield tell
        self.done += cost


def build_index(gallery: Gallery, progress: Progress) -> IndexNote:
    """Build the index of a gallery beside it, in the place of an earlier one; minutes for millions of rows.

    Args:
        progress: called for the whole work; may raise Cancelled, which leaves an earlier index as it was.

    Raises:
        Problem: the disk cannot be written.
    """
    began, count, dim = monotonic(), gallery.note.count, gallery.note.dim
    lists = lists_for(count)
    sample = min(count, OF_A_LIST * lists)
    asked = min(count, QUERIES + TRIED)
    stages = Stages(progress, {
        "Finding clusters": 2.0 * sample * lists * dim * ITERATIONS,
        "Putting rows into clusters": 2.0 * count * lists * dim,
        "Writing the index": float(WRITING * count * dim),
        "Exact neighbours of the queries": 2.0 * count * asked * dim,
        "Measuring recall": 4.0 * min(count, MOST_SCANNED) * asked * dim,
    })  # fmt: skip
    random = np.random.default_rng(SEED)
    some = gallery.comparable(gallery.vectors[np.sort(random.choice(count, sample, replace=False))])
    with stages.stage("Finding clusters") as tell:
        centroids = clusters(some, lists, gallery.note.distance == "cosine", tell)
    low, high = some.min(0), some.max(0)
    del some
    steps = np.stack([low, np.where(high > low, high - low, 1) / 255]).astype(np.float32)
    with stages.stage("Putting rows into clusters") as tell:
        members = _members(gallery, centroids, tell)
    order = np.argsort(members, kind="stable").astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(np.bincount(members, minlength=lists))]).astype(np.int64)
    files.make_folder(gallery.folder)
    target = inside(gallery.folder, INDEX)
    parts.remove_dead(gallery.folder, INDEX)
    with parts.part_folder(target) as folder:
        with stages.stage("Writing the index") as tell:
            stored = _write(folder, gallery, (centroids, starts, order, steps), tell)
        kept = Lists(**{name: read_array(folder / f"{name}.npy") for name in (CENTROIDS, STARTS, ROWS, CODES, STEPS)})
        queries = random.permutation(random.choice(count, asked, replace=False))
        with stages.stage("Exact neighbours of the queries") as tell:
            truth = exact_nearest(
                gallery, gallery.vectors[queries], max(SHOWN), queries, lambda _, done, total: tell(done, total)
            )
        with stages.stage("Measuring recall") as tell:
            probed, recalls, stated = _measured(Index(gallery, kept, 1), lists, gallery, queries, truth, tell)
        note = IndexNote(
            gallery=gallery.note.vectors.blake2b, lists=lists, probed=probed, queries=stated, seed=SEED,
            recalls=recalls, files=stored, seconds=monotonic() - began, created=now(),
        )  # fmt: skip
        with files.atomic_write(folder / NOTE) as file:
            file.write(note.model_dump_json().encode())
        del kept
        _put(folder, gallery, target)
    return note


def _put(folder: Path, gallery: Gallery, target: Path) -> None:
    """Rename a finished index to its place; of several programs that build one at once the last stays."""
    for _ in range(TRIES):
        remove_folder(gallery.folder, INDEX)
        try:
            folder.rename(target)
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):  # another program has just put its own there
                raise files.explain(error, target) from error
    raise Problem(
        f"Other programs build the index of {gallery.folder} at the same time.",
        kept="The existing index is complete.",
        todo="Use that one, or build it again once they have ended.",
    )


def lists_for(count: int) -> int:
    """How many clusters: the power of two nearest to half the square root of the number of rows.

    More would make a query faster, which takes milliseconds anyway, and the index slower to build.
    """
    return int(2 ** round(log2(max(1.0, sqrt(count) / 2))))


def clusters(sample: np.ndarray, lists: int, cosine: bool, tell: Callable[[int, int], None]) -> np.ndarray:
    """Centroids [lists, d] float32 of a sample [n, d] by k-means; of length one for cosine."""
    import faiss

    centroids: Any = None
    for step in range(ITERATIONS):  # one at a time: faiss reports no progress
        tell(step, ITERATIONS)
        means = faiss.Kmeans(
            sample.shape[1], lists, niter=1, seed=SEED, spherical=cosine, min_points_per_centroid=1,
            max_points_per_centroid=len(sample),
        )  # fmt: skip
        means.train(sample, init_centroids=centroids)
        centroids = np.array(means.centroids, np.float32)
    return np.asarray(centroids, np.float32)


def _members(gallery: Gallery, centroids: np.ndarray, tell: Callable[[int, int], None]) -> np.ndarray:
    """The cluster [n] int32 of every row."""
    import faiss

    metric = faiss.METRIC_L2 if gallery.note.distance == "l2" else faiss.METRIC_INNER_PRODUCT
    nearest = faiss.IndexFlat(centroids.shape[1], metric)
    nearest.add(centroids)
    members = np.empty(gallery.note.count, np.int32)
    for start, block in gallery.blocks():
        tell(start, gallery.note.count)
        members[start : start + len(block)] = nearest.search(block, 1)[1][:, 0]
    return members


def _write(
    folder: Path, gallery: Gallery, arrays: tuple[np.ndarray, ...], tell: Callable[[int, int], None]
) -> dict[str, StoredFile]:
    """The files of the index; codes are made of rows gathered in the order of the lists."""
    centroids, starts, order, steps = arrays
    count, rows = len(order), rows_at_once(gallery.note.dim)

    def codes() -> Iterator[np.ndarray]:
        for first in range(0, count, rows):
            tell(first, count)
            numbers = gallery.comparable(gallery.vectors[order[first : first + rows]])
            yield np.clip(np.rint((numbers - steps[0]) / steps[1]), 0, 255).astype(np.uint8)

    written = {CENTROIDS: centroids, STARTS: starts, ROWS: order, STEPS: steps}
    stored = {
        f"{name}.npy": write_array(folder / f"{name}.npy", array.shape, array.dtype, iter([array]))
        for name, array in written.items()
    }
    shape = (count, gallery.note.dim)
    return stored | {f"{CODES}.npy": write_array(folder / f"{CODES}.npy", shape, np.dtype(np.uint8), codes())}


def _measured(
    index: Index, lists: int, gallery: Gallery, queries: np.ndarray, truth: list[tuple[np.ndarray, np.ndarray]],
    tell: Callable[[int, int], None],
) -> tuple[int, list[Recall], int]:  # fmt: skip
    """How many lists are looked into, the recall at each k on the queries that did not choose it, and their number."""
    trying = len(queries) * TRIED // (QUERIES + TRIED)
    most = max(1, min(lists, lists * MOST_SCANNED // gallery.note.count))
    done = 0

    def shares(part: slice, probed: int, ks: tuple[int, ...]) -> np.ndarray:
        nonlocal done
        table = []
        for row, (_, exact) in zip(queries[part].tolist(), truth[part], strict=True):
            tell(done, 2 * len(queries))
            done += 1
            _, near = index.nearest(gallery.vectors[row], max(ks), row, probed)
            table.append([_kept(near, exact, k) for k in ks])
        return np.array(table, np.float64).reshape(-1, len(ks))

    probed = 1
    while probed < most and trying and shares(slice(trying), probed, (CHOSEN_AT,)).mean() < WANTED:
        probed, done = min(most, 2 * probed), 0
    done = len(queries)
    table = shares(slice(trying, None), probed if trying else most, SHOWN)
    low, high = bootstrap_interval(table)
    low = np.minimum(low, np.where((table == 1).all(0), 0.025 ** (1 / len(table)), 1))  # Clopper-Pearson: no miss seen
    recalls = [
        Recall(k=k, mean=float(table[:, at].mean()), low=float(low[at]), high=float(high[at]))
        for at, k in enumerate(SHOWN)
    ]
    return (probed if trying else most), recalls, len(table)


def _kept(near: np.ndarray, exact: np.ndarray, k: int) -> float:
    """Share of the exact k nearest that were found; rows as similar as the last of them count as it does."""
    exact = exact[:k]
    return float((near[: len(exact)] >= exact[-1] - 1e-12).mean()) if len(exact) else 1.0
