"""Nearest neighbours in two passes: float32 finds the candidates, float64 orders them and proves that none is missing.

The neighbours are those of `Gallery.blocks` and `Gallery.smallest` (unless two gaps differ by less than the rounding of
float64), at about the speed of one float32 product: a row whose candidates could be incomplete, by the worst rounding
that float32 allows, is searched again in float64.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from workbench.evaluation.neighbours import Gallery

SLACK = 12  # candidates beside those asked for
ROUNDING = 2.0**-23  # twice that of one float32 operation
WORTHWHILE = 16  # times more gallery than neighbours: else one pass in float64 is as fast
GATHERED = 2**20  # numbers of candidates' vectors held at once (8 MB)
CHUNK = 64  # gaps whose minimum stands for them in the first look
BLOCK = 2**24  # gaps held at once (64 MB): larger products are faster


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A block of queries."""

    part: slice  # of the queries
    best: torch.Tensor  # [rows, k] int64 keys, ascending
    gaps: torch.Tensor  # [rows, n] float32, infinite at the query itself
    errors: torch.Tensor  # [rows] float32: how far a gap may be off


def pays(gallery: Gallery, k: int) -> bool:
    """Whether two passes are the faster way: on a processor, for few of many."""
    return gallery.device.type == "cpu" and gallery.count >= WORTHWHILE * (k + SLACK)


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
        self._narrow = gallery.columns.float()  # [distinct, d]
        self._own = None if own is None else torch.from_numpy(gallery.place[own])
        norms = gallery.columns.square().sum(1)
        spread = norms if gallery.copies is None else norms[gallery.copies]
        self._norms, self._longest = spread.float(), float(norms.max().sqrt())

    def blocks(self, k: int) -> Iterator[Found]:
        """Blocks of queries with the k smallest keys of each."""
        gallery = self._gallery
        width = -(-gallery.count // CHUNK) * CHUNK
        rows = max(1, min(BLOCK // width, len(self._queries)))
        self._buffer = torch.full((rows, width), torch.inf)
        for start in range(0, len(self._queries), rows):
            part = slice(start, min(start + rows, len(self._queries)))
            gaps, errors = self._gaps(part)
            best, proved = self._best(part, gaps, errors, k)
            unsure = torch.nonzero(~proved)[:, 0]
            if len(unsure):
                best[unsure] = self._again(part, unsure, k)
            yield Found(part, best, gaps, errors)

    def rank_of(self, found: Found, rows: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
        """How many keys of the gallery are at most `keys` [r]: the ranks, from 1, of those keys in these rows."""
        gaps, errors = found.gaps[rows], found.errors[rows, None]
        at = self._gallery.gaps_in(keys)[:, None].float()
        near, far = gaps < at - errors, gaps > at + errors
        sure = near.sum(1)
        unsure, places = torch.nonzero(~(near | far), as_tuple=True)
        exact = self._keys(found.part.start + rows[unsure], places[:, None])[:, 0]
        return sure + torch.bincount(unsure, weights=(exact <= keys[unsure]).double(), minlength=len(rows)).long()

    def keys_of(self, found: Found, rows: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """Exact keys [r, c] of gallery places [r, c] for some rows of a block; an own place has the last key."""
        return self._keys(found.part.start + rows, places)

    def _gaps(self, part: slice) -> tuple[torch.Tensor, torch.Tensor]:
        gallery, queries = self._gallery, self._queries[part]
        gaps = self._buffer[: len(queries), : gallery.count]
        if gallery.copies is None:
            torch.mm(queries.float(), self._narrow.T, out=gaps)
        else:
            gaps.copy_(torch.mm(queries.float(), self._narrow.T).index_select(1, gallery.copies))
        wide = ROUNDING * (queries.shape[1] + 8)
        if gallery.distance == "cosine":
            gaps.neg_().add_(1)
            errors = torch.full((len(queries),), wide)
        else:
            lengths = queries.square().sum(1)
            gaps.mul_(-2).add_(self._norms).add_(lengths.float()[:, None])
            errors = (wide * (lengths.sqrt() + self._longest).square()).float()
        if self._own is not None:
            gaps.scatter_(1, self._own[part, None], torch.inf)
        return gaps, errors

    def _best(self, part: slice, gaps: torch.Tensor, errors: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The k best of the candidates, and for which rows nothing outside of them can be among the k best."""
        near, places = self._candidates(len(gaps), k + SLACK)
        keys = self._keys(torch.arange(part.start, part.stop), places).sort(1).values
        last = near.amax(1)  # all others are at least as far, as float32 sees it
        proved = torch.ones(len(gaps), dtype=torch.bool)
        if k:
            proved = self._gallery.gaps_in(keys[:, k - 1]) < (last - 2 * errors).double()
        return keys[:, :k].contiguous(), proved

    def _candidates(self, rows: int, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The `count` smallest gaps of each row and their places, in no order."""
        chunks = self._buffer[:rows].unflatten(1, (-1, CHUNK))
        if chunks.shape[1] < 2 * count:
            return torch.topk(self._buffer[:rows], count, dim=1, largest=False, sorted=False)
        # Each of the smallest lies in one of as many chunks with the smallest minima.
        picked = torch.topk(chunks.amin(2), count, dim=1, largest=False, sorted=False).indices
        inside = chunks.gather(1, picked[:, :, None].expand(-1, -1, CHUNK)).flatten(1)
        near, at = torch.topk(inside, count, dim=1, largest=False, sorted=False)
        return near, picked.gather(1, at // CHUNK) * CHUNK + at % CHUNK

    def _keys(self, rows: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """Keys [r, c] in float64 of queries `rows` [r] and gallery places [r, c]."""
        gallery = self._gallery
        found = torch.empty(places.shape, dtype=torch.int64)
        step = max(1, GATHERED // (max(1, places.shape[1]) * gallery.columns.shape[1]))
        for start in range(0, len(rows), step):
            at, of = places[start : start + step], rows[start : start + step]
            columns = at if gallery.copies is None else gallery.copies[at]
            gaps = gallery.gaps_between(self._queries[of][:, None], gallery.columns[columns])
            if self._own is not None:
                gaps.masked_fill_(at == self._own[of, None], torch.inf)
            found[start : start + step] = gallery.keys_from(gaps, at)
        return found

    def _again(self, part: slice, rows: torch.Tensor, k: int) -> torch.Tensor:
        """The k smallest keys of some rows by the float64 pass."""
        gallery, picked = self._gallery, part.start + rows
        own = None if self._own is None else gallery.order[self._own[picked].numpy()]
        found = [gallery.smallest(keys, k).clone() for _, keys in gallery.blocks_of(self._queries[picked], own)]
        return torch.cat(found)
