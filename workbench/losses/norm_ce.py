"""Normalised cross-entropy: a softmax over cosines, so that the length of embeddings has no effect.

Not pytorch-metric-learning's NormalizedSoftmaxLoss, the same formula: 0.30 to 0.67 of its time (docs/benchmarks.md).
"""

import torch

from workbench.losses.cosine_softmax import CosineSoftmax, proxy_rate
from workbench.losses.published import UNNAMED, measured_on
from workbench.losses.search_space import MLRC, NETWORK_RATE, PROXY_RATE, between
from workbench.params import Params, param
from workbench.registry import register


class NormCEParams(Params):
    """Parameters of the cross-entropy of normalised embeddings and proxies."""

    temperature: float = param(
        0.05, gt=0, le=10, symbol="τ", help="Divides every cosine; lower is sharper. Eq. 12 writes its inverse."
    )
    proxy_lr: float = proxy_rate(1.0)


@register(
    "loss", "norm_ce", title="Normalised CE", params=NormCEParams, needs_pairs=False,
    family="Classification", formula="mean −log softmax_y(cos(z, w_k) / τ)",
    source="Boudiaf et al. 2020, Eq. 12", batch="any",
    defaults={}, defaults_source=f"{UNNAMED}: Boudiaf et al. 2020 write τ in Eq. 12 without one",
    measured=measured_on({"proxy_lr": 5.0}, "omniglot", "mnist"),
    search=NETWORK_RATE | PROXY_RATE | {"temperature": between(0.03, 0.2, MLRC, log=True)},
)  # fmt: skip
class NormCE(CosineSoftmax):
    """Cross-entropy on the cosines between embeddings and one learned proxy per class."""

    def __init__(self, params: NormCEParams, *, num_classes: int, embedding_dim: int) -> None:
        proxies = torch.randn(num_classes, embedding_dim)
        super().__init__(proxies, scale=1 / params.temperature, proxy_lr=params.proxy_lr)
