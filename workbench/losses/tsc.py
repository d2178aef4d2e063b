"""Targeted supervised contrastive loss (TSC): KCL, and a pull to fixed targets spread evenly on the sphere."""

import torch
from torch import Tensor
from torch.nn import functional as F

from workbench.losses.batch import mean_of, on_sphere
from workbench.losses.batch_loss import BatchLoss
from workbench.losses.kcl import KCLParams, k_positives
from workbench.losses.prototypes import follow_class_means, repelling, simplex
from workbench.losses.published import TSC_CODE, TSC_SOURCE
from workbench.losses.search_space import AROUND, NETWORK_RATE, between
from workbench.losses.shared.linear_logits import LinearLogits
from workbench.params import param
from workbench.registry import register

KEPT = 0.9  # weight of the old running class means, per step
REASSIGN_EVERY = 100  # steps


class TSCParams(KCLParams):
    """Parameters of TSC."""

    weight: float = param(1.0, ge=0, le=100, symbol="λ", help="Weight of the pull to the targets.")


@register(
    "loss", "tsc", title="Targeted supervised contrastive (TSC)", params=TSCParams, needs_pairs=True,
    family="Pairs and triplets",
    formula="KCL + λ/(k + 1) mean_a −log(exp(s_at / τ) / Σ_{i≠a} exp(s_ai / τ)), t the target of y",
    source="Prototype softmax cross entropy, Eq. 3, after Li et al. 2022",
    batch="two views, or classes × images", spans={"always": -1},
    defaults={"cifar10": TSC_CODE, "cifar100": TSC_CODE}, defaults_source=TSC_SOURCE,
    search=NETWORK_RATE | {
        "temperature": between(0.02, 0.5, AROUND, log=True),
        "weight": between(0.1, 10, AROUND, log=True),
    },
)  # fmt: skip
class TSC(BatchLoss[TSCParams]):
    """KCL's part plus λ / (k + 1) times -log of the softmax of the true class's target over the batch, by cosine / τ.

    The target counts once for each anchor, as in the authors' code; Eq. 3 as printed adds it for each of the k + 1
    positives, k + 1 times as much.
    Classes are matched to targets in training, every 100 steps, so that each running class mean is near its target.
    """

    targets: Tensor
    assigned: Tensor
    means: Tensor

    def __init__(self, params: TSCParams, *, num_classes: int, embedding_dim: int) -> None:
        super().__init__(params, num_classes=num_classes, embedding_dim=embedding_dim)
        fits = num_classes > 1 and embedding_dim >= num_classes - 1
        self.register_buffer(
            "targets", simplex(num_classes, embedding_dim) if fits else repelling(num_classes, embedding_dim)
        )
        self.register_buffer("assigned", torch.arange(num_classes))
        self.register_buffer("means", torch.zeros(num_classes, embedding_dim))
        self.steps = 0

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        drawn, temperature = self.params.positives + 1, self.params.temperature
        scaled = on_sphere(embeddings, temperature**-0.5)
        if self.training:
            self._follow(scaled.detach(), labels)
        own, every, has_positives = k_positives(scaled, labels, drawn if self.training else None)
        goals = self.targets[self.assigned[labels]].to(scaled.dtype)
        pull: Tensor = every - (scaled * goals).sum(1) / temperature**0.5
        return mean_of(every - own, has_positives) + self.params.weight / drawn * pull.mean()

    @torch.no_grad()
    def _follow(self, scaled: Tensor, labels: Tensor) -> None:
        follow_class_means(self.means, scaled, labels, KEPT)
        self.steps += 1
        if self.steps % REASSIGN_EVERY == 0:
            from scipy.optimize import linear_sum_assignment  # half a second, which every run would take

            alike = (F.normalize(self.means) @ self.targets.T).cpu().numpy()
            self.assigned.copy_(torch.from_numpy(linear_sum_assignment(-alike)[1]))

    def linear_logits(self) -> LinearLogits:
        """Cosines to the targets over the temperature: what it compares, though its softmax is over the batch."""
        targets = self.targets[self.assigned]
        return LinearLogits(targets, unit_embeddings=True, unit_weight=True, scale=1 / self.params.temperature)

    def class_proxies(self) -> tuple[Tensor, Tensor]:
        """Targets [C, D] in the order of the classes, and the classes [C]."""
        return self.targets[self.assigned], torch.arange(len(self.targets))

    def get_extra_state(self) -> dict[str, int]:
        """What a checkpoint stores besides the tensors: the steps taken."""
        return {"steps": self.steps}

    def set_extra_state(self, state: dict[str, int]) -> None:
        """Restores what get_extra_state returned."""
        self.steps = int(state["steps"])
