"""The first step of every map: check embeddings and proxies, and normalise them for the metric."""

from collections.abc import Iterator

import numpy as np

from workbench.problem import Problem

BLOCK = 1_024  # rows looked at together
LARGEST = 1e18  # its square is near the end of float32


def metric_of(distance: str) -> str:
    """The metric of a map of embeddings that are compared by `distance`; points in the ball are mapped as they are."""
    return "cosine" if distance == "cosine" else "l2"


def prepared(vectors: np.ndarray, metric: str, what: str = "embeddings", width: int | None = None) -> np.ndarray:
    """Float32 [n, d] of unit length for "cosine" (a zero vector stays zero), unchanged for "l2".

    Raises:
        Problem: not a table of numbers, empty, NaN or infinite, or not `width` columns wide.
    """
    table = np.asarray(vectors)
    if table.ndim != 2 or 0 in table.shape or table.dtype.kind not in "fiu":
        raise Problem(f"The {what} must be a table of numbers, not {table.dtype} of shape {table.shape}.")
    if width is not None and table.shape[1] != width:
        raise Problem(f"The {what} have {table.shape[1]} dimensions, the embeddings {width}.")
    vectors = np.empty(table.shape, np.float32)
    wrong, largest = 0, 0.0
    for part in blocks(len(table)):
        rows = table[part].astype(np.float64)
        finite = np.isfinite(rows).all(axis=1)
        wrong += int((~finite).sum())
        if finite.all():
            rows = unit(rows) if metric == "cosine" else rows
            largest = max(largest, float(np.abs(rows).max()))
            vectors[part] = rows if largest <= LARGEST else 0
    if wrong:
        raise Problem(
            f"{wrong:,} of {len(table):,} {what} contain NaN or infinity and cannot be mapped.",
            todo="Choose an earlier evaluation of this run.",
        )
    if largest > LARGEST:
        raise Problem(f"The {what} hold values above 1e18, too large for a map.")
    return vectors


def unit(rows: np.ndarray) -> np.ndarray:
    """Float64 [n, d] of length one; zero rows stay zero."""
    largest = np.maximum(rows.max(axis=1, keepdims=True), -rows.min(axis=1, keepdims=True))
    rows = np.divide(rows, largest, out=np.zeros_like(rows), where=largest > 0)  # its squares stay within float64
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    np.divide(rows, np.maximum(lengths, 1), out=rows)  # below 1 only where the vector is zero
    return rows


def blocks(count: int) -> Iterator[slice]:
    """Slices of so many rows at a time that float64 copies of them stay in the processor's cache."""
    return (slice(start, start + BLOCK) for start in range(0, count, BLOCK))
