"""Nearest neighbours in two passes: float32 finds candidates, float64 sorts them and proves that none is missing.

The neighbours are those of `Gallery.blocks` and `Gallery.smallest` (unless two gaps differ by less than the rounding of
float64), at about the speed of one float32 product: a row whose candidates could be incomplete, by the worst rounding
that float32 allows, is searched again in float64.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from threading import Lock

import numpy as np
import torch

from workbench.evaluation.neighbours import Gallery

SLACK = 12  # candidates beyond those asked for
ROUNDING = 2.0**-23  # twice that of one float32 operation
WORTHWHILE = 16  # gallery rows per neighbour: below it one pass in float64 is as fast
GATHERED = 2**20  # numbers of candidates' vectors in memory at once (8 MB) ...
GATHERED_ON_GPU = 2**25  # ... and on a GPU, which wants fewer launches
CHUNK = 64  # gaps that their minimum represents in the first pass
BLOCK = 2**22  # scores in memory at once (16 MB): larger blocks would go back to the system and be zeroed again ...
BLOCK_ON_GPU = 2**28  # ... and on a GPU (1 GiB), if an eighth of its free memory is enough for them
RANKED = 2**24  # scores that are ranked at once: of nearly equal samples each takes 50 bytes
MANY = 16  # if more than one in MANY scores is unsure, a pass in float64 is faster
RANGE = 1e-30, 1e36  # squared lengths that float32 holds with their rounding
INSIDE_ON_GPU = 2**26  # scores in the candidates' chunks at once
_PRECISION = Lock()  # of the products of all threads


@dataclass(frozen=True, slots=True, eq=False)
class Searched:
    """A block of queries."""

    part: slice  # of the queries
    best: torch.Tensor  # [rows, k] int64 keys, ascending
    scores: torch.Tensor  # [rows, n and padding] float32: gaps minus the query's part; infinite for the query itself
    own_part: torch.Tensor  # [rows] float64: a gap is a score plus this
    errors: torch.Tensor  # [rows] float64: the largest error of a score


def pays(gallery: Gallery, k: int) -> bool:
    """Whether two passes are faster: for few neighbours in a large gallery."""
    return gallery.distance != "hyperbolic" and gallery.count >= WORTHWHILE * (k + SLACK)


def in_range(gallery: Gallery, queries: np.ndarray) -> bool:
    """Whether float32 can hold the squared distances: of the longest vectors, neither too long nor too short."""
    if gallery.distance == "cosine":
        return True
    longest = float(np.einsum("ij,ij->i", queries, queries, dtype=np.float64).max(initial=0.0))
    low, high = RANGE
    return low < float(gallery.norms.max()) < high and longest < high


def _rows_of_block(gallery: Gallery, queries: int) -> int:
    """How many queries are compared with the gallery at a time."""
    if gallery.device.type != "cuda":
        return max(1, min(BLOCK // gallery.count, queries))
    cached = torch.cuda.memory_reserved(gallery.device) - torch.cuda.memory_allocated(gallery.device)
    free = torch.cuda.mem_get_info(gallery.device)[0] + cached
    return max(1, min(BLOCK_ON_GPU // gallery.count, free // (8 * 4 * gallery.count), queries))


class TwoPass:
    """Searches one gallery; `pays` says when.

    Args:
        gallery: where to look.
        queries: [m, d].
        own: [m] the gallery row that is the query itself and is left out, or None.
    """

    def __init__(self, gallery: Gallery, queries: np.ndarray, own: np.ndarray | None) -> None:
        self._gallery = gallery
        self._queries = gallery.prepared(queries)
        self._own = None if own is None else gallery.on_device(gallery.place[own])
        self._longest = float(gallery.norms.max().sqrt())
        cosine = gallery.distance == "cosine"
        self._gathered = GATHERED_ON_GPU if gallery.device.type == "cuda" else GATHERED
        bias = None if cosine else _padded(gallery.norms.float())
        table = _padded(gallery.columns.float())
        self._rows = _rows_of_block(gallery, len(self._queries))
        self._product = Product(table, bias, self._rows)
        self._factor = -1 if cosine else -2
        self._copies = None if gallery.copies is None else _padded(gallery.copies)

    def blocks(self, k: int) -> Iterator[Searched]:
        """Blocks of queries with the k smallest keys of each."""
        rows = self._rows
        if self._gallery.device.type == "cuda":
            rows = min(rows, max(1, INSIDE_ON_GPU // ((k + SLACK) * CHUNK)))
        for start in range(0, len(self._queries), rows):
            part = slice(start, min(start + rows, len(self._queries)))
            scores, own_part, errors = self._scores(part)
            best, proved = self._best(part, scores, own_part - 2 * errors, k)
            unsure = torch.nonzero(~proved)[:, 0]
            if len(unsure):
                best[unsure] = self._again(part, unsure, k)
            yield Searched(part, best, scores, own_part, errors)

    def rank_of(self, searched: Searched, rows: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
        """How many keys of the gallery are at most `keys` [r]: the ranks, from 1, of those keys in these rows."""
        step = max(1, RANKED // self._gallery.count)
        parts = [self._ranks(searched, *part) for part in zip(rows.split(step), keys.split(step), strict=True)]
        return torch.cat(parts)

    def _ranks(self, searched: Searched, rows: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
        """As `rank_of`, of a few rows."""
        scores, errors = searched.scores[rows, : self._gallery.count], searched.errors[rows]
        at = self._gallery.gaps_in(keys) - searched.own_part[rows]
        near, far = scores < (at - errors).float()[:, None], scores > (at + errors).float()[:, None]
        sure, open_ = near.sum(1), ~(near | far)
        if int(open_.sum()) > open_.numel() // MANY:
            return self._ranks_again(searched.part, rows, keys)
        unsure, places = torch.nonzero(open_, as_tuple=True)
        exact = self._keys(searched.part.start + rows[unsure], places[:, None])[:, 0]
        return sure + torch.bincount(unsure[exact <= keys[unsure]], minlength=len(rows))

    def keys_of(self, searched: Searched, rows: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """Exact keys [r, c] of gallery places [r, c] for some rows of a block; an own place has the last key."""
        return self._keys(searched.part.start + rows, places)

    def _scores(self, part: slice) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Scores of a block [rows, n and padding], what to add to get gaps [rows], and their largest errors [rows]."""
        gallery, queries = self._gallery, self._queries[part]
        scores = self._product(self._factor * queries.float())
        if self._copies is not None:
            scores = scores.index_select(1, self._copies)
        scores[:, gallery.count :] = torch.inf
        squares = queries.square().sum(1)
        own_part, lengths = squares, (squares.sqrt() + self._longest).square()
        if gallery.distance == "cosine":
            own_part = lengths = torch.ones_like(squares)
        if self._own is not None:
            scores.scatter_(1, self._own[part, None], torch.inf)
        return scores, own_part, ROUNDING * (queries.shape[1] + 8) * lengths

    def _best(
        self, part: slice, scores: torch.Tensor, sure_part: torch.Tensor, k: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The k best of the candidates, and for which rows nothing outside of them can be among the k best."""
        near, places = _candidates(scores, k + SLACK)
        rows = torch.arange(part.start, part.stop, device=scores.device)
        keys = self._keys(rows, places).sort(1).values
        last = near.amax(1)  # in float32, all others are at least as far
        proved = torch.ones(len(scores), dtype=torch.bool, device=scores.device)
        if k:
            proved = self._gallery.gaps_in(keys[:, k - 1]) < last.double() + sure_part
        return keys[:, :k].contiguous(), proved

    def _keys(self, rows: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """Keys [r, c] in float64 of queries `rows` [r] and gallery places [r, c]."""
        gallery = self._gallery
        keys = torch.empty(places.shape, dtype=torch.int64, device=places.device)
        step = max(1, self._gathered // (max(1, places.shape[1]) * gallery.columns.shape[1]))
        for start in range(0, len(rows), step):
            at, of = places[start : start + step], rows[start : start + step]
            columns = at if gallery.copies is None else gallery.copies[at]
            gaps = gallery.gaps_between(self._queries[of][:, None], gallery.columns[columns])
            if self._own is not None:
                gaps.masked_fill_(at == self._own[of, None], torch.inf)
            keys[start : start + step] = gallery.keys_from(gaps, at)
        return keys

    def _ranks_again(self, part: slice, rows: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
        """As `rank_of`, by the float64 pass."""
        ranks = []
        for block, its_keys in self._float64_blocks(part, rows):
            wanted = its_keys.gather(1, self._gallery.places_of(keys[block])[:, None])  # as this pass rounds it
            ranks.append((its_keys <= wanted).sum(1))
        return torch.cat(ranks)

    def _again(self, part: slice, rows: torch.Tensor, k: int) -> torch.Tensor:
        """The k smallest keys of some rows by the float64 pass."""
        return torch.cat([self._gallery.smallest(keys, k).clone() for _, keys in self._float64_blocks(part, rows)])

    def _float64_blocks(self, part: slice, rows: torch.Tensor) -> Iterator[tuple[slice, torch.Tensor]]:
        """`Gallery.blocks_of` of some rows of a block."""
        picked = part.start + rows
        own = None if self._own is None else self._gallery.order[self._own[picked].cpu().numpy()]
        return self._gallery.blocks_of(self._queries[picked], own)


class Product:
    """queries vectors^T + bias in float32, for many blocks of queries against the same vectors.

    oneDNN's product, with the vectors packed once, is up to 1.7 times as fast as torch.mm on processors for which MKL
    was not made. torch offers it under private names that may change, so it is tested before it is used.
    """

    def __init__(self, vectors: torch.Tensor, bias: torch.Tensor | None, rows: int) -> None:
        self._vectors, self._bias = vectors, bias
        packs = ONEDNN and vectors.device.type == "cpu"
        self._packed = torch.ops.mkldnn._reorder_linear_weight(vectors, rows) if packs else None

    def __call__(self, queries: torch.Tensor) -> torch.Tensor:
        if self._packed is None:
            with without_tf32() if queries.device.type == "cuda" else contextlib.nullcontext():
                return torch.nn.functional.linear(queries, self._vectors, self._bias)
        scores: torch.Tensor = torch.ops.mkldnn._linear_pointwise(queries, self._packed, self._bias, "none", [], "")
        return scores


@contextlib.contextmanager
def without_tf32() -> Iterator[None]:
    """Products of a GPU in float32 proper, which the bounds of errors are for; torch's default, that others may set.

    One thread at a time: the setting is one for all, and of two that overlap the first to end would take it from the
    other, which would then keep it.
    """
    products = torch.backends.cuda.matmul
    with _PRECISION:
        before, products.fp32_precision = products.fp32_precision, "ieee"
        try:
            yield
        finally:
            products.fp32_precision = before


def _has_onednn() -> bool:
    matrix, bias = torch.arange(6, dtype=torch.float32).view(2, 3), torch.ones(2)
    try:
        packed = torch.ops.mkldnn._reorder_linear_weight(matrix, 2)
        product = torch.ops.mkldnn._linear_pointwise(matrix, packed, bias, "none", [], "")
    except (AttributeError, NotImplementedError, RuntimeError, TypeError):
        return False
    return torch.equal(product, matrix @ matrix.T + bias)


ONEDNN = _has_onednn()


def _padded(rows: torch.Tensor) -> torch.Tensor:
    """Pad with zero rows to a multiple of the chunk size."""
    padded = rows.new_zeros(-(-len(rows) // CHUNK) * CHUNK, *rows.shape[1:])
    padded[: len(rows)] = rows
    return padded


def _candidates(scores: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The `count` smallest scores of each row and their places, in no order."""
    chunks = scores.unflatten(1, (-1, CHUNK))
    if chunks.shape[1] < 2 * count:
        return torch.topk(scores, count, dim=1, largest=False, sorted=False)
    # The `count` smallest are in the `count` chunks with the smallest minima.
    picked = torch.topk(chunks.amin(2), count, dim=1, largest=False, sorted=False).indices
    inside = chunks.gather(1, picked[:, :, None].expand(-1, -1, CHUNK)).flatten(1)
    near, at = torch.topk(inside, count, dim=1, largest=False, sorted=False)
    return near, picked.gather(1, at // CHUNK) * CHUNK + at % CHUNK
