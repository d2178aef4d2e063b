"""Contrastive loss: positives together, negatives at least a margin apart.

Not pytorch-metric-learning's ContrastiveLoss: its hinges are not squared, as Table 2's are; 0.57 to 0.90 of its time.
"""

from typing import Literal

import torch
from torch import Tensor

from workbench.losses.batch import distances, on_sphere, pair_masks
from workbench.losses.batch_loss import BatchLoss
from workbench.losses.published import UNNAMED
from workbench.losses.search_space import MLRC, NETWORK_RATE, between, one_of
from workbench.params import Params, param
from workbench.registry import register


class ContrastiveParams(Params):
    """Parameters of the contrastive loss on distances."""

    margin: float = param(
        1.0, gt=0, le=2, symbol="m", help="Distance on the unit sphere from which negatives are left alone."
    )
    reduction: Literal["active", "paper"] = param(
        "active", help="active: mean over pairs that still pull or push; paper: sum over pairs divided by n."
    )


@register(
    "loss", "contrastive", title="Contrastive", params=ContrastiveParams, needs_pairs=True,
    family="Pairs and triplets", formula="mean_p D_ap² + mean_n max(0, m − D_an)²",
    source="Boudiaf et al. 2020, Section 3.1 and Table 2, after Hadsell et al. 2006",
    batch="classes × images, two or more of each", defaults={}, defaults_source=UNNAMED,
    search=NETWORK_RATE | {
        "margin": between(0.38, 1.2, MLRC),
        "reduction": one_of("active", "paper", source="The mean, and Table 2 of Boudiaf et al. 2020"),
    },
)  # fmt: skip
class Contrastive(BatchLoss[ContrastiveParams]):
    """Squared distance of positive pairs plus squared shortfall (m - D) of negative pairs, on the unit sphere.

    A batch without positives (or negatives) contributes zero for that part. With "active" each part is the mean over
    its pairs that are not zero; with "paper" it is the sum over ordered pairs divided by the batch size, as in Table 2.
    """

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        apart = distances(on_sphere(embeddings))  # [n, n]
        positive, negative = pair_masks(labels)
        pulled = torch.where(positive, apart, 0.0)
        pushed = torch.where(negative, self.params.margin - apart, 0.0).clamp_min(0)
        pull, push = pulled.square().sum(), pushed.square().sum()
        if self.params.reduction == "paper":
            return (pull + push) / len(labels)
        return pull / pulled.count_nonzero().clamp_min(1) + push / pushed.count_nonzero().clamp_min(1)
