"""Triplet loss with semi-hard negatives, or with all of them.

Not pytorch-metric-learning's TripletMarginLoss. With all negatives it is the same formula in 0.11 to 0.41 of its time,
without a tensor of n x n x n and lists of triplets, for which a GPU would wait. Its semi-hard miner takes all triplets
within the margin, on distances that are not squared; the paper's one negative for each pair takes 0.10 to 0.41 of that.
"""

from typing import Literal

import torch
from torch import Tensor

from workbench.losses.batch import distances, on_sphere, pair_masks
from workbench.losses.batch_loss import BatchLoss
from workbench.losses.published import CCP_PAIRS, CCP_PAPER, in_ccp
from workbench.losses.search_space import MLRC, NETWORK_RATE, between, one_of
from workbench.params import Params, param
from workbench.registry import register


class TripletParams(Params):
    """Parameters of the triplet loss."""

    margin: float = param(0.2, gt=0, le=2, symbol="α", help="How much farther than the positive a negative must be.")
    triplets: Literal["semi_hard", "all"] = param(
        "semi_hard", help="semi_hard: one negative for each pair, squared distances. all: CCP's tables, not squared."
    )


@register(
    "loss", "triplet", title="Triplet", params=TripletParams, needs_pairs=True,
    family="Pairs and triplets", formula="mean max(0, D_ap² − D_an² + α)",
    source="Schroff et al. 2015 (FaceNet), Eq. 3 with the semi-hard negatives of Section 3.2",
    batch="classes × images, two or more of each",
    defaults=in_ccp(
        {
            dataset: {"triplets": "all", "margin": margin}
            for dataset, margin in {"cub": 0.0961, "cars": 0.119, "inshop": 0.0451, "sop": 0.0451}.items()
        },
        CCP_PAIRS,
    ),
    defaults_source=f"{CCP_PAPER}; which triplets: the authors' code",
    search=NETWORK_RATE | {
        "margin": between(0.04, 0.4, MLRC, log=True),
        "triplets": one_of("semi_hard", "all", source="Schroff et al. 2015, and CCP's tables"),
    },
)  # fmt: skip
class Triplet(BatchLoss[TripletParams]):
    """Mean over positive pairs of max(0, D_ap^2 - D_an^2 + margin), on the unit sphere; or over all triplets.

    The negative of a pair is the nearest one that is farther than the positive, or the farthest of all if none is.
    A pair without a negative is left out; a batch without a pair has the value 0. With all triplets it is the mean of
    D_ap - D_an + margin over those where it is positive.
    """

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        apart = distances(on_sphere(embeddings))  # [n, n]
        positive, negative = pair_masks(labels)
        if self.params.triplets == "all":
            return all_triplets(apart, positive, negative, self.params.margin)
        return semi_hard(apart.square(), positive, negative, self.params.margin)


def all_triplets(apart: Tensor, positive: Tensor, negative: Tensor, margin: float) -> Tensor:
    """Mean of D_ap - D_an + margin over all triplets of which it is positive; 0 without one.

    Args:
        apart: distances D [n, m] from anchors to others.
        positive: bool [n, m], which others are positives; `negative`: which are negatives.
        margin: how much farther a negative must be.
    """
    # Sorting counts the triplets of each pair, so that no n x m x m tensor is needed.
    fixed = apart.detach().contiguous()
    bounds = fixed + margin
    nearer = torch.searchsorted(fixed.masked_fill(~negative, torch.inf).sort(1).values, bounds)
    not_beyond = torch.searchsorted(bounds.masked_fill(~positive, -torch.inf).sort(1).values, fixed, right=True)
    triplets = torch.where(positive, nearer, 0)
    count = triplets.sum()
    weights = triplets - torch.where(negative, fixed.shape[1] - not_beyond, 0)
    weights = weights.to(apart.dtype) / count.clamp_min(1)
    return torch.where(count > 0, (weights * apart).sum() + margin, 0.0)


def semi_hard(squared: Tensor, positive: Tensor, negative: Tensor, margin: float) -> Tensor:
    """Mean over positive pairs of the shortfall to their semi-hard negative; 0 if no pair has a negative.

    Args:
        squared: [n, m] squared distances from anchors to others.
        positive: [n, m] bool, which others are positives; `negative`: which are negatives.
        margin: how much farther a negative must be.
    """
    # Sorted negatives find the semi-hard one of every pair without an n x m x m tensor. How often each is chosen is
    # counted in whole numbers, because a GPU adds up floats at one place in an order that changes from call to call.
    fixed = squared.detach().contiguous()
    ranked, order = fixed.masked_fill(~negative, torch.inf).sort(1)
    nearest_beyond = torch.searchsorted(ranked, fixed, right=True)
    count = negative.sum(1, keepdim=True)
    chosen = order.gather(1, torch.minimum(nearest_beyond, (count - 1).clamp_min(0)))
    pairs = positive & (count > 0)
    short = pairs & (fixed - fixed.gather(1, chosen) + margin > 0)
    weights = short.to(torch.int32)
    weights = weights - torch.zeros_like(weights).scatter_add_(1, chosen, weights)
    value = (weights * squared).sum() + margin * short.sum().to(squared.dtype)
    return value / pairs.sum().clamp_min(1)
