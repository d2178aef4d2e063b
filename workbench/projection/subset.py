"""Maps of some of the samples: which rows they are, their name in stored parameters, and their place among all."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from workbench.problem import Problem


def mark(only: Sequence[int] | np.ndarray) -> str:
    """A short name for a set of sample ids, the same in whatever order they come: 16 hexadecimal digits."""
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
    """Points [m, 2] at their rows among `count`, float32 [count, 2]; NaN where there is none."""
    every = np.full((count, 2), np.nan, np.float32)
    every[rows] = points
    return every
