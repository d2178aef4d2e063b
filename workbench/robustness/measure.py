"""Searches changed queries among the stored embeddings of an evaluation, and compares them with the unchanged ones."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import cast

import numpy as np

from workbench.comparing.statistics.intervals import paired_bootstrap
from workbench.evaluation.intervals import bootstrap_interval
from workbench.events import Distance
from workbench.jobs.threads import in_threads
from workbench.numerals import percentage
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.results.stored import Stored
from workbench.robustness.changing import SEED, changed
from workbench.robustness.kinds import Change

QUERIES = 2_000  # that are drawn, unless another number is asked for
MOST_QUERIES = 100_000
AT_ONCE = 32  # images that are embedded together: between two batches the work can be cancelled
ALIKE = 0.01  # of an embedding's length: what TF32 on a GPU may change; another JPEG decoder changes 0.06 (cosine .998)
METRICS = ("recall@1", "MAP@R")
OTHER = (
    "The network, the images or how they are decoded are not those of the evaluation. Test the run on these images "
    "(workbench test), and measure that test."
)
Table = np.ndarray  # [m, 2] float64: recall@1 and AP at R of each query


@dataclass(frozen=True, slots=True)
class Network:
    """What is measured: where squares of pixels come from, and what embeds them."""

    read: Callable[[int], np.ndarray]  # sample id -> uint8 [S, S, C]; called by several threads; raises Problem
    embed: Callable[[np.ndarray], np.ndarray]  # uint8 [m, S, S, C] -> float32 [m, d], as the evaluation stores them
    side: int  # px of the input, by which lengths in pixels are scaled
    device: str = "cpu"  # where the gallery is searched


def drawn(stored: Stored, most: int) -> np.ndarray:
    """Rows [m] of the queries that are measured, rising: all, or `most` of them, the same ones each time.

    Raises:
        Problem: no query has a true neighbour.
    """
    rows = np.flatnonzero(stored.r > 0)
    if not len(rows):
        raise Problem("No query of this evaluation has anything to find.")
    if len(rows) <= most:
        return rows
    by_id = rows[np.argsort(stored.sample_ids[rows])]  # the same images, in whatever order they are stored
    return np.sort(np.random.default_rng(SEED).choice(by_id, most, replace=False))


class Search:
    """The gallery of an evaluation, in which queries are searched as the evaluation searched them."""

    def __init__(self, stored: Stored, device: str = "cpu") -> None:
        from workbench.evaluation.neighbours import Gallery

        searched = np.flatnonzero(stored.searched())
        self._stored, self._labels = stored, stored.labels[searched]
        self._gallery = Gallery(
            np.asarray(stored.embeddings)[searched], stored.sample_ids[searched],
            cast(Distance, stored.distance), device,
        )  # fmt: skip
        self._place = np.full(len(stored.labels), -1, np.int64)
        self._place[searched] = np.arange(len(searched))

    @property
    def count(self) -> int:
        """Images that are searched."""
        return self._gallery.count

    def scores(self, vectors: np.ndarray, rows: np.ndarray) -> Table:
        """Scores [m, 2] of queries with these embeddings [m, d]; the image of a query is left out of its neighbours.

        AP is the mean, over the R true neighbours, of the precision at the rank of each that is among the first R
        (Musgrave et al., 2020).

        Args:
            rows: [m] of the queries in the evaluation, each with a true neighbour.
        """
        place = self._place[rows]
        own = None if (place < 0).all() else place
        r, labels = self._stored.r[rows].astype(np.int64), self._stored.labels[rows]
        ranks = np.arange(1, int(r.max()) + 1)
        table = np.empty((len(rows), len(METRICS)))
        for part, keys in self._gallery.blocks(vectors, own):
            nearest = self._gallery.places_of(self._gallery.smallest(keys, len(ranks))).cpu().numpy()
            right = self._labels[self._gallery.order[nearest]] == labels[part, None]
            table[part, 0] = right[:, 0]
            counted = right & (ranks <= r[part, None])
            table[part, 1] = (counted.cumsum(1) / ranks * counted).sum(1) / r[part]
        return table


def embedded(
    network: Network, ids: np.ndarray, ways: Sequence[tuple[Change, int] | None], progress: Progress, before: int,
    total: int,
) -> Iterator[tuple[np.ndarray, int, np.ndarray]]:  # fmt: skip
    """Batches of positions [b], number of the way, embeddings [b, d]; threads prepare the next batch meanwhile.

    Raises Problem for embeddings that are not finite, and what `read` and `progress` raise.

    Args:
        ids: [m] samples. ways: a change with its level, or None for the image as it is.
        before, total: images that were embedded before, and that will be in all, for `progress`.
    """

    def prepare(start: int) -> tuple[np.ndarray, list[np.ndarray]]:
        part = np.arange(start, min(start + AT_ONCE, len(ids)))
        squares = [(int(ids[at]), network.read(int(ids[at]))) for at in part]
        made = [
            np.stack([changed(pixels, *way, network.side, number) if way else pixels for number, pixels in squares])
            for way in ways
        ]
        return part, made

    title = "Unchanged" if ways[0] is None else ways[0][0].title
    done = before
    with closing(in_threads(prepare, range(0, len(ids), AT_ONCE), ahead=1)) as batches:
        for part, made in batches:
            for number, pixels in enumerate(made):
                progress(title, done, total)
                vectors = network.embed(pixels)
                if not np.isfinite(vectors).all():
                    what = f"{title}: the network gives embeddings that are not finite."
                    raise Problem(what, kept="Changes that are measured stay.", todo="Leave this one out.")
                yield part, number, vectors
                done += len(part)


def unchanged_scores(
    stored: Stored, rows: np.ndarray, network: Network, search: Search, progress: Progress = quiet, total: int = 0
) -> tuple[Table, float]:
    """Scores of the queries as they are, embedded again, and how far their embeddings are from the stored ones.

    Args:
        rows: [m] of the queries in the evaluation.
        total: images that will be embedded in all, for `progress`.

    Returns:
        Scores [m, 2], and the largest distance between an embedding and the stored one, as a share of its length.

    Raises:
        Problem: that is above ALIKE, or embeddings have another width: nothing can be compared.
        Cancelled: by `progress`.
    """
    table, apart = np.empty((len(rows), len(METRICS))), np.zeros(len(rows))
    before = np.asarray(stored.embeddings)
    for part, _, vectors in embedded(network, stored.sample_ids[rows], [None], progress, 0, total):
        kept = np.asarray(before[rows[part]], np.float64)
        if kept.shape != vectors.shape:
            what = f"The network's embeddings have {vectors.shape[1]:,} dimensions, the stored ones {kept.shape[1]:,}."
            raise Problem(what, kept="Nothing was measured.", todo="They are from another network: choose another run.")
        lengths = np.maximum(np.linalg.norm(kept, axis=1), np.finfo(np.float32).tiny)
        apart[part] = np.linalg.norm(vectors - kept, axis=1) / lengths
        table[part] = search.scores(vectors, rows[part])
    other = int((~(apart <= ALIKE)).sum())
    if other:
        raise Problem(
            f"The unchanged images do not have their stored embeddings: {other:,} of {len(rows):,} differ by more than "
            f"{percentage(ALIKE, 0)} of their length, the largest difference is {100 * apart.max():.3g}%.",
            kept="Nothing was measured.",
            todo=OTHER,
        )
    return table, float(apart.max())


def changed_scores(
    change: Change, stored: Stored, rows: np.ndarray, network: Network, search: Search, progress: Progress = quiet,
    before: int = 0, total: int = 0,
) -> list[Table]:  # fmt: skip
    """Scores [m, 2] of the queries for each strength of a change. Raises Cancelled by `progress`.

    Args:
        rows: [m] of the queries in the evaluation.
        before, total: images that were embedded before, and that will be in all, for `progress`.
    """
    ways = [(change, level) for level in range(len(change.strengths))]
    tables = [np.empty((len(rows), len(METRICS))) for _ in ways]
    for part, number, vectors in embedded(network, stored.sample_ids[rows], ways, progress, before, total):
        tables[number][part] = search.scores(vectors, rows[part])
    return tables


def means(table: Table) -> dict[str, float]:
    """The mean of each metric, with the limits of its 95% bootstrap interval over queries: "MAP@R", "MAP@R/low", ...

    One query says nothing about others: its interval is 0 to 1.
    """
    low, high = bootstrap_interval(table) if len(table) > 1 else (np.zeros(len(METRICS)), np.ones(len(METRICS)))
    metrics: dict[str, float] = {}
    for at, name in enumerate(METRICS):
        metrics |= {name: float(table[:, at].mean()), f"{name}/low": float(low[at]), f"{name}/high": float(high[at])}
    return metrics


def differences(table: Table, unchanged: Table) -> dict[str, list[float]]:
    """By metric, changed less unchanged, paired by query: mean, and the limits of its 95% bootstrap interval.

    One query says nothing about others: its interval is -1 to 1.
    """
    if len(table) == 1:
        return {name: [float(table[0, at] - unchanged[0, at]), -1.0, 1.0] for at, name in enumerate(METRICS)}
    pairs = {name: paired_bootstrap(unchanged[:, at], table[:, at]) for at, name in enumerate(METRICS)}
    return {name: [pair.mean, pair.low, pair.high] for name, pair in pairs.items()}
