"""Multi-similarity loss with its miner.

Not pytorch-metric-learning's MultiSimilarityLoss and miner, the same formulas: 0.18 to 0.34 of their time
(docs/benchmarks.md), and no lists of pairs, for which a GPU would wait.
"""

import torch
from torch import Tensor

from workbench.losses.batch import gram, on_sphere, pair_masks
from workbench.losses.batch_loss import BatchLoss
from workbench.losses.published import CCP_PAIRS, CCP_PAPER, in_ccp
from workbench.losses.search_space import MLRC, NETWORK_RATE, between
from workbench.losses.shared.log_sum_exp import log_sum_exp
from workbench.params import Params, param
from workbench.registry import register


class MultiSimilarityParams(Params):
    """Parameters of the multi-similarity loss."""

    alpha: float = param(2.0, gt=0, le=100, symbol="α", help="Sharpness for positive pairs.")
    beta: float = param(50.0, gt=0, le=500, symbol="β", help="Sharpness for negative pairs.")
    base: float = param(0.5, ge=-1, le=1, symbol="λ", help="Cosine that separates near from far pairs.")
    epsilon: float = param(
        0.1, ge=0, le=2, symbol="ε", label="Mining margin", help="How much easier than the hardest a pair may be."
    )


@register(
    "loss", "multi_similarity", title="Multi-similarity (MS)", params=MultiSimilarityParams,
    family="Pairs and triplets",
    formula="mean_a (1/α) log(1 + Σ_p exp(−α (s_ap − λ))) + (1/β) log(1 + Σ_n exp(β (s_an − λ)))",
    needs_pairs=True, source="Wang et al. 2019, Eq. 15",
    batch="classes × images, two or more of each",
    defaults=in_ccp(
        {
            "cub": {"alpha": 2.0, "beta": 40.0, "base": 0.5},
            "cars": {"alpha": 14.35, "beta": 75.83, "base": 0.66},
            "inshop": {"alpha": 8.49, "beta": 57.38, "base": 0.41},
            "sop": {"alpha": 2.0, "beta": 40.0, "base": 0.5},
        },
        CCP_PAIRS,
    ),
    defaults_source=CCP_PAPER,
    search=NETWORK_RATE | {
        "alpha": between(0.1, 20, MLRC, log=True),
        "beta": between(10, 160, MLRC, log=True),
        "base": between(0.4, 0.85, MLRC),
        "epsilon": between(0.1, 0.75, MLRC),
    },
)  # fmt: skip
class MultiSimilarity(BatchLoss[MultiSimilarityParams]):
    """Soft hardest positives and negatives of every anchor, on pairs mined by the hardest pair of the other kind.

    A batch in which the miner finds no pair has the value 0, as has one with a single positive and negative pair.
    """

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        p = self.params
        alike = gram(on_sphere(embeddings))
        positive, negative = mined(alike.detach(), *pair_masks(labels), p.epsilon)
        return multi_similarity(alike, positive, negative, p.alpha, p.beta, p.base)


def mined(alike: Tensor, positive: Tensor, negative: Tensor, epsilon: float) -> tuple[Tensor, Tensor]:
    """The positive and the negative pairs that the miner keeps, two bool [n, m]; Wang et al. 2019, similarity-P.

    Args:
        alike: similarities [n, m] of anchors and others, without a gradient.
        positive: bool [n, m], the positive pairs; `negative`: the negative ones.
        epsilon: a positive is kept if it is less than this more alike than the most alike negative of its anchor, a
            negative if it is less than this less alike than the least alike positive.
    """
    nearest_negative = alike.masked_fill(~negative, -torch.inf).amax(1, keepdim=True)
    farthest_positive = alike.masked_fill(~positive, torch.inf).amin(1, keepdim=True)
    return positive & (alike - epsilon < nearest_negative), negative & (alike + epsilon > farthest_positive)


def multi_similarity(
    alike: Tensor, positive: Tensor, negative: Tensor, alpha: float, beta: float, base: float
) -> Tensor:
    """Mean over all anchors of Eq. 15's terms; 0 with at most one positive and one negative pair in the whole batch.

    Args:
        alike: similarities [n, m] of anchors and others.
        positive: bool [n, m], the positive pairs that count; `negative`: the negative ones.
        alpha: sharpness for positives; `beta`: for negatives; `base`: similarity that parts near from far.
    """
    none = alike.new_zeros(len(alike))
    pull = torch.logaddexp(log_sum_exp(alpha * (base - alike), positive), none) / alpha
    push = torch.logaddexp(log_sum_exp(beta * (alike - base), negative), none) / beta
    return torch.where((positive.sum() > 1) | (negative.sum() > 1), (pull + push).mean(), 0.0)
