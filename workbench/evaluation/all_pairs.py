"""Nearest neighbours of every sample among all others: each pair is multiplied once and used for both of its samples.

A sample's bound is a gap under which more neighbours than it asks for should lie, as a random part of the gallery says.
The float32 product is made tile by tile; pairs under a bound are kept, and float64 orders them. A sample under whose
bound too few were found, or whose candidates could be incomplete by the worst rounding that float32 allows, is `left`
for a search of its own, so a bad bound costs time and never a neighbour.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from workbench.evaluation.neighbours import Gallery
from workbench.evaluation.two_pass import GATHERED, ROUNDING, Product

SIDE = 2048  # samples of a block
ROWS = 512  # samples of a tile's rows; it has SIDE columns, so its 4 MB stay in the processor's cache
PLACE_BITS, GAP_BITS = 22, 31  # of a candidate's 64, beside its row's place in the block
SAMPLED = 32  # one in so many of the gallery tells the bounds ...
FEWEST = 256  # ... but at least so many
HELD = 2**27  # candidates of all samples, at most; about a quarter is held at once, 8 bytes each


@dataclass(frozen=True, slots=True, eq=False)
class Near:
    """A block of samples, all proved to be complete."""

    part: np.ndarray  # [rows] gallery rows of the samples
    best: torch.Tensor  # [rows, deepest] int64 keys, ascending; after the depth that a sample asks for its own key
    own: torch.Tensor  # [rows] gallery places of the samples
    places: torch.Tensor  # [rows, c] gallery places of everything under the bound
    gaps: torch.Tensor  # [rows, c] float64 of those, ascending, as float32 saw them; infinite after the last
    bounds: torch.Tensor  # [rows] float64
    errors: torch.Tensor  # [rows] float64: how far a gap may be off


def pairs_up(gallery: Gallery, depths: np.ndarray) -> bool:
    """Whether the candidates for `depths` [n] neighbours of each sample can be held."""
    count = gallery.count
    expected = _ranks(depths, count).sum() * (count / _sampled(count))
    return count <= 2**PLACE_BITS and bool(expected <= HELD)


class AllPairs:
    """Searches a gallery on the processor for its own samples; `pairs_up` says when.

    Samples are taken in the order of their bounds, so that in a tile one number stands for all of them; "position" is
    a sample's number in that order.

    Args:
        gallery: where to look, and what to look for.
        depths: [n] how many neighbours each gallery row asks for, each less than n.
    """

    def __init__(self, gallery: Gallery, depths: np.ndarray) -> None:
        self.left: list[np.ndarray] = []  # gallery rows still to be searched for
        self._gallery = gallery
        self._offset = 1.0 if gallery.distance == "cosine" else 0.0  # a gap is a score and this
        vectors = gallery.columns if gallery.copies is None else gallery.columns[gallery.copies]
        squares = vectors.square().sum(1)
        lengths = torch.ones_like(squares) if self._offset else (squares.sqrt() + squares.max().sqrt()).square()
        errors = ROUNDING * (vectors.shape[1] + 10) * lengths
        table = vectors.float()
        if not self._offset:
            table = torch.cat([table, squares.float()[:, None], torch.ones(len(table), 1)], 1)
        depths = depths[gallery.order]
        bounds = self._guessed(table, depths)
        order = np.argsort(bounds, kind="stable")
        self._places = torch.from_numpy(order)  # [n] position -> gallery place
        self._bounds, self._depths = bounds[order], depths[order]
        self._errors, self._table = errors[self._places], table[self._places]
        self._most = 256 + 4 * _ranks(self._depths, gallery.count) * gallery.count // _sampled(gallery.count)
        self._counts = np.zeros(gallery.count, dtype=np.int64)
        self._products = [Product(self._columns(part), None, ROWS) for part in self._table.split(SIDE)]
        self._under = np.zeros(ROWS * SIDE, dtype=bool)

    def blocks(self) -> Iterator[Near]:
        """Blocks of samples, each sample once, but for those `left`."""
        found: list[list[np.ndarray]] = [[] for _ in self._products]
        for block, start in enumerate(range(0, len(self._table), SIDE)):
            stop = min(start + SIDE, len(self._table))
            for first in range(start, stop, ROWS):
                rows = slice(first, min(first + ROWS, stop))
                self._tile(rows, block, found, mirrored=False)
                for other in range(block + 1, len(found)):
                    self._tile(rows, other, found, mirrored=True)
            near = self._settled(slice(start, stop), found[block])
            found[block] = []
            if len(near.part):
                yield near

    def keys_of(self, near: Near, rows: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """Exact keys [r, c] of gallery places [r, c] for some rows of a block; an own place has the last key."""
        own = near.own[rows][:, None].expand_as(places)
        return self._keys(own.reshape(-1), places.reshape(-1)).view_as(places)

    def rank_of(self, near: Near, rows: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
        """As that of TwoPass. A row whose key does not lie under its bound is `left`, its rank here means nothing."""
        at, errors, gaps = self._gallery.gaps_in(keys), near.errors[rows], near.gaps[rows]
        beyond = at + errors >= near.bounds[rows]
        self.left.append(near.part[rows[beyond].numpy()])
        sure = (gaps < (at - errors)[:, None]).sum(1)
        unsure, column = torch.nonzero((gaps - at[:, None]).abs() <= errors[:, None], as_tuple=True)
        exact = self._keys(near.own[rows[unsure]], near.places[rows[unsure], column])
        return sure + torch.bincount(unsure, weights=(exact <= keys[unsure]).double(), minlength=len(rows)).long()

    def _guessed(self, table: torch.Tensor, depths: np.ndarray) -> np.ndarray:
        """Bounds [n] float32 of scores, from a random part of the gallery."""
        count = len(table)
        drawn = np.sort(np.random.default_rng(0).choice(count, _sampled(count), replace=False))
        product = Product(self._columns(table[torch.from_numpy(drawn)]), None, ROWS)
        place_of = np.full(count, -1)
        place_of[drawn] = np.arange(len(drawn))
        ranks = _ranks(depths, count)
        bounds = np.empty(count, dtype=np.float32)
        for start in range(0, count, ROWS):
            part = slice(start, min(start + ROWS, count))
            scores, its = product(self._rows(table[part])).numpy(), place_of[part]
            scores[np.flatnonzero(its >= 0), its[its >= 0]] = np.inf
            scores.partition(np.unique(ranks[part]) - 1, axis=1)
            bounds[part] = np.take_along_axis(scores, ranks[part, None] - 1, 1)[:, 0]
        return bounds

    def _rows(self, part: torch.Tensor) -> torch.Tensor:
        """What is multiplied from the left, so that with `_columns` it gives scores."""
        if self._offset:
            return -part
        return torch.cat([-2 * part[:, :-2], part[:, -2:]], 1)

    def _columns(self, part: torch.Tensor) -> torch.Tensor:
        return part if self._offset else torch.cat([part[:, :-2], part[:, -1:], part[:, -2:-1]], 1)

    def _tile(self, rows: slice, other: int, found: list[list[np.ndarray]], mirrored: bool) -> None:
        """Keep the pairs of some rows and a block that lie under the bound of the row or, mirrored, of either."""
        columns = slice(other * SIDE, (other + 1) * SIDE)
        limit = max(self._bounds[rows].max(), self._bounds[columns].max()) if mirrored else self._bounds[rows].max()
        if limit == -np.inf:
            return
        scores = self._products[other](self._rows(self._table[rows])).numpy()
        if not mirrored:
            np.fill_diagonal(scores[:, rows.start - columns.start :], np.inf)
        flat = self._places_under(scores, limit)
        scores_of = scores.ravel()[flat]
        row, column = np.divmod(flat, scores.shape[1])
        row, column = row + rows.start, column + columns.start
        bits = np.maximum(scores_of + np.float32(self._offset), 0).view(np.uint32).astype(np.int64) << PLACE_BITS
        self._keep(found[rows.start // SIDE], row, column, scores_of, bits)
        if mirrored:
            self._keep(found[other], column, row, scores_of, bits)

    def _places_under(self, scores: np.ndarray, limit: float) -> np.ndarray:
        """Flat places of scores under a limit; eight truths are looked at in one word, for almost all are false."""
        under = self._under[: scores.size].reshape(scores.shape)
        np.less(scores, limit, out=under)
        words = -(-scores.size // 8) * 8
        self._under[scores.size : words] = False
        eights = self._under[:words].reshape(-1, 8)
        some = np.flatnonzero(eights.view(np.int64)[:, 0] != 0)
        which, bit = np.nonzero(eights[some])
        return some[which] * 8 + bit

    def _keep(
        self, into: list[np.ndarray], rows: np.ndarray, columns: np.ndarray, scores: np.ndarray, bits: np.ndarray
    ) -> None:
        """Add candidates to those of a block; a sample that has far too many (copies, say) gets no more."""
        hit = np.flatnonzero(scores < self._bounds[rows])
        if not len(hit):
            return
        rows = rows[hit]
        into.append(((rows % SIDE) << (GAP_BITS + PLACE_BITS)).view(np.uint64) | (bits[hit] | columns[hit]).view(np.uint64))
        block = slice(rows[0] // SIDE * SIDE, (rows[0] // SIDE + 1) * SIDE)
        counts = self._counts[block]
        counts += np.bincount(rows - block.start, minlength=len(counts))
        self._bounds[block][counts > self._most[block]] = -np.inf

    def _settled(self, part: slice, found: list[np.ndarray]) -> Near:
        """The neighbours of a block; what cannot be proved is `left`."""
        packed = np.sort(np.concatenate([np.empty(0, np.uint64), *found]))
        row = (packed >> np.uint64(GAP_BITS + PLACE_BITS)).astype(np.int64)
        counts = np.bincount(row, minlength=part.stop - part.start)
        taken = np.isfinite(self._bounds[part])
        width = int(counts[taken].max(initial=0))
        column = np.arange(len(row)) - (np.cumsum(counts) - counts)[row]
        fits = column < width
        row, column, packed = row[fits], column[fits], packed[fits]
        gaps = np.full((len(counts), width + 1), np.inf, dtype=np.float32)
        gaps[row, column] = ((packed >> np.uint64(PLACE_BITS)) & np.uint64(2**GAP_BITS - 1)).astype(np.uint32).view(np.float32)
        places = np.zeros(gaps.shape, dtype=np.int64)
        places[row, column] = self._places.numpy()[(packed & np.uint64(2**PLACE_BITS - 1)).astype(np.int64)]
        errors, bounds = self._errors[part].numpy(), self._bounds[part].astype(np.float64) + self._offset
        depths = np.minimum(self._depths[part], width)
        # Whatever float32 sees more than two errors behind the last one asked for is behind it in float64 as well.
        far = gaps[np.arange(len(gaps)), np.maximum(depths - 1, 0)] + 2 * errors
        taken &= (self._depths[part] == 0) | (far < bounds)
        self.left.append(self._gallery.order[self._places.numpy()[part][~taken]])
        sure = np.flatnonzero(taken)
        near, depths, own = gaps[sure].astype(np.float64), depths[sure], self._places[part][sure]
        places_ = torch.from_numpy(places[sure])
        wanted = (near <= far[sure, None]) & (depths[:, None] > 0)
        best = self._best(own, places_, torch.from_numpy(wanted), torch.from_numpy(depths))
        return Near(
            self._gallery.order[own.numpy()], best, own, places_, torch.from_numpy(near),
            torch.from_numpy(bounds[sure]), torch.from_numpy(errors[sure]),
        )  # fmt: skip

    def _best(
        self, own: torch.Tensor, places: torch.Tensor, wanted: torch.Tensor, depths: torch.Tensor
    ) -> torch.Tensor:
        """Keys [rows, deepest], from the wanted candidates; they stand first in every row."""
        deepest = int(depths.max()) if len(depths) else 0
        width = int(wanted.sum(1).max()) if len(depths) else 0
        last = self._gallery.keys_from(torch.full((len(own), 1), torch.inf, dtype=torch.float64), own[:, None])
        keys = last.expand(-1, width).clone()
        row, column = torch.nonzero(wanted[:, :width], as_tuple=True)
        keys[row, column] = self._keys(own[row], places[row, column])
        keys = keys.sort(1).values[:, :deepest]
        return torch.where(torch.arange(deepest) < depths[:, None], keys, last)

    def _keys(self, own: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """Exact keys [c] of pairs of gallery places [c]."""
        gallery = self._gallery
        found = torch.empty(len(own), dtype=torch.int64)
        step = max(1, GATHERED // gallery.columns.shape[1])
        for start in range(0, len(own), step):
            of, at = own[start : start + step], places[start : start + step]
            queries, columns = (of, at) if gallery.copies is None else (gallery.copies[of], gallery.copies[at])
            gaps = gallery.gaps_between(gallery.columns[queries][:, None], gallery.columns[columns][:, None])[:, 0]
            gaps.masked_fill_(at == of, torch.inf)
            found[start : start + step] = gallery.keys_from(gaps, at)
        return found


def _sampled(count: int) -> int:
    """How many of the gallery tell the bounds."""
    return min(count, max(FEWEST, count // SAMPLED))


def _ranks(depths: np.ndarray, count: int) -> np.ndarray:
    """Which nearest of the sampled ones is the bound: one in hundreds of samples has fewer than it asks for under it."""
    expected = depths * (_sampled(count) / count)
    return np.minimum(np.ceil(expected + 2 * np.sqrt(expected) + 3).astype(np.int64), _sampled(count))
