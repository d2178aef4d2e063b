"""ProxyNCA++: softmax over the distances to one learned proxy per class.

Not pytorch-metric-learning's ProxyNCALoss, the same formula: 0.46 to 0.57 of its time (docs/benchmarks.md).
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.losses.batch import checked, full_precision, on_sphere
from workbench.losses.contract import Loss
from workbench.losses.linear_logits import LinearLogits
from workbench.losses.published import CCP_PAPER, CCP_PROXIES, OF_CCP, in_ccp
from workbench.losses.search_space import MLRC, NETWORK_RATE, PROXY_RATE, between
from workbench.params import Params, param
from workbench.registry import register


class ProxyNCAParams(Params):
    """Parameters of Proxy-NCA."""

    temperature: float = param(1 / 9, gt=0, le=10, symbol="T", help="Squared distances are divided by it.")
    proxy_lr: float = param(
        5.0, gt=0, le=1e4, label="Proxy learning rate", unit="×",
        help="Learning rate of the proxies, as a multiple; the paper has 1000 at a rate of 0.004 / 1000.",
    )  # fmt: skip


@register(
    "loss", "proxy_nca", title="ProxyNCA++", params=ProxyNCAParams, needs_pairs=False,
    source="Teh et al. 2020, Eq. 6",
    batch="any; CCP's tables: one image of each class",
    defaults=in_ccp({dataset: {"temperature": 0.1} for dataset in OF_CCP}, CCP_PROXIES),
    defaults_source=CCP_PAPER,
    search=NETWORK_RATE | PROXY_RATE | {"temperature": between(0.05, 0.5, MLRC, log=True)},
)  # fmt: skip
class ProxyNCA(Loss):
    """Minus the mean log softmax of -D^2 / T to the proxy of one's own class, on the unit sphere."""

    def __init__(self, params: ProxyNCAParams, *, num_classes: int, embedding_dim: int) -> None:
        super().__init__()
        self.proxies = nn.Parameter(torch.randn(num_classes, embedding_dim) / 8)
        self.temperature, self.proxy_lr_multiplier = params.temperature, params.proxy_lr

    def logits(self, embeddings: Tensor) -> Tensor:
        """Scores [n, K] of embeddings [n, d]."""
        with full_precision(embeddings):
            proxies, doubled = on_sphere(self.proxies), 2 / self.temperature
            return on_sphere(embeddings.to(proxies.dtype), doubled) @ proxies.T - doubled

    def forward(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        embeddings = checked(embeddings, labels, len(self.proxies))
        return F.cross_entropy(self.logits(embeddings), labels)

    def linear_logits(self) -> LinearLogits:
        """-D^2 / T is 2 cos / T up to a number that all classes share."""
        return LinearLogits(self.proxies, unit_embeddings=True, unit_weight=True, scale=2 / self.temperature)

    def class_proxies(self) -> tuple[Tensor, Tensor]:
        """Proxies [K, d] and their classes [K]."""
        return self.proxies, torch.arange(len(self.proxies))
