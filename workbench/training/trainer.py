"""The training loop. It uses no Qt, no SQLite and no config file."""

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR
from torch.optim.swa_utils import AveragedModel

from workbench.control import Control, wait_if_asked
from workbench.events import Emit
from workbench.losses.contract import Loss
from workbench.losses.shared.pair_lists import keep_on_cpu, to_device
from workbench.problem import Problem
from workbench.training.device import autocast, precision_on
from workbench.training.meter import Batch, Meter
from workbench.training.optimisers import clip_with_decay
from workbench.training.ranks import OneRank
from workbench.training.two_passes import Halves, TwoPasses


@dataclass(slots=True)
class Parts:
    """What is trained, and where; `step` counts optimiser steps done."""

    model: nn.Module
    loss: Loss
    optimiser: Optimizer
    schedule: LambdaLR
    device: torch.device
    precision: str = "auto"  # afterwards what it means on the device
    clip_norm: float = 0.0
    clip_decay: bool = False  # whether that is the norm with the weight decay
    chunk: int = 0  # images whose activations are kept at a time; 0 keeps those of the whole batch
    views: int = 0  # of each image in a batch, if the loss distinguishes images instead of classes
    head_steps: int = 0  # first steps, in which the backbone is not trained
    backbone: list[Tensor] = field(default_factory=list)
    average: AveragedModel | None = None  # of the model's weights over the steps
    ranks: OneRank = field(default_factory=OneRank)  # the ranks that train together
    step: int = 0
    first_losses: list[float] = field(default_factory=list)  # absolute values: the scale of an ordinary loss
    weights: list[Tensor] = field(init=False)
    scaler: torch.amp.GradScaler = field(init=False)
    """Of the loss for float16, whose smallest gradients would be 0; does nothing for other precisions."""

    def __post_init__(self) -> None:
        self.precision = precision_on(self.device, self.precision)
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=self.precision == "fp16")
        self.weights = [*self.model.parameters(), *self.loss.parameters()]
        self.model.train()
        self.loss.train()

    def targets(self, labels: Tensor) -> Tensor:
        """What the loss takes as labels of a batch [n]: the classes, or the image that each row is a view of."""
        if not self.views:
            return labels
        images = np.tile(np.arange(len(labels) // self.views), self.views)
        return keep_on_cpu(to_device(images, labels.device), images)

    def go_to(self, step: int) -> None:
        """Set the step, the schedule and every group's learning rate as if training had reached `step`."""
        self.step = self.schedule.last_epoch = step
        factors = [scale(step) for scale in self.schedule.lr_lambdas]
        for group, base, factor in zip(self.optimiser.param_groups, self.schedule.base_lrs, factors, strict=True):
            group["lr"] = base * factor


def train(
    parts: Parts,
    batches: Callable[[int, int], Generator[Batch, None, None]],
    *,
    epochs: int,
    steps_per_epoch: int,
    control: Control,
    emit: Emit,
    penalty: Callable[[], Tensor | None] = lambda: None,
    after_step: Callable[[int], None] = lambda step: None,
    after_epoch: Callable[[int], bool] = lambda epoch: False,
    enough: Callable[[], bool] = lambda: False,
) -> None:
    """Train model and loss together from `parts.step` on, until the last epoch or an interruption.

    Args:
        parts: what is trained; changed in place.
        batches: `batches(epoch, skip)` yields (images, labels) on the device, without the first `skip` of the epoch;
            it is closed if not read to its end. The images are this rank's share, the labels those of all ranks.
        epochs: passes in all, from 1.
        steps_per_epoch: length of `batches(epoch, 0)`.
        control: asked between steps; a pause waits here, a cancel raises Cancelled.
        emit: receives the loss of every step and, every few steps, the progress.
        penalty: returns a scalar that is added to the loss, or None.
        after_step: called with the number of steps done (probe curves).
        after_epoch: called with the epoch (evaluation, checkpoints); True ends training.
        enough: called before each epoch; True ends training.

    Raises:
        Problem: the loss is not finite or explodes, in an unattended run.
    """
    meter = Meter(parts, control, emit, total=epochs * steps_per_epoch)
    for epoch in range(parts.step // steps_per_epoch + 1, epochs + 1):
        if enough():
            return
        with closing(batches(epoch, parts.step - (epoch - 1) * steps_per_epoch)) as epoch_batches:
            for images, labels in meter.waiting(epoch_batches):
                stand_still(control, emit, meter)
                if parts.ranks.same(control.interrupted):
                    meter.read()
                    return
                value = train_step(parts, images, labels, penalty, meter.lap, meter.measure_gradient)
                meter.add(value, len(labels))  # read every few steps, because reading a number stalls the GPU
                meter.probing(after_step)
        meter.end_epoch()
        stand_still(control, emit, meter)
        ends = after_epoch(epoch)
        meter.evaluated()
        if ends:
            return


def train_step(
    parts: Parts, images: Tensor, labels: Tensor, penalty: Callable[[], Tensor | None],
    lap: Callable[[str], None] = lambda part: None, look: Callable[[], None] = lambda: None,
) -> Tensor:  # fmt: skip
    """One optimiser step on a batch; returns the loss before it, a scalar on the device.

    `lap` times its parts; `look` is called when the weights have the gradient of the loss that is not clipped yet.
    """
    for module in (parts.model, parts.loss):
        if not module.training:  # after an evaluation: going through all layers takes 0.6 ms for ViT-S
            module.train()
    passes = None
    if 0 < parts.chunk < len(images):
        passes = TwoPasses(cast(Halves, parts.model), images, parts.chunk, parts.device, parts.precision, parts.ranks)
        embeddings = passes.embeddings(len(labels), parts.step)
    with autocast(parts.device, parts.precision):
        if passes is None:
            embeddings = parts.ranks.embed(parts.model, images, len(labels), parts.step)
        lap("forward")
        value = loss_of(parts, embeddings, labels)
        if (pull := penalty()) is not None:
            value = value + pull
    lap("loss")
    parts.optimiser.zero_grad(set_to_none=True)
    parts.scaler.scale(value).backward()
    if passes is not None:
        passes.backward()
    parts.ranks.average(parts.weights)
    lap("backward")
    parts.scaler.unscale_(parts.optimiser)
    if parts.step < parts.head_steps:
        for weight in parts.backbone:
            weight.grad = None  # the optimiser skips it, weight decay and moments included
    look()
    if parts.clip_norm and parts.clip_decay:
        clip_with_decay(parts.optimiser, parts.clip_norm)
    elif parts.clip_norm:
        nn.utils.clip_grad_norm_(parts.weights, parts.clip_norm)
    parts.scaler.step(parts.optimiser)
    parts.scaler.update()
    parts.schedule.step()
    if parts.average is not None:
        parts.average.update_parameters(parts.model)
    lap("optimiser")
    parts.step += 1
    return value.detach()


def loss_of(parts: Parts, embeddings: Tensor, labels: Tensor) -> Tensor:
    """The loss of a batch. Raises Problem if it is not one number with a gradient."""
    value = parts.loss(embeddings, parts.targets(labels))
    if isinstance(value, Tensor) and value.requires_grad and value.numel() == 1 and value.is_floating_point():
        return value
    what = f"a {type(value).__name__}"
    if isinstance(value, Tensor):
        kind = f"{str(value.dtype).removeprefix('torch.')} {list(value.shape)}"
        what = f"a tensor {kind} {'with' if value.requires_grad else 'without'} a gradient"
    raise Problem(
        f"The loss {type(parts.loss).__name__} returned {what} instead of one number with a gradient.",
        kept="What was saved is kept.",
        todo="Its forward must return a scalar that is computed from the embeddings, for every batch.",
    )


def stand_still(control: Control, emit: Emit, meter: Meter) -> None:
    """Emit what was measured so far, then `wait_if_asked`; restarts the clock after a wait."""
    if wait_if_asked(control, emit, meter.read):
        meter.restart_clock()
