"""Hyperbolic pairwise cross-entropy: positives against negatives by their distance in the Poincaré ball."""

from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from workbench.losses.batch import mean_of, on_sphere, pair_masks
from workbench.losses.batch_loss import BatchLoss
from workbench.losses.published import UNNAMED
from workbench.losses.search_space import NETWORK_RATE, between
from workbench.losses.shared.log_sum_exp import log_sum_exp
from workbench.params import Params, param
from workbench.registry import register

NEAREST = 1e-6  # below it two points count as equal, because the distance has no gradient there
SHORTEST = 1e-6  # squared length below which a vector counts as that long
LONGEST = 1 - 1e-3  # in the ball of radius 1; distances from its edge are infinite (as in the authors' code)


class HyperbolicParams(Params):
    """Parameters of the hyperbolic loss."""

    curvature: float = param(
        0.1, ge=0, le=10, symbol="c",
        help="Curvature of the ball; towards 0 distances become Euclidean. 0 uses minus the cosine instead, the "
        "spherical version.",
    )  # fmt: skip
    temperature: float = param(0.2, gt=0, le=10, symbol="τ", help="Distances are divided by this value.")
    radius: float = param(2.3, gt=0, le=100, symbol="r", help="Longer embeddings are first scaled down to this length.")
    negatives: Literal["all", "two_per_class"] = param(
        "all",
        help="Negatives of each positive pair. all: all images of other classes; two_per_class: two of each other "
        "class, as in the authors' code. With two images of each class in a batch both are the same.",
    )


@register(
    "loss", "hyperbolic", title="Hyperbolic (Hyp-ViT)", params=HyperbolicParams, needs_pairs=True,
    curved_by="curvature",
    family="Pairs and triplets", formula="mean_p log(1 + Σ_n exp((D_ap − D_an) / τ)), D in the ball of curvature −c",
    source="Ermolov et al. 2022 (Hyp-ViT), Eq. 1 to 6", batch="classes × images; the paper: two of each",
    defaults={},
    defaults_source=f"{UNNAMED}; c = 0.1, τ = 0.2, r = 2.3, and search by D: Ermolov et al. 2022, Section 4.2",
    search=NETWORK_RATE | {
        "curvature": between(0.01, 1, "Ermolov et al. 2022 compare 0.01 to 1", log=True),
        "temperature": between(0.05, 1, "About the 0.2 of Ermolov et al. 2022", log=True),
    },
)  # fmt: skip
class Hyperbolic(BatchLoss[HyperbolicParams]):
    """Mean over positive pairs of log(1 + sum_n exp((D_ap - D_an) / τ)), D the distance in the ball of curvature -c.

    Embeddings are clipped to the length r and mapped into the ball by the exponential map at its centre, where they
    stay 1/1000 of its radius away from its edge. Retrieval by cosine ranks by their angle alone; the paper searches by
    D, by which a run is evaluated where its distance is hyperbolic. With c = 0 minus the cosine takes the place of D.
    Without a positive pair the value is 0.

    With two negatives of each class, the authors' code compares the i-th and the j-th images of all classes for each i
    and j: the negatives of the pair of a class's i-th and j-th image are the i-th and the j-th of the other classes.
    """

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        p = self.params
        if p.curvature:
            apart = ball_distances(embeddings, p.curvature, p.radius) / p.temperature
        else:
            unit = on_sphere(embeddings)
            apart = unit @ unit.T / -p.temperature
        positive, negative = pair_masks(labels)
        two = p.negatives == "two_per_class"
        others = of_two_images(-apart, negative, labels) if two else log_sum_exp(-apart, negative)[:, None]
        missed = F.softplus(torch.where(positive, others + apart, -torch.inf))
        return mean_of(missed, positive)

    def own_distance(self, embeddings: Tensor) -> tuple[Literal["hyperbolic"], Tensor] | None:
        """D, with the points in the ball; none if c = 0."""
        if not self.params.curvature:
            return None
        return "hyperbolic", in_ball(embeddings, self.params.curvature, self.params.radius)


def in_ball(embeddings: Tensor, curvature: float, radius: float) -> Tensor:
    """Points [n, d] in the ball of radius 1 of embeddings [n, d], which are clipped to `radius` and mapped into it."""
    lengths = embeddings.square().sum(1, keepdim=True).clamp_min(SHORTEST).sqrt()
    inside = (curvature**0.5 * lengths.clamp_max(radius)).tanh().clamp_max(LONGEST)
    points: Tensor = embeddings / lengths * inside
    return points


def of_two_images(scores: Tensor, negative: Tensor, labels: Tensor) -> Tensor:
    """Log of the sum of exp over the negatives of each pair of a class's i-th and j-th image: the i-th and the j-th.

    Args:
        scores: [n, n] of images (rows) with others. negative: bool [n, n], the pairs of two classes. labels: [n] int64.

    Returns:
        [n, n], of use where a pair is positive; a very low number without a negative.
    """
    places = (labels[:, None] == labels).tril(-1).sum(1)  # which image of its class each is, in the order of the batch
    columns = places.expand_as(scores)
    least = torch.finfo(scores.dtype).min / 4
    chosen = torch.where(negative, scores, least)
    tops = torch.full_like(scores, least).scatter_reduce(1, columns, chosen.detach(), "amax")  # [n, n], by place
    shares = (chosen - tops.gather(1, columns)).exp() * negative
    sums = shares @ (places[:, None] == torch.arange(len(places), device=places.device)).to(shares.dtype)
    of_place = torch.where(sums > 0, sums, 1.0).log() + tops
    return torch.logaddexp(of_place.gather(1, places[:, None]), of_place.gather(1, columns))


def ball_distances(embeddings: Tensor, curvature: float, radius: float) -> Tensor:
    """Distances [n, n] in the Poincaré ball of embeddings [n, d], which are clipped to `radius` and mapped into it."""
    points = in_ball(embeddings, curvature, radius)
    squares = points.square().sum(1)
    between = (squares[:, None] + squares - 2 * points @ points.T).clamp_min(NEAREST)
    beyond = 2 * between / ((1 - squares)[:, None] * (1 - squares))
    apart: Tensor = (beyond + (beyond * (beyond + 2)).sqrt()).log1p() / curvature**0.5  # arcosh(1 + beyond)
    return apart
