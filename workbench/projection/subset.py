"""Maps of some samples: their rows, their name in stored parameters, and their places among all samples."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from workbench.problem import Problem

MOST_POINTS = 200_000  # that UMAP and t-SNE lay out: with more they show a sample
LIMITED = ("umap", "umap-3d", "tsne")
AT_MOST = "points_at_most"  # its name among the stored parameters; maps that have none are older and of all points


def mark(only: Sequence[int] | np.ndarray) -> str:
    """A short name for a set of sample ids, which does not depend on their order: 16 hexadecimal digits."""
    return blake2b(np.unique(np.asarray(only, np.int64)).astype("<i8").tobytes(), digest_size=8).hexdigest()


def rows_of(ids: np.ndarray, only: Sequence[int] | np.ndarray | None) -> np.ndarray:
    """Rows [m] of the samples [n] that are among `only`; all for None. Raises Problem when there is none."""
    if only is None:
        return np.arange(len(ids))
    rows = np.flatnonzero(np.isin(ids, np.asarray(only, np.int64)))
    if not len(rows):
        raise Problem("None of the isolated images is in this evaluation.", todo="Go back to all images.")
    return rows


def among(points: np.ndarray, rows: np.ndarray, count: int) -> np.ndarray:
    """Points [m, k] at their rows among `count`, float32 [count, k]; NaN if there is none."""
    every = np.full((count, points.shape[1]), np.nan, np.float32)
    every[rows] = points
    return every


def sample_by_class(ids: np.ndarray, labels: np.ndarray, most: int, seed: int) -> np.ndarray:
    """Rows of at most `most` samples, in rising order, stratified by class; all rows where there are no more.

    Every class keeps one sample, and the others of the sample go to the classes in proportion to what is left of each
    (largest remainders, ties to the lower label). Within a class the draw depends on seed and ids, not on their order.

    Args:
        ids: [n] int64, unique. labels: [n] int.
        most: from 1.
        seed: of the draw, from 0.

    Raises:
        Problem: more classes than `most`.
    """
    count = len(ids)
    if count <= most:
        return np.arange(count)
    classes, of, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    if len(classes) > most:
        raise Problem(
            f"{most:,} points cannot stand for {len(classes):,} classes: a sample keeps at least one of each.",
            todo=f"Set Max points to {len(classes):,} or more.",
        )
    shares, left = divmod((sizes.astype(np.int64) - 1) * (most - len(classes)), count - len(classes))
    quotas = 1 + shares
    quotas[np.argsort(-left, kind="stable")[: most - quotas.sum()]] += 1
    drawn = np.empty(count, np.int64)
    drawn[np.argsort(ids)] = np.random.default_rng(seed).permutation(count)
    order = np.lexsort((drawn, of))  # by class, and within it as drawn
    rank = np.arange(count) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    rows: np.ndarray = np.sort(order[rank < quotas[of[order]]])
    return rows


def said_of(params: Mapping[str, Any], ids: np.ndarray, placed: np.ndarray) -> str:
    """How many images a stored map shows, and whether they are a sample: "20,000 of 120,053", "..., stratified by
    class".

    Args:
        params: as stored. ids: [n]. placed: bool [n], which have a place on the map.
    """
    shown, only = int(placed.sum()), params.get("only")
    sampled = shown < len(ids) and shown == params.get(AT_MOST) and (only is None or mark(ids[placed]) != only)
    total = "the isolated" if sampled and only is not None else f"{len(ids):,}"
    return f"{shown:,} of {total} test images{', stratified by class' if sampled else ''}"
