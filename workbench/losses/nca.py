"""Neighbourhood component analysis: the chance that a soft neighbour is of one's own class."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.losses.batch import checked, full_precision, keep_nan, mean_of, pair_masks
from workbench.params import Params, param
from workbench.registry import register


class NCAParams(Params):
    scale: float = param(8.0, gt=0, le=1000, symbol="s", help="Sharpness: squared distances are multiplied by it.")


@register(
    "loss", "nca", title="NCA", params=NCAParams, has_proxies=False, needs_pairs=True,
    source="Goldberger et al. 2004, Eq. 1, with the logarithm of Eq. 10; unit length as in later work",
    batch="classes × images, two or more of each",
)  # fmt: skip
class NCA(nn.Module):
    """Minus the mean log probability of a neighbour of one's own class, softmax over -s D^2 on the unit sphere.

    Anchors without a positive are left out; with none left the value is 0.
    """

    def __init__(self, params: NCAParams, *, num_classes: int, embedding_dim: int) -> None:
        super().__init__()
        self.scale, self.num_classes = params.scale, num_classes

    def forward(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        embeddings = checked(embeddings, labels, self.num_classes)
        with full_precision(embeddings):
            unit = F.normalize(embeddings)
            closeness = -self.scale * (2 - 2 * unit @ unit.T)
            positive, negative = pair_masks(labels)
            lowest = torch.finfo(closeness.dtype).min / 4
            own = closeness.masked_fill(~positive, lowest).logsumexp(1)
            every = closeness.masked_fill(~(positive | negative), lowest).logsumexp(1)
            return keep_nan(mean_of(every - own, positive.any(1)), embeddings)
