"""Angular loss: the angle at the negative of every triangle.

Not pytorch-metric-learning's AngularLoss, the same formula: 0.24 to 0.80 of its time (docs/benchmarks.md).
"""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from workbench.losses.batch import gram, on_sphere
from workbench.losses.batch_loss import BatchLoss
from workbench.losses.published import UNNAMED
from workbench.losses.search_space import AROUND, NETWORK_RATE, between
from workbench.losses.shared.pair_lists import beyond, class_tables
from workbench.losses.shared.pair_parts import at_once, computed_again
from workbench.params import Params, param
from workbench.registry import register

STEEPEST = 10.0  # tan²α up to which exp(-8 tan²α) is a number of float32, with room for its rounding


class AngularParams(Params):
    """Parameters of the angular loss."""

    angle: float = param(40.0, gt=0, lt=90, symbol="α", unit="°", help="Largest angle wanted at the negative.")


@register(
    "loss", "angular", title="Angular", params=AngularParams, needs_pairs=True,
    family="Pairs and triplets", formula="mean_p log(1 + Σ_n exp(4 tan²α (a + p)·n − 2 (1 + tan²α) a·p))",
    source="Wang et al. 2017, Eq. 8", batch="classes × images, two or more of each",
    defaults={}, defaults_source=UNNAMED,
    search=NETWORK_RATE | {"angle": between(30, 55, AROUND)},
)  # fmt: skip
class Angular(BatchLoss[AngularParams]):
    """Mean over positive pairs of log(1 + sum_n exp(4 tan^2 α (a + p) n - 2 (1 + tan^2 α) a p)), on the unit sphere.

    The negatives of a pair are all images of other classes. Without a positive pair the value is 0.
    """

    def __init__(self, params: AngularParams, *, num_classes: int, embedding_dim: int) -> None:
        super().__init__(params, num_classes=num_classes, embedding_dim=embedding_dim)
        self.squared_tangent = math.tan(math.radians(params.angle)) ** 2

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        alike, n, t = gram(on_sphere(embeddings)), len(labels), self.squared_tangent
        pulls = (4 * t * alike).masked_fill(labels[:, None] == labels, torch.finfo(alike.dtype).min / 4)
        tables = class_tables(labels)
        pairs = sum(table.pairs for table in tables)
        again = pairs * n > at_once(alike.device)
        parts = [0 * alike.sum()]
        for table in tables:  # (a + p) n does not depend on the order of a and p: each pair counts once
            members, size = table.members, table.members.shape[1]
            rows = pulls.index_select(0, members.flatten()).view(-1, size, n)
            places = (n * members[:, :, None] + members[:, None, :]).flatten()
            lengths = 2 * (1 + t) * alike.flatten().index_select(0, places).view(-1, size, size)
            if table.counts is not None:  # a pair with an image that fills up a row adds 0, with a gradient of 0
                missing = beyond(table.counts, size)[:, None]
                lengths = lengths.masked_fill(missing, torch.finfo(lengths.dtype).max / 4)
            if t <= STEEPEST:
                parts.append(F.softplus(_summed_by_product(rows) - lengths).triu(1).sum())
                continue
            for apart in range(1, size):
                pair = rows[:, :-apart], rows[:, apart:]
                summed = computed_again(_summed, *pair) if again else _summed(*pair)
                parts.append(F.softplus(summed - lengths.diagonal(apart, 1, 2)).sum())
        return torch.stack(parts).sum() / max(1, pairs)


def _summed_by_product(rows: Tensor) -> Tensor:
    """log Σ_n exp(x_an + x_pn) [k, c, c] for every two rows of tables [k, c, n], by a product of their exponentials.

    Each row is lowered by its largest number; where one is largest the other is at most 8 tan²α below its own.
    """
    top = rows.detach().amax(2, keepdim=True)
    raised = (rows - top).exp()
    return (raised @ raised.transpose(1, 2)).log() + top + top.transpose(1, 2)


def _summed(first: Tensor, second: Tensor) -> Tensor:
    """log Σ_n exp(x_n + y_n) [k, c] of the rows of two tables [k, c, n]."""
    return (first + second).logsumexp(2)
