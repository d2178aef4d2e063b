"""The residual network of the long-tailed CIFAR tables."""

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.params import Params, param
from workbench.registry import register

BLOCKS = 5  # per stage: 6 * 5 + 2 = 32 layers


class ResNet32Params(Params):
    width: int = param(
        16, ge=4, le=256, unit="channels", help="Channels of the first stage; the next two have twice and four times."
    )


@register(
    "backbone", "resnet32", title="ResNet-32 (CIFAR)", params=ResNet32Params, pretrained=False,
    source="He et al. 2016, Section 4.2 (CIFAR networks, shortcuts A); PSCE, Table 4",
)  # fmt: skip
class ResNet32(nn.Module):
    """Three stages of five blocks and a mean over places; about 0.46 M weights, for 28 to 32 px."""

    def __init__(self, params: ResNet32Params, channels: int) -> None:
        super().__init__()
        widths = [params.width, params.width, 2 * params.width, 4 * params.width]
        self.feature_dim = widths[-1]
        self.mean, self.std = (0.5,) * channels, (0.5,) * channels
        blocks: list[nn.Module] = []
        for stage, (before, after) in enumerate(pairwise(widths)):
            blocks.append(_Block(before, after, stride=2 if stage else 1))
            blocks += [_Block(after, after, stride=1) for _ in range(BLOCKS - 1)]
        self.layers = nn.Sequential(
            _convolution(channels, params.width, 1),
            nn.BatchNorm2d(params.width),
            nn.ReLU(inplace=True),
            *blocks,
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
        )
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, nonlinearity="relu")

    def forward(self, images: Tensor) -> Tensor:
        """[n, C, H, W] -> [n, feature_dim]."""
        features: Tensor = self.layers(images)
        return features


class _Block(nn.Module):
    """Two convolutions with batch-norm beside a shortcut without weights: every second place, new channels zero."""

    def __init__(self, before: int, after: int, *, stride: int) -> None:
        super().__init__()
        self.convolution1, self.norm1 = _convolution(before, after, stride), nn.BatchNorm2d(after)
        self.convolution2, self.norm2 = _convolution(after, after, 1), nn.BatchNorm2d(after)
        self.stride, self.added = stride, after - before

    def forward(self, images: Tensor) -> Tensor:
        inner = F.relu(self.norm1(self.convolution1(images)))
        inner = self.norm2(self.convolution2(inner))
        across = images[..., :: self.stride, :: self.stride]
        if self.added:
            across = F.pad(across, (0, 0, 0, 0, self.added // 2, self.added - self.added // 2))
        return F.relu(torch.add(inner, across))


def _convolution(before: int, after: int, stride: int) -> nn.Conv2d:
    return nn.Conv2d(before, after, 3, stride=stride, padding=1, bias=False)
