"""Exact nearest neighbours of embeddings, searched once for all parts of a map that need them."""

import numpy as np

from workbench.progress import Progress, quiet

BLOCK = 4_096  # queries searched between two reports


class Exact:
    """Neighbours by Euclidean distance, which for unit vectors have the same ranks as by cosine.

    The layout, the fractions of kept neighbours and the doubts need different numbers of them: the widest search so far
    answers the others.

    Args:
        vectors: [n, d] float32, from vectors.prepared.
    """

    def __init__(self, vectors: np.ndarray) -> None:
        import faiss  # most of a second, which a map without neighbours does not need

        self._mean = vectors.mean(axis=0)
        self._centred = self._moved(vectors)
        self._index = faiss.IndexFlatL2(vectors.shape[1])
        self._index.add(self._centred)
        self._found = np.empty((len(vectors), 0), np.int64), np.empty((len(vectors), 0), np.float32)

    def others(self, k: int, progress: Progress = quiet) -> tuple[np.ndarray, np.ndarray]:
        """The nearest other points of each, nearest first.

        Returns:
            rows int64 and squared distances float32, both [n, min(k, n - 1)].
        """
        k = min(k, len(self._centred) - 1)
        if self._found[0].shape[1] < k:
            rows, squares = self._search(self._centred, k + 1, progress)
            keep = others(rows)
            self._found = rows[keep].reshape(len(rows), k), squares[keep].reshape(len(rows), k)
        return self._found[0][:, :k], self._found[1][:, :k]

    def nearest(self, vectors: np.ndarray, k: int, progress: Progress = quiet) -> tuple[np.ndarray, np.ndarray]:
        """The k nearest points of each of other vectors [q, d], as `others`: rows and squared distances [q, k]."""
        return self._search(self._moved(vectors), k, progress)

    def _moved(self, vectors: np.ndarray) -> np.ndarray:
        """Centred, because near points then keep more digits."""
        return np.ascontiguousarray(vectors - self._mean, np.float32)

    def _search(self, vectors: np.ndarray, k: int, progress: Progress) -> tuple[np.ndarray, np.ndarray]:
        rows, squares = np.empty((len(vectors), k), np.int64), np.empty((len(vectors), k), np.float32)
        for start in range(0, len(vectors), BLOCK):
            progress("Searching neighbours", start, len(vectors))
            part = slice(start, start + BLOCK)
            squares[part], rows[part] = self._index.search(vectors[part], k)
        return rows, np.maximum(squares, 0)


def others(rows: np.ndarray) -> np.ndarray:
    """Which of the nearest points [n, k] of each point are kept, bool: all but itself, in each row all but one.

    If there are more copies than neighbours the point itself may be missing, and the last one is dropped.
    """
    same = rows == np.arange(len(rows))[:, None]
    drop = np.where(same.any(axis=1), same.argmax(axis=1), rows.shape[1] - 1)
    keep: np.ndarray = np.arange(rows.shape[1]) != drop[:, None]
    return keep
