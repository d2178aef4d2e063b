"""N-pairs loss: every positive pair against all negatives of its anchor.

Not pytorch-metric-learning's NPairsLoss: it takes one pair of each class and leaves the rest of the batch out.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from workbench.losses.batch import gram, pair_masks
from workbench.losses.batch_loss import BatchLoss
from workbench.losses.published import UNNAMED
from workbench.losses.search_space import AROUND, NETWORK_RATE, between
from workbench.losses.shared.log_sum_exp import log_sum_exp
from workbench.params import Params, param
from workbench.registry import register


class NPairsParams(Params):
    """Parameters of the N-pairs loss."""

    l2: float = param(0.002, ge=0, le=10, symbol="λ", label="Length penalty", help="Weight of the squared lengths.")


@register(
    "loss", "npairs", title="N-pairs", params=NPairsParams, needs_pairs=True,
    family="Pairs and triplets", formula="mean_p log(1 + Σ_n exp(a·n − a·p)) + λ mean ‖z‖²",
    source="Sohn 2016, Eq. 6 and Section 3.2.2", batch="classes × images, two or more of each; the paper: two",
    defaults={}, defaults_source=UNNAMED,
    search=NETWORK_RATE | {"l2": between(1e-4, 0.1, AROUND, log=True)},
)  # fmt: skip
class NPairs(BatchLoss[NPairsParams]):
    """Mean over positive pairs of log(1 + sum_n exp(z_a z_n - z_a z_p)), plus λ times the mean squared length.

    Inner products of embeddings as they are. The paper's batch has one pair of each class; here every positive pair
    counts and every image of another class is its negative. For the paper's batch this is the same, except which image
    of a negative pair is compared. Without a positive pair the value is the length penalty.
    """

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        alike = gram(embeddings)
        positive, negative = pair_masks(labels)
        others = log_sum_exp(alike, negative)[:, None]
        # For other pairs softplus would compute unused numbers, some of them subnormal.
        shortfall = torch.where(positive, others - alike, -torch.inf)
        value = F.softplus(shortfall).sum() / positive.sum().clamp_min(1)
        return value + self.params.l2 / len(labels) * embeddings.square().sum()
