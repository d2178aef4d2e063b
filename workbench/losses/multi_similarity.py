"""Multi-similarity loss with its miner."""

from pytorch_metric_learning.losses import MultiSimilarityLoss
from pytorch_metric_learning.miners import MultiSimilarityMiner
from torch import Tensor

from workbench.losses.batch_loss import BatchLoss
from workbench.losses.published import CCP_PAIRS, CCP_PAPER, in_ccp
from workbench.losses.search_space import MLRC, NETWORK_RATE, between
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
    needs_pairs=True, source="Wang et al. 2019, Eq. 15; pytorch-metric-learning MultiSimilarityLoss",
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

    A batch in which the miner finds no pair has the value 0.
    """

    def __init__(self, params: MultiSimilarityParams, *, num_classes: int, embedding_dim: int) -> None:
        super().__init__(params, num_classes=num_classes, embedding_dim=embedding_dim)
        self.pairs = MultiSimilarityLoss(alpha=params.alpha, beta=params.beta, base=params.base)
        self.miner = MultiSimilarityMiner(epsilon=params.epsilon)

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        value: Tensor = self.pairs(embeddings, labels, self.miner(embeddings, labels))
        return value
