"""Chance-constrained proxies (CCP): a pair loss between the batch and a few proxies per class, chosen repeatedly."""

from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

from workbench.events import Charted, Event
from workbench.losses.batch import bounded, checked_batch, full_precision
from workbench.losses.ccp.pairs import CCPParams, pair_loss
from workbench.losses.ccp.projections import Projected, Projections, projection_charts
from workbench.losses.contract import Loss, Surroundings
from workbench.losses.published import C2_MARGINS, CCP_PAIRS, CCP_PAPER, ByData, in_ccp, measured_on
from workbench.losses.search_space import NETWORK_RATE, between, one_of
from workbench.registry import register

BIRDS_AND_CARS = {"proxies": 8, "pool": 12, "check_every": 25}
SHOPS = {"proxies": 4, "pool": 7, "check_every": 250}
ALL_PAIRS = 2.0  # as the mining margin: the authors' code, yetigurbuz/ccp-dml, mines no pairs


def _inner(dataset: str, triplet_margin: float, alpha: float, beta: float, base: float) -> ByData:
    """The settings of each pair loss in the supplement (Section 2.1); its analyses use C2-CCP."""
    positive, negative = C2_MARGINS[dataset]
    return {
        "contrastive_positive_margin": {"positive_margin": positive, "negative_margin": negative},
        "contrastive_cosine": {"cosine_margin": 0.5},
        "triplet": {"triplet_margin": triplet_margin},
        "multi_similarity": {"alpha": alpha, "beta": beta, "base": base, "epsilon": ALL_PAIRS},
    }


PUBLISHED: ByData = {
    "cub": BIRDS_AND_CARS | {"inner": _inner("cub", 0.0961, 2.0, 40.0, 0.5)},
    "cars": BIRDS_AND_CARS | {"inner": _inner("cars", 0.119, 14.35, 75.83, 0.66)},
    "inshop": SHOPS | {"inner": _inner("inshop", 0.0451, 8.49, 57.38, 0.41)},
    "sop": SHOPS | {"inner": _inner("sop", 0.0451, 2.0, 40.0, 0.5)},
}


@register(
    "loss", "ccp", title="Chance-constrained proxies (CCP)", params=CCPParams, needs_pairs=True,
    family="Proxies", formula="pair loss of batch × proxies + λ/2 ‖θ − θ′‖², θ′ the weights of the last projection",
    source="Gürbüz et al. 2023 (CCP), Eq. 4.11, Algorithms 1 and 2",
    batch="classes × images; the paper: 8 × 4",
    defaults=in_ccp(PUBLISHED, CCP_PAIRS)
    | {"mnist": {"proxies": 4, "pool": 16, "embedding.dim": 2}},
    defaults_source=f"{CCP_PAPER}; multi-similarity mines nothing: its code; MNIST: Section 5, proof of concept",
    measured=measured_on(
        {
            "inner": "multi_similarity", "proxies": 4, "pool": 12, "check_every": 50, "patience": 6,
            "embedding.bounded": True,
        },
        "omniglot", "mnist", "caltech",
    ),
    search=NETWORK_RATE | {
        "inner": one_of(
            "contrastive_positive_margin", "contrastive_cosine", "multi_similarity", "triplet", source=CCP_PAPER
        ),
        "proxies": between(1, 8, "Gürbüz et al. 2023 (CCP), supplement Section 1.2, Fig. 8"),
        "penalty": between(1e-5, 0.1, "Gürbüz et al. 2023 (CCP), supplement Section 1.2, Fig. 8", log=True),
        "check_every": one_of(10, 25, 50, source="25: supplement 2.1; 10 ends projections of short runs"),
    },
)  # fmt: skip
class CCP(Loss):
    """A pair loss between the batch and all m * K proxies, which are chosen again after each projection.

    Embeddings and proxies are compared after `bounded`. In the variant "proxies" the proxies are trained with the
    network at its own learning rate (Eq. 4.11, g_rho in Algorithm 1); in "samples" they are the chosen samples
    (Eq. 4.10): fixed, or embedded again in every step once `follow` has been called. Before `place` is called there are
    no proxies, and the value is the pair loss within the batch, with weight 1.

    The means of the pair losses replace the mean over all pairs of Algorithm 1. Triplets have proxies as anchors
    (Section 4.3), multi-similarity and C1 by cosine have samples as anchors, like the authors' code.
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
        embeddings, labels = checked_batch(embeddings, labels, self.num_classes)
        anchors = self._anchors() if self.begun and self._anchors else self.proxies.flatten(0, 1)
        with full_precision(embeddings):
            inside = bounded(embeddings)
            if not self.begun:
                return _kept(self.pairs(inside, labels, None, None), inside)
            centres = bounded(anchors.to(inside.dtype))
            if self.params.inner in ("multi_similarity", "contrastive_cosine"):
                value = self.pairs(inside, labels, centres, self.classes)
            else:
                value = self.pairs(centres, self.classes, inside, labels)
            if self.params.in_batch:
                value = value + self.params.in_batch * self.pairs(inside, labels, None, None)
            return _kept(value, inside)

    def class_proxies(self) -> tuple[Tensor, Tensor]:
        """Proxies [K * m, d] of length at most 1, and their classes [K * m]; zeros before `place`."""
        return bounded(self.proxies.flatten(0, 1)), self.classes

    @torch.no_grad()
    def place(self, proxies: Tensor) -> None:
        """Set the proxies to vectors [K * m, d], the m of one class next to each other, and use them from now on."""
        self.proxies.copy_(proxies.view_as(self.proxies))
        self.begun = True

    def follow(self, anchors: Callable[[], Tensor]) -> None:
        """In each step, compare with the result of `anchors()`, [K * m, d], instead of the proxies ("samples")."""
        self._anchors = anchors

    def penalty(self, weights: Iterable[Tensor], previous: Iterable[Tensor]) -> Tensor:
        """lambda / 2 times the squared distance to the last projection's weights (Eq. 4.11); a scalar.

        Its gradient is lambda (theta - theta*); Algorithm 1 prints it with the opposite sign.
        """
        squares = [(now - before).square().sum() for now, before in zip(weights, previous, strict=True)]
        return self.params.penalty / 2 * torch.stack(squares).sum()

    def companion(self, surroundings: Surroundings) -> Projections:
        """The projections; after each of them they emit charts of the proxies."""

        def hear(event: Event | Projected) -> None:
            if isinstance(event, Projected):
                event = Charted(event.step, projection_charts(event, projections.history))
            surroundings.emit(event)

        projections = Projections(self, surroundings, self.params, hear)
        return projections

    def get_extra_state(self) -> dict[str, bool]:
        """What a checkpoint stores besides the tensors: whether the first projection is done."""
        return {"begun": self.begun}  # a plain value: reading a flag from the GPU in every step would stall it

    def set_extra_state(self, state: dict[str, bool]) -> None:
        """Restore what `get_extra_state` returned."""
        self.begun = bool(state["begun"])


def _kept(value: Tensor, embeddings: Tensor) -> Tensor:
    """As `batch.keep_nan`, but also with a gradient, of zero, if no triplet is left."""
    return value + 0 * embeddings.sum()
