"""A config that is proposed for the user's own photographs, with reasons. Reads names of files; does not load torch."""

import os
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from workbench.config import RunConfig
from workbench.entries.catalog import Catalog
from workbench.settings.presets import Values, presets

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
    classes, official = _classes_of(chosen)
    looked_in = list(dict.fromkeys([*near, chosen.parent, torch_cache()]))
    weights = find_weights(looked_in)
    values: dict[str, Any] = {"augmentation": {"name": "crop_flip"}}
    reasons = {"augmentation.name": "Crops and mirrored copies show the same class."}
    if weights is not None:
        recipe = next(preset.values for preset in presets() if preset.key == RECIPE)
        values = {**recipe, **_with_weights(recipe, weights)}
        if classes:
            _fit_batch(values, max(1, classes // 2))
    values |= {"name": name, "dataset": dataset}
    values["split"], reasons["split.name"] = _split_of(classes, official)
    reasons |= _why(weights, looked_in, known)
    return Proposal(RunConfig.model_validate(values), reasons)


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


def _classes_of(chosen: Path) -> tuple[int, bool]:
    """The number of folders of classes, 0 if unknown, and whether they are divided into halves."""
    try:
        folders = [entry.name for entry in islice(os.scandir(chosen), MOST_COUNTED) if entry.is_dir()]
    except OSError:  # an archive, or a folder that cannot be read, which Preflight reports
        return 0, False
    return len(folders), set(folders) == HALVES


def _split_of(classes: int, official: bool) -> tuple[Values, str]:
    if official:
        return {"name": "official"}, "The folders train and test stay as they are."
    if 0 < classes < FEWEST_DISJOINT:
        return {"name": "random"}, f"{classes} classes are too few to hold some out; images of each are held out."
    return {"name": "classes"}, "Half of the classes train, the others are searched, as with classes that come later."


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
            "backbone.weights": "No ImageNet weights were found on this machine. Pretrained networks find photographs "
            f"far better: choose SqueezeNet 1.0 and its weights. They are looked for in {folders}, and in a folder "
            "weights in each of them.",
        }
    backbone, file = weights
    title = known.get(f"backbone/{backbone}", {}).get("title", backbone)
    why = f"{title} starts from the ImageNet weights {file}, since few photographs teach a network little."
    return {"backbone.name": why}
