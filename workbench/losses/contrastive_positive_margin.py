"""Contrastive loss with a margin for positives, too: pairs that are near enough have no loss.

Not pytorch-metric-learning's ContrastiveLoss, the same formula: 0.48 to 0.68 of its time (docs/benchmarks.md), and no
lists of pairs, for which a GPU would wait.
"""

import torch
from torch import Tensor

from workbench.losses.batch import distances, on_sphere, pair_masks
from workbench.losses.batch_loss import BatchLoss
from workbench.losses.published import C2_MARGINS, CCP_PAIRS, CCP_PAPER, in_ccp
from workbench.losses.search_space import MLRC, NETWORK_RATE, between
from workbench.params import Params, param
from workbench.registry import register


class PositiveMarginParams(Params):
    """Parameters of the contrastive loss with a margin for positives too."""

    positive_margin: float = param(0.3, ge=0, le=2, symbol="β", help="Distance up to which positives are left alone.")
    negative_margin: float = param(0.8, gt=0, le=2, symbol="α", help="Distance from which negatives are left alone.")


@register(
    "loss", "contrastive_positive_margin", title="Contrastive with positive margin", params=PositiveMarginParams,
    family="Pairs and triplets", formula="mean_p max(0, D_ap − β) + mean_n max(0, α − D_an)",
    needs_pairs=True,
    source="Chance-constrained proxies (C2), supplement Section 2.1",
    batch="classes × images, two or more of each",
    defaults=in_ccp(
        {name: {"positive_margin": near, "negative_margin": far} for name, (near, far) in C2_MARGINS.items()},
        CCP_PAIRS,
    ),
    defaults_source=CCP_PAPER,
    search=NETWORK_RATE | {"positive_margin": between(0.0, 0.4, MLRC), "negative_margin": between(0.38, 1.0, MLRC)},
)  # fmt: skip
class ContrastivePositiveMargin(BatchLoss[PositiveMarginParams]):
    """Excess of positive distances over one margin plus shortfall of negative distances under another.

    Distances are Euclidean on the unit sphere; each part is the mean over its pairs that are not zero.
    """

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        apart = distances(on_sphere(embeddings))
        return hinges(apart, *pair_masks(labels), self.params.positive_margin, self.params.negative_margin)


def hinges(apart: Tensor, positive: Tensor, negative: Tensor, near: float, far: float) -> Tensor:
    """Mean of max(0, D - near) over positive pairs plus mean of max(0, far - D) over negative ones, where not zero.

    Args:
        apart: distances D [n, m].
        positive: bool [n, m], the positive pairs; `negative`: the negative ones.
        near: distance up to which positives are left alone; `far`: from which negatives are.
    """
    pull = torch.where(positive, apart - near, 0.0).relu()
    push = torch.where(negative, far - apart, 0.0).relu()
    return pull.sum() / pull.count_nonzero().clamp_min(1) + push.sum() / push.count_nonzero().clamp_min(1)
