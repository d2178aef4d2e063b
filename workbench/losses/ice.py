"""Instance cross-entropy (ICE): every positive of an anchor against all its negatives, each with its own weight."""

import torch
from torch import Tensor
from torch.nn import functional as F

from workbench.charts import Chart, Marks
from workbench.losses.batch import checked_batch, mean_of, on_sphere, pair_masks
from workbench.losses.batch_loss import BatchLoss
from workbench.losses.published import Values
from workbench.losses.search_space import NETWORK_RATE, between
from workbench.params import Params, param
from workbench.registry import register

BINS = 40
SMALLEST = -12.0  # log10 of the smallest weight in the histogram


class ICEParams(Params):
    """Parameters of ICE."""

    scale: float = param(
        64.0, ge=1, le=1000, symbol="s", help="Similarities are multiplied by it: 16 to 80 in the paper."
    )


TRAINED: Values = {  # new layers learn ten times faster than the others, whose rate is 1e-3
    "training.optimiser": "sgd", "training.lr": 0.01, "training.backbone_lr": 0.1, "training.momentum": 0.8,
    "training.weight_decay": 1e-5, "embedding.dim": 512, "sampler.name": "classes_images",
}  # fmt: skip


@register(
    "loss", "ice", title="Instance cross-entropy (ICE)", params=ICEParams, needs_pairs=True,
    family="Pairs and triplets", formula="mean_p −log(exp(s s_ap) / (exp(s s_ap) + Σ_n exp(s s_an)))",
    source="Wang et al. 2019 (ICE), Eq. 5 for the value, Eq. 11 to 15 for the gradient",
    batch="classes × images; the paper: 6 × 10 (CUB, Cars), 90 × 2 (SOP)",
    defaults={
        "cub": TRAINED | {"training.batch_size": 60, "sampler.images_per_class": 10},
        "cars": TRAINED | {"training.batch_size": 60, "sampler.images_per_class": 10},
        "sop": {"scale": 64.0} | TRAINED | {"training.batch_size": 180, "sampler.images_per_class": 2},
    },
    defaults_source="Wang et al. 2019 (ICE), Section 4.1; s of SOP: Table 2 (none for CUB, Cars)",
    search=NETWORK_RATE | {
        "scale": between(8, 80, "Wang et al. 2019 (ICE), Table 2: 16 to 80; 8 too", log=True),
    },
)  # fmt: skip
class ICE(BatchLoss[ICEParams]):
    """Value: mean over positive pairs of -log p(i | a), Eq. 5 with s times the cosine; gradient: Eq. 15.

    The gradient treats anchors and weights as constants, so it is not that of the value. The weights of an anchor's
    positives sum to 1 / 2N, and so do those of its negatives. Anchors without a positive or a negative are left out
    and counted in `left_out`, a scalar on the device; with none left the value is 0.
    """

    def __init__(self, params: ICEParams, *, num_classes: int, embedding_dim: int) -> None:
        super().__init__(params, num_classes=num_classes, embedding_dim=embedding_dim)
        self.left_out = torch.tensor(0)

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        unit = on_sphere(embeddings)
        with torch.no_grad():
            value, of_positives, of_negatives = self._weighed(unit, labels)
            pull = (of_negatives - of_positives).T @ unit  # only the second of each pair gets a gradient
        surrogate = (pull * unit).sum()
        return value + surrogate - surrogate.detach()

    def weights(self, embeddings: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Weights of Eq. 13 and 14, [n, n]: row a holds those of anchor a's positives, and of its negatives."""
        embeddings, labels = checked_batch(embeddings, labels)
        _, of_positives, of_negatives = self._weighed(on_sphere(embeddings), labels)
        return of_positives, of_negatives

    def charts(self, embeddings: Tensor, labels: Tensor) -> list[Chart]:
        """How the weights of positives and negatives are distributed on the probe (first 512 images)."""
        of_positives, of_negatives = self.weights(embeddings[:512], labels[:512])
        bars = []
        for title, weights in (("positives", of_positives), ("negatives", of_negatives)):
            logs = weights[weights > 0].log10().clamp_min(SMALLEST).float().cpu()
            counts = torch.histc(logs, BINS, SMALLEST, 0.0)
            centres = SMALLEST + (torch.arange(BINS) + 0.5) * (-SMALLEST / BINS)
            shares = counts / counts.sum().clamp_min(1)
            bars.append(Marks(title, "bars", tuple(centres.tolist()), tuple(shares.tolist())))
        note = f"{self.left_out.item()} of the last batch's anchors had no positive or no negative."
        return [Chart("Weights of positives and negatives, share of pairs", "log10 of the weight", tuple(bars), note)]

    def _weighed(self, unit: Tensor, labels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Eq. 5 averaged, and the weights of Eq. 13 and 14, all in log space: 1 - p underflows on solved queries."""
        positive, negative = pair_masks(labels)
        whole = positive.any(1) & negative.any(1)
        self.left_out = (~whole).sum()
        scaled = self.params.scale * unit @ unit.T
        lowest = torch.finfo(scaled.dtype).min / 4
        among = scaled.masked_fill(~negative, lowest)
        others = among.logsumexp(1, keepdim=True)
        missed = (others - torch.logaddexp(scaled, others)).masked_fill(~positive, lowest)  # log(1 - p), Eq. 11
        share = whole[:, None].to(scaled.dtype) / (2 * len(labels))  # a bool alone gives float32
        # In Eq. 14 the sum over positives cancels: what is left is the softmax over the negatives.
        of_positives = missed.softmax(1).mul_(share)
        of_negatives = among.softmax(1).mul_(share)
        value = mean_of(F.softplus(others - scaled), positive & whole[:, None])
        return value, of_positives, of_negatives
