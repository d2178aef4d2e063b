"""From the features at every place of an image to one vector: mean, maximum or generalised mean."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class GeM(nn.Module):
    """Generalised mean over places: (mean of max(x, 1e-6)^p)^(1/p) of [n, t, d] -> [n, d], p trained from 3.

    Source: Radenović et al. 2018 (Fine-tuning CNN image retrieval with no human annotation), Eq. 5.
    """

    def __init__(self) -> None:
        super().__init__()
        self.p = nn.Parameter(torch.tensor(3.0))

    def forward(self, places: Tensor) -> Tensor:
        with torch.autocast(places.device.type, enabled=False):  # (1e-6)^3 is 0 in float16, without a gradient
            wide = places.to(torch.promote_types(places.dtype, torch.float32))
            return wide.clamp_min(1e-6).pow(self.p).mean(1).pow(1 / self.p)


class MaxOfParts(nn.AdaptiveMaxPool2d):
    """torch's layer: the maximum of each of s x s parts of [n, c, h, w] -> [n, c, s, s], parts of unequal size too.

    On Apple's GPU torch's own values and shape are wrong where s does not divide h and w. On a CUDA GPU the order in
    which torch's own layer adds up its gradient changes from run to run; the layers that are used there always give the
    same.
    """

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.count = count

    def forward(self, features: Tensor) -> Tensor:
        count, device = self.count, features.device.type
        high, wide = features.shape[2:]
        divides = not (high % count or wide % count)
        if device == "cuda" and divides:
            return F.max_pool2d(features, (high // count, wide // count))
        if device not in ("mps", "cuda") or (device == "mps" and divides):
            pooled: Tensor = super().forward(features)
            return pooled
        for dim in (2, 3):
            side = features.shape[dim]
            parts = [(at * side // count, -(-(at + 1) * side // count)) for at in range(count)]
            features = torch.stack([features.narrow(dim, low, high - low).amax(dim) for low, high in parts], dim)
        return features


class Mean(nn.Module):
    """Mean over places: [n, t, d] -> [n, d]."""

    def forward(self, places: Tensor) -> Tensor:
        return places.mean(1)


class Max(nn.Module):
    """Maximum over places: [n, t, d] -> [n, d]."""

    def forward(self, places: Tensor) -> Tensor:
        return places.amax(1)
