"""Center loss: cross-entropy, and a pull of every embedding to the learned centre of its class."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.losses.batch import full_precision
from workbench.losses.batch_loss import BatchLoss
from workbench.losses.cosine_softmax import proxy_rate
from workbench.losses.published import HEAD_ONLY, UNNAMED
from workbench.losses.search_space import NETWORK_RATE, PROXY_RATE, between
from workbench.losses.shared.linear_logits import LinearLogits
from workbench.params import Params, param
from workbench.registry import register


class CenterParams(Params):
    """Parameters of the center loss."""

    weight: float = param(0.01, ge=0, le=100, symbol="λ", help="Weight of the pull, relative to cross-entropy.")
    proxy_lr: float = proxy_rate(5.0, "Learning rate of centres and classifier, as a multiple.", "Centre learning rate")


@register(
    "loss", "center", title="Center", params=CenterParams, needs_pairs=False,
    family="Classification", formula="mean −log softmax_y(W z + b) + λ/2 mean ‖z − c_y‖²",
    source="Wen et al. 2016, Eq. 5", batch="any", defaults={}, defaults_source=UNNAMED,
    measured={"caltech": HEAD_ONLY},
    search=NETWORK_RATE | PROXY_RATE | {
        "weight": between(1e-4, 0.1, "Wen et al. 2016 vary λ from 0 to 0.1", log=True),
    },
)  # fmt: skip
class Center(BatchLoss[CenterParams]):
    """Softmax cross-entropy of a linear classifier plus λ / 2 times the mean squared distance to the class's centre.

    Centres are learned by the optimiser with their own rate; the paper moves them by a rule of its own (Eq. 4) with
    the same direction.
    """

    def __init__(self, params: CenterParams, *, num_classes: int, embedding_dim: int) -> None:
        super().__init__(params, num_classes=num_classes, embedding_dim=embedding_dim)
        self.classifier = nn.Linear(embedding_dim, num_classes)
        self.centres = nn.Parameter(torch.zeros(num_classes, embedding_dim))
        self.proxy_lr_multiplier = params.proxy_lr

    def logits(self, embeddings: Tensor) -> Tensor:
        """Scores [n, K] of embeddings [n, d]."""
        classifier = self.classifier
        weight = classifier.weight
        with full_precision(embeddings):
            return F.linear(embeddings.to(weight.dtype), weight, classifier.bias)

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        centres = F.embedding(labels, self.centres).to(embeddings.dtype)  # torch 2.11 has no gradient of two types
        pull = F.mse_loss(embeddings, centres, reduction="sum")
        return F.cross_entropy(self.logits(embeddings), labels) + self.params.weight / 2 / len(labels) * pull

    def linear_logits(self) -> LinearLogits:
        """What the softmax is taken over."""
        return LinearLogits(self.classifier.weight, self.classifier.bias)

    def class_proxies(self) -> tuple[Tensor, Tensor]:
        """Centres [K, d] and their classes [K]."""
        return self.centres, torch.arange(len(self.centres))
