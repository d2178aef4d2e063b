"""The pair losses between the batch and CCP's proxies, the bound on both, and CCP's parameters."""

from collections.abc import Callable
from functools import partial
from typing import Literal

import torch
from torch import Tensor

from workbench.losses.batch import mean_of, pair_masks
from workbench.losses.contrastive_cosine import cosine_pairs
from workbench.losses.contrastive_positive_margin import hinges
from workbench.losses.multi_similarity import mined, multi_similarity
from workbench.losses.triplet import all_triplets
from workbench.params import Params, param

# (rows [r, d], their labels, columns [c, d] or None for the rows themselves, their labels or None) -> scalar
PairLoss = Callable[[Tensor, Tensor, Tensor | None, Tensor | None], Tensor]


class CCPParams(Params):
    """Parameters of CCP: the pair loss, its own parameters, and the projections."""

    inner: Literal[
        "contrastive", "contrastive_cosine", "contrastive_positive_margin", "multi_similarity", "triplet"
    ] = param(
        "contrastive_positive_margin", label="Pair loss", help="The pair loss between the batch and the proxies."
    )  # fmt: skip
    variant: Literal["proxies", "samples"] = param(
        "proxies", help="proxies: trained vectors that start at samples; samples: those samples, embedded every step."
    )
    proxies: int = param(8, ge=1, le=64, symbol="m", unit="per class", help="Proxies of each class.")
    pool: int = param(
        12, ge=1, le=1000, symbol="b", unit="per class", label="Pool",
        help="Samples from which the next proxies of a class are chosen; never fewer than the proxies.",
    )  # fmt: skip
    pool_images: Literal["evaluation", "augmented"] = param(
        "evaluation", label="Images of the pool",
        help="evaluation: images as in evaluations; augmented: as in training, as in the authors' code.",
    )  # fmt: skip
    penalty: float = param(
        2e-4, ge=0, le=10, symbol="λ", help="Pull towards the weights of the last projection, from the second one on."
    )
    in_batch: float = param(
        0.0, ge=0, le=10, label="Pairs in the batch",
        help="Weight of the pair loss within the batch: 0 is the paper's text, 0.1 its authors' code.",
    )  # fmt: skip
    check_every: int = param(25, ge=1, le=100_000, unit="steps", help="Steps between two checks of MAP@R.")
    patience: int = param(3, ge=1, le=100, unit="checks", help="Checks without improvement that end a projection.")
    projections: int = param(
        0, ge=0, le=100_000,
        help="After this many projections the proxies are only trained and no longer chosen again; 0: no limit. 1 is "
        "the baseline with proxies only (Fig. 4a).",
    )  # fmt: skip
    positive_margin: float = param(
        0.2652, ge=0, le=2, help="Distance up to which positives are left alone; contrastive with positive margin."
    )
    negative_margin: float = param(
        0.5409, gt=0, le=2, help="Distance from which negatives are left alone; both contrastive losses by distance."
    )
    cosine_margin: float = param(
        0.5, ge=-1, lt=1, help="Cosine up to which negatives are left alone; contrastive by cosine."
    )
    triplet_margin: float = param(0.0961, ge=0, le=2, help="How much farther a negative must be; triplet.")
    alpha: float = param(2.0, gt=0, le=100, symbol="α", help="Sharpness for positive pairs; multi-similarity.")
    beta: float = param(40.0, gt=0, le=500, symbol="β", help="Sharpness for negative pairs; multi-similarity.")
    base: float = param(0.5, ge=-1, le=1, help="Cosine that parts near from far; multi-similarity.")
    epsilon: float = param(
        0.1, ge=0, le=2, symbol="ε", label="Mining margin",
        help="Slack of the multi-similarity miner; at 2 it keeps all pairs, as the authors' code does.",
    )  # fmt: skip


def pair_loss(params: CCPParams) -> PairLoss:
    """The inner loss on distances (multi-similarity and C1: inner products) of vectors that are not normalised.

    The registered losses of the same names would normalise every vector first, unlike Section 4.4.
    """
    by_product = params.inner in ("multi_similarity", "contrastive_cosine")
    return partial(_by_products if by_product else _by_distances, params)


def _pairs(row_labels: Tensor, column_labels: Tensor | None) -> tuple[Tensor, Tensor]:
    """Which pairs are positive and which negative, two bool [r, c]; rows without columns are paired with each other."""
    if column_labels is None:
        return pair_masks(row_labels)
    same = row_labels[:, None] == column_labels[None, :]
    return same, ~same


def _by_products(
    p: CCPParams, rows: Tensor, row_labels: Tensor, columns: Tensor | None, column_labels: Tensor | None
) -> Tensor:
    """Multi-similarity, or C1 as in the code of XBM's authors: divided by the number of rows."""
    positive, negative = _pairs(row_labels, column_labels)
    alike = rows @ (rows if columns is None else columns).T
    if p.inner == "multi_similarity":
        return multi_similarity(
            alike, *mined(alike.detach(), positive, negative, p.epsilon), alpha=p.alpha, beta=p.beta, base=p.base
        )
    itself = ~(positive | negative)
    return cosine_pairs(alike.masked_fill(itself, 1.0), ~negative, p.cosine_margin)  # 1 is left out


def _by_distances(
    p: CCPParams, rows: Tensor, row_labels: Tensor, columns: Tensor | None, column_labels: Tensor | None
) -> Tensor:
    """The triplet loss with all triplets, contrastive with positive margin, or contrastive with squared distances.

    The last one's two means are over its pairs that are not zero.
    """
    positive, negative = _pairs(row_labels, column_labels)
    others = rows if columns is None else columns
    if p.inner == "triplet":
        return all_triplets(torch.cdist(rows, others), positive, negative, p.triplet_margin)
    if p.inner == "contrastive_positive_margin":
        return hinges(torch.cdist(rows, others), positive, negative, p.positive_margin, p.negative_margin)
    apart = torch.cdist(rows, others, compute_mode="donot_use_mm_for_euclid_dist")  # exact where proxies meet samples
    pull, push = apart.square(), (p.negative_margin - apart).clamp_min(0).square()
    return mean_of(pull, positive & (pull > 0)) + mean_of(push, negative & (push > 0))
