"""ArcFace, CosFace and Sub-center ArcFace, with their published defaults.

Not pytorch-metric-learning's losses of these names, the same formulas: 0.59 to 0.97 of their time (docs/benchmarks.md),
and no choice of numbers by a mask, for which a GPU would wait. They are computed in float32 or float64, with
proxies that have their own learning rate.
"""

from math import cos, degrees, radians, sin
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.losses.batch import full_precision, on_sphere
from workbench.losses.batch_loss import BatchLoss
from workbench.losses.cosine_softmax import proxy_rate
from workbench.losses.published import UNNAMED
from workbench.losses.search_space import MLRC, NETWORK_RATE, PROXY_RATE, between, one_of
from workbench.losses.shared.linear_logits import LinearLogits
from workbench.params import Params, param
from workbench.registry import register

SCALES = {"scale": between(16, 200, MLRC, log=True)}
IN_LIBRARY = "the defaults of pytorch-metric-learning"


class MarginSoftmaxParams(Params):
    """Parameters that the softmax losses with an additive margin share."""

    scale: float = param(64.0, gt=0, le=1000, symbol="s", help="Cosines are multiplied by this value.")
    proxy_lr: float = proxy_rate(10.0)
    margin: float


class ArcFaceParams(MarginSoftmaxParams):
    """Parameters of ArcFace."""

    margin: float = param(
        round(degrees(0.5), 1), ge=0, le=90, symbol="m", unit="°", help="Added to the angle to the true class's proxy."
    )


class CosFaceParams(MarginSoftmaxParams):
    """Parameters of CosFace."""

    margin: float = param(0.35, ge=0, le=1, symbol="m", help="Subtracted from the cosine to the true class's proxy.")


class SubCenterParams(ArcFaceParams):
    """Parameters of sub-center ArcFace."""

    centres: int = param(3, ge=1, le=20, symbol="K", unit="per class", help="Proxies of a class; the nearest counts.")


OwnParams = TypeVar("OwnParams", bound=MarginSoftmaxParams)


class MarginSoftmax(BatchLoss[OwnParams]):
    """Base of the three softmaxes over s times the cosines to the nearest of a class's proxies.

    A subclass writes `with_margin`. The proxies are the columns of softmax.W [d, K c], those of one class side by side;
    name and layout are those of older checkpoints.
    """

    def __init__(self, params: OwnParams, *, num_classes: int, embedding_dim: int, centres: int = 1) -> None:
        super().__init__(params, num_classes=num_classes, embedding_dim=embedding_dim)
        self.softmax = nn.ParameterDict({"W": torch.randn(embedding_dim, num_classes * centres)})
        self.centres = centres
        self.proxy_lr_multiplier = params.proxy_lr

    def with_margin(self, cosines: Tensor) -> Tensor:
        """What the own class's cosines [n, 1] are replaced by."""
        raise NotImplementedError

    def logits(self, embeddings: Tensor) -> Tensor:
        """Scores [n, K] of embeddings [n, d], without the margin."""
        with full_precision(embeddings):
            return self._scores(embeddings.to(self.softmax["W"].dtype))

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        scores, own = self._scores(embeddings), labels[:, None]
        scale = self.params.scale
        return F.cross_entropy(scores.scatter(1, own, scale * self.with_margin(scores.gather(1, own) / scale)), labels)

    def _scores(self, embeddings: Tensor) -> Tensor:
        proxies = self.softmax["W"].T.to(embeddings.dtype)
        scores = on_sphere(embeddings, self.params.scale) @ on_sphere(proxies).T
        return scores if self.centres == 1 else scores.view(len(scores), self.num_classes, -1).max(2).values

    def linear_logits(self) -> LinearLogits | None:
        """Only with one proxy for each class; with several the nearest is chosen for every image."""
        if self.centres > 1:
            return None
        return LinearLogits(self.softmax["W"].T, unit_embeddings=True, unit_weight=True, scale=self.params.scale)

    def class_proxies(self) -> tuple[Tensor, Tensor]:
        """Proxies [K c, d] and their classes [K c]."""
        return self.softmax["W"].T, torch.arange(self.num_classes).repeat_interleave(self.centres)


class AngularMargin(MarginSoftmax[OwnParams]):
    """Adds the margin to the angle."""

    def with_margin(self, cosines: Tensor) -> Tensor:
        """cos(θ + m) [n, 1]; where θ + m passes 180° cos θ - m sin m, which goes on falling (the authors' code)."""
        margin = radians(self.params.margin)
        cosines = cosines.clamp(-1, 1)
        # By the sine, not the angle: the slope of an angle is infinite where an embedding is on its proxy.
        sines = ((1 - cosines) * (1 + cosines)).clamp_min(torch.finfo(cosines.dtype).tiny).sqrt()
        turned = cos(margin) * cosines - sin(margin) * sines
        return torch.where(cosines >= -cos(margin), turned, cosines - margin * sin(margin))


@register(
    "loss", "arcface", title="ArcFace", params=ArcFaceParams, needs_pairs=False,
    family="Classification", formula="mean −log softmax_y(s cos(θ_k + m [k = y]))",
    source="Deng et al. 2019, Eq. 3", batch="any",
    defaults={}, defaults_source=f"{UNNAMED}; s = 64, m = 0.5: Deng et al. 2019, Section 3.1, {IN_LIBRARY}",
    search=NETWORK_RATE | PROXY_RATE | SCALES | {"margin": between(10, 30, MLRC)},
)  # fmt: skip
class ArcFace(AngularMargin[ArcFaceParams]):
    """Softmax over s times the cosines to one proxy per class, with m added to the angle of the true class."""


@register(
    "loss", "cosface", title="CosFace", params=CosFaceParams, needs_pairs=False,
    family="Classification", formula="mean −log softmax_y(s (cos θ_k − m [k = y]))",
    source="Wang et al. 2018 (CosFace), Eq. 4", batch="any",
    defaults={}, defaults_source=f"{UNNAMED}; s = 64, m = 0.35: Wang et al. 2018 (CosFace), {IN_LIBRARY}",
    search=NETWORK_RATE | PROXY_RATE | SCALES | {"margin": between(0.1, 0.65, MLRC)},
)  # fmt: skip
class CosFace(MarginSoftmax[CosFaceParams]):
    """Softmax over s times the cosines to one proxy per class, with m subtracted from that of the true class."""

    def with_margin(self, cosines: Tensor) -> Tensor:
        """cos θ - m."""
        return cosines - self.params.margin


@register(
    "loss", "sub_center_arcface", title="Sub-center ArcFace", params=SubCenterParams, needs_pairs=False,
    family="Classification", formula="mean −log softmax_y(s cos(θ_k + m [k = y])), cos θ_k = max_j cos(z, w_kj)",
    source="Deng et al. 2020 (Sub-center ArcFace), Section 3.2",
    batch="any", defaults={}, defaults_source=f"{UNNAMED}; s = 64, m = 0.5, K = 3: Deng et al. 2020, {IN_LIBRARY}",
    search=NETWORK_RATE | PROXY_RATE | SCALES | {
        "margin": between(10, 30, MLRC),
        "centres": one_of(1, 2, 3, 5, source="Deng et al. 2020 compare 1 to 10"),
    },
)  # fmt: skip
class SubCenterArcFace(AngularMargin[SubCenterParams]):
    """ArcFace with K proxies per class: the cosine to a class is that to its nearest one."""

    def __init__(self, params: SubCenterParams, *, num_classes: int, embedding_dim: int) -> None:
        super().__init__(params, num_classes=num_classes, embedding_dim=embedding_dim, centres=params.centres)
