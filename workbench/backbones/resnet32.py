"""The residual network of the long-tailed CIFAR tables."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.backbones.small_network import SmallNetwork, StagesParams, convolution, stages
from workbench.registry import register

BLOCKS = 5  # per stage: 6 * 5 + 2 = 32 layers


@register(
    "backbone", "resnet32", title="ResNet-32 (CIFAR)", params=StagesParams, pretrained=False,
    source="He et al. 2016, Section 4.2 (CIFAR networks, shortcuts A); PSCE, Table 4",
)  # fmt: skip
class ResNet32(SmallNetwork):
    """Three stages of five blocks and global average pooling; about 0.46 M weights, for 28 to 32 px."""

    def __init__(self, params: StagesParams, channels: int) -> None:
        wide = 4 * params.width
        super().__init__(
            convolution(channels, params.width, 1),
            nn.BatchNorm2d(params.width),
            nn.ReLU(inplace=True),
            *stages(_Block, params.width, BLOCKS),
            nn.AdaptiveAvgPool2d(1),
            feature_dim=wide,
            channels=channels,
        )
        self.start_convolutions("fan_in")


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
