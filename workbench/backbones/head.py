"""From features to embeddings: a linear layer, dropout, batch-norm without affine, a bound on the length."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional as F

if TYPE_CHECKING:
    from workbench.config import EmbeddingParams

STARTS = {"identity": nn.init.eye_, "orthogonal": nn.init.orthogonal_, "glorot": nn.init.xavier_uniform_}
"""How a layer begins that does not begin as torch's do; its bias is 0 then."""


class EmbeddingHead(nn.Module):
    """Features [n, f] -> embeddings [n, d] in float32; in float64 if the features are.

    Args:
        features: f, of the backbone.
        params: size d (0 keeps f and adds no layer), one layer or two, how a single layer starts, the last layer's
            bias, dropout, batch-norm without scale and shift, length of at most 1 (v / max(1, |v|), CCP Section 4.4)
            or of exactly 1.
    """

    def __init__(self, features: int, params: "EmbeddingParams") -> None:
        super().__init__()
        self.dim = params.dim or features
        self.linear: nn.Module = nn.Identity()
        if params.dim:
            self.linear = nn.Linear(features, params.dim, bias=params.bias)
        if params.dim and params.layers == "two":
            hidden = nn.Linear(features, features)
            self.linear = nn.Sequential(hidden, nn.ReLU(), nn.Linear(features, params.dim, bias=params.bias))
        if isinstance(self.linear, nn.Linear) and params.start != "random":
            STARTS[params.start](self.linear.weight)
            if self.linear.bias is not None:
                nn.init.zeros_(self.linear.bias)
        self.dropout = nn.Dropout(params.dropout)
        self.norm = nn.BatchNorm1d(self.dim, affine=False) if params.batch_norm else nn.Identity()
        self.bounded, self.normalise = params.bounded, params.normalise

    def forward(self, features: Tensor) -> Tensor:
        return self.of_all(self.of_each(features))

    def of_each(self, features: Tensor) -> Tensor:
        """The linear part [n, d], which treats each image separately: the ranks of a run divide it."""
        linear: Tensor = self.linear(features)
        return linear

    def of_all(self, linear: Tensor) -> Tensor:
        """The rest after the linear part; with batch-norm it uses all images together."""
        embeddings = self.dropout(linear)
        with torch.autocast(embeddings.device.type, enabled=False):
            embeddings = self.norm(embeddings.to(torch.promote_types(embeddings.dtype, torch.float32)))
            if self.bounded:
                embeddings = embeddings / embeddings.norm(dim=1, keepdim=True).clamp_min(1)
            return F.normalize(embeddings) if self.normalise else embeddings
