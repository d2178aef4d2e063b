"""How long the parts of a run take, from a few trial steps."""

import copy
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from time import perf_counter
from typing import cast

import numpy as np
import torch  # noqa: TID253 - only running/preflight.py imports this file, inside a function
from torch import Tensor  # noqa: TID253

from workbench.backbones.model import EmbeddingModel
from workbench.running.engine import Engine
from workbench.training import device
from workbench.training.probe import batch_on, embed
from workbench.training.trainer import loss_of, train_step

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
