"""Embeddings of several networks as one: side by side ("concatenated", Musgrave et al., 2020). No torch."""

from collections.abc import Iterator, Sequence

import numpy as np

ROWS = 4096  # normalised at a time


def side_by_side(
    parts: Sequence[np.ndarray],
    normalised: Sequence[bool],
    orders: Sequence[np.ndarray] | None = None,
    scales: Sequence[float] | None = None,
) -> np.ndarray:
    """The embeddings of the same images, one network after the other.

    Args:
        parts: at least one table [n, d]; d may differ. Memory maps are read a few rows at a time.
        normalised: for each part whether its rows get length 1, as cosine asks; a zero vector stays zero.
        orders: for each part its rows [n] in the order of the result; as they are by default.
        scales: factor of each part after that; 1 by default.

    Returns:
        [n, sum of all d] float64.

    Raises:
        ValueError: the numbers of rows differ.
    """
    if len({len(part) for part in parts}) > 1:
        raise ValueError(f"tables of {', '.join(str(len(part)) for part in parts)} rows")
    together = np.empty((len(parts[0]), sum(part.shape[1] for part in parts)))
    start = 0
    for place, (part, unit) in enumerate(zip(parts, normalised, strict=True)):
        columns = slice(start, start := start + part.shape[1])
        for rows, vectors in _read(part, unit, np.arange(len(part)) if orders is None else orders[place]):
            together[rows, columns] = vectors if scales is None else vectors * scales[place]
    return together


def spread(vectors: np.ndarray, normalised: bool) -> float:
    """Root mean square distance of the embeddings [n, d] from their mean; 0 where all are the same.

    Args:
        normalised: whether their rows get length 1 before.
    """
    sums, squares = np.zeros(vectors.shape[1]), 0.0
    for _, part in _read(vectors, normalised, np.arange(len(vectors))):
        sums += part.sum(0)
        squares += float(np.square(part).sum())
    mean = sums / len(vectors)
    return float(np.sqrt(max(0.0, squares / len(vectors) - float(mean @ mean))))


def _read(part: np.ndarray, unit: bool, order: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    for first in range(0, len(order), ROWS):
        rows = slice(first, first + ROWS)
        vectors = part[order[rows]].astype(np.float64)
        if unit:
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            vectors /= np.where(lengths > 0, lengths, 1)
        yield rows, vectors
