"""Recall@k surrogate: the fraction of positives among the first k, with sigmoids for both step functions."""

import torch
from torch import Tensor

from workbench.losses.batch import gram, on_sphere
from workbench.losses.batch_loss import BatchLoss
from workbench.losses.published import UNNAMED
from workbench.losses.search_space import AROUND, NETWORK_RATE, between
from workbench.losses.shared.soft_ranks import mean_missed
from workbench.params import Params, param
from workbench.registry import register

AT = (1.0, 2.0, 4.0, 8.0, 16.0)  # the paper's k


class RecallAtKParams(Params):
    """Parameters of the recall@k surrogate."""

    temperature: float = param(
        0.01, gt=0, le=1, symbol="τ₂", help="Divides differences of cosines; lower is nearer to the rank."
    )
    rank_temperature: float = param(
        1.0, gt=0, le=100, symbol="τ₁", help="Differences between k and a rank are divided by this value."
    )


@register(
    "loss", "recall_at_k", title="Recall@k surrogate", params=RecallAtKParams, needs_pairs=True,
    family="Ranking", formula="1 − mean_{a,k} mean_p σ((k − rank(p)) / τ₁), rank = 1 + Σ_i σ((s_ai − s_ap) / τ₂)",
    source="Patel et al. 2022, Eq. 3 to 6, without the mixup of similarities; their code divides by min(k, positives), "
    "and its τ₁ is k",
    batch="classes × images, two or more of each; the paper: 4000 images",
    defaults={}, defaults_source=f"{UNNAMED}; τ₁ = 1, τ₂ = 0.01: Patel et al. 2022, Section 4",
    search=NETWORK_RATE | {
        "temperature": between(0.001, 0.1, AROUND, log=True),
        "rank_temperature": between(0.3, 10, AROUND, log=True),
    },
)  # fmt: skip
class RecallAtK(BatchLoss[RecallAtKParams]):
    """1 minus the mean over anchors and k of the share of positives whose soft rank is below k, k = 1, 2, 4, 8, 16.

    The share is of all positives, as printed; the authors' code divides by k where there are more than k, and counts at
    most k. Anchors without a positive are left out; with none left the value is 0.
    """

    at: Tensor

    def __init__(self, params: RecallAtKParams, *, num_classes: int, embedding_dim: int) -> None:
        super().__init__(params, num_classes=num_classes, embedding_dim=embedding_dim)
        self.register_buffer("at", torch.tensor(AT), persistent=False)

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        alike = gram(on_sphere(embeddings))
        return mean_missed(
            lambda ranks: ((ranks.every[..., None] - self.at) / self.params.rank_temperature).sigmoid().mean(-1),
            alike, labels, self.params.temperature,
        )  # fmt: skip
