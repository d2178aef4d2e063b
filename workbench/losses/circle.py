"""Circle loss: every pair is weighed by how far it is from where it should be.

Not pytorch-metric-learning's CircleLoss, the same formula: 0.19 to 0.38 of its time (docs/benchmarks.md), and no choice
of numbers by a mask, for which a GPU would wait.
"""

from torch import Tensor
from torch.nn import functional as F

from workbench.losses.batch import gram, mean_of, on_sphere, pair_masks
from workbench.losses.batch_loss import BatchLoss
from workbench.losses.published import UNNAMED
from workbench.losses.search_space import AROUND, NETWORK_RATE, between
from workbench.losses.shared.log_sum_exp import log_sum_exp
from workbench.params import Params, param
from workbench.registry import register


class CircleParams(Params):
    """Parameters of the circle loss."""

    margin: float = param(0.4, ge=0, le=1, symbol="m", help="Positives are wanted above 1 - m, negatives below m.")
    scale: float = param(80.0, gt=0, le=1000, symbol="γ", help="Sharpness of the softmax over pairs.")


@register(
    "loss", "circle", title="Circle", params=CircleParams, needs_pairs=True,
    family="Pairs and triplets", formula="mean_a log(1 + Σ_n exp(γ a_n (s_an − m)) Σ_p exp(−γ a_p (s_ap − 1 + m)))",
    source="Sun et al. 2020, Eq. 6 to 8",
    batch="classes × images, two or more of each",
    defaults={}, defaults_source=f"{UNNAMED}; m = 0.4, γ = 80 for fine-grained retrieval: Sun et al. 2020",
    search=NETWORK_RATE | {
        "margin": between(0.1, 0.5, AROUND),
        "scale": between(16, 256, "Sun et al. 2020: 80 for retrieval, 256 for faces; less for short runs", log=True),
    },
)  # fmt: skip
class Circle(BatchLoss[CircleParams]):
    """Mean over anchors of softplus(log sum_n e^(γ a_n (s_n - m)) + log sum_p e^(-γ a_p (s_p - 1 + m))).

    The weights a_p = max(0, 1 + m - s_p) and a_n = max(0, s_n + m) count as constants in the gradient. Anchors without
    a positive or a negative, and those whose value is 0, do not count in the mean; with none left the value is 0.
    """

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        margin, scale = self.params.margin, self.params.scale
        alike = gram(on_sphere(embeddings))
        positive, negative = pair_masks(labels)
        fixed = alike.detach()
        pull = (1 + margin - fixed).clamp_min_(0).mul_(-scale) * (alike - (1 - margin))
        push = (fixed + margin).clamp_min_(0).mul_(scale) * (alike - margin)
        # An anchor without a positive or a negative gets 0 here: its sum over none is 0, and so is the product.
        values = F.softplus(log_sum_exp(pull, positive) + log_sum_exp(push, negative))
        return mean_of(values, values > 0)
