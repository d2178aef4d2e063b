"""What the networks for small images share: their form, and three stages of blocks, each wider and smaller."""

from collections.abc import Callable
from itertools import pairwise
from typing import Literal

from torch import Tensor, nn

from workbench.backbones.pretrained import trained_file
from workbench.params import Params, param

Block = Callable[[int, int, int], nn.Module]  # channels before, channels after, stride


class StagesParams(Params):
    """Parameters of the small residual networks with three stages."""

    width: int = param(
        16, ge=4, le=256, unit="channels", help="Channels of the first stage; the next two have twice and four times."
    )
    trained_file: str = trained_file()


class SmallNetwork(nn.Module):
    """Layers without published weights, for images of any number of channels, brought to -1..1."""

    def __init__(self, *layers: nn.Module, feature_dim: int, channels: int) -> None:
        super().__init__()
        self.feature_dim = feature_dim
        self.mean, self.std = (0.5,) * channels, (0.5,) * channels
        self.layers = nn.Sequential(*layers, nn.Flatten())

    def forward(self, images: Tensor) -> Tensor:
        """[n, C, H, W] -> [n, feature_dim]."""
        features: Tensor = self.layers(images)
        return features

    def start_convolutions(self, mode: Literal["fan_in", "fan_out"]) -> None:
        """Initialise the weights of all convolutions as He et al. 2015 do for ReLU."""
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode=mode, nonlinearity="relu")


def stages(block: Block, width: int, blocks: int) -> list[nn.Module]:
    """3 x `blocks` blocks of `width`, twice and four times as many channels; the second and third stage halve sides."""
    modules = []
    for stage, (before, after) in enumerate(pairwise([width, width, 2 * width, 4 * width])):
        modules.append(block(before, after, 2 if stage else 1))
        modules += [block(after, after, 1) for _ in range(blocks - 1)]
    return modules


def convolution(before: int, after: int, stride: int) -> nn.Conv2d:
    """A 3 x 3 convolution without a bias, since batch-norm precedes or follows it."""
    return nn.Conv2d(before, after, 3, stride=stride, padding=1, bias=False)
