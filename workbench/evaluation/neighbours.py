"""Exact nearest neighbours in blocks, the same on every machine and for every block size.

Every pair of query and gallery row becomes one 64-bit key: the leading bits of a non-negative float64 gap (one minus
cosine, or squared distance), then the gallery row's place in the order of sample ids. Sorting keys sorts by distance
and breaks ties by the lower id, with no second pass. Gaps are rounded to 2^-36 of their size (2^-35 from 65,536 gallery
rows on, and so on), so that the last bits, which differ between matrix kernels, have no effect.
"""

from collections.abc import Iterator
from typing import get_args

import numpy as np
import torch

from workbench.evaluation.compared_rows import compared_rows, without_copies
from workbench.evaluation.conventions import NOISE, row_mask
from workbench.events import Distance
from workbench.problem import Problem

# Bytes of gaps in memory at once: on a CPU larger blocks do not fit its cache, a GPU wants fewer launches.
BLOCK_BYTES = {"cpu": 16 * 2**20, "cuda": 64 * 2**20}


class Gallery:
    """Embeddings to search in.

    Args:
        embeddings: [n, d] finite numbers, n >= 1.
        ids: [n] int64, unique; the lower id wins a tie. Default: row numbers.
        distance: "cosine" (a zero vector has similarity 0 to everything), "l2", or "hyperbolic": of points in the
            Poincaré ball of radius 1.
        device: where blocks are computed. Float64 is needed, so "mps" uses the CPU instead.

    Raises:
        Problem: embeddings are empty, of the wrong shape, not finite, or not in the ball; ids repeat; the distance is
            unknown.
    """

    def __init__(
        self,
        embeddings: np.ndarray,
        ids: np.ndarray | None = None,
        distance: Distance = "cosine",
        device: str | torch.device = "cpu",
    ) -> None:
        if distance not in get_args(Distance):
            known = ", ".join(get_args(Distance))
            raise Problem(f"There is no distance named {distance!r}.", todo=f"Known: {known}.")
        self.distance = distance
        self.device = torch.device(device if torch.device(device).type != "mps" else "cpu")
        vectors = compared_rows(embeddings, distance)
        self.count = len(vectors)
        self.order = np.arange(self.count) if ids is None else _order(ids, self.count)
        self.place = np.empty(self.count, dtype=np.int64)  # gallery row -> place in the order of ids
        self.place[self.order] = np.arange(self.count)
        distinct, copies = without_copies(vectors[self.order])
        self.columns = self.on_device(distinct)  # [distinct, d] float64
        self.norms = self.columns.square().sum(1)  # [distinct]
        # Copies share one computed column, because two matrix kernels may round the same product differently.
        self.copies = None if copies is None else self.on_device(copies)  # place -> row of `columns`
        self._places = self.on_device(np.arange(self.count))
        self._row_mask = row_mask(self.count)

    def blocks(
        self, queries: np.ndarray, own: np.ndarray | None = None, block_bytes: int | None = None
    ) -> Iterator[tuple[slice, torch.Tensor]]:
        """Yield (rows of `queries`, keys [rows, n] int64); the keys are overwritten by the next block.

        Args:
            queries: [m, d].
            own: [m] the gallery row that is the query itself and is left out (its key is the last), or None.
            block_bytes: upper limit of the float64 block; by default that of the device.
        """
        yield from self.blocks_of(self.prepared(queries), own, block_bytes)

    def prepared(self, queries: np.ndarray) -> torch.Tensor:
        """Queries [m, d] for `blocks_of`: float64 on the device, normalised for cosine. Raises Problem as Gallery."""
        vectors = self.on_device(compared_rows(queries, self.distance))
        width = self.columns.shape[1]
        if vectors.shape[1] != width:
            raise Problem(f"The queries have {vectors.shape[1]} dimensions, the gallery {width}.")
        return vectors

    def blocks_of(
        self, vectors: torch.Tensor, own: np.ndarray | None = None, block_bytes: int | None = None
    ) -> Iterator[tuple[slice, torch.Tensor]]:
        """As `blocks`, for prepared queries."""
        block_bytes = block_bytes or BLOCK_BYTES.get(self.device.type, BLOCK_BYTES["cpu"])
        rows = max(1, block_bytes // (8 * self.count))
        own_places = None if own is None else self.on_device(self.place[own])
        for start in range(0, len(vectors), rows):
            part = slice(start, min(start + rows, len(vectors)))
            gaps = self._gaps(vectors[part])
            if own_places is not None:
                gaps.scatter_(1, own_places[part, None], torch.inf)
            yield part, self.keys_from(gaps, self._places)

    def keys_from(self, gaps: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """Keys of non-negative float64 gaps to gallery places; overwrites the gaps."""
        keys = gaps.view(torch.int64)  # the bits of non-negative float64 numbers sort like the numbers
        return keys.add_((self._row_mask + 1) >> 1).bitwise_and_(~self._row_mask).add_(places)

    def gaps_in(self, keys: torch.Tensor) -> torch.Tensor:
        """The rounded float64 gaps of keys."""
        return (keys & ~self._row_mask).view(torch.float64)

    def smallest(self, keys: torch.Tensor, k: int) -> torch.Tensor:
        """The k smallest keys of every row, ascending: [rows, k]. Reorders each row of `keys` in place."""
        if keys.device.type != "cpu":
            return torch.topk(keys, k, dim=1, largest=False, sorted=True).values
        table = keys.numpy()  # numpy's partition and sort of int64 are several times faster than torch's
        if k < table.shape[1]:
            table.partition(k - 1 if k else 0, axis=1)
        return torch.from_numpy(np.sort(table[:, :k], axis=1))

    def places_of(self, keys: torch.Tensor) -> torch.Tensor:
        """Places, in the order of ids, that the keys contain; `order[place]` is the gallery row."""
        return keys & self._row_mask

    def similarities_of(self, keys: torch.Tensor) -> torch.Tensor:
        """Float64: cosine, or minus the distance, hyperbolic ones in the ball of radius 1."""
        gaps = self.gaps_in(keys)
        if self.distance == "hyperbolic":
            return -torch.acosh(1 + 2 * gaps)
        return 1 - gaps if self.distance == "cosine" else -gaps.sqrt()

    def _gaps(self, queries: torch.Tensor) -> torch.Tensor:
        """[rows, n] float64, >= 0: 1 - cosine, the squared distance, or (cosh D - 1) / 2 of the hyperbolic D."""
        gaps = self._finished(torch.mm(queries, self.columns.T), (queries**2).sum(1, keepdim=True), self.norms)
        return gaps if self.copies is None else gaps.index_select(1, self.copies)

    def gaps_between(self, queries: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
        """Gaps [r, c] of queries [r, 1, d] to vectors [r, c, d], both prepared."""
        products = (queries * vectors).sum(2)
        return self._finished(products, (queries**2).sum(2), (vectors**2).sum(2))

    def _finished(self, products: torch.Tensor, of_queries: torch.Tensor, of_gallery: torch.Tensor) -> torch.Tensor:
        """Gaps from products and squared norms, in place."""
        if self.distance == "cosine":
            return torch.threshold_(products.neg_().add_(1), NOISE, 0.0)
        gaps = products.mul_(-2).add_(of_queries).add_(of_gallery)
        gaps.masked_fill_(gaps < NOISE * of_queries, 0.0)
        if self.distance == "hyperbolic":
            gaps.div_(1 - of_queries).div_(1 - of_gallery)
        return gaps.clamp_(min=0.0)  # a query at the origin

    def on_device(self, array: np.ndarray) -> torch.Tensor:
        """The array as a tensor where blocks are computed."""
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)


def nearest(
    queries: np.ndarray,
    gallery: np.ndarray,
    k: int,
    distance: Distance = "cosine",
    device: str | torch.device = "cpu",
    ids: np.ndarray | None = None,
    own: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest gallery rows of every query, exact, ties by the lower id (row number without `ids`).

    Args:
        queries, gallery: [m, d] and [n, d].
        k: at least 0; limited to the size of the gallery (minus one with `own`).
        ids: [n] sample ids of the gallery.
        own: [m] gallery row of each query, which is left out of its neighbours.

    Returns:
        rows [m, k] int64 of the gallery, best first; similarities [m, k] float32 (cosine, or minus the distance).
    """
    searched = Gallery(gallery, ids, distance, device)
    k = min(k, searched.count - (own is not None))
    rows = np.empty((len(queries), k), dtype=np.int64)
    similarities = np.empty((len(queries), k), dtype=np.float32)
    for part, keys in searched.blocks(queries, own):
        best = searched.smallest(keys, k)
        rows[part] = searched.order[searched.places_of(best).cpu().numpy()]
        similarities[part] = searched.similarities_of(best).cpu().numpy()
    return rows, similarities


def _order(ids: np.ndarray, count: int) -> np.ndarray:
    """Rows in ascending order of id."""
    ids = np.asarray(ids)
    if ids.shape != (count,):
        raise Problem(f"There are {count:,} embeddings but {len(ids):,} sample ids.")
    order = np.argsort(ids, kind="stable")
    if (np.diff(ids[order]) == 0).any():
        raise Problem("Two embeddings have the same sample id, so a query cannot be left out of its own neighbours.")
    return order
