"""ArcFace, CosFace, Sub-center ArcFace and Circle: pytorch-metric-learning's, with their published defaults.

The three softmaxes are made in float32 or float64 with proxies that the optimiser moves at a rate of their own.
"""

from math import degrees
from typing import Any

import torch
from pytorch_metric_learning import losses as library
from torch import Tensor

from workbench.losses.batch import checked, full_precision, keep_nan
from workbench.losses.contract import Loss
from workbench.losses.linear_logits import LinearLogits
from workbench.losses.published import UNNAMED
from workbench.losses.search_space import AROUND, MLRC, NETWORK_RATE, PROXY_RATE, between, one_of
from workbench.params import Params, param
from workbench.registry import register

SCALES = {"scale": between(16, 200, MLRC, log=True)}
IN_LIBRARY = "by default as in pytorch-metric-learning"


class MarginSoftmaxParams(Params):
    """Parameters that the softmax losses with an additive margin share."""

    scale: float = param(64.0, gt=0, le=1000, symbol="s", help="Cosines are multiplied by it.")
    proxy_lr: float = param(
        10.0, gt=0, le=1e4, label="Proxy learning rate", unit="×", help="Learning rate of the proxies, as a multiple."
    )


class ArcFaceParams(MarginSoftmaxParams):
    """Parameters of ArcFace."""

    margin: float = param(
        round(degrees(0.5), 1), ge=0, le=90, symbol="m", unit="°", help="Added to the angle to the own class's proxy."
    )


class CosFaceParams(MarginSoftmaxParams):
    """Parameters of CosFace."""

    margin: float = param(0.35, ge=0, le=1, symbol="m", help="Taken from the cosine to the own class's proxy.")


class SubCenterParams(ArcFaceParams):
    """Parameters of sub-center ArcFace."""

    centres: int = param(3, ge=1, le=20, symbol="K", unit="per class", help="Proxies of a class; the nearest counts.")


class CircleParams(Params):
    """Parameters of the circle loss."""

    margin: float = param(0.4, ge=0, le=1, symbol="m", help="Positives are wanted above 1 - m, negatives below m.")
    scale: float = param(80.0, gt=0, le=1000, symbol="γ", help="Sharpness of the softmax over pairs.")


class MarginSoftmax(Loss):
    """Base of the three softmaxes over cosines: a loss of the library and its proxies, `centres` of each class."""

    def __init__(self, softmax: Any, params: MarginSoftmaxParams, num_classes: int, centres: int = 1) -> None:
        super().__init__()
        self.softmax, self.num_classes, self.centres = softmax, num_classes, centres
        self.scale, self.proxy_lr_multiplier = params.scale, params.proxy_lr

    def logits(self, embeddings: Tensor) -> Tensor:
        """Scores [n, K] of embeddings [n, d], without the margin."""
        with full_precision(embeddings):
            logits: Tensor = self.softmax.get_logits(embeddings.to(self.softmax.W.dtype))
        return logits

    def forward(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        embeddings = checked(embeddings, labels, self.num_classes)
        with full_precision(embeddings):
            return keep_nan(self.softmax(embeddings, labels), embeddings)

    def linear_logits(self) -> LinearLogits | None:
        """With one proxy for each class; of several the nearest is picked anew for every image."""
        if self.centres > 1:
            return None
        return LinearLogits(self.softmax.W.T, unit_embeddings=True, unit_weight=True, scale=self.scale)

    def class_proxies(self) -> tuple[Tensor, Tensor]:
        """Proxies [K c, d] and their classes [K c]."""
        return self.softmax.W.T, torch.arange(self.num_classes).repeat_interleave(self.centres)


@register(
    "loss", "arcface", title="ArcFace", params=ArcFaceParams, needs_pairs=False,
    source="Deng et al. 2019, Eq. 3; pytorch-metric-learning ArcFaceLoss",
    batch="any",
    defaults={}, defaults_source=f"{UNNAMED}; s = 64, m = 0.5: Deng et al. 2019, Section 3.1, {IN_LIBRARY}",
    search=NETWORK_RATE | PROXY_RATE | SCALES | {"margin": between(10, 30, MLRC)},
)  # fmt: skip
class ArcFace(MarginSoftmax):
    """Softmax over s times the cosines to one proxy per class, with m added to the angle of the own class.

    Where angle plus m passes 180° the own score is s (cos - m sin m), so that it goes on falling.
    """

    def __init__(self, params: ArcFaceParams, *, num_classes: int, embedding_dim: int) -> None:
        softmax = library.ArcFaceLoss(num_classes, embedding_dim, margin=params.margin, scale=params.scale)
        super().__init__(softmax, params, num_classes)


@register(
    "loss", "cosface", title="CosFace", params=CosFaceParams, needs_pairs=False,
    source="Wang et al. 2018 (CosFace), Eq. 4; pytorch-metric-learning CosFaceLoss",
    batch="any",
    defaults={}, defaults_source=f"{UNNAMED}; s = 64, m = 0.35: Wang et al. 2018 (CosFace), {IN_LIBRARY}",
    search=NETWORK_RATE | PROXY_RATE | SCALES | {"margin": between(0.1, 0.65, MLRC)},
)  # fmt: skip
class CosFace(MarginSoftmax):
    """Softmax over s times the cosines to one proxy per class, with m taken from that of the own class."""

    def __init__(self, params: CosFaceParams, *, num_classes: int, embedding_dim: int) -> None:
        softmax = library.CosFaceLoss(num_classes, embedding_dim, margin=params.margin, scale=params.scale)
        super().__init__(softmax, params, num_classes)


@register(
    "loss", "sub_center_arcface", title="Sub-center ArcFace", params=SubCenterParams, needs_pairs=False,
    source="Deng et al. 2020 (Sub-center ArcFace), Section 3.2; pytorch-metric-learning SubCenterArcFaceLoss",
    batch="any",
    defaults={}, defaults_source=f"{UNNAMED}; s = 64, m = 0.5, K = 3: Deng et al. 2020, {IN_LIBRARY}",
    search=NETWORK_RATE | PROXY_RATE | SCALES | {
        "margin": between(10, 30, MLRC),
        "centres": one_of(1, 2, 3, 5, source="Deng et al. 2020 compare 1 to 10"),
    },
)  # fmt: skip
class SubCenterArcFace(MarginSoftmax):
    """ArcFace with K proxies per class: the cosine to a class is that to its nearest one."""

    def __init__(self, params: SubCenterParams, *, num_classes: int, embedding_dim: int) -> None:
        sizes: dict[str, Any] = {"num_classes": num_classes, "embedding_size": embedding_dim}
        softmax = library.SubCenterArcFaceLoss(
            margin=params.margin, scale=params.scale, sub_centers=params.centres, **sizes
        )
        super().__init__(softmax, params, num_classes, params.centres)


@register(
    "loss", "circle", title="Circle", params=CircleParams, needs_pairs=True,
    source="Sun et al. 2020, Eq. 6 to 8; pytorch-metric-learning CircleLoss",
    batch="classes × images, two or more of each",
    defaults={}, defaults_source=f"{UNNAMED}; m = 0.4, γ = 80 for fine-grained retrieval: Sun et al. 2020",
    search=NETWORK_RATE | {
        "margin": between(0.1, 0.5, AROUND),
        "scale": between(16, 256, "Sun et al. 2020: 80 for retrieval, 256 for faces; less for short runs", log=True),
    },
)  # fmt: skip
class Circle(Loss):
    """Mean over anchors of softplus(log sum_n e^(γ a_n (s_n - m)) + log sum_p e^(-γ a_p (s_p - 1 + m))).

    The weights a_p = max(0, 1 + m - s_p) and a_n = max(0, s_n + m) count as constants in the gradient. Anchors without
    a positive or a negative, and those whose value is 0, do not count in the mean; with none left the value is 0.
    """

    def __init__(self, params: CircleParams, *, num_classes: int, embedding_dim: int) -> None:
        super().__init__()
        self.pairs, self.num_classes = library.CircleLoss(m=params.margin, gamma=params.scale), num_classes

    def forward(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        embeddings = checked(embeddings, labels, self.num_classes)
        with full_precision(embeddings):
            return keep_nan(self.pairs(embeddings, labels), embeddings)
