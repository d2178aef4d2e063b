"""The pair losses between the batch and CCP's proxies, the bound on both, and CCP's parameters."""

from collections.abc import Callable
from functools import partial
from typing import Literal

import torch
from pytorch_metric_learning.distances import DotProductSimilarity, LpDistance
from pytorch_metric_learning.losses import ContrastiveLoss, MultiSimilarityLoss, TripletMarginLoss
from pytorch_metric_learning.miners import MultiSimilarityMiner
from torch import Tensor, nn

from workbench.losses.batch import mean_of
from workbench.losses.contrastive_cosine import cosine_pairs
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


def bounded(vectors: Tensor) -> Tensor:
    """v / max(1, |v|) of every row of [n, d]: shorter ones stay as they are (Section 4.4)."""
    lengths: Tensor = vectors.norm(dim=1, keepdim=True)
    return vectors / lengths.clamp_min(1)


def pair_loss(params: CCPParams) -> PairLoss:
    """The inner loss on distances (multi-similarity and C1: inner products) of vectors that are not normalised.

    The registered losses of the same names would normalise every vector first, unlike Section 4.4.
    """
    euclidean = LpDistance(normalize_embeddings=False)
    if params.inner == "contrastive":
        return partial(_contrastive, params.negative_margin)
    if params.inner == "contrastive_cosine":
        return partial(_cosine, params.cosine_margin)
    if params.inner == "multi_similarity":
        return _multi_similarity(params)
    pairs: nn.Module
    if params.inner == "triplet":
        pairs = TripletMarginLoss(margin=params.triplet_margin, distance=euclidean)
    else:
        pairs = ContrastiveLoss(params.positive_margin, params.negative_margin, distance=euclidean)

    def value(rows: Tensor, row_labels: Tensor, columns: Tensor | None, column_labels: Tensor | None) -> Tensor:
        loss: Tensor = pairs(rows, row_labels, ref_emb=columns, ref_labels=column_labels)
        return loss

    return value


def _multi_similarity(params: CCPParams) -> PairLoss:
    cosine = DotProductSimilarity(normalize_embeddings=False)
    pairs = MultiSimilarityLoss(alpha=params.alpha, beta=params.beta, base=params.base, distance=cosine)
    miner = MultiSimilarityMiner(epsilon=params.epsilon, distance=cosine)

    def value(rows: Tensor, row_labels: Tensor, columns: Tensor | None, column_labels: Tensor | None) -> Tensor:
        mined = miner(rows, row_labels, columns, column_labels)
        loss: Tensor = pairs(rows, row_labels, mined, ref_emb=columns, ref_labels=column_labels)
        return loss

    return value


def _cosine(
    margin: float, rows: Tensor, row_labels: Tensor, columns: Tensor | None, column_labels: Tensor | None
) -> Tensor:
    """C1 as in the code of XBM's authors: on inner products, divided by the number of rows."""
    if columns is None or column_labels is None:
        columns, column_labels = rows, row_labels
        itself = torch.eye(len(rows), dtype=torch.bool, device=rows.device)
        alike = (rows @ rows.T).masked_fill(itself, 1.0)  # a vector with itself is left out
    else:
        alike = rows @ columns.T
    return cosine_pairs(alike, row_labels[:, None] == column_labels[None, :], margin)


def _contrastive(
    margin: float, rows: Tensor, row_labels: Tensor, columns: Tensor | None, column_labels: Tensor | None
) -> Tensor:
    """Mean squared distance of positives plus mean squared shortfall of negatives, each over its pairs not zero.

    Not pytorch-metric-learning's ContrastiveLoss: its hinges are not squared.
    """
    if columns is None or column_labels is None:
        other = ~torch.eye(len(rows), dtype=torch.bool, device=rows.device)
        columns, column_labels = rows, row_labels
    else:
        other = torch.ones(len(rows), len(columns), dtype=torch.bool, device=rows.device)
    apart = torch.cdist(rows, columns, compute_mode="donot_use_mm_for_euclid_dist")  # exact where proxies meet samples
    same = row_labels[:, None] == column_labels[None, :]
    pull, push = apart.square(), (margin - apart).clamp_min(0).square()
    return mean_of(pull, same & other & (pull > 0)) + mean_of(push, ~same & (push > 0))
