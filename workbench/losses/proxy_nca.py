"""ProxyNCA++: softmax over the distances to one learned proxy per class.

Not pytorch-metric-learning's ProxyNCALoss, the same formula: 0.46 to 0.57 of its time (docs/benchmarks.md).
"""

import torch
from torch import Tensor

from workbench.losses.batch import bounded, full_precision, in_double
from workbench.losses.cosine_softmax import CosineSoftmax, proxy_rate, short_proxies
from workbench.losses.published import CCP_PAPER, CCP_PROXIES, OF_CCP, in_ccp
from workbench.losses.search_space import MLRC, NETWORK_RATE, PROXY_RATE, between
from workbench.losses.shared.linear_logits import LinearLogits
from workbench.params import Params, param
from workbench.registry import register


class ProxyNCAParams(Params):
    """Parameters of Proxy-NCA."""

    temperature: float = param(1 / 9, gt=0, le=10, symbol="T", help="Squared distances are divided by this value.")
    proxy_lr: float = proxy_rate(
        5.0, "Learning rate of the proxies, as a multiple; the paper has 1000 at a rate of 0.004 / 1000."
    )
    bounded: bool = short_proxies()


@register(
    "loss", "proxy_nca", title="ProxyNCA++", params=ProxyNCAParams, needs_pairs=False,
    family="Proxies", formula="mean −log softmax_y(−‖z − w_k‖² / T)",
    source="Teh et al. 2020, Eq. 6", batch="any; CCP's tables: one image of each class",
    defaults=in_ccp({dataset: {"temperature": 0.1} for dataset in OF_CCP}, CCP_PROXIES), defaults_source=CCP_PAPER,
    search=NETWORK_RATE | PROXY_RATE | {"temperature": between(0.05, 0.5, MLRC, log=True)},
)  # fmt: skip
class ProxyNCA(CosineSoftmax):
    """Minus the mean log softmax of -D^2 / T to the proxy of the sample's class, on the unit sphere or within it."""

    def __init__(self, params: ProxyNCAParams, *, num_classes: int, embedding_dim: int) -> None:
        proxies = torch.randn(num_classes, embedding_dim) * ((2 / num_classes) ** 0.5 if params.bounded else 1 / 8)
        super().__init__(proxies, scale=2 / params.temperature, proxy_lr=params.proxy_lr)
        self.bounded = params.bounded

    def logits(self, embeddings: Tensor) -> Tensor:
        """Scores -D^2 / T [n, K] of embeddings [n, d]: on the sphere 2 cos / T less a number that all classes share."""
        if not self.bounded:
            return super().logits(embeddings) - self.scale
        with full_precision(embeddings):
            inside, proxies = bounded(embeddings.to(self.proxies.dtype)), bounded(self.proxies)
            lengths = inside.square().sum(1, keepdim=True) + proxies.square().sum(1)
            return self.scale * (inside @ proxies.T - lengths / 2)

    def linear_logits(self) -> LinearLogits:
        """-D^2 / T without the part of the embedding's length, which all classes share."""
        if not self.bounded:
            return super().linear_logits()
        bias = -self.scale / 2 * bounded(in_double(self.proxies.detach())).square().sum(1)
        return LinearLogits(self.proxies, bias, scale=self.scale, bounded=True)
