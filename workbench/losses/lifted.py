"""Lifted structure loss: soft hardest positive and negative of every anchor.

Not pytorch-metric-learning's GeneralizedLiftedStructureLoss, the same formula: 0.37 to 0.50 of its time
(docs/benchmarks.md).
"""

from torch import Tensor

from workbench.losses.batch import distances, mean_of, on_sphere, pair_masks
from workbench.losses.batch_loss import BatchLoss
from workbench.losses.published import UNNAMED
from workbench.losses.search_space import AROUND, NETWORK_RATE, between
from workbench.losses.shared.log_sum_exp import log_sum_exp
from workbench.params import Params, param
from workbench.registry import register


class LiftedParams(Params):
    """Parameters of the lifted structure loss."""

    margin: float = param(1.0, gt=0, le=10, symbol="m", help="Distance that soft hardest negatives should keep.")


@register(
    "loss", "lifted", title="Lifted structure", params=LiftedParams, needs_pairs=True,
    family="Pairs and triplets", formula="mean_a max(0, log Σ_p exp(D_ap) + log Σ_n exp(m − D_an))",
    source="Hermans et al. 2017, Eq. 8 (generalised), after Song et al. 2016",
    batch="classes × images, two or more of each", defaults={}, defaults_source=UNNAMED,
    search=NETWORK_RATE | {"margin": between(0.5, 2, AROUND, log=True)},
)  # fmt: skip
class Lifted(BatchLoss[LiftedParams]):
    """Mean over anchors of max(0, log sum_p exp D_ap + log sum_n exp(m - D_an)), on the unit sphere.

    Anchors without a positive or a negative are left out; with none left the value is 0.
    """

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        apart = distances(on_sphere(embeddings))
        positive, negative = pair_masks(labels)
        whole = positive.any(1) & negative.any(1)
        far, near = log_sum_exp(apart, positive), log_sum_exp(-apart, negative) + self.params.margin
        return mean_of((far + near).clamp_min(0), whole)
