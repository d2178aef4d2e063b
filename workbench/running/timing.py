"""What a few trial steps show about a run: how long its parts take, and remarks on its weights."""

import copy
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from time import perf_counter
from typing import cast

import numpy as np
import torch  # noqa: TID253 - only running/launch.py imports this file, inside functions
from torch import Tensor, nn  # noqa: TID253

from workbench.backbones.model import EmbeddingModel
from workbench.backbones.pretrained import folded_layers
from workbench.numerals import byte_size, percentage
from workbench.running.engine import Engine
from workbench.training import device
from workbench.training.probe import batch_on, embed, mode_agreement
from workbench.training.trainer import loss_of, train_step

LEAST_AGREEMENT = 0.5  # mean cosine of features in the two modes of a network
TIMED = 128  # images of the probe that are timed, at least


@dataclass(frozen=True, slots=True)
class StepTimes:
    """Seconds of each part of a training step, measured separately."""

    feed: float  # until the next batch is on the device
    step: float  # forward, backward and update, the loss included
    loss: float  # the loss alone, forward and backward
    made_ahead: bool  # whether batches are made while the network works

    @property
    def whole(self) -> float:
        """Seconds from one step to the next."""
        return max(self.feed, self.step) if self.made_ahead else self.feed + self.step

    @property
    def bound(self) -> str:
        """The part that takes most of that time: "feed", "network" or "loss"."""
        network = self.step - self.loss
        if self.feed > self.step or (not self.made_ahead and self.feed > max(network, self.loss)):
            return "feed"
        return "loss" if self.loss > network else "network"


def time_steps(engine: Engine, steps: int, cancelled: Callable[[], bool]) -> StepTimes:
    """Medians over a few trial steps, which change the weights."""
    batches = engine.feed.training(
        engine.sampler, engine.augmentation, engine.config.seed, engine.config.training.views
    )
    fed, taken, lost = list[float](), list[float](), list[float]()
    parts = engine.parts
    drawn: list[tuple[Tensor, Tensor]] = []
    with closing(batches(1, 0)) as pairs:
        since = perf_counter()
        for images, labels in pairs:
            images.sum().item()  # waits until a GPU has it
            fed.append(perf_counter() - since)
            drawn.append((images, labels))
            if len(drawn) >= steps or cancelled():
                break
            since = perf_counter()
    for images, labels in drawn:
        lost.append(_time_loss(engine, images, labels))
        since = perf_counter()
        train_step(parts, images, labels, engine.companion.penalty).item()  # a GPU has finished then
        taken.append(perf_counter() - since)
        if cancelled():
            break
    ahead = engine.feed.made_ahead(engine.augmentation)
    feed = sum(fed) / max(1, len(fed)) if ahead else float(np.median(fed[1:] or fed))
    return StepTimes(feed, float(np.median(taken[1:] or taken)), float(np.median(lost[1:] or lost)), ahead)


def _time_loss(engine: Engine, images: Tensor, labels: Tensor) -> float:
    """Seconds of the loss, forward and backward, on the embeddings of a batch."""
    parts = engine.parts
    model = cast(EmbeddingModel, parts.model)
    with torch.no_grad(), device.autocast(parts.device, parts.precision):
        features = [model.features(chunk) for chunk in images.split(parts.chunk or len(images))]
        embeddings = model.head(torch.cat(features))  # batch-norm needs all of them together
    embeddings.requires_grad_()
    embeddings.sum().item()
    state = copy.deepcopy(parts.loss.state_dict())
    since = perf_counter()
    with device.autocast(parts.device, parts.precision):
        value = loss_of(parts, embeddings, labels)
    value.backward()
    value.item()
    taken = perf_counter() - since
    parts.loss.load_state_dict(state)
    return taken


def time_probe(engine: Engine, cancelled: Callable[[], bool]) -> float:
    """Seconds of one evaluation of the probe, from embedding a part of it; 0 without a probe."""
    index, parts = engine.probe.index, engine.parts
    rows = index[: max(TIMED, batch_on(parts.device))]
    taken = 0.0
    for _ in range(2):  # the first warms up
        if not len(rows) or cancelled():
            break
        since = perf_counter()
        embed(parts.model, engine.feed, engine.augmentation, rows).sum().item()  # a GPU has finished then
        taken = perf_counter() - since
    return taken * len(index) / max(1, len(rows))


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


def modes_differ(engine: Engine) -> list[tuple[str, str]]:
    """(subject, remark) if loaded weights give other features in training than in evaluation."""
    if getattr(engine.parts.model.backbone, "weights_path", None) is None:
        return []
    model = cast(EmbeddingModel, engine.parts.model)
    agreement = mode_agreement(model, model.features, engine.feed, engine.augmentation)
    if agreement >= LEAST_AGREEMENT:
        return []
    said = (
        f"give other features in training mode than in evaluation mode (cosine {agreement:.2f} on the same images): "
        "freeze batch-norm"
    )
    return [("the pretrained weights", said)]
