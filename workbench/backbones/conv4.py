"""The small CNN of the papers' MNIST experiments."""

from torch import nn

from workbench.backbones.pooling import MaxOfParts
from workbench.backbones.pretrained import trained_file
from workbench.backbones.small_network import SmallNetwork
from workbench.params import Params, param
from workbench.registry import register


class Conv4Params(Params):
    """Parameters of the four-layer convolutional network: its width."""

    width: int = param(
        32, ge=4, le=512, unit="channels", help="Channels of the first convolution; the others have twice as many."
    )
    positions: int = param(
        7,
        ge=1,
        le=26,
        label="Positions",
        unit="per side",
        help="Positions per side of the feature map that the embedding is made of.",
    )
    trained_file: str = trained_file()


@register(
    "backbone", "conv4", title="Four convolutions", params=Conv4Params, pretrained=False,
    source="Boudiaf et al. 2020, Section 5.2 (a small CNN of four convolutional layers)",
)  # fmt: skip
class Conv4(SmallNetwork):
    """Four 3 x 3 convolutions with batch-norm and two poolings; for images of 8 to 105 px."""

    def __init__(self, params: Conv4Params, channels: int) -> None:
        narrow, wide = params.width, 2 * params.width
        super().__init__(
            *_convolution(channels, narrow),
            *_convolution(narrow, narrow),
            nn.MaxPool2d(2),
            *_convolution(narrow, wide),
            *_convolution(wide, wide),
            MaxOfParts(params.positions),  # where a stroke is matters: a mean over places learns far slower
            feature_dim=wide * params.positions**2,
            channels=channels,
        )


def _convolution(before: int, after: int) -> list[nn.Module]:
    return [nn.Conv2d(before, after, 3, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU(inplace=True)]
