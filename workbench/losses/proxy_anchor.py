"""Proxy-Anchor loss: every proxy is an anchor for the batch."""

import torch
from pytorch_metric_learning.losses import ProxyAnchorLoss
from torch import Tensor

from workbench.losses.batch_loss import BatchLoss
from workbench.losses.cosine_softmax import proxy_rate
from workbench.losses.linear_logits import LinearLogits
from workbench.losses.published import CCP_PAPER, CCP_PROXIES, OF_CCP, in_ccp, measured_on
from workbench.losses.search_space import NETWORK_RATE, PROXY_RATE, between
from workbench.params import Params, param
from workbench.registry import register


class ProxyAnchorParams(Params):
    """Parameters of Proxy-Anchor."""

    margin: float = param(0.1, ge=0, le=1, symbol="δ", help="Cosine margin on both sides.")
    alpha: float = param(32.0, gt=0, le=500, symbol="α", help="Sharpness of the softmax over the batch.")
    proxy_lr: float = proxy_rate(100.0)


@register(
    "loss", "proxy_anchor", title="Proxy-Anchor", params=ProxyAnchorParams, needs_pairs=False,
    family="Proxies", formula="mean_w log(1 + Σ_p exp(−α (s_wp − δ))) + mean_w log(1 + Σ_n exp(α (s_wn + δ)))",
    source="Kim et al. 2020, Eq. 4; pytorch-metric-learning ProxyAnchorLoss",
    batch="any; CCP's tables: one image of each class",
    defaults=in_ccp({dataset: {"margin": 0.1, "alpha": 32.0} for dataset in OF_CCP}, CCP_PROXIES),
    defaults_source=CCP_PAPER, measured=measured_on({"proxy_lr": 20.0, "alpha": 8.0}, "omniglot", "mnist"),
    search=NETWORK_RATE | PROXY_RATE | {
        "alpha": between(4, 64, "Kim et al. 2020, study of α and δ", log=True),
        "margin": between(0, 0.4, "Kim et al. 2020, study of α and δ"),
    },
)  # fmt: skip
class ProxyAnchor(BatchLoss[ProxyAnchorParams]):
    """Soft hardest positives and negatives of every class proxy."""

    def __init__(self, params: ProxyAnchorParams, *, num_classes: int, embedding_dim: int) -> None:
        super().__init__(params, num_classes=num_classes, embedding_dim=embedding_dim)
        self.anchors = ProxyAnchorLoss(num_classes, embedding_dim, margin=params.margin, alpha=params.alpha)
        self.proxy_lr_multiplier = params.proxy_lr

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        value: Tensor = self.anchors(embeddings, labels)
        return value

    def linear_logits(self) -> LinearLogits:
        """Cosines times α: what it compares, though its softmax is over the batch and with margins."""
        return LinearLogits(self.anchors.proxies, unit_embeddings=True, unit_weight=True, scale=self.params.alpha)

    def class_proxies(self) -> tuple[Tensor, Tensor]:
        """Proxies [K, d] and their classes [K]."""
        return self.anchors.proxies, torch.arange(self.num_classes)
