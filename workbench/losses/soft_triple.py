"""SoftTriple: softmax over soft assignments to several centres per class.

Not pytorch-metric-learning's SoftTripleLoss: it lacks the term that merges centres (Eq. 9).
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.losses.batch import bounded, full_precision, on_sphere
from workbench.losses.batch_loss import BatchLoss
from workbench.losses.cosine_softmax import proxy_rate, short_proxies
from workbench.losses.published import CCP_PAPER, CCP_PROXIES, in_ccp
from workbench.losses.search_space import MLRC, NETWORK_RATE, PROXY_RATE, between, one_of
from workbench.losses.shared.linear_logits import LinearLogits
from workbench.params import Params, param
from workbench.registry import register


class SoftTripleParams(Params):
    """Parameters of SoftTriple."""

    centres: int = param(10, ge=1, le=100, symbol="K", unit="per class", help="Centres of each class at the start.")
    scale: float = param(20.0, gt=0, le=1000, symbol="λ", help="Sharpness of the softmax over classes.")
    gamma: float = param(0.1, gt=0, le=100, symbol="γ", help="Softness of the assignment to the centres of a class.")
    margin: float = param(0.01, ge=0, le=1, symbol="δ", help="Cosine margin of the true class.")
    merging: float = param(0.2, ge=0, le=10, symbol="τ", help="Weight of the pull that merges centres of a class.")
    proxy_lr: float = proxy_rate(
        5.0, "Learning rate of the centres, as a multiple; the paper has 100 at a rate of 1e-4.", "Centre learning rate"
    )
    bounded: bool = short_proxies()


@register(
    "loss", "soft_triple", title="SoftTriple", params=SoftTripleParams, needs_pairs=False,
    family="Proxies", formula="mean −log softmax_y(λ (S_k − δ [k = y])) + τ Σ ‖w_yi − w_yj‖ / (C K (K − 1))",
    source="Qian et al. 2019, Eq. 6, 7 and 9", batch="any; CCP's tables: one image of each class",
    defaults=in_ccp(
        {
            "cub": {"centres": 10, "scale": 20.0, "gamma": 0.1, "merging": 0.2, "margin": 0.01},
            "cars": {"centres": 10, "scale": 17.69, "gamma": 19.18, "merging": 0.0669, "margin": 0.3588},
            "inshop": {"centres": 1, "scale": 20.0, "gamma": 0.1, "merging": 0.2, "margin": 0.01},
            "sop": {"centres": 1, "scale": 100.0, "gamma": 47.9, "merging": 0.2, "margin": 0.3145},
        },
        CCP_PROXIES,
    ),
    defaults_source=f"{CCP_PAPER}; centres: its Table 3 (SoftTriple-S) and 4 (SoftTriple-L)",
    search=NETWORK_RATE | PROXY_RATE | {
        "centres": one_of(1, 2, 5, 10, source="Qian et al. 2019: 10; fewer for few images of a class"),
        "scale": between(15, 100, MLRC, log=True),
        "gamma": between(0.1, 60, MLRC, log=True),
        "merging": between(0.05, 0.5, MLRC),
        "margin": between(0.01, 0.7, MLRC),
    },
)  # fmt: skip
class SoftTriple(BatchLoss[SoftTripleParams]):
    """Cross-entropy of λ (S_c - δ [c = y]) plus τ / (C K (K - 1)) times all distances between centres of one class.

    S_c is the mean cosine to the centres of class c, weighed by their softmax at 1 / γ; within the unit ball, the mean
    inner product.
    """

    def __init__(self, params: SoftTripleParams, *, num_classes: int, embedding_dim: int) -> None:
        super().__init__(params, num_classes=num_classes, embedding_dim=embedding_dim)
        centres = torch.randn(num_classes, params.centres, embedding_dim)
        if params.bounded:
            centres *= (2 / (num_classes * params.centres)) ** 0.5
        self.centres = nn.Parameter(centres)
        self.proxy_lr_multiplier = params.proxy_lr

    def logits(self, embeddings: Tensor) -> Tensor:
        """Scores λ S [n, C] of embeddings [n, d]."""
        with full_precision(embeddings):
            return self._scores(embeddings, self._compared(self.centres))

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        compared = self._compared(self.centres)
        own = labels[:, None]
        margin = torch.full(own.shape, -self.params.scale * self.params.margin, device=own.device)
        scores = self._scores(embeddings, compared)
        value = F.cross_entropy(scores.scatter_add(1, own, margin.to(scores.dtype)), labels)
        return value + self.params.merging * self._spread(compared) if self.params.merging else value

    def _compared(self, vectors: Tensor) -> Tensor:
        """Vectors [..., d] at unit length, or bounded."""
        return bounded(vectors) if self.params.bounded else on_sphere(vectors)

    def _scores(self, embeddings: Tensor, centres: Tensor) -> Tensor:
        """λ S [n, C] from centres [C, K, d] as they are compared."""
        products = self._compared(embeddings.to(centres.dtype)) @ centres.flatten(0, 1).T
        products = products.view(len(embeddings), *centres.shape[:2])
        return self.params.scale * ((products / self.params.gamma).softmax(2) * products).sum(2)

    def _spread(self, centres: Tensor) -> Tensor:
        """Sum of distances between two centres of one class over C K (K - 1), half their mean; 0 with one centre."""
        count = centres.shape[1]
        if count == 1:
            return centres.sum() * 0
        first, second = torch.triu_indices(count, count, 1, device=centres.device)
        alike = (centres @ centres.transpose(1, 2))[:, first, second]
        squares = centres.square().sum(2) if self.params.bounded else torch.ones_like(centres[:, :, 0])
        apart = squares[:, first] + squares[:, second] - 2 * alike
        return apart.clamp_min(1e-5).sqrt().mean() / 2  # a root of 0 has no gradient

    def linear_logits(self) -> LinearLogits | None:
        """Only with one centre for each class; with several the softmax weighs them for every image."""
        if self.centres.shape[1] > 1:
            return None
        unit = not self.params.bounded
        return LinearLogits(
            self.centres[:, 0], unit_embeddings=unit, unit_weight=unit, scale=self.params.scale, bounded=not unit
        )

    def class_proxies(self) -> tuple[Tensor, Tensor]:
        """Centres [C K, d] and their classes [C K]."""
        classes = torch.arange(len(self.centres)).repeat_interleave(self.centres.shape[1])
        return self.centres.flatten(0, 1), classes
