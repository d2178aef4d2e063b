"""The base class of softmax losses over cosines to one learned proxy per class, and the proxies' learning rate."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.losses.batch import checked_batch, full_precision, on_sphere
from workbench.losses.contract import Loss
from workbench.losses.shared.linear_logits import LinearLogits
from workbench.params import param


def proxy_rate(
    default: float, help: str = "Learning rate of the proxies, as a multiple.", label: str = "Proxy learning rate"
) -> Any:
    """The field `proxy_lr`: the learning rate of the loss's own parameters, as a multiple of the network's."""
    return param(default, gt=0, le=1e4, label=label, unit="×", help=help)


def short_proxies() -> Any:
    """The field `bounded` of losses that CCP's authors compare with theirs."""
    return param(
        False, label="Within the unit ball",
        help="Bound embeddings and proxies as CCP's authors do: longer ones are scaled to length 1, shorter ones stay "
        "as they are, and proxies start short where there are many. Otherwise all are scaled to length 1.",
    )  # fmt: skip


class CosineSoftmax(Loss):
    """Cross-entropy over the scaled cosines between embeddings and one learned proxy per class.

    Args:
        proxies: [K, d] initial values; their lengths do not matter.
        scale: cosines are multiplied by it.
        proxy_lr: learning rate of the proxies, as a multiple of the network's.
    """

    def __init__(self, proxies: Tensor, *, scale: float, proxy_lr: float) -> None:
        super().__init__()
        self.proxies = nn.Parameter(proxies)
        self.scale, self.proxy_lr_multiplier = scale, proxy_lr

    def logits(self, embeddings: Tensor) -> Tensor:
        """Scores [n, K] of embeddings [n, d], without a margin."""
        with full_precision(embeddings):
            return on_sphere(embeddings.to(self.proxies.dtype), self.scale) @ on_sphere(self.proxies).T

    def forward(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        embeddings, labels = checked_batch(embeddings, labels, len(self.proxies))
        return F.cross_entropy(self.logits(embeddings), labels)

    def linear_logits(self) -> LinearLogits:
        """Cosines times the scale, the logits of the softmax."""
        return LinearLogits(self.proxies, unit_embeddings=True, unit_weight=True, scale=self.scale)

    def class_proxies(self) -> tuple[Tensor, Tensor]:
        """Proxies [K, d] and their classes [K]."""
        return self.proxies, torch.arange(len(self.proxies))
