"""Differentiable ranks of positives: a sigmoid of the difference of two cosines instead of a step."""

import torch
from torch import Tensor

from workbench.losses.pair_lists import classes_by_size
from workbench.losses.pair_parts import by_rows


def soft_ranks(alike: Tensor, labels: Tensor, temperature: float) -> tuple[Tensor, Tensor, Tensor]:
    """The rank of the positive of every positive pair in the list of its anchor, from 1.

    No row is chosen twice, so that a GPU adds up the gradient in one order.

    Args:
        alike: [n, n] cosines.
        labels: [n] int64.
        temperature: of the sigmoid; lower is nearer to the true rank.

    Returns:
        Ranks among all other images [p], among the anchor's positives alone [p], and the weights [p] of the mean over
        anchors of the mean over their positives, which sum to 1. All are empty without a positive pair.
    """
    scaled = alike / temperature
    beyond = scaled.masked_fill(labels[:, None] == labels, -torch.inf)  # an image of its class is above nothing
    classes = classes_by_size(labels)
    anchors = sum(members.numel() for members in classes)
    every, own, weights = ([alike.new_zeros(0)] for _ in range(3))
    for members in classes:
        count = members.shape[1] - 1  # positives of each
        cosines = scaled.flatten().index_select(0, _positives(members, len(labels)).flatten()).view(-1, count)
        rows = beyond.index_select(0, members.flatten())
        for ranks, among in by_rows(_ranks, rows, cosines, numbers=count * len(labels)):
            every.append(ranks.flatten())
            own.append(among.flatten())
            weights.append(alike.new_full((ranks.numel(),), 1 / (anchors * count)))
    return torch.cat(every), torch.cat(own), torch.cat(weights)


def _positives(members: Tensor, n: int) -> Tensor:
    """Places in a table [n, n] of each anchor's pairs with the others of its class, [classes, size, size - 1]."""
    size = members.shape[1]
    places = (members[:, :, None] * n + members[:, None, :]).flatten(1)
    # Without the diagonal, which is every (size + 1)th of them.
    return places[:, 1:].view(-1, size - 1, size + 1)[:, :, :-1].reshape(-1, size, size - 1)


def _ranks(rows: Tensor, cosines: Tensor) -> tuple[Tensor, Tensor]:
    """Ranks [a, m] of positives among all others and among the positives.

    Args:
        rows: [a, n] cosines of negatives over the temperature, -inf of others.
        cosines: [a, m] those of positives.
    """
    own = (cosines[:, None, :] - cosines[:, :, None]).sigmoid().sum(2) + 0.5  # each counts one half in its own
    return own + (rows[:, None, :] - cosines[:, :, None]).sigmoid().sum(2), own
