"""The residual network that the paper on chance-constrained proxies trains on MNIST."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.backbones.small_network import SmallNetwork, StagesParams, convolution, stages
from workbench.registry import register

BLOCKS = 3  # per stage: 6 * 3 + 2 = 20 layers


@register(
    "backbone", "preact_resnet20", title="Pre-activation ResNet-20", params=StagesParams, pretrained=False,
    source="He et al. 2016 (Identity mappings in deep residual networks), CIFAR networks; CCP, Section 5.3",
)  # fmt: skip
class PreactResNet20(SmallNetwork):
    """Three stages of three pre-activation blocks and global average pooling; about 0.27 M weights, for 28 to 32 px.

    The paper says "ResNet20V2" without a table of layers: two 3 x 3 convolutions per block and 16, 32 and 64 channels
    are the CIFAR networks of its source.
    """

    def __init__(self, params: StagesParams, channels: int) -> None:
        wide = 4 * params.width
        super().__init__(
            convolution(channels, params.width, 1),
            *stages(_Block, params.width, BLOCKS),
            nn.BatchNorm2d(wide),
            nn.ReLU(inplace=True),
            nn.AdaptiveAvgPool2d(1),
            feature_dim=wide,
            channels=channels,
        )
        self.start_convolutions("fan_out")


class _Block(nn.Module):
    """x + f(x) with batch-norm and ReLU before each convolution; where the size changes, a 1 x 1 shortcut."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.BatchNorm2d(before), nn.BatchNorm2d(after)
        self.convolution1 = convolution(before, after, stride)
        self.convolution2 = convolution(after, after, 1)
        changes = stride != 1 or before != after
        self.shortcut = nn.Conv2d(before, after, 1, stride=stride, bias=False) if changes else None

    def forward(self, images: Tensor) -> Tensor:
        active = F.relu(self.norm1(images))
        across: Tensor = images if self.shortcut is None else self.shortcut(active)
        inner: Tensor = self.convolution2(F.relu(self.norm2(self.convolution1(active))))
        return torch.add(across, inner)
