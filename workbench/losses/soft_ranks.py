"""Differentiable ranks of positives: a sigmoid of the difference of two cosines instead of a step."""

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from workbench.losses.batch import pair_masks
from workbench.losses.pair_lists import positive_pair_list

PAIRS_AT_ONCE = 2048  # bounds the memory: pairs x n numbers


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
    if len(anchors) <= PAIRS_AT_ONCE:
        return *_ranks(alike, positive, negative, anchors, partners, temperature), anchors, count
    parts: list[tuple[Tensor, Tensor]] = []
    for part in zip(anchors.split(PAIRS_AT_ONCE), partners.split(PAIRS_AT_ONCE), strict=True):
        chosen = (alike, positive, negative, *part, temperature)
        parts.append(checkpoint(_ranks, *chosen, use_reentrant=False, preserve_rng_state=False))
    every, own = (torch.cat(ranks) for ranks in zip(*parts, strict=True))
    return every, own, anchors, count


def _ranks(
    alike: Tensor, positive: Tensor, negative: Tensor, anchors: Tensor, partners: Tensor, temperature: float
) -> tuple[Tensor, Tensor]:
    rows = alike[anchors]  # [pairs, n]
    above = ((rows - rows.gather(1, partners[:, None])) / temperature).sigmoid()
    own = torch.where(positive[anchors], above, 0.0).sum(1) + 0.5  # the pair itself counts one half in it
    return own + torch.where(negative[anchors], above, 0.0).sum(1), own
