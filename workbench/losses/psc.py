"""Prototype supervised contrastive loss (PSC): towards the prototype of the same class, away from the others."""

from typing import Literal

import torch
from torch import Tensor, nn

from workbench.losses.batch import checked_batch, full_precision, on_sphere
from workbench.losses.contract import Loss
from workbench.losses.cosine_softmax import proxy_rate
from workbench.losses.prototypes import follow_class_means
from workbench.losses.psce import without_own_class
from workbench.losses.published import UNNAMED
from workbench.losses.search_space import AROUND, NETWORK_RATE, PROXY_RATE, between, one_of
from workbench.losses.shared.linear_logits import LinearLogits
from workbench.params import Params, param
from workbench.registry import register

KEPT = 0.9  # weight of the old running class means, per step


class PSCParams(Params):
    """Parameters of PSC."""

    prototypes: Literal["learned", "means"] = param(
        "learned",
        help="learned: vectors that the optimiser moves; means: running means of the embeddings of a class, as in the "
        "paper.",
    )
    temperature: float = param(0.1, gt=0, le=10, symbol="τ", help="Cosines are divided by this value.")
    proxy_lr: float = proxy_rate(5.0, "Learning rate of learned prototypes, as a multiple.", "Prototype learning rate")


@register(
    "loss", "psc", title="Prototype supervised contrastive (PSC)", params=PSCParams,
    family="Classification", formula="mean log Σ_{k≠y} exp(cos(z, c_k) / τ) − cos(z, c_y) / τ",
    needs_pairs=False, source="Prototype softmax cross entropy, Eq. 2, after Wang et al. 2021",
    batch="any; the paper: two views of each image",
    defaults={}, defaults_source=f"{UNNAMED}: Bytyqi et al. 2023 (PSCE) quote its results in Table 4",
    search=NETWORK_RATE | PROXY_RATE | {
        "prototypes": one_of("learned", "means", source="Both of this file"),
        "temperature": between(0.05, 1, AROUND, log=True),
    },
)  # fmt: skip
class PSC(Loss):
    """Mean of log sum_{k != y} exp(cos(z, c_k) / τ) - cos(z, c_y) / τ over the prototypes c; may be negative.

    Class means follow the embeddings in training only, before each batch is scored, and get no gradient; a class that
    was not seen yet has the zero vector.
    """

    prototypes: Tensor

    def __init__(self, params: PSCParams, *, num_classes: int, embedding_dim: int) -> None:
        super().__init__()
        if params.prototypes == "learned":
            self.prototypes = nn.Parameter(torch.randn(num_classes, embedding_dim) / embedding_dim**0.5)
        else:
            self.register_buffer("prototypes", torch.zeros(num_classes, embedding_dim))
        self.follows = params.prototypes == "means"
        self.temperature, self.proxy_lr_multiplier = params.temperature, params.proxy_lr

    def logits(self, embeddings: Tensor) -> Tensor:
        """Scores [n, C] of embeddings [n, D]."""
        with full_precision(embeddings):
            embeddings = on_sphere(embeddings.to(self.prototypes.dtype), 1 / self.temperature)
            return embeddings @ on_sphere(self.prototypes).T

    def forward(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        embeddings, labels = checked_batch(embeddings, labels, len(self.prototypes))
        if self.follows and self.training:
            with torch.no_grad(), full_precision(embeddings):
                follow_class_means(self.prototypes, on_sphere(embeddings), labels, KEPT)
        return without_own_class(self.logits(embeddings), labels)

    def linear_logits(self) -> LinearLogits:
        """Cosines over the temperature; the loss leaves the own class out of the denominator."""
        return LinearLogits(self.prototypes, unit_embeddings=True, unit_weight=True, scale=1 / self.temperature)

    def class_proxies(self) -> tuple[Tensor, Tensor]:
        """Prototypes [C, D] and their classes [C]."""
        return self.prototypes, torch.arange(len(self.prototypes))
