"""Exact ranks and retrieval metrics in NumPy, as evaluation/retrieval.py makes them by torch."""

from collections.abc import Iterator, Sequence

import numpy as np

from workbench.evaluation.conventions import NOISE, Between, row_mask, without_last_bits

BLOCK = 2**21  # gaps held at once (16 MB)
SAMPLED = 16  # every so many columns are looked at first, to leave out most of the others
MISSING = -1  # in a ranking: the index returned nothing for this rank


def nearest(
    queries: np.ndarray, gallery: np.ndarray, own: np.ndarray | None, depth: int, between: Between = lambda: None
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield (rows of `queries`, the nearest gallery rows [rows, depth], best first) by squared Euclidean distance.

    Args:
        queries: [m, e]. gallery: [n, e] in the order of its sample ids: of equal distances the lower row is first.
        own: [m] the gallery row that is the query itself and is left out; None: none is.
        depth: at least 1; at most all gallery rows are returned.
        between: called after each block; may raise Cancelled.
    """
    depth = min(depth, len(gallery) - (own is not None))
    for part, gaps in squared_gaps(queries, gallery, between):
        if own is not None:
            gaps[np.arange(len(gaps)), own[part]] = np.inf
        yield part, ranked(gaps, depth)


def squared_gaps(
    queries: np.ndarray, gallery: np.ndarray, between: Between = lambda: None
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield (rows of `queries`, their squared Euclidean distances [rows, n] float64 to the gallery) in blocks.

    Args:
        queries: [m, e]. gallery: [n, e].
        between: called after each block; may raise Cancelled.
    """
    columns = np.asarray(gallery, np.float64)
    squares = np.einsum("ij,ij->i", columns, columns)
    step = max(1, BLOCK // len(columns))
    for start in range(0, len(queries), step):
        part = slice(start, min(start + step, len(queries)))
        rows = np.asarray(queries[part], np.float64)
        of_rows = np.einsum("ij,ij->i", rows, rows)[:, None]
        lengths, gaps = of_rows + squares, np.ascontiguousarray(rows @ columns.T)
        gaps *= -2  # in place, as what follows: a block is too large for the processor's cache
        gaps += lengths
        lengths *= NOISE
        gaps[gaps < lengths] = 0
        yield part, without_last_bits(gaps, len(columns))
        between()


def ranked(gaps: np.ndarray, depth: int) -> np.ndarray:
    """The columns [m, depth] of the smallest gaps, best first; of equal gaps the lower column is first.

    Args:
        gaps: [m, n] as `squared_gaps` yields them; infinite for what is left out. depth: in 1..n.
    """
    count = gaps.shape[1]
    keys = gaps.view(np.int64) + np.arange(count)
    if depth * SAMPLED < count:
        keys = _smallest(keys, depth)
    elif depth < count:
        keys.partition(depth - 1, axis=1)
    return np.asarray(np.sort(keys[:, :depth], axis=1) & row_mask(count))


def _smallest(keys: np.ndarray, depth: int) -> np.ndarray:
    """The `depth` smallest of each row, in any order: no key above the depth-th of a sample is among them."""
    limits = np.partition(keys[:, ::SAMPLED], depth - 1, axis=1)[:, depth - 1]
    smallest = np.empty((len(keys), depth), np.int64)
    for row, (of_row, limit) in enumerate(zip(keys, limits, strict=True)):
        near = of_row[of_row <= limit]
        near.partition(depth - 1)
        smallest[row] = near[:depth]
    return smallest


def scores(
    near: np.ndarray, labels: np.ndarray, gallery_labels: np.ndarray, r: np.ndarray, ks: Sequence[int]
) -> np.ndarray:
    """What each query scores: [m, len(ks) + 1] float64, recall at each k, then average precision at R.

    Args:
        near: [m, depth] gallery rows, best first; MISSING where there is none. labels: [m]. gallery_labels: [n].
        r: [m] true neighbours of each query, at least 1; `depth` should reach the largest.
        ks: ranks of recall@k.
    """
    hits = (gallery_labels[np.maximum(near, 0)] == labels[:, None]) & (near != MISSING)
    columns = [hits[:, :k].any(1).astype(np.float64) for k in ks]
    rank = np.arange(1, near.shape[1] + 1)
    counted = hits & (rank <= r[:, None])
    precision = counted.cumsum(1) / rank
    return np.stack([*columns, (precision * counted).sum(1) / r], axis=1)
