"""Cross-batch memory: a pair loss between the batch and the embeddings of the latest batches, its own included.

Not pytorch-metric-learning's CrossBatchMemory: after a warm-up, the memory's part is added to that of the batch, as in
Eq. 3. C1 is the authors' own loss by cosine (contrastive_cosine.py).
"""

from typing import Literal

import torch
from torch import Tensor

from workbench.losses.batch import bounded, distances, mean_of, on_sphere
from workbench.losses.batch_loss import BatchLoss
from workbench.losses.contrastive_cosine import cosine_pairs
from workbench.losses.contrastive_positive_margin import hinges
from workbench.losses.multi_similarity import multi_similarity
from workbench.losses.published import C2_MARGINS, CCP_PAIRS, CCP_PAPER, Values, in_ccp
from workbench.losses.search_space import AROUND, NETWORK_RATE, between, one_of
from workbench.losses.shared.contrastive_pairs import contrastive_pairs
from workbench.losses.shared.memory import Memory
from workbench.losses.triplet import semi_hard
from workbench.params import Params, param
from workbench.registry import register


class XBMParams(Params):
    """Parameters of the cross-batch memory: the pair loss and the size of the memory."""

    inner: Literal[
        "contrastive", "contrastive_cosine", "contrastive_positive_margin", "multi_similarity", "triplet"
    ] = param("contrastive", label="Pair loss", help="The pair loss inside.")  # fmt: skip
    memory: int = param(
        2048, ge=1, le=1_000_000, symbol="M", unit="embeddings", help="How many of the last embeddings are kept."
    )
    warm_up: int = param(
        200, ge=0, le=1_000_000, unit="steps", help="Steps before the memory is used: embeddings drift too fast first."
    )
    filled: Literal["from_start", "after_warm_up"] = param(
        "from_start", label="Memory filled",
        help="from_start: when the memory is first used it holds the last batches of the warm-up. after_warm_up: it is "
        "empty then, as in the authors' code.",
    )  # fmt: skip
    bounded: bool = param(
        False, label="Within the unit ball",
        help="Compare vectors as CCP's authors do: longer ones are scaled to length 1, shorter ones stay as they are. "
        "Otherwise all are scaled to length 1.",
    )  # fmt: skip
    margin: float = param(
        1.0, gt=0, le=2, symbol="m",
        help="Distance from which negatives are left alone; both contrastive losses by distance.",
    )  # fmt: skip
    positive_margin: float = param(
        0.3, ge=0, le=2, help="Distance up to which positives are left alone; contrastive with positive margin."
    )
    cosine_margin: float = param(
        0.5, ge=-1, lt=1, help="Cosine up to which negatives are left alone; contrastive by cosine."
    )
    triplet_margin: float = param(
        0.2, gt=0, le=2, help="How much farther, squared, a semi-hard negative must be; triplet."
    )


def _inner(dataset: str) -> Values:
    """The settings of C1 and C2 with the memory in CCP's supplement."""
    positive, negative = C2_MARGINS[dataset]
    return {
        "contrastive_cosine": {"cosine_margin": 0.5},
        "contrastive_positive_margin": {"positive_margin": positive, "margin": negative},
    }


@register(
    "loss", "xbm", title="Cross-batch memory (XBM)", params=XBMParams, needs_pairs=True,
    family="Pairs and triplets", formula="pair loss(batch, batch) + pair loss(batch, memory)",
    source="Wang et al. 2020 (XBM), Eq. 3 and Algorithm 1", batch="classes × images, two or more of each",
    defaults=in_ccp(
        {
            dataset: {"memory": memory, "warm_up": 1000, "inner": _inner(dataset)}
            for dataset, memory in {"cub": 800, "cars": 800, "inshop": 12800, "sop": 44800}.items()
        },
        CCP_PAIRS,
    ),
    defaults_source=CCP_PAPER,
    search=NETWORK_RATE | {
        "inner": one_of(
            "contrastive", "contrastive_cosine", "contrastive_positive_margin", "multi_similarity", "triplet",
            source="Wang et al. 2020 (XBM): around any pair loss",
        ),
        "memory": between(256, 4096, AROUND, log=True),
        "warm_up": between(0, 200, AROUND),
    },
)  # fmt: skip
class XBM(BatchLoss[XBMParams]):
    """The pair loss within the batch, plus, after the warm-up, the same between the batch and the memory.

    The memory holds the latest embeddings at unit length, or bounded. As in Algorithm 1, the batch is stored before it
    is compared, as constants and without pairs of an image with itself. The memory is filled, and counts steps, in
    training only, from the first step or, as in the authors' code, from the first after the warm-up.
    """

    def __init__(self, params: XBMParams, *, num_classes: int, embedding_dim: int) -> None:
        super().__init__(params, num_classes=num_classes, embedding_dim=embedding_dim)
        self.memory = Memory(params.memory, embedding_dim)
        self.steps = 0

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        unit = bounded(embeddings) if self.params.bounded else on_sphere(embeddings)
        value = self._pairs(unit, None, labels[:, None] == labels)
        if self.training:
            self.steps += 1
            warm = self.steps > self.params.warm_up
            if warm or self.params.filled == "from_start":
                places = self.memory.add(unit, labels)
            if warm:
                kept, kept_labels = self.memory.contents()
                itself = places[:, None] == torch.arange(len(kept), device=places.device)
                value = value + self._pairs(unit, kept.to(unit.dtype), labels[:, None] == kept_labels, itself)
        return value

    def _pairs(self, unit: Tensor, kept: Tensor | None, same: Tensor, itself: Tensor | None = None) -> Tensor:
        """The pair loss between the batch and the memory; None is the batch itself.

        Args:
            unit: [n, d] the batch, and `kept`, [m, d] the memory, at unit length, or bounded.
            same: [n, m] bool, the pairs of one class; `itself`: those of an image and its own copy in the memory.
        """
        if self.params.inner == "contrastive_cosine":
            return cosine_pairs(unit @ (unit if kept is None else kept).T, same, self.params.cosine_margin)
        general = self.params.bounded
        if self.params.inner == "contrastive" and not general:
            return contrastive_pairs(unit, kept, same, self.params.margin)
        others, negative = unit if kept is None else kept, ~same
        positive = same.fill_diagonal_(False) if itself is None else same & ~itself
        if self.params.inner == "triplet" and not general:
            squared = (2 - 2 * unit @ others.T).clamp_min(0)
            return semi_hard(squared, positive, negative, self.params.triplet_margin)
        if self.params.inner == "multi_similarity":
            return multi_similarity(unit @ others.T, positive, negative, alpha=2, beta=50, base=0.5)
        apart = distances(unit) if kept is None else torch.cdist(unit, others)
        if self.params.inner == "triplet":
            return semi_hard(apart.square(), positive, negative, self.params.triplet_margin)
        if self.params.inner == "contrastive":
            pull, push = apart.square(), (self.params.margin - apart).clamp_min(0).square()
            return mean_of(pull, positive & (pull > 0)) + mean_of(push, negative & (push > 0))
        return hinges(apart, positive, negative, self.params.positive_margin, self.params.margin)

    def skip_warm_up(self) -> None:
        """Use the memory from the next step on; it fills from there."""
        self.steps = max(self.steps, self.params.warm_up)

    def get_extra_state(self) -> dict[str, int]:
        """What a checkpoint stores besides the tensors: the steps taken."""
        return {"steps": self.steps}

    def set_extra_state(self, state: dict[str, int]) -> None:
        """Restores what get_extra_state returned."""
        self.steps = int(state["steps"])
