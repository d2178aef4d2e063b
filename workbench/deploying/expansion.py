"""Means of an embedding and its neighbours: alpha query expansion, and the same of each gallery image beforehand.

Radenovic, Tolias, Chum: "Fine-tuning CNN image retrieval with no human annotation", TPAMI 2019, section 3.4: the query
becomes the mean of itself and its k nearest, each weighted by its cosine to the power of alpha; alpha 3. As in the
public code of Gordo et al., "End-to-end learning of deep visual representations for image retrieval", IJCV 2017, the
mean is brought to unit length again, and the query itself has the weight 1. Gordo et al. expand the gallery likewise
(database-side augmentation). Neither paper says what a negative cosine weighs. Here it weighs 0: an odd power would
subtract an image, and a fractional one has no value.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.deploying.neighbourhood import Neighbourhood
from workbench.deploying.ranking import nearest, ranked, squared_gaps
from workbench.evaluation.conventions import Between, without_last_bits

ALPHA = 3
HELD = 2**22  # numbers of neighbours' embeddings in memory at once (32 MB)


def expanded(vectors: np.ndarray, gallery: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Weighted means [m, d] float32 of unit length: each vector, and its neighbours by their cosine to the third power.

    Args:
        vectors: [m, d] and gallery: [n, d], of unit length. rows: [m, k] gallery rows, the neighbours of each vector.
    """
    means = np.empty(vectors.shape, np.float32)
    step = max(1, HELD // max(1, rows.shape[1] * vectors.shape[1]))
    for start in range(0, len(vectors), step):
        part = slice(start, start + step)
        own, near = vectors[part].astype(np.float64), gallery[rows[part]].astype(np.float64)
        weights = np.maximum(np.einsum("md,mkd->mk", own, near), 0) ** ALPHA
        total = own + np.einsum("mk,mkd->md", weights, near)
        means[part] = total / np.linalg.norm(total, axis=1, keepdims=True)
    return means


@dataclass(frozen=True, slots=True, eq=False)
class QueryExpansion:
    """A scan for the nearest of each query, and a second one for those of its mean with them."""

    gallery: np.ndarray  # [n, d] float32 of unit length
    index: Any  # faiss.Index of the gallery
    size: int  # neighbours in the mean

    def rankings(
        self, queries: np.ndarray, own: np.ndarray | None, depth: int, between: Between
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """As `ranking.nearest` for the expanded queries; a query's own row is in neither search."""
        first = nearest(queries, self.gallery, own, self.size, between)
        asked = np.concatenate([expanded(queries[part], self.gallery, rows) for part, rows in first])
        yield from nearest(asked, self.gallery, own, depth, between)

    def search(self, queries: np.ndarray, depth: int) -> np.ndarray:
        """Gallery rows [m, depth] of queries [m, d] from outside the gallery, by both scans of the index."""
        rows = self.index.search(queries, self.size)[1]
        return np.asarray(self.index.search(expanded(queries, self.gallery, rows), depth)[1])


@dataclass(frozen=True, slots=True, eq=False)
class Augmented:
    """A gallery in which each image is a mean with its neighbours. A query is searched as it is.

    Where queries are gallery images, a query must not be part of what it is to find: for each query, the means that
    contain it are made again, with the next neighbour in its place.
    """

    gallery: np.ndarray  # [n, d] float32 of unit length
    means: np.ndarray  # [n, d] float32 of unit length, as the index holds them
    index: Any  # faiss.Index of the means
    near: Neighbourhood  # at least one deeper than `size`
    size: int  # neighbours in each mean

    def rankings(
        self, queries: np.ndarray, own: np.ndarray | None, depth: int, between: Between
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """As `ranking.nearest`, with means that know neither the query's own row nor its embedding."""
        if own is None:
            yield from nearest(queries, self.means, None, depth, between)
            return
        depth = min(depth, len(self.means) - 1)
        holders = self.near.rows[:, : self.size].ravel()  # who is in the mean of row (place // size)
        order = np.argsort(holders, kind="stable")
        ends = np.searchsorted(holders[order], np.arange(len(self.means) + 1))
        for part, gaps in squared_gaps(queries, self.means, between):
            for row, number in enumerate(range(part.start, part.stop)):
                itself = own[number]
                with_it = order[ends[itself] : ends[itself + 1]] // self.size
                means = self.without(with_it, itself).astype(np.float64)
                gaps[row, with_it] = ((means - queries[number]) ** 2).sum(axis=1)
                gaps[row, itself] = np.inf
            yield part, ranked(without_last_bits(gaps, len(self.means)), depth)

    def without(self, rows: np.ndarray, itself: int) -> np.ndarray:
        """The means [k, d] float32 of gallery rows [k] as they are in a gallery without the image `itself`."""
        listed = self.near.rows[rows, : self.size + 1]
        stays = listed != itself
        return expanded(self.gallery[rows], self.gallery, listed[stays].reshape(len(rows), self.size))

    def search(self, queries: np.ndarray, depth: int) -> np.ndarray:
        """Gallery rows [m, depth] of queries [m, d] from outside the gallery."""
        return np.asarray(self.index.search(queries, depth)[1])


def augmented(gallery: np.ndarray, near: Neighbourhood, size: int) -> np.ndarray:
    """Each gallery image's mean [n, d] float32 with its `size` nearest others."""
    return expanded(gallery, gallery, near.rows[:, :size])
