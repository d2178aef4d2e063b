"""The parts of a run, built from its config: data with its two halves, model, loss, optimiser and schedule."""

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch  # noqa: TID253 - running's functions import this file when they are called

from workbench import jobs, registry
from workbench.backbones.model import build_model
from workbench.config import RunConfig
from workbench.datasets.cache.crop_processes import CropProcesses
from workbench.datasets.cache.encoded_images import EncodedImages
from workbench.datasets.cache.keeping import keep
from workbench.datasets.decisions import DROPPED, decided_labels, read_decisions
from workbench.datasets.image_set import ImageSet
from workbench.datasets.split import Split, notes
from workbench.entries.catalog import cache_folder
from workbench.entries.facts import LossFacts
from workbench.losses import build_loss
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.running.listed import Listed
from workbench.running.place_at_fault import naming_the_place
from workbench.training import checkpoint, device
from workbench.training.feature_feed import FeatureFeed
from workbench.training.feed import Feed
from workbench.training.feed_contract import Augmentation, Cropping, Images
from workbench.training.optimisers import build_optimiser, build_schedule
from workbench.training.trainer import Parts
from workbench.training.two_passes import refuse_batch_norm

RESULTS: dict[str, type] = {"dataset": ImageSet, "split": Split}  # kind -> what its factory returns
LEAST_PROCESSES = 3  # that decode images; fewer threads share the interpreter without much waiting
MOST_PROCESSES = 16  # 60 MB each; on 16 cores 10,000 crops of 224 px a second


def build_entry(kind: str, config: RunConfig, *arguments: Any, **named: Any) -> Any:
    """Build the config's entry of that kind ("sampler", "split", ...) with its parameters and the arguments.

    Raises:
        Problem: a data set is no ImageSet, or a split no Split, as of a plug-in.
    """
    choice = config.choice(kind)
    entry = registry.entry(kind, choice.name)
    built = entry.build(entry.params(**choice.params), *arguments, **named)
    if kind in RESULTS and not isinstance(built, RESULTS[kind]):
        wanted = RESULTS[kind].__name__
        raise Problem(
            f"The {kind} {entry.name!r} cannot be used: its factory returned {type(built).__name__}, not {wanted}.",
            todo=f"Return a {RESULTS[kind].__module__}.{wanted}.",
        )
    return built


@dataclass(slots=True)
class Data:
    """A decoded data set with its two halves."""

    images: ImageSet
    pixels: np.ndarray | EncodedImages  # squares uint8 [n, H, W, C], or encoded whole images
    cache: Path
    split: Split
    training: np.ndarray | None = None  # [a] labels of the training set after the user's decisions; None: unchanged
    decided: np.ndarray | None = None  # [n] labels for a second score of the test set; DROPPED: left out
    features: np.ndarray | None = None  # [n, f] of a frozen backbone, if the run trains on them
    crops: CropProcesses | None = None  # that decode encoded images, where there are cores for several
    decisions: list[tuple[str, str]] = field(default_factory=list)  # (subject, remark) on what the decisions change

    @property
    def train_labels(self) -> np.ndarray:
        """Labels [a] int64 with which the training set is trained."""
        return self.images.labels[self.split.train] if self.training is None else self.training

    @property
    def notes(self) -> list[tuple[str, str]]:
        """(subject, remark) on the data set and its halves; the data they concern is used all the same."""
        return notes(self.images, self.split) + self.decisions

    def close(self) -> None:
        """End the processes that decode images; they are started again when one is needed."""
        if self.crops is not None:
            self.crops.close()


def list_images(config: RunConfig, progress: Progress, listed: Listed | None = None) -> ImageSet:
    """The images of the config's data set, from `listed` if they are there; nothing is decoded.

    Raises:
        Problem: the data set cannot be used.
    """
    registry.discover("workbench.datasets")

    def list_now() -> ImageSet:
        with naming_the_place(config, "dataset"):
            return cast(ImageSet, build_entry("dataset", config, progress=progress))

    return list_now() if listed is None else listed.images(config.dataset, list_now)


def load_data(config: RunConfig, progress: Progress, listed: Listed | None = None) -> Data:
    """Find (unless it is in `listed`), decode (once) and split the data set. Raises Problem if it is unusable."""
    image_set = list_images(config, progress, listed)
    augmentation = build_entry("augmentation", config)
    whole = any(getattr(augmentation, name, False) for name in ("whole_training", "whole_evaluation"))
    wanted, larger = config.training.keep_images, config.training.keep_side
    images, pixels, cache = keep(image_set, cache_folder() / "pixels", wanted, whole, progress, larger)
    data = Data(images, pixels, cache, build_entry("split", config, images, config.seed))
    if isinstance(pixels, EncodedImages):
        data.crops = crop_processes(cache)
    return with_decisions(config, data)


def crop_processes(path: Path) -> CropProcesses | None:
    """Processes that make crops of a file of encoded images; None where threads of this one are as fast."""
    ranks = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))  # of this run, on this machine
    count = min(MOST_PROCESSES, jobs.cores() - 1) // ranks
    return CropProcesses(path, count) if count >= LEAST_PROCESSES else None


def with_decisions(config: RunConfig, data: Data) -> Data:
    """The data with the label decisions that the config names for the training set and for scoring.

    If the halves share no class, an image that is relabelled to a class of the test set leaves the training set.

    Raises:
        Problem: a file that cannot be read, of another data set, or that leaves nothing to train on or to retrieve.
    """
    to_train, to_score = config.training.label_decisions, config.evaluation.label_decisions
    if to_score:
        data.decided = _decided(data.images, to_score, "evaluation.label_decisions")
        test = data.split.test
        if np.array_equal(data.decided[test], data.images.labels[test]):
            said = "change no test image: the scores with them are those without"
            data.decisions.append((f"the label decisions of {Path(to_score).name}", said))
        if not _some_query_has_a_match(data.decided[data.split.test], data.split.is_query):
            raise Problem(
                "The label decisions leave no image of the test set whose class has another one to find.",
                kept="Nothing was started.",
                todo='Choose another file for "Score with label decisions, too", or clear it.',
                field="evaluation.label_decisions",
            )
    if to_train:
        labels = _decided(data.images, to_train, "training.label_decisions")[data.split.train]
        stays = labels != DROPPED
        changed = int((labels != data.images.labels[data.split.train]).sum())
        count = f"{changed:,} of {len(labels):,} training images"
        said = f"change {count}" if changed else "change no training image: training is as without them"
        data.decisions.append((f"the label decisions of {Path(to_train).name}", said))
        if data.split.classes_disjoint:
            stays &= np.isin(labels, data.images.labels[data.split.train])
        if len(np.unique(labels[stays])) < 2:
            raise Problem(
                "The label decisions leave fewer than two classes to train on.",
                kept="Nothing was started.",
                field="training.label_decisions",
            )
        data.training, data.split = labels[stays], replace(data.split, train=data.split.train[stays])
    return data


def _decided(images: ImageSet, file: str, field: str) -> np.ndarray:
    """The labels of the images by the decisions in a file. Raises Problem, at the field, as `with_decisions`."""
    try:
        return decided_labels(images, read_decisions(Path(file)))
    except Problem as problem:
        problem.field = field
        raise


def _some_query_has_a_match(labels: np.ndarray, is_query: np.ndarray | None) -> bool:
    """Whether the labels [n] of a test set, DROPPED for images that are left out, have anything to retrieve."""
    stays = labels != DROPPED
    if is_query is not None:
        return bool(np.isin(labels[stays & is_query], labels[stays & ~is_query]).any())
    return bool(len(np.unique(labels[stays])) < stays.sum())


def build_parts(
    config: RunConfig, data: Data, total_steps: int, on: torch.device | None = None, progress: Progress = quiet
) -> Parts:
    """Model, loss, optimiser and schedule, seeded, on a device; by default on the one that the config names.

    `progress` is told how far a download of weights is.
    """
    checkpoint.seed_everything(config.seed, config.training.deterministic)
    where = on or device.choose(config.device)
    backbone = config.backbone
    with naming_the_place(config, "backbone"):
        model = build_model(backbone.name, backbone.params, config.embedding, data.images.channels, progress)
    if config.training.chunk:
        refuse_batch_norm(model.backbone)
    of_images = cast(LossFacts, registry.entry("loss", config.loss.name).facts).of_images
    classes = config.training.batch_size if of_images else len(training_classes(data))
    loss = build_loss(config.loss.name, num_classes=classes, embedding_dim=model.head.dim, **config.loss.params)
    model.to(where)
    loss.to(where)
    if where.type in device.CHANNELS_LAST:
        model.to(memory_format=torch.channels_last)
    optimiser = build_optimiser(config.training, model, loss)
    schedule = build_schedule(config.training, optimiser, total_steps)
    return Parts(
        model,
        loss,
        optimiser,
        schedule,
        where,
        precision=config.training.precision,
        clip_norm=config.training.clip_norm,
        clip_decay=config.training.clip_decay,
        chunk=config.training.chunk,
        views=config.training.views if of_images else 0,
        head_steps=config.training.head_epochs * (total_steps // config.training.epochs),
        backbone=list(model.backbone.parameters()),
    )


def training_classes(data: Data) -> np.ndarray:
    """Labels that occur in the training set, sorted: the loss's class c is the c-th of them."""
    return np.unique(data.train_labels)


def training_labels(data: Data) -> np.ndarray:
    """The loss's class of every image of the training set [n] int64."""
    labels: np.ndarray = np.searchsorted(training_classes(data), data.train_labels)
    return labels


def build_sampler(config: RunConfig, labels: np.ndarray) -> Any:
    """The config's sampler for training images with these classes [n]. Raises Problem if they do not suit it."""
    return build_entry("sampler", config, labels=labels, batch_size=config.training.batch_size, seed=config.seed)


def build_feed(data: Data, rows: np.ndarray, labels: np.ndarray, augmentation: Augmentation, on: torch.device) -> Feed:
    """Images of some rows, with their labels [n], for the augmentation; features instead, if the data has them."""
    if data.features is not None:
        return FeatureFeed(data.features, rows, labels, on)
    side = side_of_whole(augmentation, data.images.image_size)
    return Feed(cast(Images, data.pixels), rows, labels, on, side, crops=data.crops)


def side_of_whole(augmentation: Augmentation, size: int) -> int:
    """Side of the squares that whole images are squeezed to in evaluation, px; 0 where they are crops."""
    whole = getattr(augmentation, "whole_evaluation", False)
    return cast(Cropping, augmentation).side(size) if whole else 0
