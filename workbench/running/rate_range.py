"""A learning-rate range test (Smith 2017, "Cyclical learning rates", section 3.3) of a config. Light to import."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workbench.config import RunConfig
from workbench.control import Control
from workbench.events import Event, Status
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.running import folds_and_seeds
from workbench.running.facts.rate_curve import (
    LEAST_STEPS,
    STEPS,
    Suggestion,
    diverged,
    rising_rates,
    smoothed,
    suggest,
    weight_of,
)

if TYPE_CHECKING:
    from workbench.running.building import Data
    from workbench.running.engine import Engine

TRYING = "Trying rates"
EPOCHS = 10  # that the steps of a test take at most, unless they are asked for: later ones see images learnt by heart
SMALLEST, LARGEST = 1e-6, 100.0  # where a range begins by default; what the config accepts
ENDS = {"sgd": 10.0}  # of a range by default, by optimiser
END = 1.0  # for the others, which scale their steps
Point = Callable[[float, float, float], object]  # rate, loss, smoothed loss


@dataclass(frozen=True, slots=True)
class RateTest:
    """The rate of a config's `training.lr` and the loss of the batch before the step, for each step; and the outcome.

    The rates of other groups (backbone, layers, the loss's own parameters) keep their multiples.
    """

    rates: list[float]
    losses: list[float]  # the last is not finite if the loss became that
    steps: int  # that were planned; fewer were done if the loss diverged
    suggestion: Suggestion

    @property
    def smooth(self) -> list[float]:
        """The smoothed losses."""
        return [float(value) for value in smoothed(self.losses, weight_of(self.steps))]

    @property
    def ended_early(self) -> bool:
        """Whether the loss diverged before the largest rate."""
        return len(self.rates) < self.steps


def range_of(config: RunConfig) -> tuple[float, float]:
    """The smallest and the largest rate of a test of a config, unless others are asked for."""
    return SMALLEST, ENDS.get(config.training.optimiser, END)


def find_rate(
    config: RunConfig,
    *,
    steps: int | None = None,
    first: float | None = None,
    last: float | None = None,
    progress: Progress = quiet,
    point: Point | None = None,
) -> RateTest:
    """Train a new network of the config for a few steps at a rate that rises from step to step, and discard it.

    The batches are those of the training set of the config's first run, without its held-out classes; nothing is
    evaluated, and nothing is stored but the cache of decoded images. Schedule, warm-up (a loss's own, too), epochs of
    the head alone, weight average and compilation are off. What a loss does between steps, as the choice of new
    proxies, is left out; what it does before the first is done. The same config gives the same curve.

    Args:
        steps: 20 or more; by default 100, or as many as 10 epochs have, but 20 at least.
        first: the smallest rate, above 0; None as in `range_of`.
        last: the largest, above `first` and at most 100.
        progress: called with what is done, also before each step; may raise Cancelled.
        point: called after each step with its rate, the loss before it and the smoothed loss.

    Raises:
        Problem: what would stop the run; an invalid range or number of steps; a network with nothing to train.
    """
    least, most = range_of(config)
    first, last = least if first is None else first, most if last is None else last
    refuse_range(first, last, steps)
    progress("Loading the engine", 0, 0)
    from workbench.running.building import build_entry, load_data
    from workbench.running.facts.fitting_size import naming_an_image_size
    from workbench.running.facts.memory_needed import refuse_run_without_memory
    from workbench.training import checkpoint

    config = _plain(folds_and_seeds.children(config)[0].config)
    with contextlib.ExitStack() as after:
        data = load_data(config, progress)
        after.callback(data.close)
        after.enter_context(checkpoint.settings_of_one_run())
        refuse_run_without_memory(config, data.images, [config.device])
        after.enter_context(naming_an_image_size(build_entry("augmentation", config)))
        heard = point or (lambda rate, loss, smooth: None)
        return measure(config, data, steps=steps, first=first, last=last, progress=progress, point=heard)


def refuse_range(first: float, last: float, steps: int | None) -> None:
    """Raises Problem if these rates or steps are none of a test."""
    if not 0 < first < last <= LARGEST:
        raise Problem(
            f"The rates of a test must rise, above 0 and up to {LARGEST:g}; {first:g} to {last:g} do not.",
            todo="Choose a smaller first or a larger last rate.",
        )
    if steps is not None and steps < LEAST_STEPS:
        raise Problem(f"A test of {steps} steps is too short.", todo=f"Use {LEAST_STEPS} steps or more.")


def measure(
    config: RunConfig, data: "Data", *, steps: int | None, first: float, last: float, progress: Progress, point: Point
) -> RateTest:
    """The test itself, on data that are there. Arguments and errors as of `find_rate`."""
    from workbench.running.engine import Engine
    from workbench.training import device

    def hear(event: Event) -> None:
        if isinstance(event, Status):
            progress(event.text, event.done, event.total)

    trained = _training_half(config, data, progress)
    with device.refusing_what_does_not_fit():
        engine = Engine(config, trained, Path(), Control(), hear)
    try:
        planned = steps or max(LEAST_STEPS, min(STEPS, EPOCHS * engine.sampler.steps_per_epoch))
        rates = rising_rates(first, last, planned)
        with engine.explaining(kept="Nothing was changed."):
            losses = _losses(engine, rates, progress, point)
    finally:
        engine.release()
    reached = rates[: len(losses)].tolist()
    return RateTest(reached, losses, planned, suggest(reached, losses, planned))


def _plain(config: RunConfig) -> RunConfig:
    """The config on one device, with nothing that a few steps have no use for."""
    training = config.training.model_copy(
        update={"weight_average": 0.0, "compile_backbone": False, "head_epochs": 0, "warmup_steps": 0}
    )
    evaluation = config.evaluation.model_copy(update={"probe_size": 0, "linear_probe": False})
    first = config.device.split(",")[0]
    return config.model_copy(update={"training": training, "evaluation": evaluation, "device": first})


def _training_half(config: RunConfig, data: "Data", progress: Progress) -> "Data":
    """The data without a test set and without held-out classes, so that no image of theirs can be read."""
    none = np.empty(0, np.int64)
    trained = replace(data, split=replace(data.split, test=none, validation=None, is_query=None))
    if config.training.keep_features:
        trained.features = _features(config, trained, progress)
    return trained


def _features(config: RunConfig, data: "Data", progress: Progress) -> np.ndarray:
    """Features float32 [n, f] of a frozen backbone, NaN for all images but those of the training set."""
    from workbench.backbones.model import build_model
    from workbench.running.building import build_entry, build_feed
    from workbench.training import checkpoint, device
    from workbench.training.probe import embed

    doing = "Computing the features of the frozen backbone"
    progress(doing, 0, 0)
    checkpoint.seed_everything(config.seed, config.training.deterministic)
    backbone, rows = config.backbone, data.split.train
    with device.refusing_what_does_not_fit():
        model = build_model(backbone.name, backbone.params, config.embedding, data.images.channels, progress)
        model.to(device.choose(config.device))
        augmentation = build_entry("augmentation", config)
        feed = build_feed(data, rows, data.train_labels, augmentation, model.mean.device)
        whole = embed(
            model, feed, augmentation, by=model.features, before=lambda done, total: progress(doing, done, total)
        )
    features = np.full((len(data.images.paths), whole.shape[1]), np.nan, np.float32)
    features[rows] = whole.cpu().numpy()
    return features


def _losses(engine: "Engine", rates: np.ndarray, progress: Progress, point: Point) -> list[float]:
    """The losses of the batches at these rates, up to the one at which they diverge."""
    from torch.optim.lr_scheduler import LambdaLR

    from workbench.losses.batch import labels_in_range
    from workbench.training.trainer import train_step

    parts, config = engine.parts, engine.config
    factors = [*(rates / config.training.lr).tolist(), 0.0]  # the last would be that of a further step
    parts.schedule = LambdaLR(parts.optimiser, lambda step: factors[step])
    batches = engine.feed.training(engine.sampler, engine.augmentation, config.seed, config.training.views)
    losses = list[float]()
    parts.loss.skip_warm_up()
    engine.companion.begin()
    with labels_in_range(), contextlib.closing(batches):
        epoch = 0
        while len(losses) < len(rates):
            epoch += 1
            with contextlib.closing(batches(epoch, 0)) as pairs:
                for images, labels in pairs:
                    step = len(losses)
                    progress(TRYING, step, len(rates))
                    losses.append(train_step(parts, images, labels, engine.companion.penalty).item())
                    smooth = smoothed(losses, weight_of(len(rates)))
                    point(float(rates[step]), losses[-1], float(smooth[-1]))
                    if diverged(smooth):
                        return losses
                    if len(losses) == len(rates):
                        break
    return losses
