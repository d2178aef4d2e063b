"""From the features at every place of an image to one vector: mean, maximum or generalised mean."""

import torch
from torch import Tensor, nn


class GeM(nn.Module):
    """Generalised mean over places: (mean of max(x, 1e-6)^p)^(1/p) of [n, t, d] -> [n, d], p trained from 3.

    Source: Radenović et al. 2018 (Fine-tuning CNN image retrieval with no human annotation), Eq. 5.
    """

    def __init__(self) -> None:
        super().__init__()
        self.p = nn.Parameter(torch.tensor(3.0))

    def forward(self, places: Tensor) -> Tensor:
        return places.clamp_min(1e-6).pow(self.p).mean(1).pow(1 / self.p)


class Mean(nn.Module):
    """Mean over places: [n, t, d] -> [n, d]."""

    def forward(self, places: Tensor) -> Tensor:
        return places.mean(1)


class Max(nn.Module):
    """Maximum over places: [n, t, d] -> [n, d]."""

    def forward(self, places: Tensor) -> Tensor:
        return places.amax(1)
