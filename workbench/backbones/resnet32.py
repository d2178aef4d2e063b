"""The residual network of the long-tailed CIFAR tables."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.backbones.stages import StagesParams, convolution, stages
from workbench.registry import register

BLOCKS = 5  # per stage: 6 * 5 + 2 = 32 layers


class ResNet32Params(StagesParams):
    """As every network of three stages."""


@register(
    "backbone", "resnet32", title="ResNet-32 (CIFAR)", params=ResNet32Params, pretrained=False,
    source="He et al. 2016, Section 4.2 (CIFAR networks, shortcuts A); PSCE, Table 4",
)  # fmt: skip
class ResNet32(nn.Module):
    """Three stages of five blocks and a mean over places; about 0.46 M weights, for 28 to 32 px."""

    def __init__(self, params: ResNet32Params, channels: int) -> None:
        super().__init__()
        self.feature_dim = 4 * params.width
        self.mean, self.std = (0.5,) * channels, (0.5,) * channels
        self.layers = nn.Sequential(
            convolution(channels, params.width, 1),
            nn.BatchNorm2d(params.width),
            nn.ReLU(inplace=True),
            *stages(_Block, params.width, BLOCKS),
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

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.convolution1, self.norm1 = convolution(before, after, stride), nn.BatchNorm2d(after)
        self.convolution2, self.norm2 = convolution(after, after, 1), nn.BatchNorm2d(after)
        self.stride, self.added = stride, after - before

    def forward(self, images: Tensor) -> Tensor:
        inner = F.relu(self.norm1(self.convolution1(images)))
        inner = self.norm2(self.convolution2(inner))
        across = images[..., :: self.stride, :: self.stride]
        if self.added:
            across = F.pad(across, (0, 0, 0, 0, self.added // 2, self.added - self.added // 2))
        return F.relu(torch.add(inner, across))
