"""Angular loss: the angle at the negative of every triangle.

Not pytorch-metric-learning's AngularLoss, the same formula: 0.24 to 0.80 of its time (docs/benchmarks.md).
"""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from workbench.losses.batch import gram, on_sphere
from workbench.losses.batch_loss import BatchLoss
from workbench.losses.pair_lists import positive_pair_list
from workbench.losses.pair_parts import by_pairs
from workbench.losses.published import UNNAMED
from workbench.losses.search_space import AROUND, NETWORK_RATE, between
from workbench.params import Params, param
from workbench.registry import register


class AngularParams(Params):
    """Parameters of the angular loss."""

    angle: float = param(40.0, gt=0, lt=90, symbol="α", unit="°", help="Largest angle wanted at the negative.")


@register(
    "loss", "angular", title="Angular", params=AngularParams, needs_pairs=True,
    family="Pairs and triplets", formula="mean_p log(1 + Σ_n exp(4 tan²α (a + p)·n − 2 (1 + tan²α) a·p))",
    source="Wang et al. 2017, Eq. 8", batch="classes × images, two or more of each",
    defaults={}, defaults_source=UNNAMED,
    search=NETWORK_RATE | {"angle": between(30, 55, AROUND)},
)  # fmt: skip
class Angular(BatchLoss[AngularParams]):
    """Mean over positive pairs of log(1 + sum_n exp(4 tan^2 α (a + p) n - 2 (1 + tan^2 α) a p)), on the unit sphere.

    The negatives of a pair are all images of other classes. Without a positive pair the value is 0.
    """

    def __init__(self, params: AngularParams, *, num_classes: int, embedding_dim: int) -> None:
        super().__init__(params, num_classes=num_classes, embedding_dim=embedding_dim)
        self.squared_tangent = math.tan(math.radians(params.angle)) ** 2

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        alike = gram(on_sphere(embeddings))
        negative = labels[:, None] != labels
        anchors, partners = positive_pair_list(labels, once=True)  # (a + p) n does not depend on the order of a and p
        t = self.squared_tangent

        def summed(anchors: Tensor, partners: Tensor) -> Tensor:
            rows, others = alike.index_select(0, anchors), alike.index_select(0, partners)  # [pairs, n]
            exponents = (4 * t * (rows + others)).masked_fill(~negative[anchors], torch.finfo(alike.dtype).min / 4)
            return F.softplus(exponents.logsumexp(1) - 2 * (1 + t) * rows.gather(1, partners[:, None])[:, 0]).sum()

        parts = by_pairs(summed, anchors, partners, len(labels))
        return torch.stack([*parts, alike.sum() * 0]).sum() / max(1, len(anchors))
