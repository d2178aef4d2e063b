"""Proxy-Anchor loss: every proxy is an anchor for the batch.

Not pytorch-metric-learning's ProxyAnchorLoss, the same formula: 0.28 to 0.63 of its time (docs/benchmarks.md), and no
list of classes, for which a GPU would wait.
"""

import torch
from torch import Tensor, nn

from workbench.losses.batch import bounded, on_sphere, sums_at
from workbench.losses.batch_loss import BatchLoss
from workbench.losses.cosine_softmax import proxy_rate, short_proxies
from workbench.losses.published import CCP_PAPER, CCP_PROXIES, OF_CCP, in_ccp, measured_on
from workbench.losses.search_space import NETWORK_RATE, PROXY_RATE, between
from workbench.losses.shared.linear_logits import LinearLogits
from workbench.losses.shared.log_sum_exp import log_sum_exp
from workbench.params import Params, param
from workbench.registry import register


class ProxyAnchorParams(Params):
    """Parameters of Proxy-Anchor."""

    margin: float = param(0.1, ge=0, le=1, symbol="δ", help="Cosine margin on both sides.")
    alpha: float = param(32.0, gt=0, le=500, symbol="α", help="Sharpness of the softmax over the batch.")
    proxy_lr: float = proxy_rate(100.0)
    bounded: bool = short_proxies()


@register(
    "loss", "proxy_anchor", title="Proxy-Anchor", params=ProxyAnchorParams, needs_pairs=False,
    family="Proxies", formula="mean_w log(1 + Σ_p exp(−α (s_wp − δ))) + mean_w log(1 + Σ_n exp(α (s_wn + δ)))",
    source="Kim et al. 2020, Eq. 4",
    batch="any; CCP's tables: one image of each class",
    defaults=in_ccp({dataset: {"margin": 0.1, "alpha": 32.0} for dataset in OF_CCP}, CCP_PROXIES),
    defaults_source=CCP_PAPER, measured=measured_on({"proxy_lr": 20.0, "alpha": 8.0}, "omniglot", "mnist"),
    search=NETWORK_RATE | PROXY_RATE | {
        "alpha": between(4, 64, "Kim et al. 2020, study of α and δ", log=True),
        "margin": between(0, 0.4, "Kim et al. 2020, study of α and δ"),
    },
)  # fmt: skip
class ProxyAnchor(BatchLoss[ProxyAnchorParams]):
    """Soft hardest positives and negatives of every class proxy.

    The mean of the positives' part is over the classes of the batch, that of the negatives' over all.
    """

    def __init__(self, params: ProxyAnchorParams, *, num_classes: int, embedding_dim: int) -> None:
        super().__init__(params, num_classes=num_classes, embedding_dim=embedding_dim)
        proxies = nn.init.kaiming_normal_(torch.empty(num_classes, embedding_dim), mode="fan_out")
        self.anchors = nn.ParameterDict({"proxies": proxies})  # the key of older checkpoints
        self.proxy_lr_multiplier = params.proxy_lr

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        alpha, shift = self.params.alpha, self.params.alpha * self.params.margin
        proxies = self.anchors["proxies"].to(embeddings.dtype)
        if self.params.bounded:
            alike = alpha * bounded(proxies) @ bounded(embeddings).T
        else:
            alike = on_sphere(proxies, alpha) @ on_sphere(embeddings).T  # [K, n], times α
        own = labels[None, :]
        negatives = log_sum_exp(alike, torch.ones_like(alike, dtype=torch.bool).scatter_(0, own, False)) + shift
        positives = shift - alike.gather(0, own)[0]
        # log(1 + Σ exp) of each class by its largest exponent, or by that of the 1; 0 of a class without an image.
        none = alike.new_zeros(self.num_classes)
        top = none.scatter_reduce(0, labels, positives.detach(), "amax")
        sums = sums_at(labels, (positives - top[labels]).exp(), self.num_classes)
        positives = ((-top).exp() + sums).log() + top
        classes = none.index_fill(0, labels, 1.0).sum()
        return positives.sum() / classes + torch.logaddexp(negatives, none).mean()

    def linear_logits(self) -> LinearLogits:
        """Cosines times α: what it compares, though its softmax is over the batch and with margins."""
        unit = not self.params.bounded
        return LinearLogits(
            self.anchors["proxies"], unit_embeddings=unit, unit_weight=unit, scale=self.params.alpha, bounded=not unit
        )

    def class_proxies(self) -> tuple[Tensor, Tensor]:
        """Proxies [K, d] and their classes [K]."""
        return self.anchors["proxies"], torch.arange(self.num_classes)
