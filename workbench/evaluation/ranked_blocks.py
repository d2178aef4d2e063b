"""Blocks of queries with their nearest neighbours, and the rank of a true neighbour beyond them."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import torch

from workbench.evaluation.all_pairs import AllPairs, pairs_up
from workbench.evaluation.neighbours import Gallery
from workbench.evaluation.two_pass import TwoPass, in_range, pays

LAST = torch.iinfo(torch.int64).max
InBlock = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]  # as `keys_of` and `rank_of` of a search, of one block
Ranks = Callable[[torch.Tensor], torch.Tensor]  # rows of a block [r] -> rank of their first true neighbour [r]


def ranked_blocks(
    gallery: Gallery, queries: np.ndarray, own: np.ndarray | None, depths: np.ndarray, class_of_place: torch.Tensor,
    classes: np.ndarray,
) -> Iterator[tuple[slice | np.ndarray, torch.Tensor, Ranks]]:  # fmt: skip
    """Blocks of queries: their rows, the smallest keys [rows, depth and more] of each, and ranks beyond them.

    `own` is every row of the gallery or None. Beyond a query's depth [m] some keys may be those of the query itself.
    A query may come twice; the second time counts. Take the ranks of a block before the next block.
    """
    deepest = int(depths.max())
    if not pays(gallery, deepest) or not in_range(gallery, queries):
        for part, keys in gallery.blocks(queries, own):
            wanted = torch.from_numpy(classes[part]).to(gallery.device)
            yield part, gallery.smallest(keys, deepest), partial(_rank_in, gallery, keys, class_of_place, wanted)
        return
    members = Members(class_of_place)
    rows = np.arange(len(queries))
    if own is not None and gallery.device.type == "cpu" and pairs_up(gallery, depths):
        pairs = AllPairs(gallery, depths)
        for near in pairs.blocks():
            in_block = partial(pairs.keys_of, near), partial(pairs.rank_of, near)
            yield near.part, near.best, partial(_rank_by_members, *in_block, members, classes[near.part])
        rows = np.concatenate(pairs.left)
    if len(rows):
        search = TwoPass(gallery, queries[rows], None if own is None else own[rows])
        for block in search.blocks(deepest):
            picked, in_block = rows[block.part], (partial(search.keys_of, block), partial(search.rank_of, block))
            yield picked, block.best, partial(_rank_by_members, *in_block, members, classes[picked])


def _rank_in(
    gallery: Gallery, keys: torch.Tensor, class_of_place: torch.Tensor, wanted: torch.Tensor, rows: torch.Tensor
) -> torch.Tensor:
    """From the keys of a whole block."""
    rest = keys[rows]
    true = class_of_place[gallery.places_of(rest)] == wanted[rows, None]
    first = rest.masked_fill(~true, LAST).amin(1, keepdim=True)
    return (rest <= first).sum(1)


class Members:
    """Gallery places of every class."""

    def __init__(self, class_of_place: torch.Tensor) -> None:
        self._order = torch.argsort(class_of_place, stable=True)
        self._counts = torch.bincount(class_of_place)
        self._starts = self._counts.cumsum(0) - self._counts

    def of(self, classes: torch.Tensor) -> torch.Tensor:
        """The places of some classes [r] -> [r, most], padded with -1."""
        counts = self._counts[classes]
        number = torch.arange(int(counts.max()) if len(counts) else 0, device=classes.device)
        at = (self._starts[classes][:, None] + number).clamp_max(len(self._order) - 1)
        return self._order[at].masked_fill(number >= counts[:, None], -1)


def _rank_by_members(
    keys_of: InBlock, rank_of: InBlock, members: Members, classes: np.ndarray, rows: torch.Tensor
) -> torch.Tensor:
    """From the exact keys of the few samples of the query's own class."""
    places = members.of(torch.from_numpy(classes).to(rows.device)[rows])
    keys = keys_of(rows, places.clamp_min(0)).masked_fill(places < 0, LAST)
    return rank_of(rows, keys.amin(1))
