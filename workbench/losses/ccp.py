"""Chance-constrained proxies (CCP): a pair loss between the batch and a few proxies per class, chosen anew again."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Literal

import torch
from pytorch_metric_learning.distances import DotProductSimilarity, LpDistance
from pytorch_metric_learning.losses import ContrastiveLoss, MultiSimilarityLoss, TripletMarginLoss
from pytorch_metric_learning.miners import MultiSimilarityMiner
from torch import Tensor, nn

from workbench.losses.batch import checked, full_precision, mean_of
from workbench.losses.published import CCP_PAIRS, CCP_PAPER, in_ccp, measured_on
from workbench.params import Params, param
from workbench.registry import register

# (rows [r, d], their labels, columns [c, d] or None for the rows themselves, their labels or None) -> scalar
PairLoss = Callable[[Tensor, Tensor, Tensor | None, Tensor | None], Tensor]


class CCPParams(Params):
    inner: Literal["contrastive", "contrastive_positive_margin", "multi_similarity", "triplet"] = param(
        "contrastive_positive_margin", label="Pair loss", help="The pair loss between the batch and the proxies."
    )
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
    positive_margin: float = param(
        0.2652, ge=0, le=2, help="Distance up to which positives are left alone; contrastive with positive margin."
    )
    negative_margin: float = param(
        0.5409, gt=0, le=2, help="Distance from which negatives are left alone; both contrastive losses."
    )
    triplet_margin: float = param(0.0961, ge=0, le=2, help="How much farther a negative must be; triplet.")
    alpha: float = param(2.0, gt=0, le=100, symbol="α", help="Sharpness for positive pairs; multi-similarity.")
    beta: float = param(40.0, gt=0, le=500, symbol="β", help="Sharpness for negative pairs; multi-similarity.")
    base: float = param(0.5, ge=-1, le=1, help="Cosine that parts near from far; multi-similarity.")
    epsilon: float = param(
        0.1, ge=0, le=2, symbol="ε", label="Mining margin", help="Slack of the multi-similarity miner."
    )


BIRDS_AND_CARS = {"proxies": 8, "pool": 12, "check_every": 25}
SHOPS = {"proxies": 4, "pool": 7, "check_every": 250, "positive_margin": 0.2858, "negative_margin": 0.513}
PUBLISHED: dict[str, dict[str, float]] = {  # supplement, Section 2.1
    "cub": BIRDS_AND_CARS | {"positive_margin": 0.0, "negative_margin": 0.3841, "triplet_margin": 0.0961},
    "cars": BIRDS_AND_CARS
    | {"positive_margin": 0.2652, "negative_margin": 0.5409, "triplet_margin": 0.119}
    | {"alpha": 14.35, "beta": 75.83, "base": 0.66},
    "inshop": SHOPS | {"triplet_margin": 0.0451, "alpha": 8.49, "beta": 57.38, "base": 0.41},
    "sop": SHOPS | {"triplet_margin": 0.0451},
}


@register(
    "loss", "ccp", title="Chance-constrained proxies (CCP)", params=CCPParams, has_proxies=True, needs_pairs=True,
    source="Gürbüz et al. 2023 (CCP), Eq. 4.11, Algorithms 1 and 2; pytorch-metric-learning for the pair losses",
    batch="classes × images; the paper: 8 × 4",
    defaults=in_ccp(PUBLISHED, CCP_PAIRS | {"embedding.bounded": True})
    | {"mnist": {"proxies": 4, "pool": 16, "embedding.dim": 2}},
    defaults_source=f"{CCP_PAPER}; MNIST: Section 5, proof of concept",
    measured=measured_on(
        {
            "inner": "multi_similarity", "proxies": 4, "pool": 12, "check_every": 50, "patience": 6,
            "embedding.bounded": True,
        },
        "omniglot", "mnist", "caltech",
    ),
)  # fmt: skip
class CCP(nn.Module):
    """A pair loss between the batch and all m * K proxies, chosen anew by `workbench.ccp_projections`.

    Embeddings and proxies are compared after `bounded`. In the variant "proxies" the proxies are trained with the
    network at its own learning rate (Eq. 4.11, g_rho in Algorithm 1); in "samples" they are the chosen samples
    (Eq. 4.10): fixed, or embedded anew in every step once `follow` was called. Before `place` there are no proxies
    and the value is the pair loss within the batch, weight 1.

    The means of the pair losses stand for the mean over all pairs of Algorithm 1. Triplets have proxies as anchors
    (Section 4.3), multi-similarity has samples as anchors, like the authors' code.
    """

    classes: Tensor

    def __init__(self, params: CCPParams, *, num_classes: int, embedding_dim: int) -> None:
        super().__init__()
        self.params = params
        self.num_classes = num_classes
        self.pairs = pair_loss(params)
        trained = params.variant == "proxies"
        self.proxies = nn.Parameter(torch.zeros(num_classes, params.proxies, embedding_dim), requires_grad=trained)
        classes = torch.arange(num_classes).repeat_interleave(params.proxies)
        self.register_buffer("classes", classes, persistent=False)
        self.begun = False
        self._anchors: Callable[[], Tensor] | None = None

    def forward(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        embeddings = checked(embeddings, labels, self.num_classes)
        anchors = self._anchors() if self.begun and self._anchors else self.proxies.flatten(0, 1)
        with full_precision(embeddings):
            inside = bounded(embeddings)
            if not self.begun:
                return _kept(self.pairs(inside, labels, None, None), inside)
            centres = bounded(anchors.to(inside.dtype))
            if self.params.inner == "multi_similarity":
                value = self.pairs(inside, labels, centres, self.classes)
            else:
                value = self.pairs(centres, self.classes, inside, labels)
            if self.params.in_batch:
                value = value + self.params.in_batch * self.pairs(inside, labels, None, None)
            return _kept(value, inside)

    def class_proxies(self) -> tuple[Tensor, Tensor]:
        """Proxies [K * m, d], no longer than 1, and their classes [K * m]; zeros before `place`."""
        return bounded(self.proxies.flatten(0, 1)), self.classes

    @torch.no_grad()
    def place(self, proxies: Tensor) -> None:
        """Put the proxies at these vectors [K * m, d], the m of one class together; from now on they are used."""
        self.proxies.copy_(proxies.view_as(self.proxies))
        self.begun = True

    def follow(self, anchors: Callable[[], Tensor]) -> None:
        """Compare with what `anchors()` [K * m, d] gives in each step instead of the proxies (variant "samples")."""
        self._anchors = anchors

    def penalty(self, weights: Iterable[Tensor], previous: Iterable[Tensor]) -> Tensor:
        """lambda / 2 times the squared distance to the last projection's weights (Eq. 4.11); a scalar.

        Its gradient is lambda (theta - theta*); Algorithm 1 prints it with the opposite sign.
        """
        squares = [(now - before).square().sum() for now, before in zip(weights, previous, strict=True)]
        return self.params.penalty / 2 * torch.stack(squares).sum()

    def get_extra_state(self) -> dict[str, bool]:
        return {"begun": self.begun}  # a plain value: reading a flag from a GPU in every step would make it wait

    def set_extra_state(self, state: dict[str, bool]) -> None:
        self.begun = bool(state["begun"])


def _kept(value: Tensor, embeddings: Tensor) -> Tensor:
    """`value` like in `keep_nan`, with a gradient also where no triplet is left, which then is one of proxies alone."""
    return value + 0 * embeddings.sum()


def bounded(vectors: Tensor) -> Tensor:
    """v / max(1, |v|) of every row of [n, d]: shorter ones stay as they are (Section 4.4)."""
    return vectors / vectors.norm(dim=1, keepdim=True).clamp_min(1)


def pair_loss(params: CCPParams) -> PairLoss:
    """The inner loss on distances (multi-similarity: inner products) of vectors taken as they are.

    The registered losses of the same names would bring every vector to unit length first, unlike Section 4.4.
    """
    euclidean = LpDistance(normalize_embeddings=False)
    if params.inner == "contrastive":
        return partial(_contrastive, params.negative_margin)
    if params.inner == "multi_similarity":
        return _multi_similarity(params)
    pairs: nn.Module
    if params.inner == "triplet":
        pairs = TripletMarginLoss(margin=params.triplet_margin, distance=euclidean)
    else:
        pairs = ContrastiveLoss(params.positive_margin, params.negative_margin, distance=euclidean)

    def value(rows: Tensor, row_labels: Tensor, columns: Tensor | None, column_labels: Tensor | None) -> Tensor:
        found: Tensor = pairs(rows, row_labels, ref_emb=columns, ref_labels=column_labels)
        return found

    return value


def _multi_similarity(params: CCPParams) -> PairLoss:
    cosine = DotProductSimilarity(normalize_embeddings=False)
    pairs = MultiSimilarityLoss(alpha=params.alpha, beta=params.beta, base=params.base, distance=cosine)
    miner = MultiSimilarityMiner(epsilon=params.epsilon, distance=cosine)

    def value(rows: Tensor, row_labels: Tensor, columns: Tensor | None, column_labels: Tensor | None) -> Tensor:
        mined = miner(rows, row_labels, columns, column_labels)
        found: Tensor = pairs(rows, row_labels, mined, ref_emb=columns, ref_labels=column_labels)
        return found

    return value


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
