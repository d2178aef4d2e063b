"""How many images of each class a run was trained with: its split and its sampler, drawn again. No torch."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from pydantic import ValidationError

from workbench import registry
from workbench.config import BadConfig, Choice, RunConfig
from workbench.datasets.image_set import ImageSet
from workbench.problem import Problem
from workbench.workspace.rows import Dataset, Samples
from workbench.workspace.workspace import Workspace

OWN = {"split": "workbench.datasets.split", "sampler": "workbench.datasets.batches.sampler"}
DECIDED = "Training images are counted by the labels of the data set, without the label decisions of the run."


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSizes:
    """The classes of a training set, and how many of their images could be drawn."""

    labels: np.ndarray  # [c] int64, rising
    counts: np.ndarray  # [c] int64, 1 or more
    remark: str = ""  # a sentence where the numbers are not exactly those of the training

    def of(self, labels: np.ndarray) -> np.ndarray:
        """Training images [k] int64 of the classes `labels` [k], 0 of one that was not trained."""
        at = np.minimum(np.searchsorted(self.labels, labels), len(self.labels) - 1)
        return np.where(self.labels[at] == labels, self.counts[at], 0)


def shares_classes(workspace: Workspace, run_id: int) -> bool | None:
    """Whether test classes were in training; None where that is unknown, as of imported embeddings and of tests."""
    data = workspace.run(run_id).environment.get("data")
    if not isinstance(data, dict) or not data.get("train") or not isinstance(data.get("classes_disjoint"), bool):
        return None
    return not data["classes_disjoint"]


def training_sizes(workspace: Workspace, run_id: int, tested: np.ndarray) -> TrainingSizes:
    """The class sizes of a run's training set, as its sampler draws from it: a long-tailed one keeps fewer images.

    The split is drawn again by the run's config and seed, and compared with the test images. Not for the window's
    thread.

    Args:
        tested: [n] int64, sample ids of an evaluation of the run.

    Raises:
        Problem: a split or a sampler of a plug-in, or another test set than that of the config; nothing is known then.
    """
    run = workspace.run(run_id)
    unknown = f"How many images of each class run {run_id} was trained with cannot be determined"
    if run.dataset_id is None:
        raise Problem(f"{unknown}: it has no data set.")
    try:
        config = RunConfig.recorded(run.config)
        samples, data = workspace.samples(run.dataset_id), workspace.dataset(run.dataset_id)
        if samples.labels.min(initial=0) < 0 or samples.labels.max(initial=0) >= len(data.class_names):
            raise Problem(f"{unknown}: an image of its data set has a class without a name.")
        images = _image_set(data, samples)
        split = _build("split", config.split, images, config.seed)
        if not np.array_equal(np.sort(samples.ids[split.test]), np.sort(tested)):
            raise Problem(f"{unknown}: its config gives another test set than it has.")
        labels = images.labels[split.train]
        names, classes = np.unique(labels, return_inverse=True)
        sampler = _build(
            "sampler", config.sampler, labels=classes, batch_size=config.training.batch_size, seed=config.seed
        )
    except (BadConfig, ValidationError) as problem:
        raise Problem(f"{unknown}: its config cannot be read.") from problem
    counts = np.bincount(classes[sampler.places], minlength=len(names))
    drawn = counts > 0
    return TrainingSizes(names[drawn], counts[drawn], DECIDED if config.training.label_decisions else "")


def _build(kind: str, choice: Choice, *arguments: Any, **named: Any) -> Any:
    """An entry of Workbench itself, built. Raises Problem: it is of a plug-in, whose code is not loaded for this."""
    import_module(OWN[kind])
    own = {entry.name: entry for entry in registry.entries(kind) if not entry.origin}
    if choice.name not in own:
        raise Problem(f"The training images of a class cannot be counted: the {kind} is that of a plug-in.")
    return own[choice.name].build(own[choice.name].params(**choice.params), *arguments, **named)


def _image_set(data: Dataset, samples: Samples) -> ImageSet:
    """The stored samples as what a split divides; no image can be read from it."""

    def unread(index: int) -> np.ndarray:
        raise Problem("The images are not read to count them.")

    return ImageSet(
        data.name, None, samples.paths, samples.labels, list(data.class_names), data.channels, max(1, data.image_size),
        unread, samples.official if any(samples.official) else None,
    )  # fmt: skip
