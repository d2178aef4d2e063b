"""Lifted structure loss: soft hardest positive and negative of every anchor.

Not pytorch-metric-learning's GeneralizedLiftedStructureLoss, the same formula: 0.37 to 0.50 of its time
(docs/benchmarks.md).
"""

from torch import Tensor

from workbench.losses.batch import checked, distances, full_precision, keep_nan, mean_of, on_sphere, pair_masks
from workbench.losses.contract import Loss
from workbench.losses.log_sum_exp import log_sum_exp
from workbench.losses.published import UNNAMED
from workbench.losses.search_space import AROUND, NETWORK_RATE, between
from workbench.params import Params, param
from workbench.registry import register


class LiftedParams(Params):
    """Parameters of the lifted structure loss."""

    margin: float = param(1.0, gt=0, le=10, symbol="m", help="Distance that soft hardest negatives should keep.")


@register(
    "loss", "lifted", title="Lifted structure", params=LiftedParams, needs_pairs=True,
    source="Hermans et al. 2017, Eq. 8 (generalised), after Song et al. 2016",
    batch="classes × images, two or more of each",
    defaults={}, defaults_source=UNNAMED,
    search=NETWORK_RATE | {"margin": between(0.5, 2, AROUND, log=True)},
)  # fmt: skip
class Lifted(Loss):
    """Mean over anchors of max(0, log sum_p exp D_ap + log sum_n exp(m - D_an)), on the unit sphere.

    Anchors without a positive or a negative are left out; with none left the value is 0.
    """

    def __init__(self, params: LiftedParams, *, num_classes: int, embedding_dim: int) -> None:
        super().__init__()
        self.margin, self.num_classes = params.margin, num_classes

    def forward(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        embeddings = checked(embeddings, labels, self.num_classes)
        with full_precision(embeddings):
            apart = distances(on_sphere(embeddings))
            positive, negative = pair_masks(labels)
            whole = positive.any(1) & negative.any(1)
            far, near = log_sum_exp(apart, positive), log_sum_exp(-apart, negative) + self.margin
            return keep_nan(mean_of((far + near).clamp_min(0), whole), embeddings)
