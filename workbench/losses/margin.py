"""Margin loss with distance-weighted sampling of negatives.

Not pytorch-metric-learning's MarginLoss and miner, the same formula: 0.08 to 0.19 of their time (docs/benchmarks.md).
"""

from typing import Literal

import torch
from torch import Tensor, nn

from workbench.losses.batch import distances, on_sphere, pair_masks
from workbench.losses.batch_loss import BatchLoss
from workbench.losses.cosine_softmax import proxy_rate
from workbench.losses.published import UNNAMED
from workbench.losses.search_space import MLRC, NETWORK_RATE, PROXY_RATE, between
from workbench.losses.shared.distance_weighted import times_drawn
from workbench.params import Params, param
from workbench.registry import register


class MarginParams(Params):
    """Parameters of the margin loss."""

    margin: float = param(0.2, gt=0, le=2, symbol="α", help="Half of the gap between positives and negatives.")
    boundary: float = param(1.2, gt=0, le=2, symbol="β", help="Distance that separates them at first; it is trained.")
    boundaries: Literal["one", "per_class"] = param(
        "one",
        help="one: β is the same for all pairs; per_class: each class of anchors learns its own, as in the paper.",
    )
    proxy_lr: float = proxy_rate(1.0, "Learning rate of β, as a multiple.", "Boundary learning rate")


@register(
    "loss", "margin", title="Margin", params=MarginParams, needs_pairs=True,
    family="Pairs and triplets", formula="mean max(0, α + D_ap − β) + mean max(0, α + β − D_an)",
    source="Wu et al. 2017, Eq. 4 and the sampling of Section 4.1", batch="classes × images, two or more of each",
    defaults={}, defaults_source=UNNAMED,
    search=NETWORK_RATE | PROXY_RATE | {
        "margin": between(0.05, 0.4, MLRC, log=True),
        "boundary": between(0.7, 1.4, MLRC),
    },
)  # fmt: skip
class Margin(BatchLoss[MarginParams]):
    """Mean shortfall max(0, α + D_ap - β) of positives and max(0, α + β - D_an) of as many negatives, of those above 0.

    D is the distance on the unit sphere. In training one negative is drawn for each positive pair, with weights
    1 / q(D) that even out the distances; in evaluation its expectation is taken. β is one number, or one for the class
    of each anchor.
    """

    def __init__(self, params: MarginParams, *, num_classes: int, embedding_dim: int) -> None:
        super().__init__(params, num_classes=num_classes, embedding_dim=embedding_dim)
        self.dim, self.proxy_lr_multiplier = embedding_dim, params.proxy_lr
        count = (num_classes,) if params.boundaries == "per_class" else ()
        self.boundary = nn.Parameter(torch.full(count, params.boundary))

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        apart = distances(on_sphere(embeddings))
        positive, negative = pair_masks(labels)
        times = times_drawn(apart.detach(), negative, positive.sum(1), self.dim, self.training)
        boundary = self.boundary[labels][:, None] if self.boundary.ndim else self.boundary
        pull = torch.where(positive, (apart - boundary + self.params.margin).clamp_min(0), 0.0)
        push = times * (boundary - apart + self.params.margin).clamp_min(0)
        counted = (pull > 0).sum() + torch.where(push > 0, times, 0.0).sum()
        return (pull.sum() + push.sum()) / counted.clamp_min(1)
