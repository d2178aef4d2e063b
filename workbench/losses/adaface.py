"""AdaFace: a softmax whose margin depends on the length of the embedding, which measures the image's quality."""

import torch
from torch import Tensor
from torch.nn import functional as F

from workbench.losses.batch import checked_batch, full_precision, keep_nan, on_sphere
from workbench.losses.cosine_softmax import CosineSoftmax, proxy_rate
from workbench.losses.published import UNNAMED
from workbench.losses.search_space import MLRC, NETWORK_RATE, PROXY_RATE, between
from workbench.params import Params, param
from workbench.registry import register

FOLLOWED = 0.01  # weight of a batch in the running mean and standard deviation of lengths
EPSILON = 1e-3  # as in the authors' code
SHORTEST, LONGEST = 1e-3, 100.0  # lengths are clamped to this range


class AdaFaceParams(Params):
    """Parameters of AdaFace."""

    margin: float = param(0.4, ge=0, le=1, symbol="m", help="Margin of an embedding of ordinary length.")
    concentration: float = param(
        0.333, gt=0, le=10, symbol="h", help="How strongly the margin follows the length of the embedding."
    )
    scale: float = param(64.0, gt=0, le=1000, symbol="s", help="Cosines are multiplied by this value.")
    proxy_lr: float = proxy_rate(10.0)


@register(
    "loss", "adaface", title="AdaFace", params=AdaFaceParams, needs_pairs=False,
    family="Classification", formula="mean −log softmax_y, own score s (cos(θ_y − m q) − m − m q), others s cos θ_k",
    source="Kim et al. 2022 (AdaFace), Eq. 13 to 16, and the authors' code for the running means", batch="any",
    defaults={}, defaults_source=f"{UNNAMED}; m = 0.4, h = 0.333, s = 64: Kim et al. 2022 (AdaFace)",
    search=NETWORK_RATE | PROXY_RATE | {
        "margin": between(0.1, 0.65, "As CosFace's"),
        "concentration": between(0.2, 0.66, "Kim et al. 2022 (AdaFace) compare 0.22, 0.33 and 0.66"),
        "scale": between(16, 200, MLRC, log=True),
    },
)  # fmt: skip
class AdaFace(CosineSoftmax):
    """Softmax over s times the cosines to one proxy per class; the true class scores s (cos(angle - m q) - m - m q).

    q, in -1 to 1, is h times how far the embedding's length is above the running mean, in running standard
    deviations; lengths and q get no gradient, and the running values move in training only. Batch-norm or unit length
    on the embedding leaves little of q.
    """

    mean: Tensor
    deviation: Tensor

    def __init__(self, params: AdaFaceParams, *, num_classes: int, embedding_dim: int) -> None:
        proxies = torch.randn(num_classes, embedding_dim)
        super().__init__(proxies, scale=params.scale, proxy_lr=params.proxy_lr)
        self.params = params
        self.register_buffer("mean", torch.tensor(20.0))
        self.register_buffer("deviation", torch.tensor(100.0))

    def forward(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        embeddings, labels = checked_batch(embeddings, labels, len(self.proxies))
        with full_precision(embeddings):
            margin = self.params.margin
            quality = self._quality(embeddings.detach())
            cosines = on_sphere(embeddings) @ on_sphere(self.proxies.to(embeddings.dtype)).T
            cosines = cosines.clamp(-1 + EPSILON, 1 - EPSILON)
            angle = cosines.gather(1, labels[:, None])[:, 0].acos()
            turned = (angle - margin * quality).clamp(EPSILON, torch.pi - EPSILON)
            own = turned.cos() - margin - margin * quality
            scores = self.params.scale * cosines.scatter(1, labels[:, None], own[:, None])
            return keep_nan(F.cross_entropy(scores, labels), embeddings)

    @torch.no_grad()
    def _quality(self, embeddings: Tensor) -> Tensor:
        """q [n] of embeddings [n, d]; in training the running mean and deviation follow them first."""
        lengths = embeddings.norm(dim=1).clamp(SHORTEST, LONGEST)
        if self.training and len(lengths) > 1:
            self.mean.lerp_(lengths.mean().to(self.mean.dtype), FOLLOWED)
            self.deviation.lerp_(lengths.std().to(self.deviation.dtype), FOLLOWED)
        quality: Tensor = self.params.concentration * (lengths - self.mean) / (self.deviation + EPSILON)
        return quality.clamp(-1, 1)
