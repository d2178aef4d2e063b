"""Differentiable ranks of positives: a sigmoid of the difference of two cosines instead of a step."""

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from workbench.losses.batch import pair_masks

PAIRS_AT_ONCE = 2048  # bounds the memory: pairs x n numbers


def soft_ranks(alike: Tensor, labels: Tensor, temperature: float) -> tuple[Tensor, Tensor, Tensor]:
    """The rank of the positive of every positive pair in the list of its anchor, from 1.

    Args:
        alike: [n, n] cosines.
        labels: [n] int64.
        temperature: of the sigmoid; lower is nearer to the true rank.

    Returns:
        Ranks among all other images [p], among the anchor's positives alone [p], and the anchors [p] int64.
    """
    positive, negative = pair_masks(labels)
    anchors, partners = positive.nonzero(as_tuple=True)
    if len(anchors) <= PAIRS_AT_ONCE:
        return *_ranks(alike, positive, negative, anchors, partners, temperature), anchors
    parts: list[tuple[Tensor, Tensor]] = []
    for part in torch.arange(len(anchors), device=labels.device).split(PAIRS_AT_ONCE):
        chosen = (alike, positive, negative, anchors[part], partners[part], temperature)
        parts.append(checkpoint(_ranks, *chosen, use_reentrant=False))
    every, own = (torch.cat(ranks) for ranks in zip(*parts, strict=True))
    return every, own, anchors


def _ranks(
    alike: Tensor, positive: Tensor, negative: Tensor, anchors: Tensor, partners: Tensor, temperature: float
) -> tuple[Tensor, Tensor]:
    rows = alike[anchors]  # [pairs, n]
    above = ((rows - rows.gather(1, partners[:, None])) / temperature).sigmoid()
    own = torch.where(positive[anchors], above, 0.0).sum(1) + 0.5  # the pair itself counts one half in it
    return own + torch.where(negative[anchors], above, 0.0).sum(1), own
