"""Smooth-AP: average precision with sigmoids instead of step functions.

Not pytorch-metric-learning's SmoothAPLoss: it splits the batch into as many groups as a class has images, which is
right only if there are as many classes, and makes tensors of n x n x n.
"""

from torch import Tensor

from workbench.losses.batch import gram, on_sphere
from workbench.losses.batch_loss import BatchLoss
from workbench.losses.published import UNNAMED
from workbench.losses.search_space import NETWORK_RATE, between
from workbench.losses.shared.soft_ranks import mean_missed
from workbench.params import Params, param
from workbench.registry import register


class SmoothAPParams(Params):
    """Parameters of Smooth-AP."""

    temperature: float = param(
        0.01, gt=0, le=1, symbol="τ", help="Divides differences of cosines; lower is nearer to the true AP."
    )


@register(
    "loss", "smooth_ap", title="Smooth-AP", params=SmoothAPParams, needs_pairs=True,
    family="Ranking", formula="1 − mean_a mean_p rank_P(p) / rank(p), rank = 1 + Σ_i σ((s_ai − s_ap) / τ)",
    source="Brown et al. 2020, Eq. 5 to 8", batch="classes × images, two or more of each",
    defaults={}, defaults_source=f"{UNNAMED}; τ = 0.01: Brown et al. 2020, Section 5",
    search=NETWORK_RATE | {
        "temperature": between(0.001, 0.1, "Brown et al. 2020 compare 0.1, 0.01 and 0.001", log=True),
    },
)  # fmt: skip
class SmoothAP(BatchLoss[SmoothAPParams]):
    """1 minus the mean AP of the anchors, whose positives have soft ranks among the other images.

    Anchors without a positive are left out; with none left the value is 0.
    """

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        return smooth_ap(gram(on_sphere(embeddings)), labels, self.params.temperature)


def smooth_ap(alike: Tensor, labels: Tensor, temperature: float) -> Tensor:
    """1 minus the mean soft AP of the anchors with a positive, of cosines [n, n] and labels [n]; 0 without any."""
    return mean_missed(lambda ranks: (ranks.every - ranks.own) / ranks.every, alike, labels, temperature)
