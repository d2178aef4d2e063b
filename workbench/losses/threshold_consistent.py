"""Threshold-consistent margins: Smooth-AP, and a penalty on pairs on the wrong side of one common threshold.

Not pytorch-metric-learning's ThresholdConsistentMarginLoss, the same formula: it makes tensors of n x n x d.
"""

from torch import Tensor

from workbench.losses.batch import gram, mean_of, on_sphere, pair_masks
from workbench.losses.batch_loss import BatchLoss
from workbench.losses.published import UNNAMED
from workbench.losses.search_space import AROUND, NETWORK_RATE, between
from workbench.losses.smooth_ap import SmoothAPParams, smooth_ap
from workbench.params import param
from workbench.registry import register


class ThresholdConsistentParams(SmoothAPParams):
    """Parameters of Smooth-AP with threshold-consistent margins."""

    weight: float = param(1.0, ge=0, le=100, symbol="λ", help="Weight of both margins, relative to Smooth-AP.")
    positive_margin: float = param(0.9, ge=-1, le=1, symbol="m⁺", help="Cosine from which positives are left alone.")
    negative_margin: float = param(0.5, ge=-1, le=1, symbol="m⁻", help="Cosine up to which negatives are left alone.")


@register(
    "loss", "threshold_consistent", title="Threshold-consistent margin (TCM)", params=ThresholdConsistentParams,
    family="Ranking", formula="Smooth-AP + λ (mean_p (m⁺ − s_ap) + mean_n (s_an − m⁻)), only pairs beyond m",
    needs_pairs=True, source="Zhang et al. 2024 (TCM), Eq. 3, on Smooth-AP (Brown et al. 2020)",
    batch="classes × images, two or more of each",
    defaults={}, defaults_source=f"{UNNAMED}; λ = 1, margins 0.9 and 0.5: Zhang et al. 2024 (TCM)",
    search=NETWORK_RATE | {
        "temperature": between(0.001, 0.1, "Brown et al. 2020 compare 0.1, 0.01 and 0.001", log=True),
        "weight": between(0.1, 10, AROUND, log=True),
        "positive_margin": between(0.7, 0.95, AROUND),
        "negative_margin": between(0.2, 0.7, AROUND),
    },
)  # fmt: skip
class ThresholdConsistent(BatchLoss[ThresholdConsistentParams]):
    """Smooth-AP plus λ times the mean shortfall of positives below m⁺ and the mean excess of negatives above m⁻.

    Each mean is over the pairs on the wrong side of its margin; without one that part is 0.
    """

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        alike = gram(on_sphere(embeddings))
        positive, negative = pair_masks(labels)
        shortfall, excess = self.params.positive_margin - alike, alike - self.params.negative_margin
        margins = mean_of(shortfall, positive & (shortfall >= 0)) + mean_of(excess, negative & (excess >= 0))
        return smooth_ap(alike, labels, self.params.temperature) + self.params.weight * margins
