"""How far a map can be trusted (Venna and Kaski, 2001): are neighbours on the map true, and are true ones kept?"""

from dataclasses import dataclass

import numpy as np

NEIGHBOURS = 15
PAIRS = 5_000**2  # of points that are measured: all up to 5,000 points, those of a sample of queries beyond
BLOCK = 2**21  # pairs in memory at once


@dataclass(frozen=True, slots=True)
class Trust:
    """Both are 1 for a perfect map and about a half for a random one."""

    trustworthiness: float  # neighbours on the map that are far in the embedding lower it
    continuity: float  # neighbours in the embedding that are far on the map lower it
    neighbours: int  # k
    queries: int  # points whose neighbours were measured; each is ranked among all points


def trust(vectors: np.ndarray, points: np.ndarray, neighbours: int = NEIGHBOURS, seed: int = 0) -> Trust | None:
    """Trustworthiness and continuity of a map; None for fewer than three points.

    Up to 5,000 points every point is a query and the value is exact; beyond, a seeded sample of queries represents all.

    Args:
        vectors: [n, d], normalised for cosine, for which Euclidean ranks are the same.
        points: [n, k] of the map, k being 2 or 3.
        neighbours: k, lowered to (n - 1) // 2 where there are too few points.
    """
    count = len(vectors)
    k = min(neighbours, (count - 1) // 2)
    if k < 1:
        return None
    queries = np.arange(count)
    if count * count > PAIRS:
        queries = np.sort(np.random.default_rng(seed).choice(count, PAIRS // count, replace=False))
    high, low = (_Distances(table) for table in (vectors, points))
    false_neighbours = lost_neighbours = 0
    step = max(1, BLOCK // count)
    for start in range(0, len(queries), step):
        part = queries[start : start + step]
        near, shown = high.of(part), low.of(part)
        false_neighbours += _excess(shown, near, k)
        lost_neighbours += _excess(near, shown, k)
    worst = len(queries) * k * (2 * count - 3 * k - 1) / 2
    return Trust(1 - false_neighbours / worst, 1 - lost_neighbours / worst, k, len(queries))


class _Distances:
    """Between the rows of a table [n, d]; centred, so that near points keep their digits."""

    def __init__(self, table: np.ndarray) -> None:
        self._table = np.asarray(table, dtype=np.float64) - np.mean(table, axis=0, dtype=np.float64)
        self._norms = np.einsum("ij,ij->i", self._table, self._table)

    def of(self, part: np.ndarray) -> np.ndarray:
        """Squared distances [q, n] float32 from some points to all, infinite to themselves."""
        distances: np.ndarray = (-2 * self._table[part]) @ self._table.T
        distances += self._norms
        distances += self._norms[part, None]
        distances[np.arange(len(part)), part] = np.inf
        return distances.astype(np.float32)


def _excess(chosen: np.ndarray, judged: np.ndarray, k: int) -> int:
    """Sum, over the k nearest in `chosen`, of how far beyond k they rank in `judged`."""
    nearest = np.argpartition(chosen, k - 1, axis=1)[:, :k]
    limits = np.take_along_axis(judged, nearest, axis=1)
    beyond = 0
    for column in range(k):
        ranks = (judged < limits[:, column : column + 1]).sum(axis=1, dtype=np.int32) + 1
        beyond += int(np.maximum(ranks - k, 0).sum())
    return beyond
