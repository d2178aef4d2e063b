"""Differentiable ranks of positives: a sigmoid of the difference of two cosines instead of a step."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from workbench.losses.shared.pair_lists import beyond, classes_in_rows
from workbench.losses.shared.pair_parts import by_rows


@dataclass(frozen=True, slots=True)
class Ranks:
    """Soft ranks from 1 of the positives of some anchors, which have equally many, on a GPU about as many."""

    every: Tensor  # [a, m] among all other images
    own: Tensor  # [a, m] among the anchor's positives alone
    weight: Tensor | float  # in the mean over all anchors of the mean over their positives; 0 where one has fewer


def soft_ranks(alike: Tensor, labels: Tensor, temperature: float) -> list[Ranks]:
    """The rank of the positive of every positive pair in the list of its anchor; empty without a positive pair.

    No row is chosen twice, so that a GPU adds up the gradient in one order.

    Args:
        alike: [n, n] cosines.
        labels: [n] int64.
        temperature: of the sigmoid; lower is nearer to the true rank.
    """
    ranks, classes = list[Ranks](), classes_in_rows(labels)
    anchors = sum(len(rows.anchors) for rows in classes)
    for rows in classes:
        inputs = [alike.index_select(0, rows.anchors), rows.members, rows.positives]
        ranks += by_rows(
            lambda *part: _ranked(*part, anchors=anchors, temperature=temperature),
            *inputs, *([] if rows.counts is None else [rows.counts]),
            numbers=rows.positives.shape[1] * len(labels),
        )  # fmt: skip
    return ranks


def _ranked(
    cosines: Tensor, members: Tensor, positives: Tensor, counts: Tensor | None = None, *, anchors: int,
    temperature: float,
) -> Ranks:  # fmt: skip
    """Ranks in rows of ClassRows, of so many anchors in all."""
    size, missing = positives.shape[1], None
    weight: Tensor | float = 1 / (anchors * size)
    if counts is not None:
        missing = beyond(counts, size)
        weight = missing.logical_not().to(cosines.dtype) / (anchors * counts[:, None])
    every, own = _SoftRanks.apply(cosines, members, positives, missing, temperature)
    return Ranks(every, own, weight)


def mean_missed(missed: Callable[[Ranks], Tensor], alike: Tensor, labels: Tensor, temperature: float) -> Tensor:
    """The mean over anchors of the mean over their positives of what `missed` makes of their ranks, [a, m] each.

    It is 0, with a gradient, without a positive pair. The other arguments are those of `soft_ranks`.
    """
    parts = [(ranks.weight * missed(ranks)).sum() for ranks in soft_ranks(alike, labels, temperature)]
    return sum(parts[1:], parts[0]) if parts else 0 * alike.sum()


class _SoftRanks(torch.autograd.Function):
    """Ranks [a, m] among all others and among the positives, in half of the operations of their formula.

    Takes cosines [a, n] of anchors, the columns [a, m + 1] of each one's class, those [a, m] of its positives, and
    which of these are missing, bool [a, m] or None: their numbers are finite, and must get a gradient of 0.
    """

    @staticmethod
    def forward(
        ctx: Any, cosines: Tensor, members: Tensor, positives: Tensor, missing: Tensor | None, temperature: float
    ) -> tuple[Tensor, Tensor]:
        scaled = cosines / temperature
        wanted = scaled.gather(1, positives)
        if missing is not None:
            wanted.masked_fill_(missing, torch.finfo(wanted.dtype).min / 4)  # above no other
        wanted = wanted[:, :, None]
        scaled.scatter_(1, members, -torch.inf)  # an image of its class is above nothing
        above = (scaled[:, None, :] - wanted).sigmoid_()
        among = (wanted.transpose(1, 2) - wanted).sigmoid_()
        own = among.sum(2).add_(0.5)  # each counts one half in its own
        ctx.save_for_backward(above, among, positives)
        ctx.temperature = temperature
        return above.sum(2).add_(own), own

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, of_every: Tensor, of_own: Tensor) -> tuple[Tensor, None, None, None, None]:
        above, among, positives = ctx.saved_tensors
        pushes = torch.ops.aten.sigmoid_backward(of_every[:, :, None].expand_as(above), above)
        pulls = torch.ops.aten.sigmoid_backward((of_every + of_own)[:, :, None].expand_as(among), among)
        of_wanted = pulls.sum(1).sub_(pulls.sum(2)).sub_(pushes.sum(2))
        # The columns of the class have no gradient as negatives.
        return pushes.sum(1).scatter_(1, positives, of_wanted).div_(ctx.temperature), None, None, None, None
