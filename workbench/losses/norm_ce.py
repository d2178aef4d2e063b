"""Normalised cross-entropy: a softmax over cosines, so that length cannot be learned.

Not pytorch-metric-learning's NormalizedSoftmaxLoss, the same formula: 0.30 to 0.67 of its time (docs/benchmarks.md).
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.losses.batch import checked, full_precision, on_sphere
from workbench.losses.contract import Loss
from workbench.losses.linear_logits import LinearLogits
from workbench.losses.published import UNNAMED, measured_on
from workbench.losses.search_space import MLRC, NETWORK_RATE, PROXY_RATE, between
from workbench.params import Params, param
from workbench.registry import register


class NormCEParams(Params):
    """Parameters of the cross-entropy of normalised embeddings and proxies."""

    temperature: float = param(0.05, gt=0, le=10, symbol="τ", help="Divides every cosine; lower is sharper.")
    proxy_lr: float = param(
        1.0, gt=0, le=1e4, label="Proxy learning rate", unit="×", help="Learning rate of the proxies, as a multiple."
    )


@register(
    "loss", "norm_ce", title="Normalised CE", params=NormCEParams, needs_pairs=False,
    source="Boudiaf et al. 2020, Eq. 12",
    batch="any",
    defaults={}, defaults_source=f"{UNNAMED}: Boudiaf et al. 2020 write τ in Eq. 12 without one",
    measured=measured_on({"proxy_lr": 5.0}, "omniglot", "mnist"),
    search=NETWORK_RATE | PROXY_RATE | {"temperature": between(0.03, 0.2, MLRC, log=True)},
)  # fmt: skip
class NormCE(Loss):
    """Cross-entropy on the cosines between embeddings and one learned proxy per class."""

    def __init__(self, params: NormCEParams, *, num_classes: int, embedding_dim: int) -> None:
        super().__init__()
        self.temperature = params.temperature
        self.proxy_lr_multiplier = params.proxy_lr
        self.proxies = nn.Parameter(torch.randn(num_classes, embedding_dim))

    def logits(self, embeddings: Tensor) -> Tensor:
        """Cosines over the temperature, [n, K]."""
        with full_precision(embeddings):
            return on_sphere(embeddings.to(self.proxies.dtype), 1 / self.temperature) @ on_sphere(self.proxies).T

    def forward(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        embeddings = checked(embeddings, labels, len(self.proxies))
        return F.cross_entropy(self.logits(embeddings), labels)

    def linear_logits(self) -> LinearLogits:
        """What the softmax is taken over."""
        return LinearLogits(self.proxies, unit_embeddings=True, unit_weight=True, scale=1 / self.temperature)

    def class_proxies(self) -> tuple[Tensor, Tensor]:
        """Proxies [K, d] and their classes [K]."""
        return self.proxies, torch.arange(len(self.proxies))
