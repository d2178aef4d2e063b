"""K-positive contrastive loss (KCL): the same number of positives for every anchor, whatever the size of its class."""

import torch
from torch import Tensor

from workbench.losses.batch import gram, mean_of, on_sphere, positive_pairs
from workbench.losses.batch_loss import BatchLoss
from workbench.losses.published import TSC_CODE, TSC_SOURCE
from workbench.losses.search_space import AROUND, NETWORK_RATE, between
from workbench.losses.shared.log_sum_exp import log_sum_exp
from workbench.params import Params, param
from workbench.registry import register


class KCLParams(Params):
    """Parameters of KCL."""

    temperature: float = param(0.1, gt=0, le=10, symbol="τ", help="Cosines are divided by this value.")
    positives: int = param(
        6,
        ge=1,
        le=1000,
        symbol="k",
        help="k + 1 positives are drawn for each anchor; another view of the anchor is drawn like any other.",
    )


@register(
    "loss", "kcl", title="K-positive contrastive (KCL)", params=KCLParams, needs_pairs=True,
    family="Pairs and triplets", formula="mean_a mean over k + 1 p of −log(exp(s_ap / τ) / Σ_{i≠a} exp(s_ai / τ))",
    source="Prototype softmax cross entropy, Eq. 3, first part, after Kang et al. 2021",
    batch="two views, or classes × images",
    defaults={"cifar10": TSC_CODE, "cifar100": TSC_CODE}, defaults_source=TSC_SOURCE,
    search=NETWORK_RATE | {"temperature": between(0.02, 0.5, AROUND, log=True)},
)  # fmt: skip
class KCL(BatchLoss[KCLParams]):
    """SupCon with at most k + 1 positives for each anchor, drawn again in every training step.

    The authors' code takes the anchor's other view always and draws k; here all k + 1 are drawn.
    In evaluation all positives count, which is the expectation. Anchors without a positive are left out; with none
    left the value is 0.
    """

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        scaled = on_sphere(embeddings, self.params.temperature**-0.5)
        own, every, has_positives = k_positives(scaled, labels, self.params.positives + 1 if self.training else None)
        return mean_of(every - own, has_positives)


def k_positives(scaled: Tensor, labels: Tensor, drawn: int | None) -> tuple[Tensor, Tensor, Tensor]:
    """Mean cosine / τ to the drawn positives [n], log-sum-exp over the others [n], whether there is a positive [n].

    Args:
        scaled: [n, d] embeddings at length τ^-1/2.
        labels: [n] int64.
        drawn: positives drawn for each anchor; None counts them all.
    """
    alike, positive = gram(scaled), positive_pairs(labels)
    every = log_sum_exp(alike)
    if drawn is not None and drawn < len(labels):
        chance = torch.empty(positive.shape, device=scaled.device).uniform_(1, 2).mul_(positive)
        chance, columns = chance.topk(drawn, 1)
        positive, alike = chance > 0, alike.gather(1, columns)  # rows with few positives are padded with zeros
    count = positive.sum(1)
    own = torch.where(positive, alike, 0.0).sum(1) / count.clamp_min(1)
    return own, every, count > 0
