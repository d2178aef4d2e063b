"""Cross-entropy as metric learning: a linear classifier with bias on the embedding, discarded after training."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.losses.batch import checked_batch, full_precision
from workbench.losses.contract import Loss
from workbench.losses.cosine_softmax import proxy_rate
from workbench.losses.published import CE_PAPER, HEAD_ONLY, measured_on
from workbench.losses.search_space import NETWORK_RATE, PROXY_RATE, one_of
from workbench.losses.shared.linear_logits import LinearLogits
from workbench.params import Params, param
from workbench.registry import register


class CEParams(Params):
    """Parameters of the cross-entropy with a linear classifier."""

    dropout: float = param(
        0.5, ge=0, lt=1, help="Share of the embedding's dimensions hidden from the classifier in training."
    )
    label_smoothing: float = param(
        0.1, ge=0, lt=1, symbol="ε", help="Probability shared by the wrong classes, ε / (K - 1) each."
    )
    proxy_lr: float = proxy_rate(
        1.0,
        "Learning rate of the classifier, as a multiple: high when the backbone is only fine-tuned.",
        "Classifier learning rate",
    )


REGULARISED = {
    "dropout": 0.5, "label_smoothing": 0.1, "training.batch_size": 128, "training.optimiser": "sgd",
    "training.weight_decay": 5e-4, "training.decay_matrices_only": True,
}  # fmt: skip
SHOPS = {"training.lr": 0.003, "training.momentum": 0.99, "training.nesterov": True, "embedding.batch_norm": True}


@register(
    "loss", "ce", title="Cross-entropy (CE)", params=CEParams, needs_pairs=False,
    family="Classification", formula="mean −log softmax_y(W z + b)",
    source="Boudiaf et al. 2020, Section 6.3", batch="any",
    defaults={
        "cub": REGULARISED | {"training.lr": 0.02, "training.momentum": 0.0, "embedding.batch_norm": False},
        "cars": REGULARISED | {"training.lr": 0.05, "training.momentum": 0.0, "embedding.batch_norm": True},
        "inshop": REGULARISED | SHOPS,
        "sop": REGULARISED | SHOPS,
        "mnist": {
            "training.batch_size": 64, "training.optimiser": "sgd", "training.lr": 1e-3, "training.momentum": 0.9,
            "training.schedule": "cosine", "embedding.dim": 100,
        },
    },
    defaults_source=f"{CE_PAPER}; MNIST: Section 5.2",
    measured=measured_on({"dropout": 0.0}, "omniglot", "mnist") | {"caltech": {"dropout": 0.0} | HEAD_ONLY},
    search=NETWORK_RATE | PROXY_RATE | {
        "dropout": one_of(0.0, 0.5, source=f"{CE_PAPER}: 0.5; 0 leaves it out"),
        "label_smoothing": one_of(0.0, 0.1, source=f"{CE_PAPER}: 0.1; 0 leaves it out"),
    },
)  # fmt: skip
class CE(Loss):
    """Softmax cross-entropy over a linear classifier with bias; its weights are the class vectors."""

    def __init__(self, params: CEParams, *, num_classes: int, embedding_dim: int) -> None:
        super().__init__()
        self.classifier = nn.Linear(embedding_dim, num_classes)
        nn.init.zeros_(self.classifier.weight)
        nn.init.zeros_(self.classifier.bias)
        self.dropout = nn.Dropout(params.dropout)
        self.proxy_lr_multiplier = params.proxy_lr
        # torch spreads its smoothing over all K classes, the paper over the K - 1 wrong ones.
        smoothing = params.label_smoothing * num_classes / (num_classes - 1) if num_classes > 1 else 0.0
        self.smoothing = min(smoothing, 1.0)

    def logits(self, embeddings: Tensor) -> Tensor:
        """Scores [n, K] of embeddings [n, d], without dropout."""
        with full_precision(embeddings):
            return F.linear(embeddings.to(self.classifier.weight.dtype), self.classifier.weight, self.classifier.bias)

    def forward(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        embeddings, labels = checked_batch(embeddings, labels, self.classifier.out_features)
        return F.cross_entropy(self.logits(self.dropout(embeddings)), labels, label_smoothing=self.smoothing)

    def linear_logits(self) -> LinearLogits:
        """What the softmax is taken over."""
        return LinearLogits(self.classifier.weight, self.classifier.bias)

    def class_proxies(self) -> tuple[Tensor, Tensor]:
        """Classifier weights [K, d] and their classes [K]."""
        return self.classifier.weight, torch.arange(self.classifier.out_features)
