"""Differentiable ranks of positives: a sigmoid of the difference of two cosines instead of a step."""

import torch
from torch import Tensor

from workbench.losses.batch import pair_masks
from workbench.losses.pair_lists import positive_pair_list
from workbench.losses.pair_parts import by_pairs


def soft_ranks(alike: Tensor, labels: Tensor, temperature: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The rank of the positive of every positive pair in the list of its anchor, from 1.

    Args:
        alike: [n, n] cosines.
        labels: [n] int64.
        temperature: of the sigmoid; lower is nearer to the true rank.

    Returns:
        Ranks among all other images [p], among the anchor's positives alone [p], the anchors [p] int64, and the number
        of positives of every image [n] int64.
    """
    positive, negative = pair_masks(labels)
    anchors, partners = positive_pair_list(labels)
    count = torch.zeros_like(labels).index_add_(0, anchors, torch.ones_like(anchors))

    def ranks(anchors: Tensor, partners: Tensor) -> tuple[Tensor, Tensor]:
        rows = alike.index_select(0, anchors)  # [pairs, n]
        above = ((rows - rows.gather(1, partners[:, None])) / temperature).sigmoid()
        own = torch.where(positive[anchors], above, 0.0).sum(1) + 0.5  # the pair itself counts one half in it
        return own + torch.where(negative[anchors], above, 0.0).sum(1), own

    parts = by_pairs(ranks, anchors, partners, len(labels))
    every, own = parts[0] if len(parts) == 1 else (torch.cat(made) for made in zip(*parts, strict=True))
    return every, own, anchors, count
