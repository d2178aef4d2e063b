"""Supervised contrastive loss.

Not pytorch-metric-learning's SupConLoss, the same formula: 0.36 to 0.49 of its time (docs/benchmarks.md).
"""

import torch
from torch import Tensor

from workbench.losses.batch import gram, mean_of, on_sphere, positive_pairs
from workbench.losses.batch_loss import BatchLoss
from workbench.losses.published import PSCE_PAPER, TWO_VIEWS
from workbench.losses.search_space import AROUND, NETWORK_RATE, between
from workbench.losses.shared.log_sum_exp import log_sum_exp
from workbench.params import Params, param
from workbench.registry import register


class SupConParams(Params):
    """Parameters of SupCon."""

    temperature: float = param(0.1, gt=0, le=10, symbol="τ", help="Cosines are divided by this value.")


@register(
    "loss", "supcon", title="Supervised contrastive (SupCon)", params=SupConParams,
    family="Pairs and triplets", formula="mean_a mean_p −log(exp(s_ap / τ) / Σ_{i≠a} exp(s_ai / τ))",
    needs_pairs=True, source="Khosla et al. 2020, Eq. 2 (L_out); prototype softmax cross entropy, Eq. 1 (SCL)",
    batch="two views, or classes × images", defaults={"cifar10": TWO_VIEWS, "cifar100": TWO_VIEWS},
    defaults_source=f"{PSCE_PAPER}; τ is in a supplement that was not available",
    search=NETWORK_RATE | {"temperature": between(0.02, 0.5, AROUND, log=True)},
)  # fmt: skip
class SupCon(BatchLoss[SupConParams]):
    """Mean over anchors of minus the mean log softmax of their positives, over cosine / τ.

    Anchors without a positive are left out; with none left the value is 0.
    """

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        alike = gram(on_sphere(embeddings, self.params.temperature**-0.5))
        positive = positive_pairs(labels)
        every = log_sum_exp(alike)
        count = positive.sum(1)
        own = torch.where(positive, alike, 0.0).sum(1) / count.clamp_min(1)
        return mean_of(every - own, count > 0)
