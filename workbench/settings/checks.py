"""Checks between fields of a config; each function returns one sentence by dotted name of a bad field."""

import re
from typing import TYPE_CHECKING, Any

from workbench.entries import catalog as catalogs
from workbench.entries import dimensions
from workbench.entries.catalog import Catalog
from workbench.names import nearest_first

if TYPE_CHECKING:
    from workbench.config import RunConfig

Errors = dict[str, str]
WORDS = {"dataset": "data set"}  # kinds of entries whose name in sentences differs
NUMBERED = re.compile(r"auto|cpu|mps|cuda(:\d{1,2})?")
SEEDS = 2**31  # a seed is below it
GPU = re.compile(r"cuda:\d{1,2}")


def device(name: str) -> str:
    """Check the name of a device: auto, cpu, cuda, mps, or one of several GPUs as cuda:0.

    Several devices of one run are written as `devices` reads them and returned as "cuda:0,cuda:1".

    Raises:
        ValueError: a sentence for any other name.
    """
    if "," in name:
        return ",".join(devices(name))
    if not NUMBERED.fullmatch(name):
        raise ValueError(
            "Must be one of 'auto', 'cpu', 'cuda', 'mps', a GPU by its number, such as 'cuda:1', or several of them, "
            "such as '0,1'."
        )
    return name


def devices(text: str) -> tuple[str, ...]:
    """Devices by name: "0,1" is cuda:0 and cuda:1, "cpu,cpu" two processes on the CPU.

    Raises:
        ValueError: why they cannot be used: an unknown word, a GPU that is named twice, or CPU and GPUs together.
    """
    words = [word.strip().lower() for word in text.split(",")]
    names = tuple(f"cuda:{int(word)}" if word.isdecimal() else word for word in words)
    for name in names:
        if name != "cpu" and not GPU.fullmatch(name):
            raise ValueError(f"{name!r} is not a device")
        if name != "cpu" and names.count(name) > 1:
            raise ValueError(f"{name} is named twice")
    if "cpu" in names and len(set(names)) > 1:
        raise ValueError("The CPU and GPUs cannot train one run together")
    return names


def unknown_entries(config: "RunConfig", known: Catalog, kinds: tuple[str, ...]) -> Errors:
    """Errors for entries that the catalog does not have, and for parameters that their entries refuse."""
    errors: Errors = {}
    for kind in kinds:
        choice = config.choice(kind)
        if f"{kind}/{choice.name}" not in known:
            names = ", ".join(nearest_first(choice.name, catalogs.names(known, kind)))
            errors[f"{kind}.name"] = f"There is no {WORDS.get(kind, kind)} named {choice.name!r}. Known: {names}."
            continue
        for field, sentence in catalogs.errors(catalogs.params_of(known, kind, choice.name), choice.params).items():
            errors[f"{kind}.{field}"] = sentence
    return errors


def contradictions(config: "RunConfig", known: Catalog, bad: Errors) -> Errors:
    """Errors for fields that contradict each other; checks that need a field in `bad` are skipped."""
    errors: Errors = {}
    if config.training.batch_size < (count := len(config.device.split(","))):
        errors["training.batch_size"] = few_for_devices(config.training.batch_size, count)
    if config.seed + config.seeds > SEEDS:
        errors["seeds"] = (
            f"{config.seeds} seeds from {config.seed} on go beyond the largest, {SEEDS - 1}: "
            f"use {SEEDS - config.seed} at most."
        )
    if config.training.nesterov and config.training.momentum == 0:
        errors["training.nesterov"] = "Nesterov needs a momentum above 0."
    if config.training.clip_decay and not config.training.clip_norm:
        errors["training.clip_decay"] = "The norm of the gradient has no limit: set Clip gradients above 0."
    elif config.training.clip_decay and config.training.optimiser == "adamw":
        errors["training.clip_decay"] = "AdamW's weight decay is not part of the gradient: choose SGD or Adam."
    if config.training.patience and not config.holds_out(known):
        errors["training.patience"] = (
            "Early stopping needs images held out: choose MLRC folds, a share of the training set, or the data "
            "set's validation images (split.validation)."
        )
    if sentence := _larger_than_needed(config, known):
        errors["training.keep_side"] = sentence
    whole = config.value(known, "augmentation", "crops_of") == "whole"
    if whole and config.value(known, "augmentation", "jitter_first"):
        errors["augmentation.jitter_first"] = (
            "Crops of whole images are cut out before their colours are changed: use crops of the square, or switch "
            "this off."
        )
    if config.training.keep_features and config.training.backbone_lr:
        errors["training.keep_features"] = (
            "Features are computed once only for a frozen backbone: set the backbone learning rate to 0."
        )
    elif config.training.keep_features and config.fact(known, "augmentation", "changes") is not False:
        errors["training.keep_features"] = "This needs images without augmentation: choose no augmentation."
    if "loss.name" in bad or "sampler.name" in bad:
        return errors
    if config.evaluation.distance == "hyperbolic" and (sentence := _no_hyperbolic(config, known)):
        errors["evaluation.distance"] = sentence
    if config.evaluation.linear_probe and config.fact(known, "split", "classes_disjoint"):
        splits = catalogs.names(known, "split")
        others = [split for split in splits if not catalogs.fact(known, "split", split, "classes_disjoint")]
        errors["evaluation.linear_probe"] = f"The split leaves no class in both sets: use {' or '.join(others)}."
    if not any(field.startswith("split") for field in bad):
        fold, folds = config.folds(known)
        if fold > folds:
            errors["split.fold"] = "There are fewer folds: 0 runs all of them."
    if config.training.views > 1 and config.fact(known, "augmentation", "changes") is False:
        views = config.training.views
        errors["training.views"] = f"{views} views without an augmentation are the same image {views} times."
    return errors | _batches(config, known, sampler_is_good=not any(field.startswith("sampler") for field in bad))


def _larger_than_needed(config: "RunConfig", known: Catalog) -> str:
    """The sentence on a short side to keep that changes nothing; empty where it does, or is not set."""
    side, size = config.training.keep_side, config.value(known, "dataset", "image_size")
    if not side:
        return ""
    if isinstance(size, int) and side < size:
        return f"The image size is {size} px: keep that much at least, or 0, which is the same."
    if config.value(known, "dataset", "fit") == "stretch":
        return "Stretched images are kept as squares of the image size: set 0, or set Fit to centre."
    whole = [config.value(known, "augmentation", field) for field in ("crops_of", "evaluated")]
    if config.training.keep_images != "encoded" and "whole" not in whole:
        return "Squares have the image size: to keep more, take crops of whole images, or set Keep images to encoded."
    return ""


def _no_hyperbolic(config: "RunConfig", known: Catalog) -> str:
    """The sentence on a run that cannot be evaluated by hyperbolic distance; empty where it can."""
    loss = known[f"loss/{config.loss.name}"]
    curved_by = loss["facts"].get("curved_by")
    if not curved_by:
        return f"{loss['title']} has no points in the Poincaré ball: use cosine or l2."
    if not config.value(known, "loss", curved_by):
        return f"Without curvature there is no Poincaré ball: use cosine, or set loss.{curved_by} above 0."
    if config.fact(known, "split", "folds"):
        return "Embeddings of folds are joined, and joined points are not in the Poincaré ball: use cosine or l2."
    return ""


def few_for_devices(batch: int, count: int) -> str:
    """The sentence on a batch with fewer images than devices; larger ones are shared, and shares differ by one."""
    return f"A batch of {batch} images cannot be spread over {count} devices: use {count} images or more."


def _batches(config: "RunConfig", known: Catalog, *, sampler_is_good: bool) -> Errors:
    """An error if the sampler's batches do not contain the pairs that the loss compares."""
    loss = known[f"loss/{config.loss.name}"]
    if loss["facts"].get("of_images"):
        return (
            {}
            if config.training.views > 1
            else {"training.views": f"{loss['title']} compares views of each image: set 2 or more."}
        )
    pairs = loss["facts"].get("needs_pairs") and config.training.views == 1
    images_of_class = config.fact(known, "sampler", "images_of_class")
    errors: Errors = {}
    if pairs and images_of_class and config.value(known, "sampler", images_of_class) == 1:
        errors[f"sampler.{images_of_class}"] = (
            f"{loss['title']} needs several images of a class in a batch: set 2 or more."
        )
    if pairs and not images_of_class:
        errors["sampler.name"] = (
            f"{loss['title']} needs several images of a class in a batch: "
            "choose the sampler “Classes x images” (classes_images), or 2 views."
        )
    if images_of_class and sampler_is_good:
        errors |= _uneven(config, known, loss, images_of_class)
    return errors


def _uneven(config: "RunConfig", known: Catalog, loss: dict[str, Any], images_of_class: str) -> Errors:
    """An error if batches are not a whole number of classes, or have one class although the loss needs negatives."""
    sampler = catalogs.params_of(known, "sampler", config.sampler.name).model_validate(config.sampler.params)
    per_class, batch = sampler.model_dump()[images_of_class], config.training.batch_size
    if batch % per_class:
        return {"training.batch_size": f"{batch} images are not a multiple of {per_class} images of each class."}
    if loss["facts"].get("needs_pairs") and batch == per_class:
        return {"training.batch_size": f"A batch of one class has no negatives: use {2 * per_class} images or more."}
    return {}


def largest_batch(config: "RunConfig", known: Catalog, most: int) -> int | None:
    """The largest batch of `most` images or fewer that sampler, loss and devices of a checked config allow, or None."""
    per_class, least = 1, max(2, len(config.device.split(",")))
    if images_of_class := config.fact(known, "sampler", "images_of_class"):
        sampler = catalogs.params_of(known, "sampler", config.sampler.name).model_validate(config.sampler.params)
        per_class = int(sampler.model_dump()[images_of_class])
        least = max(least, 2 * per_class if config.fact(known, "loss", "needs_pairs") else per_class)
    batch = most // per_class * per_class
    return batch if batch >= least else None


def misfit(config: "RunConfig", known: Catalog, classes: int | None) -> Errors:
    """An error for an embedding size that the loss does not allow for its number of classes, if that is known."""
    rule = config.fact(known, "loss", "dimensions")
    if rule is None or classes is None or not config.embedding.dim:  # 0 is the backbone's own size
        return {}
    sentence = dimensions.refusal(rule, _loss_values(config, known)[rule["of"]], classes, config.embedding.dim)
    return {"embedding.dim": sentence} if sentence else {}


def idle_dimensions(config: "RunConfig", known: Catalog, classes: int | None) -> Errors:
    """A warning for an embedding with more dimensions than the loss can use; the run is allowed."""
    rule = config.fact(known, "loss", "spans")
    if rule is None or classes is None or not config.embedding.batch_norm:
        return {}
    sentence = dimensions.idle(rule, _loss_values(config, known), classes, config.embedding.dim)
    return {"embedding.dim": sentence} if sentence else {}


def unused_weights(config: "RunConfig", known: Catalog) -> Errors:
    """A warning for a weights file that is named but not read; the run is allowed."""
    backbone = catalogs.params_of(known, "backbone", config.backbone.name).model_validate(config.backbone.params)
    values = backbone.model_dump()
    if not values.get("weights_file") or values.get("weights") == "file":
        return {}
    return {"backbone.weights_file": f"This file is not read, because Weights is {values['weights']}: set it to file."}


def mirrored_signs(config: "RunConfig", known: Catalog) -> Errors:
    """A warning for mirrored images where a mirror image may be another class; the run is allowed."""
    mirrored_by = config.fact(known, "augmentation", "mirrored_by")
    may_be = config.fact(known, "dataset", "may_be_mirrored") is not False
    if may_be or not mirrored_by or not config.value(known, "augmentation", mirrored_by):
        return {}
    title = known[f"dataset/{config.dataset.name}"]["title"]
    return {f"augmentation.{mirrored_by}": f"A mirrored sign of {title} is not the same sign: switch this off."}


def _loss_values(config: "RunConfig", known: Catalog) -> dict[str, Any]:
    return catalogs.params_of(known, "loss", config.loss.name).model_validate(config.loss.params).model_dump()
