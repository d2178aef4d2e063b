"""Conventions that all rankings share: how gaps are rounded, how many neighbours vote, what is searched. No torch.

A gap is one minus cosine, the squared Euclidean distance, or what `ball_gaps` makes of that: float64, at least 0. Gaps
are compared without their last bits, because these differ between matrix kernels.
"""

from collections.abc import Callable

import numpy as np

Between = Callable[[], object]  # called after each block of rows; may raise Cancelled

MIN_ROW_BITS = 16  # bits of a key kept for the gallery row, at least
NOISE = 2.0**-45  # a gap below this fraction of the squared norms is rounding: the two points are equal
VOTERS = 10  # neighbours that vote for a class, and among which hubs are counted: "kNN@10" and "hubness"


def ball_gaps(squares: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(cosh D - 1) / 2 of the hyperbolic distances D of points in the Poincaré ball of radius 1.

    Args:
        squares: their squared Euclidean distances. first, second: their squared lengths, below 1, of a shape that
            broadcasts.
    """
    return np.asarray(squares / ((1 - first) * (1 - second)))


def ball_distances(gaps: np.ndarray) -> np.ndarray:
    """The hyperbolic distances of gaps by `ball_gaps`."""
    return np.asarray(np.arccosh(1 + 2 * np.maximum(gaps, 0)))


def row_mask(count: int) -> int:
    """The last bits of a 64-bit gap, as a mask: they store the row number in a gallery of `count` >= 1 samples."""
    return (1 << max(MIN_ROW_BITS, (count - 1).bit_length())) - 1


def without_last_bits(gaps: np.ndarray, count: int) -> np.ndarray:
    """Gaps float64, at least 0, as metrics compare them: rounded, with room for the row numbers of `count` rows."""
    mask = row_mask(count)
    bits = np.ascontiguousarray(gaps).view(np.int64) + ((mask + 1) >> 1)
    bits &= ~mask
    return bits.view(np.float64)


def rows_of_classes(labels: np.ndarray) -> list[np.ndarray]:
    """The rows of each class of labels [n], by label; they rise within a class."""
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(labels[order])) + 1) if len(order) else []


def searched(labels: np.ndarray, r: np.ndarray) -> np.ndarray:
    """Which samples [n] bool are searched: all, or with separate queries and gallery the gallery alone.

    With a gallery, its rows are no queries: their r is 0 though their class has more samples. A class that no query
    can find counts as gallery.

    Args:
        labels: [n] int.
        r: [n] int, other samples of the class in the gallery; 0 for what is no query.
    """
    _, classes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    gallery = r == 0
    if not gallery.any() or (r == counts[classes] - 1).all():
        return np.ones(len(r), bool)
    return np.asarray(gallery)
