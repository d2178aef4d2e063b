"""Check a run before it is started: read its data and try a few steps. Light to import."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.config import RunConfig
from workbench.control import Cancelled, Control
from workbench.events import Event, Status
from workbench.problem import UNSTARTED
from workbench.progress import Progress, quiet
from workbench.running import folds_and_seeds
from workbench.running.devices.gpus import gpus
from workbench.running.facts.disk_use import DiskUse, disk_use
from workbench.running.facts.environment import shared_images, split_notes

if TYPE_CHECKING:
    from workbench.datasets.inspection import Inspection
    from workbench.datasets.near_duplicates import NearDuplicates
    from workbench.running.building import Data
    from workbench.running.engine import Engine
    from workbench.running.facts.timing import StepTimes

DRY_STEPS = 4
SHOWN = 12  # images of the data set


@dataclass(frozen=True, slots=True)
class Preflight:
    """The size and duration of a run, from its data and a few trial steps."""

    images: int
    classes: int
    train: int
    test: int
    train_classes: int
    test_classes: int
    classes_disjoint: bool
    image_size: int
    device: str
    parameters: int
    features: int  # of the backbone, before the embedding layer
    steps_per_epoch: int
    seconds_per_step: float
    seconds_per_epoch: float
    seconds: float  # of all runs, without evaluations
    memory_bytes: int  # the most in use in the trial steps, or after them: `memory_is_peak`
    probe_images: int
    probe_every: int  # steps
    probe_share: float  # of the training time, 0 to 1: CE and SPCE on the probe, at the start and the end, too
    licence: str = ""  # of pretrained weights, if it is known
    kept: str = ""  # how the images are cached, in words
    kept_side: int = 0  # px: the short side that is kept at most with the aspect ratio; 0: squares of `image_size` px
    runs: int = 1  # that the config asks for
    images_per_step: int = 0
    bound: str = ""  # what takes most of the time: "feed", "network", "loss" or "probe"
    spare_bytes: int = 0  # of a process that waits for the next run with torch loaded
    disk: DiskUse = field(default_factory=DiskUse)  # of each run
    memory_is_peak: bool = True  # False: an Apple GPU, and a CPU whose system does not say it
    memory_whole: int = 0  # bytes of the device in all; 0 if that is not known
    free_bytes: int = 0  # on the disk of the workspace; 0 if that is not known
    gpus: list[str] = field(default_factory=list)  # one line for each GPU of this machine
    note: str = ""
    sample_pictures: list[np.ndarray] = field(default_factory=list)  # uint8 [h, w, 3]
    augmented: list[np.ndarray] = field(default_factory=list)  # the first of them, as in evaluation and as in training
    problems: list[tuple[str, str]] = field(default_factory=list)  # (path, reason) of images left out
    left_out: int = 0  # entries of the data set; one of `problems` may stand for many
    unit: str = "file"  # what such an entry is called
    unlike_published: list[tuple[str, str]] = field(default_factory=list)  # (name, difference) of counts
    notes: list[tuple[str, str]] = field(default_factory=list)  # (subject, remark); nothing is left out because of them


def preflight(
    config: RunConfig,
    progress: Progress = quiet,
    cancelled: Callable[[], bool] = lambda: False,
    counted: Callable[[int], None] = lambda classes: None,
) -> Preflight:
    """Read the data and try a few steps; only the pixel cache is stored.

    `counted` is called with the number of training classes as soon as it is known, `progress` with the current work.

    Raises:
        Problem: what would stop the run.
        Cancelled: `cancelled` returned True.
    """
    progress("Loading the engine", 0, 0)
    from workbench.running.building import build_entry, load_data, training_classes
    from workbench.running.engine import Engine
    from workbench.running.facts.fitting_size import naming_an_image_size
    from workbench.running.facts.memory_needed import refuse_run_without_memory
    from workbench.training import checkpoint, device

    def tell(text: str, done: int, total: int) -> None:
        if cancelled():
            raise Cancelled
        progress(text, done, total)

    def hear(event: Event) -> None:
        if isinstance(event, Status):
            tell(event.text, event.done, event.total)

    runs = folds_and_seeds.children(config)
    first, *others = runs[0].config.device.split(",")
    config = runs[0].config.model_copy(update={"device": first})  # the steps are tried on one device
    with contextlib.ExitStack() as after:
        data = load_data(config, tell)
        after.callback(data.close)
        after.enter_context(checkpoint.settings_of_one_run())
        counted(len(training_classes(data)))
        refuse_run_without_memory(config, data.images, [first])
        shared = shared_images(data, tell)
        after.enter_context(naming_an_image_size(build_entry("augmentation", config)))
        with device.refusing_what_does_not_fit():
            engine = Engine(config, data, Path(), Control(), hear)
        after.callback(engine.release)  # a window goes on, and the run has another process
        device.forget_peak(engine.parts.device)
        tell("Trying a few steps", 0, 0)
        times, per_look = _tried(engine, cancelled)
        tell("Estimating time and disk space", 0, 0)
        return _summary(engine, times, per_look, len(runs), _note(data, len(runs), 1 + len(others), shared))


def _tried(engine: "Engine", cancelled: Callable[[], bool]) -> tuple["StepTimes", float]:
    """The times of a few steps, and the seconds of one evaluation of the probe."""
    from workbench.running.facts.timing import time_probe, time_steps

    with engine.explaining(kept=UNSTARTED):
        return time_steps(engine, DRY_STEPS, cancelled), time_probe(engine, cancelled)


def _note(data: "Data", runs: int, devices: int, shared: str) -> str:
    """What is to be known of the runs as a whole, in sentences."""
    sentences = [
        f"The steps were tried with the first of {runs} runs" if runs > 1 else "",
        f"The steps were tried on one device; the run shares each batch among {devices}" if devices > 1 else "",
        data.split.note,
        "" if data.split.validation is not None else "The best epoch is chosen on the test set",
        shared,
    ]
    return " ".join(f"{words[0].upper()}{words[1:]}." for words in sentences if words)


def _summary(engine: "Engine", times: "StepTimes", per_look: float, runs: int, note: str) -> Preflight:
    """All that is said of the runs, from the engine of the first one after its trial steps."""
    from workbench.datasets.cache.encoded_images import EncodedImages
    from workbench.datasets.cache.keeping import words_of
    from workbench.running.building import training_classes
    from workbench.running.facts.augmented import augmented_pictures
    from workbench.running.facts.remarks import engine_notes
    from workbench.training import device

    backbone: Any = engine.parts.model.backbone
    config, data, images, split = engine.config, engine.data, engine.data.images, engine.data.split
    every, steps = engine.probe.every, engine.total
    training, looking = times.whole * steps, per_look * looks(steps, every)
    shown = np.random.default_rng(config.seed).permutation(split.train)[:SHOWN]
    return Preflight(
        images=len(images.paths),
        classes=len(images.class_names),
        train=len(split.train),
        test=len(split.test),
        train_classes=len(training_classes(data)),
        test_classes=len(np.unique(images.labels[split.test])),
        classes_disjoint=split.classes_disjoint,
        image_size=images.image_size,
        device=device.words(engine.parts.device),
        parameters=sum(weight.numel() for weight in engine.parts.weights),
        features=backbone.feature_dim,
        licence=getattr(backbone, "licence", ""),
        steps_per_epoch=engine.sampler.steps_per_epoch,
        seconds_per_step=times.whole,
        seconds_per_epoch=(training + looking) / config.training.epochs,
        seconds=(training + looking) * runs,
        memory_bytes=device.peak_memory(engine.parts.device),
        memory_is_peak=device.says_peak(engine.parts.device),
        memory_whole=device.whole_memory(engine.parts.device),
        probe_images=len(engine.probe.index),
        probe_every=every,
        probe_share=looking / (training + looking),
        kept=words_of(data.pixels),
        kept_side=data.pixels.side if isinstance(data.pixels, EncodedImages) else 0,
        runs=runs,
        images_per_step=config.training.images_per_step,
        bound="probe" if looking > training else times.bound,
        disk=_disk_use(engine),
        gpus=[gpu.words for gpu in gpus()],
        note=note,
        sample_pictures=[
            np.array(np.broadcast_to(data.pixels[row], (*data.pixels[row].shape[:2], 3))) for row in shown
        ],
        augmented=augmented_pictures(config, data, int(shown[0])),
        problems=list(images.problems),
        left_out=images.left_out,
        unit=images.unit,
        unlike_published=list(images.unlike_published),
        notes=[*data.notes, *split_notes(config, images.labels, split), *engine_notes(engine)],
    )


def _disk_use(engine: "Engine") -> DiskUse:
    from workbench.training.checkpoint import tensor_bytes
    from workbench.training.probe import embed

    split, proxies = engine.data.split, engine.parts.loss.class_proxies()
    vectors = 0 if proxies is None else len(proxies[1])
    if engine.config.evaluation.store_training:
        vectors += len(split.train)
    vectors += len(engine.probe.index)
    width = embed(engine.parts.model, engine.feed, engine.augmentation, np.arange(1)).shape[1]
    stored = tensor_bytes(engine.state(0))
    return disk_use(engine.config, checkpoint=stored, width=width, samples=len(split.test), vectors=vectors)


def count_classes(config: RunConfig, progress: Progress) -> int:
    """The number of training classes of the config's first run, from its data alone, without a trial step.

    Raises:
        Problem: data that cannot be used. Whatever `progress` raises.
    """
    from workbench.running.building import load_data, training_classes

    with contextlib.closing(load_data(folds_and_seeds.children(config)[0].config, progress)) as data:
        return len(training_classes(data))


def steps_per_epoch(config: RunConfig, progress: Progress) -> int:
    """Optimiser steps of an epoch of the config's first run, from its data and its sampler alone.

    Raises:
        Problem: data that cannot be used. Whatever `progress` raises.
    """
    from workbench.running.building import build_sampler, load_data, training_labels

    config = folds_and_seeds.children(config)[0].config
    with contextlib.closing(load_data(config, progress)) as data:
        return int(build_sampler(config, training_labels(data)).steps_per_epoch)


def looks(steps: int, every: int) -> int:
    """How often a run of `steps` steps evaluates its probe: before the first, every few steps, and after the last."""
    return 2 + (steps - 1) // every


def inspect_data(config: RunConfig, progress: Progress) -> "Inspection":
    """The content of the config's data set, its faults and its copies; for the first of its runs.

    Raises:
        Problem: data that cannot be used. Whatever `progress` raises.
    """
    from workbench.datasets.inspection import inspect
    from workbench.running.building import load_data

    config = folds_and_seeds.children(config)[0].config
    with contextlib.closing(load_data(config, progress)) as data:
        return inspect(data.images, data.pixels, data.split, config.seed, progress)


def near_duplicates(config: RunConfig, progress: Progress) -> "NearDuplicates":
    """Pairs of images of the config's data set that show nearly the same; for the first of its runs.

    Raises:
        Problem: data that cannot be used, or too many images. Whatever `progress` raises.
    """
    from workbench.datasets import inspection, near_duplicates
    from workbench.running.building import load_data

    config = folds_and_seeds.children(config)[0].config
    with contextlib.closing(load_data(config, progress)) as data:
        copies = inspection.copies(data.pixels, progress)
        return near_duplicates.find(data.images, data.pixels, data.split, copies, progress)
