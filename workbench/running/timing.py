"""How long a step and a look at the probe take, from a few of them; an engine that was timed is not trained further."""

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from workbench.training.probe import batch_on, embed
from workbench.training.trainer import train_step

if TYPE_CHECKING:
    from workbench.running.engine import Engine

TIMED = 128  # images of the probe that are embedded, at least


def time_steps(engine: "Engine", steps: int, cancelled: Callable[[], bool]) -> float:
    """Median seconds per training step over a few dry steps; the weights are spoilt afterwards."""
    batches = engine.feed.training(
        engine.sampler, engine.augmentation, engine.config.seed, engine.config.training.views
    )
    taken: list[float] = []
    parts = engine.parts
    for images, labels in batches(1, 0):
        since = perf_counter()
        train_step(parts, images, labels, engine.companion.penalty).item()  # a GPU has finished then
        taken.append(perf_counter() - since)
        if len(taken) >= steps or cancelled():
            break
    return float(np.median(taken[1:] or taken))


def time_probe(engine: "Engine", cancelled: Callable[[], bool]) -> float:
    """Seconds of one look at the probe, from embedding a part of it; 0 where there is none."""
    index, parts = engine.probe.index, engine.parts
    some = index[: max(TIMED, batch_on(parts.device))]
    taken = 0.0
    for _ in range(2):  # the first warms up
        if not len(some) or cancelled():
            break
        since = perf_counter()
        embed(parts.model, engine.feed, engine.augmentation, some).sum().item()  # a GPU has finished then
        taken = perf_counter() - since
    return taken * len(index) / max(1, len(some))
