"""A config that is proposed for the user's own photographs, with reasons. Reads names of files; does not load torch."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from workbench.config import RunConfig
from workbench.entries.catalog import Catalog
from workbench.files.archive_names import stem
from workbench.settings.presets import Values, presets
from workbench.settings.sections import TrainingParams

FOLDER_DATASET = "dataset/folder"
RECIPE = "photographs-unseen"  # the preset whose settings suit pretrained weights
WITH_WEIGHTS = ("squeezenet1_0", "mobilenet_v2", "resnet18", "resnet50")  # backbones, the recipe's own first
FEWEST_DISJOINT = 4  # classes, of which two train and two are searched
MOST_COUNTED = 256  # folders of classes: more do not change the proposal
MOST_NAMED = 4  # folders that a sentence names
HALVES = {"train", "test"}


@dataclass(frozen=True, slots=True)
class Proposal:
    """A config, and by dotted field one sentence that gives the reason for its value."""

    config: RunConfig
    reasons: dict[str, str]


def for_photographs(name: str, dataset: Values, chosen: Path, near: list[Path], known: Catalog) -> Proposal:
    """A class-disjoint split, a crop and a flip, and pretrained weights where this machine has some.

    Args:
        name: of the config.
        dataset: the choice of the data set, with its place.
        chosen: the path of the data: a folder or an archive.
        near: folders that may contain weights, or a folder `weights`.
        known: the catalog.
    """
    folders = _folders_of(chosen)
    split, why_split, training = _split_of(chosen, folders)
    looked_in = list(dict.fromkeys([*near, chosen.parent, torch_cache()]))
    weights = find_weights(looked_in)
    values: dict[str, Any] = {"augmentation": {"name": "crop_flip"}}
    reasons = {"augmentation.name": "Augmentation by crops and mirrored copies, which show the same class."}
    if weights is not None:
        recipe = next(preset.values for preset in presets() if preset.key == RECIPE)
        values = {**recipe, **_with_weights(recipe, weights)}
        if training:
            _fit_batch(values, len(training))
    elif images := _training_images(training, split):
        values["training"] = {"batch_size": max(2, 1 << (images.bit_length() - 1))}
        reasons["training.batch_size"] = f"The training set has few images: {images}."
    values |= {"name": name, "dataset": dataset, "split": split}
    reasons |= {"split.name": why_split, **_why(weights, looked_in, known)}
    return Proposal(RunConfig.model_validate(values), reasons)


def for_images(chosen: Path, near: list[Path], known: Catalog) -> Proposal:
    """As `for_photographs`, for a folder or an archive of images, which names the config."""
    params = known[FOLDER_DATASET]["params"]
    path_field = next(name for name, field in params.items() if field.get("path") == "place")
    dataset = {"name": FOLDER_DATASET.partition("/")[2], path_field: str(chosen)}
    name = chosen.name if chosen.is_dir() else stem(chosen)
    return for_photographs(name[:200] or "My images", dataset, chosen, near, known)


def find_weights(folders: list[Path]) -> tuple[str, Path] | None:
    """The first backbone of WITH_WEIGHTS that has a file of weights in one of the folders, and that file."""
    for backbone in WITH_WEIGHTS:
        for folder in folders:
            for place in (folder, folder / "weights"):
                files = sorted(place.glob(f"{backbone}*.pth")) if place.is_dir() else []
                if files:
                    return backbone, files[0]
    return None


def torch_cache() -> Path:
    """The folder of weights that torch has downloaded on this machine."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("TORCH_HOME") or Path(home) / "torch") / "hub" / "checkpoints"


def _folders_of(chosen: Path) -> list[str]:
    """The names of the folders of classes, sorted, or of the halves; empty if they are not known."""
    try:
        return sorted(entry.name for entry in islice(os.scandir(chosen), MOST_COUNTED) if entry.is_dir())
    except OSError:  # an archive, or a folder that cannot be read, which Preflight reports
        return []


def _split_of(chosen: Path, folders: list[str]) -> tuple[Values, str, list[Path]]:
    """The split, its reason, and the folders of the classes that train."""
    if set(folders) == HALVES:
        trained = [chosen / "train" / name for name in _folders_of(chosen / "train")]
        return {"name": "official"}, "The folders train and test stay as they are.", trained
    classes = [chosen / name for name in folders]
    if 0 < len(classes) < FEWEST_DISJOINT:
        why = f"{len(classes)} classes are too few to hold some out; images of each are held out."
        return {"name": "random"}, why, classes
    why = "Half of the classes train, the others are searched, as with classes that come later."
    return {"name": "classes"}, why, classes[: len(classes) // 2]


def _training_images(classes: list[Path], split: Values) -> int:
    """How many files train, if they are too few for a batch of the usual size; 0 if not, or if that is not known."""
    usual = TrainingParams().batch_size
    enough = 2 * usual if split["name"] == "random" else usual
    files = chain.from_iterable(map(_files_of, classes))
    images = len(list(islice(files, enough))) * usual // enough
    return images if images < usual else 0


def _files_of(folder: Path) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            yield from (entry.name for entry in entries if entry.is_file())
    except OSError:  # which Preflight reports
        return


def _with_weights(recipe: Values, weights: tuple[str, Path]) -> Values:
    backbone, file = weights
    return {"backbone": {**recipe["backbone"], "name": backbone, "weights": "file", "weights_file": str(file)}}


def _fit_batch(values: Values, training_classes: int) -> None:
    """Take more images of each class if a batch would need more classes than there are."""
    batch, images = values["training"]["batch_size"], values["sampler"]["images_per_class"]
    while batch // images > training_classes and 2 * images <= batch // 2:
        images *= 2
    values["sampler"] = {**values["sampler"], "images_per_class": images}
    if batch // images > training_classes:
        values["training"] = {**values["training"], "batch_size": images * training_classes}


def _why(weights: tuple[str, Path] | None, looked_in: list[Path], known: Catalog) -> dict[str, str]:
    """The reasons for the backbone and its weights."""
    if weights is None:
        folders = ", ".join(str(folder) for folder in looked_in[:MOST_NAMED])
        return {
            "backbone.name": "A small network starts untrained.",
            "backbone.weights": "No ImageNet weights were found on this machine. Pretrained networks retrieve "
            "photographs far better: choose SqueezeNet 1.0 and its weights. Workbench looks for weights in "
            f"{folders}, and in a folder named weights in each of these.",
        }
    backbone, file = weights
    title = known.get(f"backbone/{backbone}", {}).get("title", backbone)
    why = f"{title} starts from the ImageNet weights {file}, because a network learns little from few photographs."
    return {"backbone.name": why}
