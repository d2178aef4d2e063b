"""torchvision's backbones without their classifiers: mean over positions, grey images repeated to colour."""

from collections import OrderedDict
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from workbench.backbones.fetching import cached_file
from workbench.backbones.pretrained import (
    MEAN,
    STD,
    GreyToColour,
    PretrainedParams,
    chosen_file,
    freeze_batch_norm,
    load_into,
    read_state,
)
from workbench.backbones.recomputed import Recomputed, count_batches_once
from workbench.params import param
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.registry import loading_for, register

Cuts = tuple[int, int, int]  # children after which the low, mid and high levels end


class ResNetParams(PretrainedParams):
    """As every torchvision backbone, and the stem."""

    stem: Literal["published", "small"] = param(
        "published", help="small: one 3 x 3 convolution without stride or pooling, for images of about 32 px."
    )


class Pool(nn.Module):
    """Features [n, c, h, w] -> [n, c, 1, 1]: their mean over positions, their maximum, or the sum of both."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def forward(self, features: Tensor) -> Tensor:
        mean, most = features.mean((2, 3), keepdim=True), features.amax((2, 3), keepdim=True)
        return mean + most if self.kind == "both" else most if self.kind == "max" else mean


class Levels(nn.Module):
    """The features at three depths, each pooled over its positions, side by side: [n, low + mid + high, 1, 1].

    Source: instance cross-entropy, Section 4 (multi-level embeddings). The embedding head maps all three at once,
    where the paper has one linear layer for each level and concatenates their outputs: the same family of maps.
    """

    def __init__(self, features: nn.Sequential, cuts: Cuts, pool: nn.Module) -> None:
        super().__init__()
        layers, self.pool = list(features), pool
        self.parts = nn.ModuleList(type(features)(*layers[low:high]) for low, high in pairwise((0, *cuts)))

    def forward(self, images: Tensor) -> Tensor:
        levels = []
        for part in self.parts:
            images = part(images)
            levels.append(self.pool(images))
        return torch.cat(levels, 1)


class Backbone(nn.Module):
    """Images [n, 1 or 3, H, W], normalised -> features [n, feature_dim]: the mean over positions.

    One channel is always repeated to three, so that the architecture does not depend on where the weights came from.
    `weights_path` is the file that they were loaded from; None without one.
    """

    def __init__(
        self, features: nn.Sequential, feature_dim: int, channels: int, params: PretrainedParams, cuts: Cuts,
        mean: tuple[float, ...] = MEAN, std: tuple[float, ...] = STD, weights_path: Path | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.weights_path = weights_path
        depth = {"none": 0, "low": cuts[0], "low_mid": cuts[1], "all": len(features)}[params.frozen]
        for weight in features[:depth].parameters():
            weight.requires_grad_(False)
        if params.gradient_checkpointing:
            features = Recomputed(OrderedDict(features.named_children()))
        pool = Pool(params.pooling)
        body: list[nn.Module] = [features, pool]
        if params.levels == "low_mid_high":
            body = [Levels(features, cuts, pool)]
            with torch.no_grad():
                feature_dim = body[0].eval()(torch.zeros(1, 3, 64, 64)).shape[1]
        self.feature_dim = feature_dim
        self.mean: tuple[float, ...] = mean if channels == 3 else (sum(mean) / 3,)
        self.std: tuple[float, ...] = std if channels == 3 else (sum(std) / 3,)
        self.layers = nn.Sequential(GreyToColour(), *body, nn.Flatten())
        if params.gradient_checkpointing:
            count_batches_once(self.layers)

    def forward(self, images: Tensor) -> Tensor:
        features: Tensor = self.layers(images)
        return features


def _model(name: str, **arguments: Any) -> nn.Module:
    """torchvision's model of that name, with random weights."""
    with loading_for(__name__):
        from torchvision import models  # late: it takes as long to load as torch, and other backbones do without
    model: nn.Module = models.get_model(name, weights=None, **arguments)
    return model


def _load(model: nn.Module, params: PretrainedParams, name: str, progress: Progress) -> Path | None:
    """Load the weights that are asked for; the file that they came from. Those of the cache: ImageNet's first."""
    path = None
    if params.weights == "file":
        path = chosen_file(params.weights_file)
    elif params.weights == "cache":
        from torchvision import models

        weights = models.get_model_weights(name)["IMAGENET1K_V1"]
        size = round(weights.meta["_file_size"] * 2**20)  # torchvision counts in MiB
        path = cached_file(weights.url, size, params.download, progress)
    if path is not None:
        load_into(model, read_state(path), str(path))
    if params.frozen_batch_norm:
        freeze_batch_norm(model)
    return path


def _features_of(
    name: str, width: int, params: PretrainedParams, channels: int, cuts: Cuts, progress: Progress
) -> Backbone:
    model = _model(name)
    path = _load(model, params, name, progress)
    return Backbone(model.features, width, channels, params, cuts, weights_path=path)  # type: ignore[arg-type]


def _register_resnet(layers: int, width: int, use: str = "") -> None:
    name = f"resnet{layers}"

    def build(params: ResNetParams, channels: int, progress: Progress = quiet) -> Backbone:
        if params.stem == "small" and params.weights != "none":
            raise Problem(
                "Pretrained weights belong to the published stem.",
                kept="Nothing was started.",
                todo="Choose the published stem, or weights: none.",
            )
        model = _model(name)
        path = _load(model, params, name, progress)
        parts = list(model.children())[:-2]
        if params.stem == "small":  # as in Khosla et al. 2020, whose set-up PSCE follows
            parts[0], parts[3] = nn.Conv2d(3, 64, 3, padding=1, bias=False), nn.Identity()
        return Backbone(nn.Sequential(*parts), width, channels, params, (6, 7, 8), weights_path=path)

    build.__doc__ = f"Residual network of {layers} layers, {width:,} features{use}."
    register(
        "backbone", name, title=f"ResNet-{layers}", params=ResNetParams, pretrained=True,
        fetches=True, source="He et al. 2016; torchvision",
    )(build)  # fmt: skip


_register_resnet(18, 512)
_register_resnet(34, 512)
_register_resnet(50, 2048, ": the backbone of most of the papers' tables")


@register(
    "backbone", "squeezenet1_0", title="SqueezeNet 1.0", params=PretrainedParams, pretrained=True, fetches=True,
    source="Iandola et al. 2016; torchvision",
)  # fmt: skip
def squeezenet1_0(params: PretrainedParams, channels: int, progress: Progress = quiet) -> Backbone:
    """Small network without batch-norm, 512 features; trains on a CPU."""
    return _features_of("squeezenet1_0", 512, params, channels, (6, 12, 13), progress)


@register(
    "backbone", "mobilenet_v2", title="MobileNet v2", params=PretrainedParams, pretrained=True, fetches=True,
    source="Sandler et al. 2018; torchvision",
)  # fmt: skip
def mobilenet_v2(params: PretrainedParams, channels: int, progress: Progress = quiet) -> Backbone:
    """Small network of inverted residuals, 1,280 features."""
    return _features_of("mobilenet_v2", 1280, params, channels, (7, 14, 19), progress)


@register(
    "backbone", "googlenet", title="GoogLeNet with batch-norm", params=PretrainedParams, pretrained=True, fetches=True,
    source="Szegedy et al. 2015, with the batch-norm of Ioffe and Szegedy 2015; torchvision",
)  # fmt: skip
def googlenet(params: PretrainedParams, channels: int, progress: Progress = quiet) -> Backbone:
    """Inception network of 22 layers, 1,024 features."""
    model = _model("googlenet", aux_logits=False, init_weights=True)
    path = _load(model, params, "googlenet", progress)
    middle = (0.5, 0.5, 0.5)  # torchvision feeds these weights -1 to 1
    layers = nn.Sequential(*list(model.children())[:-3])
    return Backbone(layers, 1024, channels, params, (7, 13, 16), middle, middle, path)
