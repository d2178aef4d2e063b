"""Images that stand in both halves, or nearly so: found by their pixels, whatever a network makes of them."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from workbench.evaluation.conventions import Between

SIDE = 16  # px of the grey pictures that are compared
NEAR = 0.02  # mean difference of two pictures of unit contrast, squared: below it they are near-copies
FLAT = 2.0  # standard deviation of grey levels below which a picture says nothing
BLOCK = 1024


@dataclass(frozen=True, slots=True)
class CrossCopy:
    """An image of the test half with the nearest of the training half."""

    row: int  # among the first pictures
    other: int  # among the second
    gap: float  # 0 for the same picture; at most NEAR


def cross_copies(
    first: np.ndarray, second: np.ndarray, near: float = NEAR, between: Between = lambda: None
) -> list[CrossCopy]:
    """Find pictures of one set that are near-copies of one of another set, the nearest first.

    Args:
        first: [n, SIDE * SIDE] grey levels, as `small_grey` makes them. second: [m, SIDE * SIDE].
        near: largest mean squared difference after brightness and contrast are taken out, in 0..4.
        between: called after each block; may raise Cancelled.
    """
    if not len(first) or not len(second):
        return []
    ours, theirs = _standardised(first), _standardised(second)
    known = np.flatnonzero(np.abs(theirs).sum(1) > 0)
    if not len(known):
        return []
    copies = []
    for start in range(0, len(ours), BLOCK):
        part = ours[start : start + BLOCK]
        products = part @ theirs[known].T / part.shape[1]
        best = products.argmax(1)
        gaps = 2 - 2 * products[np.arange(len(part)), best]
        for at in np.flatnonzero((gaps <= near) & (np.abs(part).sum(1) > 0)).tolist():
            copies.append(CrossCopy(start + at, int(known[best[at]]), float(max(gaps[at], 0))))
        between()
    return sorted(copies, key=lambda copy: (copy.gap, copy.row))


def small_grey(pixels: np.ndarray) -> np.ndarray:
    """Pictures uint8 [n, H, W, C] as grey levels float32 [n, SIDE * SIDE], by means over cells."""
    grey = np.asarray(pixels, np.float32).mean(3)
    for axis in (1, 2):
        edges = np.linspace(0, grey.shape[axis], SIDE + 1)
        grey = np.stack([
            grey.take(range(int(low), max(int(low) + 1, int(np.ceil(high)))), axis=axis).mean(axis)
            for low, high in pairwise(edges)
        ], axis=axis)  # fmt: skip
    return np.asarray(grey.reshape(len(grey), -1))


def _standardised(pictures: np.ndarray) -> np.ndarray:
    """Without brightness and contrast; zero for flat pictures, which are copies of nothing."""
    centred = pictures - pictures.mean(1, keepdims=True)
    spread = centred.std(1, keepdims=True)
    return np.asarray(np.divide(centred, spread, out=np.zeros_like(centred), where=spread >= FLAT))
