"""Embeddings as all searches compare them: checked float64 rows, of length one for cosine; and their copies."""

import numpy as np

from workbench.evaluation.plain_arrays import rows_of
from workbench.problem import Problem

UNIT_ROWS = 512  # normalised at a time, while they are in the processor's cache


def compared_rows(embeddings: np.ndarray, distance: str) -> np.ndarray:
    """Rows [n, d] float64: of length one for "cosine" (a zero vector stays zero), else as they are.

    Raises:
        Problem: they are empty, of the wrong shape, not finite, or for "hyperbolic" not in the ball of radius 1.
    """
    vectors = rows_of(embeddings)
    if vectors.ndim != 2 or 0 in vectors.shape:
        raise Problem(f"Embeddings must be a table of at least one row and one column, not {vectors.shape}.")
    wrong = int((~np.isfinite(vectors)).any(axis=1).sum())
    if wrong:
        raise Problem(
            f"{wrong:,} of {len(vectors):,} embeddings contain NaN or infinity, so distances are undefined.",
            todo="Lower the learning rate, or evaluate an earlier checkpoint.",
        )
    if distance == "hyperbolic" and float(np.einsum("ij,ij->i", vectors, vectors).max()) >= 1:
        raise Problem("Some points are not inside the ball of radius 1, so hyperbolic distances are undefined.")
    if distance != "cosine":
        return np.asarray(vectors + 0.0)  # -0.0 becomes 0.0, so that copies are bitwise equal
    units = np.zeros_like(vectors)
    for start in range(0, len(vectors), UNIT_ROWS):
        part, unit = vectors[start : start + UNIT_ROWS], units[start : start + UNIT_ROWS]
        largest = np.abs(part).max(axis=1, keepdims=True)
        np.divide(part, largest, out=unit, where=largest > 0)
        unit /= np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), 1)  # 1 only if the vector is zero
        unit += 0.0
    return units


def without_copies(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Rows [n, d] without copies, and the place [n] of every row among them (None when there are no copies)."""
    rows = np.ascontiguousarray(vectors)
    # A weighted sum of the bits, with one factor for each column, differs between almost any two different rows.
    factors = np.random.default_rng(0).integers(2**62, size=rows.shape[1]) * 2 + 1
    if len(np.unique(np.einsum("ij,j->i", rows.view(np.int64), factors))) == len(rows):
        return rows, None
    as_bytes = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    _, first, inverse = np.unique(as_bytes, return_index=True, return_inverse=True)
    return (rows, None) if len(first) == len(rows) else (rows[first], inverse.ravel())
