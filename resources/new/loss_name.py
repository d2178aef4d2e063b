"""LossTitle: a loss of one's own. Put this file into a plug-in folder (`workbench plugins add FOLDER`)."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.losses.batch import checked_batch, full_precision
from workbench.losses.contract import Loss
from workbench.params import Params, param
from workbench.registry import register


class LossNameParams(Params):
    scale: float = param(16.0, gt=0, le=1000, symbol="s", help="Multiplies the cosines before the softmax.")


@register(
    "loss", "loss_name", title="LossTitle", params=LossNameParams, needs_pairs=False, batch="any",
    source="Name the paper and the equation",
)  # fmt: skip
class LossName(Loss):
    """Softmax cross-entropy over cosines to one learned vector for each class."""

    def __init__(self, params: LossNameParams, *, num_classes: int, embedding_dim: int) -> None:
        super().__init__()
        self.scale = params.scale
        self.proxies = nn.Parameter(torch.randn(num_classes, embedding_dim))

    def forward(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        embeddings, labels = checked_batch(embeddings, labels, len(self.proxies))
        return F.cross_entropy(self.logits(embeddings), labels)

    # What follows may be left out; workbench/losses/contract.py says what else a loss may tell and do.

    def logits(self, embeddings: Tensor) -> Tensor:
        """Scores [n, K] of embeddings [n, d]."""
        with full_precision(embeddings):
            return self.scale * F.normalize(embeddings.to(self.proxies.dtype)) @ F.normalize(self.proxies).T

    def class_proxies(self) -> tuple[Tensor, Tensor]:
        """The learned vectors [K, d] and their classes [K]: stars on the map."""
        return self.proxies, torch.arange(len(self.proxies))
