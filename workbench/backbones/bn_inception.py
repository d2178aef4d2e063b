"""BN-Inception, GoogLeNet's second version: the backbone of ICE's and CCP's tables, built from its paper's table."""

from collections import OrderedDict

import torch
from torch import Tensor, nn

from workbench.backbones.pretrained import PretrainedParams, chosen_file, freeze_batch_norm, load_into, read_state
from workbench.backbones.torchvision_models import Backbone
from workbench.problem import Problem
from workbench.registry import register

# Per block: 1 x 1; 3 x 3 after its reduction; double 3 x 3 after its reduction; projection behind the pooling; pooling.
# 0 of the first and the last but one: a block of stride 2, whose pooling hands its input on.
BLOCKS = {
    "3a": (64, (64, 64), (64, 96), 32, "mean"),
    "3b": (64, (64, 96), (64, 96), 64, "mean"),
    "3c": (0, (128, 160), (64, 96), 0, "max"),
    "4a": (224, (64, 96), (96, 128), 128, "mean"),
    "4b": (192, (96, 128), (96, 128), 128, "mean"),
    "4c": (160, (128, 160), (128, 160), 128, "mean"),
    "4d": (96, (128, 192), (160, 192), 128, "mean"),
    "4e": (0, (128, 192), (192, 256), 0, "max"),
    "5a": (352, (192, 320), (160, 224), 128, "mean"),
    "5b": (352, (192, 320), (192, 224), 128, "max"),
}
FEATURES = 1024
MEAN = (128 / 255, 117 / 255, 104 / 255)  # the published weights were trained on 0..255 less these
STD = (1 / 255,) * 3


@register(
    "backbone", "bn_inception", title="BN-Inception", params=PretrainedParams, pretrained=True,
    source="Ioffe and Szegedy 2015, Figure 5; weights under the names of the Caffe model",
)  # fmt: skip
def bn_inception(params: PretrainedParams, channels: int) -> Backbone:
    """GoogLeNet V2 with batch-norm, 1,024 features; takes weights that were ported from Caffe."""
    model = features()
    if params.weights == "cache":
        raise Problem(
            "BN-Inception's weights are not in torch's cache: torchvision does not publish them.",
            kept="Nothing was started.",
            todo="Set the weights to file, and choose it.",
        )
    path = chosen_file(params.weights_file) if params.weights == "file" else None
    if path is not None:
        state = {_own_name(key): value for key, value in read_state(path).items()}
        load_into(model, state, params.weights_file)
    if params.frozen_batch_norm:
        freeze_batch_norm(model)
    layers = nn.Sequential(_BlueFirst(), *model.children())
    return Backbone(layers, FEATURES, channels, params, (15, 20, 22), MEAN, STD, path)


def features() -> nn.Sequential:
    """Images [n, 3, H, W] -> [n, 1024, H / 32, W / 32]; no classifier."""
    layers: OrderedDict[str, nn.Module] = OrderedDict()
    _convolve(layers, "conv1_7x7_s2", 3, 64, 7, 2)
    layers["pool1"] = nn.MaxPool2d(3, 2, ceil_mode=True)
    _convolve(layers, "conv2_3x3_reduce", 64, 64, 1, 1)
    _convolve(layers, "conv2_3x3", 64, 192, 3, 1)
    layers["pool2"] = nn.MaxPool2d(3, 2, ceil_mode=True)
    width = 192
    for name, block in BLOCKS.items():
        block_module = _Inception(width, *block)
        layers[f"inception_{name}"], width = block_module, block_module.width
    return nn.Sequential(layers)


class _BlueFirst(nn.Module):
    """The published weights expect the colours in the order blue, green, red."""

    def forward(self, images: Tensor) -> Tensor:
        return images.flip(1)


class _Inception(nn.Module):
    """Four branches side by side; submodules are named as in the Caffe model."""

    def __init__(
        self, before: int, pointwise: int, three: tuple[int, int], double: tuple[int, int], projected: int, pooling: str
    ) -> None:
        super().__init__()
        self.stride = stride = 1 if pointwise else 2
        self.width = pointwise + three[1] + double[1] + (projected or before)
        branches: dict[str, list[tuple[str, int, int, int, int]]] = {
            "one": [("1x1", before, pointwise, 1, 1)] if pointwise else [],
            "three": [("3x3_reduce", before, three[0], 1, 1), ("3x3", *three, 3, stride)],
            "double": [
                ("double_3x3_reduce", before, double[0], 1, 1), ("double_3x3_1", *double, 3, 1),
                ("double_3x3_2", double[1], double[1], 3, stride),
            ],
            "pooled": [("pool_proj", before, projected, 1, 1)] if projected else [],
        }  # fmt: skip
        self.names = {branch: [name for name, *_ in convolutions] for branch, convolutions in branches.items()}
        for convolutions in branches.values():
            for name, *shape in convolutions:
                layers: OrderedDict[str, nn.Module] = OrderedDict()
                _convolve(layers, name, *shape)
                for key, module in layers.items():
                    self.add_module(key, module)
        padding = 0 if stride == 2 else 1
        self.pool: nn.Module = nn.MaxPool2d(3, stride, padding, ceil_mode=True)
        if pooling == "mean":
            self.pool = nn.AvgPool2d(3, stride, padding, ceil_mode=True)

    def forward(self, images: Tensor) -> Tensor:
        if self.stride == 2 and any(side % 2 for side in images.shape[-2:]):  # its branches would differ by one
            raise Problem(
                f"Images of this size do not fit BN-Inception: it halves a feature map of {images.shape[-1]} px.",
                kept="Nothing was started.",
                todo="Set the crop of the augmentation, or the image size, to 227 px or a multiple of 32, such as 224.",
            )
        outputs = []
        for branch, names in self.names.items():
            if branch == "one" and not names:
                continue
            inner = self.pool(images) if branch == "pooled" else images
            for name in names:
                for part in (name, f"{name}_bn", f"relu_{name}"):
                    inner = self.get_submodule(part)(inner)
            outputs.append(inner)
        return torch.cat(outputs, 1)


def _convolve(into: "OrderedDict[str, nn.Module]", name: str, before: int, after: int, side: int, stride: int) -> None:
    into[name] = nn.Conv2d(before, after, side, stride, side // 2)
    into[f"{name}_bn"] = nn.BatchNorm2d(after)
    into[f"relu_{name}"] = nn.ReLU(inplace=True)


def _own_name(key: str) -> str:
    """inception_3a_1x1_bn.weight -> inception_3a.1x1_bn.weight."""
    return f"{key[:12]}.{key[13:]}" if key.startswith("inception_") else key
