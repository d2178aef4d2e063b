"""What every map does first: checks embeddings and proxies, and brings them to the metric."""

from collections.abc import Callable

import numpy as np

from workbench.problem import Problem

Report = Callable[[str, int, int], None]  # text, done, total; may raise Cancelled


def quiet(text: str, done: int, total: int) -> None:
    """A report that nobody reads."""


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
    wrong = int((~np.isfinite(table)).any(axis=1).sum())
    if wrong:
        raise Problem(
            f"{wrong:,} of {len(table):,} {what} hold NaN or infinity and have no place on a map.",
            todo="Choose an earlier evaluation of this run.",
        )
    table = table.astype(np.float64)
    if metric == "cosine":
        largest = np.abs(table).max(axis=1, keepdims=True)
        table = np.divide(table, largest, out=np.zeros_like(table), where=largest > 0)
        table /= np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1)  # 1 only where the vector is zero
    if np.abs(table).max() > 1e18:  # its square leaves float32
        raise Problem(f"The {what} hold values above 1e18, too large for a map.")
    return table.astype(np.float32)
