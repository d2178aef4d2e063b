"""Nearest neighbours of every sample among all others: each pair is multiplied once and used for both of its samples.

A sample's bound is a gap below which there should be more neighbours than it asks for, estimated from a random part of
the gallery. The product is computed tile by tile, in bfloat16 where the processor has it and else in float32; pairs
below a bound are kept, and sorted in float64. A sample with too few candidates, or whose candidates could be incomplete
by the worst rounding of that product, is `left` for a separate search: a bad bound costs time, but never a neighbour.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from workbench.evaluation.neighbours import Gallery
from workbench.evaluation.two_pass import GATHERED, ONEDNN, ROUNDING, Product

SIDE = 2048  # samples of a block, at most 2^16
ROWS = 1024  # rows of a tile; smaller tiles stay in the cache, but threads that share cores wait at each one
SAMPLED = 16  # one in SAMPLED of the gallery gives the bounds ...
FEWEST = 256  # ... but at least FEWEST embeddings
HALF_UNIT = 2.0**-9  # largest rounding error of bfloat16 for a number below 1; results above 1 are clipped
HELD = 2**27  # candidates of all samples, at most; about a quarter is in memory at once, 10 bytes each


@dataclass(frozen=True, slots=True, eq=False)
class Near:
    """A block of samples whose neighbours are proved to be complete."""

    part: np.ndarray  # [rows] gallery rows of the samples
    best: torch.Tensor  # [rows, deepest] int64 keys, ascending; beyond a sample's depth its own key
    own: torch.Tensor  # [rows] gallery places of the samples
    places: torch.Tensor  # [rows, c] gallery places of everything below the bound
    gaps: torch.Tensor  # [rows, c] float64 of those, in no order, as computed by the product; infinite for padding
    bounds: torch.Tensor  # [rows] float64
    errors: torch.Tensor  # [rows] float64: the largest error of a gap


def pairs_up(gallery: Gallery, depths: np.ndarray) -> bool:
    """Whether the candidates for `depths` [n] neighbours of each sample fit into memory."""
    return bool(_ranks(depths, gallery.count).sum() * (gallery.count / _sampled(gallery.count)) <= HELD)


def _has_half() -> bool:
    """Whether the processor multiplies bfloat16, at twice the speed of float32, and torch reports it."""
    try:
        return ONEDNN and bool(torch.cpu.get_capabilities().get("avx512_bf16"))
    except AttributeError:
        return False


HALF = _has_half()
Candidates = list[tuple[np.ndarray, np.ndarray, np.ndarray]]  # [c] row in its block, position, score


class AllPairs:
    """Searches a gallery on the processor for its own samples; `pairs_up` says when.

    Samples are processed in the order of their bounds, so that one limit serves a whole tile; "position" is a
    sample's number in that order.

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
        cosine = gallery.distance == "cosine"
        lengths = torch.ones_like(squares) if cosine else (squares.sqrt() + squares.max().sqrt()).square()
        errors = ROUNDING * (vectors.shape[1] + 10) * lengths
        table = vectors.float()
        if not cosine:
            table = torch.cat([table, squares.float()[:, None], torch.ones(len(table), 1)], 1)
        halved = table.bfloat16() if cosine and HALF else table
        depths = depths[gallery.order]
        bounds, spread = self._guessed(halved, depths)
        if halved is not table:
            lost = (table - halved.float()).norm(dim=1).double()
            off = lost + lost.max() * (1 + lost)  # Cauchy and Schwarz: of a product of two rounded samples
            coarse = errors + off + HALF_UNIT
            # If the wider bounds would admit too many pairs, float32 is faster.
            if spread > 2 * float(coarse.max()):
                table, errors = halved, coarse
                bounds[bounds >= -2 * coarse.numpy()] = -np.inf  # `_places_under` reads scores below zero only
        bounds += 2 * errors.float().numpy()
        order = np.argsort(bounds, kind="stable")
        self._places = order  # [n] position -> gallery place
        self._bounds, self._depths = bounds[order], depths[order]
        self._errors, self._table = errors[order], table[order]
        self._most = 256 + 8 * _ranks(self._depths, gallery.count) * gallery.count // _sampled(gallery.count)
        self._counts = np.zeros(gallery.count, dtype=np.int64)
        self._products = [Product(self._columns(part), None, ROWS) for part in self._table.split(SIDE)]
        self._under = np.zeros(ROWS * SIDE, dtype=bool)

    def blocks(self) -> Iterator[Near]:
        """Blocks of samples; each sample comes once, except those `left`."""
        candidates: list[Candidates] = [[] for _ in self._products]
        for block, start in enumerate(range(0, len(self._table), SIDE)):
            stop = min(start + SIDE, len(self._table))
            for first in range(start, stop, ROWS):
                rows = slice(first, min(first + ROWS, stop))
                self._tile(rows, block, candidates, mirrored=False)
                for other in range(block + 1, len(candidates)):
                    self._tile(rows, other, candidates, mirrored=True)
            near = self._settled(slice(start, stop), candidates[block])
            candidates[block] = []
            if len(near.part):
                yield near

    def keys_of(self, near: Near, rows: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """Exact keys [r, c] of gallery places [r, c] for some rows of a block; an own place has the last key."""
        own = near.own[rows][:, None].expand_as(places)
        return self._keys(own.reshape(-1), places.reshape(-1)).view_as(places)

    def rank_of(self, near: Near, rows: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
        """As TwoPass.rank_of. A row whose key is not below its bound is `left`; its rank here is meaningless."""
        at, errors, gaps = self._gallery.gaps_in(keys), near.errors[rows], near.gaps[rows]
        beyond = at + errors >= near.bounds[rows]
        self.left.append(near.part[rows[beyond].numpy()])
        sure = (gaps < (at - errors)[:, None]).sum(1)
        unsure, column = torch.nonzero((gaps - at[:, None]).abs() <= errors[:, None], as_tuple=True)
        exact = self._keys(near.own[rows[unsure]], near.places[rows[unsure], column])
        return sure + torch.bincount(unsure, weights=(exact <= keys[unsure]).double(), minlength=len(rows)).long()

    def _guessed(self, table: torch.Tensor, depths: np.ndarray) -> tuple[np.ndarray, float]:
        """Bounds [n] float32 of scores, from a random part of the gallery, and how much lower the nearest score is."""
        count = len(table)
        drawn = np.sort(np.random.default_rng(0).choice(count, _sampled(count), replace=False))
        product = Product(self._columns(table[torch.from_numpy(drawn)]), None, ROWS)
        place_of = np.full(count, -1)
        place_of[drawn] = np.arange(len(drawn))
        ranks = _ranks(depths, count)
        bounds, first = np.empty(count, dtype=np.float32), np.empty(count, dtype=np.float32)
        for start in range(0, count, ROWS):
            part = slice(start, min(start + ROWS, count))
            scores, its = product(self._rows(table[part])).float().numpy(), place_of[part]
            scores[np.flatnonzero(its >= 0), its[its >= 0]] = np.inf
            deepest = int(ranks[part].max())
            nearest = torch.topk(torch.from_numpy(scores), deepest, dim=1, largest=False, sorted=True).values.numpy()
            bounds[part] = np.take_along_axis(nearest, ranks[part, None] - 1, 1)[:, 0]
            first[part] = nearest[:, 0]
        return bounds, float(np.median(bounds - first))

    def _rows(self, part: torch.Tensor) -> torch.Tensor:
        """The left factor of the product; with `_columns` on the right it gives scores."""
        if self._offset:
            return -part
        return torch.cat([-2 * part[:, :-2], part[:, -2:]], 1)

    def _columns(self, part: torch.Tensor) -> torch.Tensor:
        return part if self._offset else torch.cat([part[:, :-2], part[:, -1:], part[:, -2:-1]], 1)

    def _tile(self, rows: slice, other: int, candidates: list[Candidates], mirrored: bool) -> None:
        """Keep the pairs of some rows and a block that are below the bound of the row or, mirrored, of either."""
        columns = slice(other * SIDE, (other + 1) * SIDE)
        limit = max(self._bounds[rows].max(), self._bounds[columns].max()) if mirrored else self._bounds[rows].max()
        if limit == -np.inf:
            return
        scores = self._products[other](self._rows(self._table[rows]))
        if not mirrored:
            scores[:, rows.start - columns.start :].fill_diagonal_(torch.inf)
        flat = self._places_under(scores, limit)
        scores_under = scores.view(-1)[torch.from_numpy(flat)].float().numpy()
        row, column = np.divmod(flat, scores.shape[1])
        row, column = row + rows.start, column + columns.start
        self._keep(candidates[rows.start // SIDE], row, column, scores_under)
        if mirrored:
            self._keep(candidates[other], column, row, scores_under)

    def _places_under(self, scores: torch.Tensor, limit: np.float32) -> np.ndarray:
        """Flat positions of scores below a limit, and of some that are not.

        Eight booleans are tested as one word, because almost all are false.
        """
        size = scores.numel()
        under = self._under[:size]
        if scores.dtype == torch.bfloat16:  # as unsigned numbers, the bits of negative floats grow as those fall
            bits = scores.view(torch.int16).numpy().reshape(-1).view(np.uint16)
            np.greater(bits, np.uint16(limit.view(np.uint32) >> 16), out=under)
        else:
            np.less(scores.numpy().reshape(-1), limit, out=under)
        words = -(-size // 8) * 8
        self._under[size:words] = False
        eights = self._under[:words].reshape(-1, 8)
        occupied = np.flatnonzero(eights.view(np.int64)[:, 0] != 0)
        inside = np.flatnonzero(eights[occupied])
        flat: np.ndarray = occupied[inside >> 3] * 8 + (inside & 7)
        return flat

    def _keep(self, into: Candidates, rows: np.ndarray, columns: np.ndarray, scores: np.ndarray) -> None:
        """Add candidates to those of a block; a sample that has far too many (because of copies, say) gets no more."""
        hit = np.flatnonzero(scores < self._bounds[rows])
        if not len(hit):
            return
        inside = rows[hit] % SIDE
        into.append((inside.astype(np.uint16), columns[hit].astype(np.int32), scores[hit]))
        start = rows[0] // SIDE * SIDE
        counts = self._counts[start : start + SIDE]
        counts += np.bincount(inside, minlength=len(counts))
        self._bounds[start : start + SIDE][counts > self._most[start : start + SIDE]] = -np.inf

    def _settled(self, part: slice, candidates: Candidates) -> Near:
        """The neighbours of a block; what cannot be proved is `left`."""
        places, depths, errors = self._places[part], self._depths[part], self._errors[part].numpy()
        bounds = self._bounds[part].astype(np.float64) + self._offset
        gaps, near = self._tables(candidates, self._counts[part], np.isfinite(bounds))
        # What is more than two errors behind the last wanted one in the product is behind it in float64, too.
        last = np.minimum(np.maximum(depths, 1), gaps.shape[1]) - 1
        far = np.take_along_axis(np.sort(gaps, axis=1), last[:, None], 1)[:, 0] + 2 * errors
        proved = np.isfinite(bounds) & ((depths == 0) | (far < bounds))
        self.left.append(self._gallery.order[places[~proved]])
        sure = np.flatnonzero(proved)
        gaps, near, own, depths = gaps[sure].astype(np.float64), near[sure], places[sure], depths[sure]
        best = self._best(own, near, (gaps <= far[sure, None]) & (depths > 0)[:, None], depths)
        return Near(
            self._gallery.order[own], best, *map(torch.from_numpy, (own, near, gaps, bounds[sure], errors[sure]))
        )

    def _tables(self, candidates: Candidates, counts: np.ndarray, open_: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(gaps, places) [rows, c] of a block's candidates; those of rows that are settled may be cut off."""
        width = int(counts[open_].max(initial=0)) + 1
        gaps, places = np.full((len(counts), width), np.inf, dtype=np.float32), np.zeros((len(counts), width), np.int64)
        if candidates:
            row, position, score = (np.concatenate(arrays) for arrays in zip(*candidates, strict=True))
            order = np.argsort(row, kind="stable")
            row = row[order].astype(np.int64)
            column = _number_within(row, counts)
            fits = column < width
            row, column, order = row[fits], column[fits], order[fits]
            gaps[row, column] = np.maximum(score[order] + np.float32(self._offset), 0)
            places[row, column] = self._places[position[order]]
        return gaps, places

    def _best(self, own: np.ndarray, places: np.ndarray, wanted: np.ndarray, depths: np.ndarray) -> torch.Tensor:
        """Keys [rows, deepest], from the wanted candidates."""
        deepest, counts = int(depths.max(initial=0)), wanted.sum(1)
        own_ = torch.from_numpy(own)
        last = self._gallery.keys_from(torch.full((len(own), 1), torch.inf, dtype=torch.float64), own_[:, None])
        keys = last.repeat(1, int(counts.max(initial=0)))
        row, column = np.nonzero(wanted)
        keys[row, _number_within(row, counts)] = self._keys(own_[row], torch.from_numpy(places[row, column]))
        keys = keys.sort(1).values[:, :deepest]
        return torch.where(torch.arange(deepest) < torch.from_numpy(depths)[:, None], keys, last)

    def _keys(self, own: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """Exact keys [c] of pairs of gallery places [c]."""
        gallery = self._gallery
        keys = torch.empty(len(own), dtype=torch.int64)
        step = max(1, GATHERED // gallery.columns.shape[1])
        for start in range(0, len(own), step):
            of, at = own[start : start + step], places[start : start + step]
            queries, columns = (of, at) if gallery.copies is None else (gallery.copies[of], gallery.copies[at])
            gaps = gallery.gaps_between(gallery.columns[queries][:, None], gallery.columns[columns][:, None])[:, 0]
            gaps.masked_fill_(at == of, torch.inf)
            keys[start : start + step] = gallery.keys_from(gaps, at)
        return keys


def _number_within(row: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Numbers from 0 within each row [c], for ascending rows [c] that come `counts` times."""
    numbers: np.ndarray = np.arange(len(row)) - (np.cumsum(counts) - counts)[row]
    return numbers


def _sampled(count: int) -> int:
    """How many gallery samples the bounds are estimated from."""
    return min(count, max(FEWEST, count // SAMPLED))


def _ranks(depths: np.ndarray, count: int) -> np.ndarray:
    """Which nearest sampled neighbour is the bound: one sample in hundreds has too few neighbours below it."""
    expected = depths * (_sampled(count) / count)
    ranks: np.ndarray = np.minimum(np.ceil(expected + 2 * np.sqrt(expected) + 1).astype(np.int64), _sampled(count))
    return ranks
