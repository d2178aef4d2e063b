"""Average precision at R of a few thousand embeddings among themselves, by NumPy alone: for threads of the window."""

import numpy as np

from workbench.evaluation.conventions import NOISE, ball_gaps, without_last_bits


def average_precisions(vectors: np.ndarray, labels: np.ndarray, distance: str) -> np.ndarray:
    """AP at R of each image [n] float64 in 0..1, searched among all others; NaN without another of its class.

    The same numbers as `retrieval.retrieve`; needs n^2 numbers of memory. Musgrave et al. (2020).

    Args:
        vectors: [n, d] finite, of "hyperbolic" points in the ball. labels: [n]. distance: of the evaluation.
    """
    count, classes = len(labels), np.unique(labels, return_inverse=True)[1]
    wanted = np.bincount(classes)[classes] - 1 if count else np.empty(0, np.int64)  # R of each
    depth = int(wanted.max(initial=0))
    if not depth:
        return np.full(count, np.nan)
    gaps = without_last_bits(_gaps(np.asarray(vectors, np.float64), distance), count)
    np.fill_diagonal(gaps, np.inf)
    near = np.argsort(gaps, axis=1, kind="stable")[:, :depth]  # ties go to the earlier image
    ranks = np.arange(1, depth + 1)
    right = (classes[near] == classes[:, None]) & (ranks <= wanted[:, None])
    sums = (right.cumsum(1) / ranks * right).sum(1)
    return np.asarray(np.divide(sums, wanted, out=np.full(count, np.nan), where=wanted > 0))


def _gaps(vectors: np.ndarray, distance: str) -> np.ndarray:
    """Gaps [n, n] as conventions.py says; what is rounding noise is 0."""
    if distance != "cosine":
        squares = (vectors**2).sum(1)
        gaps: np.ndarray = squares[:, None] + squares - 2 * vectors @ vectors.T
        gaps = np.where(gaps > NOISE * squares[:, None], gaps, 0.0)
        return ball_gaps(gaps, squares[:, None], squares) if distance == "hyperbolic" else gaps
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    gaps = 1 - unit @ unit.T
    return np.where(gaps > NOISE, gaps, 0.0)
