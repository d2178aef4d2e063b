"""Remarks on a run before it trains: on its device, its memory and its weights, and on how its images are cut."""

from typing import Any, cast

import torch  # noqa: TID253 - only running/launch.py and preflight.py import this file, inside functions
from torch import nn  # noqa: TID253

from workbench.backbones.model import EmbeddingModel
from workbench.backbones.pretrained import folded_layers
from workbench.metric_names import BY
from workbench.numerals import byte_size, percentage
from workbench.running.engine import Engine
from workbench.training import device

ALIKE = 0.01  # difference of two shares of an image's side that is not worth a word


def engine_notes(engine: Engine) -> list[tuple[str, str]]:
    """(subject, remark) on a run's device, weights, crop and metrics: "the network", "trains 64 of 128 weights"."""
    return [*device_notes(engine), *weight_notes(engine), *input_notes(engine), *distance_notes(engine)]


def device_notes(engine: Engine) -> list[tuple[str, str]]:
    """(subject, remark) on what a GPU does not compute in and has no memory for."""
    return [*precision_notes(engine), *memory_notes(engine)]


def precision_notes(engine: Engine) -> list[tuple[str, str]]:
    """(subject, remark) on a GPU that does not compute in bf16."""
    on, precision = engine.parts.device, engine.parts.precision
    if on.type != "cuda" or precision == "fp16" or device.computes_bf16(on):
        return []
    if precision == "bf16":
        return [("the GPU", "only emulates bf16: slow, and not for convolutions; choose fp16 or float32")]
    return [("the GPU", "does not compute in bf16: the run trains in float32; fp16 is faster there")]


def memory_notes(engine: Engine) -> list[tuple[str, str]]:
    """(subject, remark) on training images for which a GPU has not enough free memory."""
    if engine.feed.left_out is None:
        return []
    size, free = (byte_size(count) for count in engine.feed.left_out)
    said = f"are not kept on the GPU: they have {size}, and {free} are free there, of which they may take a quarter"
    return [("the training images", f"{said}; each batch is copied to it")]


def weight_notes(engine: Engine) -> list[tuple[str, str]]:
    """(subject, remark) on the weights that were loaded."""
    notes, count = list[tuple[str, str]](), folded_layers(engine.parts.model)
    if count:
        said = f"have batch-norm folded in: its {count:,} layers stay as they are, in training, too"
        notes.append(("the pretrained weights", said))
    if engine.modes:
        notes.append(("the pretrained weights", engine.modes))
    if following := _frozen_but_following(engine):
        layers = "1 batch-norm layer" if following == 1 else f"{following:,} batch-norm layers"
        said = f"hold {layers} with statistics that still follow the batches: freeze batch-norm to keep them"
        notes.append(("the frozen layers", said))
    sizes = dict.fromkeys((True, False), 0)
    for weight in engine.parts.model.parameters():
        sizes[weight.requires_grad] += weight.numel()
    if sizes[False] > sizes[True]:
        share = (
            f"{sizes[True]:,} of {sum(sizes.values()):,} weights ({percentage(sizes[True] / sum(sizes.values()), 2)})"
        )
        notes.append(("the network", f"trains {share}; the others stay as they are"))
        if getattr(engine.parts.model.backbone, "weights_path", engine) is None:  # a plug-in may not say
            notes.append(("the frozen layers", "are random: choose pretrained weights, or train more of them"))
    return notes


def _frozen_but_following(engine: Engine) -> int:
    """Batch-norm layers of the backbone with weights that are not trained and statistics that change in training."""
    training = engine.config.training
    if training.keep_features:
        return 0  # the backbone works in evaluation mode only
    backbone = cast(EmbeddingModel, engine.parts.model).backbone.train()
    layers = [module for module in backbone.modules() if isinstance(module, nn.modules.batchnorm._BatchNorm)]
    return sum(
        layer.training and layer.track_running_stats
        and (not training.backbone_lr or not any(weight.requires_grad for weight in layer.parameters()))
        for layer in layers
    )  # fmt: skip


def input_notes(engine: Engine) -> list[tuple[str, str]]:
    """(subject, remark) if the weights that were loaded expect another centre crop than evaluation takes.

    What they expect is the backbone's `pretrained_input`: the side in px, and the crop's share of the image's side.
    """
    backbone: Any = engine.parts.model.backbone
    expected, augmentation = getattr(backbone, "pretrained_input", None), engine.augmentation
    if expected is None or getattr(augmentation, "whole_evaluation", False):  # the whole image is squeezed: no crop
        return []
    side, share = expected
    size = engine.data.images.image_size  # of what the feed gives, unless it gives features
    taken = augmentation.evaluate(torch.empty(1, 1, size, size)).shape[-1]
    if taken == side and abs(taken / size - share) <= ALIKE:
        return []
    whole = round(side / share)
    same = f"Image size {whole} and Crop {share:g}" if whole != side else f"Image size {side} and no crop"
    said = f"were evaluated on a centre crop of {percentage(share)} at {side} px; here it is {percentage(taken / size)}"
    return [("the pretrained weights", f"{said} at {taken} px. {same} give the same")]


def distance_notes(engine: Engine) -> list[tuple[str, str]]:
    """(subject, remark) if the metrics are by another distance than that by which the loss's paper searches."""
    parts, distance = engine.parts, engine.config.evaluation.distance
    own = parts.loss.own_distance(torch.zeros(1, cast(EmbeddingModel, parts.model).head.dim, device=parts.device))
    if own is None or own[0] == distance:
        return []
    said = f"are by {BY[distance]}, and the paper of this loss searches by {BY[own[0]]}"
    return [("the metrics", f"{said}: set evaluation.distance to {own[0]} for them to be comparable")]
