"""Conventions that all rankings share: how gaps are rounded, and how many neighbours vote. No torch.

A gap is one minus cosine, or the squared Euclidean distance: float64, at least 0. Gaps are compared without their last
bits, because these differ between matrix kernels.
"""

from collections.abc import Callable

Between = Callable[[], object]  # called after each block of rows; may raise Cancelled

MIN_ROW_BITS = 16  # bits of a key kept for the gallery row, at least
NOISE = 2.0**-45  # a gap below this fraction of the squared norms is rounding: the two points are equal
VOTERS = 10  # neighbours that vote for a class, and among which hubs are counted: "kNN@10" and "hubness"


def row_mask(count: int) -> int:
    """The last bits of a 64-bit gap, as a mask: they store the row number in a gallery of `count` >= 1 samples."""
    return (1 << max(MIN_ROW_BITS, (count - 1).bit_length())) - 1
