"""Contrastive loss by cosine: positives to cosine 1, negatives below a margin."""

import torch
from torch import Tensor

from workbench.losses.batch import on_sphere
from workbench.losses.batch_loss import BatchLoss
from workbench.losses.published import CCP_PAIRS, CCP_PAPER, OF_CCP, in_ccp
from workbench.losses.search_space import AROUND, NETWORK_RATE, between
from workbench.params import Params, param
from workbench.registry import register

ALIKE = 1 - 1e-5  # cosine above which a positive pair counts as equal; this also leaves out a vector with itself


class ContrastiveCosineParams(Params):
    """Parameters of the contrastive loss on cosines."""

    margin: float = param(0.5, ge=-1, lt=1, symbol="λ", help="Cosine up to which negatives are left alone.")


@register(
    "loss", "contrastive_cosine", title="Contrastive, cosine", params=ContrastiveCosineParams, needs_pairs=True,
    family="Pairs and triplets", formula="(Σ_p (1 − s_ap) + Σ_{s > λ} s_an) / n",
    source="Wang et al. 2020 (XBM), Eq. 2 and the authors' code; C1 of Gürbüz et al. 2023 (CCP), supplement 2.1",
    batch="classes × images, two or more of each",
    defaults=in_ccp({dataset: {"margin": 0.5} for dataset in OF_CCP}, CCP_PAIRS), defaults_source=CCP_PAPER,
    search=NETWORK_RATE | {"margin": between(0.1, 0.9, AROUND)},
)  # fmt: skip
class ContrastiveCosine(BatchLoss[ContrastiveCosineParams]):
    """Sum of 1 - s over positive pairs plus sum of s over negative pairs with cosine s above the margin, over n."""

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        unit = on_sphere(embeddings)
        return cosine_pairs(unit @ unit.T, labels[:, None] == labels, self.params.margin)


def cosine_pairs(alike: Tensor, same: Tensor, margin: float) -> Tensor:
    """The loss of pairs with these inner products [n, m], over n; `same` [n, m] bool marks the positive pairs.

    Positive pairs above 1 - 1e-5 count as one vector and are left out, as in the authors' code.
    """
    pull = torch.where(same & (alike < ALIKE), 1 - alike, 0.0)
    push = torch.where(~same & (alike > margin), alike, 0.0)
    return (pull.sum() + push.sum()) / len(alike)
