"""Scalable NCA: neighbours in the batch and in a memory of earlier embeddings.

pytorch-metric-learning has no SNCA; its NCALoss in CrossBatchMemory underflows as nca.py says.
"""

import torch
from torch import Tensor

from workbench.losses.batch import mean_of, on_sphere, positive_pairs
from workbench.losses.batch_loss import BatchLoss
from workbench.losses.published import UNNAMED
from workbench.losses.search_space import AROUND, NETWORK_RATE, between, one_of
from workbench.losses.shared.log_sum_exp import log_sum_exp
from workbench.losses.shared.memory import Memory
from workbench.params import Params, param
from workbench.registry import register


class SNCAParams(Params):
    """Parameters of SNCA."""

    temperature: float = param(0.1, gt=0, le=10, symbol="σ", help="Cosines are divided by this value.")
    memory: int = param(
        1024, ge=0, le=1_000_000, unit="embeddings", help="How many of the last embeddings are kept; 0: none."
    )


@register(
    "loss", "snca", title="SNCA with memory", params=SNCAParams, needs_pairs=True,
    family="Pairs and triplets",
    formula="mean_a −log(Σ_p exp(s_ap / σ) / Σ_{i≠a} exp(s_ai / σ)), i in batch and memory",
    source="Wu et al. 2018 (scalable NCA), Eq. 2 to 6; Boudiaf et al. 2020, Table 2",
    batch="classes × images, two or more of each",
    defaults={}, defaults_source=f"{UNNAMED}: Boudiaf et al. 2020 write σ in Table 2 without one",
    search=NETWORK_RATE | {
        "temperature": between(0.02, 0.5, AROUND, log=True),
        "memory": one_of(0, 1024, source="Without a memory, and the default"),
    },
)  # fmt: skip
class SNCA(BatchLoss[SNCAParams]):
    """Minus the mean log probability of a neighbour of the same class, softmax over cosine / σ.

    Neighbours are the other images of the batch and, in training, the last `memory` embeddings, as they were computed
    then (the paper keeps one slot for each image; a queue needs no image numbers). Anchors without a positive
    are left out; with none left the value is 0.
    """

    def __init__(self, params: SNCAParams, *, num_classes: int, embedding_dim: int) -> None:
        super().__init__(params, num_classes=num_classes, embedding_dim=embedding_dim)
        self.memory = Memory(params.memory, embedding_dim)

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        unit = on_sphere(embeddings)
        positive = positive_pairs(labels)
        others = unit
        if self.training:
            kept, kept_labels = self.memory.contents()
            others = torch.cat([unit, kept.to(unit.dtype)])
            positive = torch.cat([positive, labels[:, None] == kept_labels[None, :]], 1)
            self.memory.add(unit, labels)
        alike = unit / self.params.temperature @ others.T
        missed = log_sum_exp(alike) - log_sum_exp(alike, positive)
        return mean_of(missed, positive.any(1))
