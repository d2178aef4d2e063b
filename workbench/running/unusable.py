"""What refuses a run before it is made: device, data, split, batches, weights, image size, label decisions."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workbench.config import RunConfig
from workbench.control import Cancelled
from workbench.entries import catalog as catalogs
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.running import folds_and_seeds
from workbench.running.devices import together
from workbench.running.devices.launched_ranks import LAUNCHED
from workbench.running.facts.without_numbers import COLOURS, image_size_of, unloaded, without_numbers
from workbench.running.listed import Listed
from workbench.running.place_at_fault import naming_the_place

if TYPE_CHECKING:
    from workbench.backbones.model import EmbeddingModel
    from workbench.datasets.image_set import ImageSet

log = logging.getLogger(__name__)


def refuse_unusable(
    config: RunConfig, progress: Progress, *, batches: bool = True, sizes: bool = True, memory: bool = True,
    devices: Sequence[str] = (),
) -> Listed | None:  # fmt: skip
    """List and split the data of the config's first run, and read its weights; nothing is decoded or stored.

    First the `devices` are looked for, by default the config's.

    Weights that are not on this machine are fetched if the config allows it.

    With `batches` the training set must have the classes and images for one, too: images that turn out to be
    unreadable only make it smaller. With `sizes` the network must take images of the size that it would be given, and
    with `memory`, too, a step on the CPU must fit into its memory.

    Returns what was listed, for `make_job` of that run; None if the check itself failed.

    Raises:
        Problem: one of them cannot be used. Cancelled: of `progress`.
    """
    try:
        used = devices or config.device.split(",")
        _refuse_missing_devices(used)
        return _listed(config, progress, batches, sizes, used if memory else ())
    except (Problem, Cancelled):
        raise
    except Exception as error:  # of a plug-in, or a defect: it keeps a run from being refused without a record of why
        log.warning("the check before the run failed (%r); the run meets the same, and shows it", error, exc_info=True)
        return None


def _refuse_missing_devices(names: Sequence[str]) -> None:
    """Raises Problem for a device that this machine does not have."""
    from workbench.training import device

    if len(names) > 1:
        together.refuse_missing(names)
    elif tuple(names) != (LAUNCHED,):
        device.refuse_missing(names[0])


def _listed(config: RunConfig, progress: Progress, batches: bool, sizes: bool, devices: Sequence[str]) -> Listed:
    from workbench.running.building import list_images

    first = folds_and_seeds.children(config)[0].config
    listed = Listed()
    image_set = list_images(first, progress, listed)
    _split(first, image_set, batches)
    model = None
    if _has_weights(first):
        progress("Reading the weights", 0, 0)
        from workbench.backbones.model import build_model

        backbone = first.backbone
        with naming_the_place(first, "backbone"):
            model = build_model(backbone.name, backbone.params, first.embedding, image_set.channels, progress)
    if sizes:
        progress("Checking the image size", 0, 0)
        _refuse_size(first, image_set.channels, image_set.image_size, model, devices)
    return listed


def _split(config: RunConfig, image_set: "ImageSet", batches: bool) -> None:
    """Split the data of a run, decode nothing. Raises Problem if that, or with `batches` a batch, cannot be had."""
    from workbench.running.building import Data, build_entry, build_sampler, training_labels, with_decisions

    split = build_entry("split", config, image_set, config.seed)
    data = with_decisions(config, Data(image_set, np.empty((0, 0, 0, 0), np.uint8), Path(), split))
    if batches:
        build_sampler(config, training_labels(data))


def unsuited(config: RunConfig, progress: Progress, listed: Listed) -> str:
    """Why the data of the config's first run do not go with its other fields; empty if they do.

    Split, label decisions, batches and image size are looked at. `listed` gets the data set, or has it. Data that
    cannot be listed are left to the run, which shows why.

    Raises:
        Cancelled: of `progress`.
    """
    from workbench.running.building import list_images

    first = folds_and_seeds.children(config)[0].config
    image_set = None
    try:
        image_set = list_images(first, progress, listed)
        _split(first, image_set, batches=True)
        _refuse_size(first, image_set.channels, image_set.image_size, None)
    except Cancelled:
        raise
    except Problem as problem:
        if image_set is not None:
            return f"{problem.field}: {problem.what}" if problem.field else problem.what
        log.info("the data of a setting were not looked at: %s", problem)
    except Exception as error:  # of a plug-in, or a defect: the sweep goes on, and the trial's run fails and shows it
        log.warning("the data of a setting were not looked at (%r); its run shows why", error, exc_info=True)
    return ""


def refuse_size_unseen(config: RunConfig) -> None:
    """What `refuse_unusable` says of the image size, for data and weights of another machine.

    Raises:
        Problem: the network takes no images of the size that the config has for its data set.
    """
    if (size := image_size_of(config)) is not None:
        _refuse_size(unloaded(config), COLOURS, size, None)


def _refuse_size(
    config: RunConfig, channels: int, image_size: int, model: "EmbeddingModel | None", devices: Sequence[str] = ()
) -> None:
    """Raises Problem for images of a size that the network does not take; tensors without numbers show it.

    What cannot be made or computed without numbers is left to the run.

    Args:
        devices: of this machine, if it trains: then also for a step that its CPU has not the memory for.
    """
    import torch

    from workbench.running.building import build_entry
    from workbench.running.facts import memory_needed
    from workbench.running.facts.fitting_size import naming_an_image_size

    try:
        with torch.device("meta"), torch.no_grad():
            network, images = without_numbers(config, channels, image_size, model)
            with naming_an_image_size(build_entry("augmentation", config)):
                network.features(images)
            if devices:
                memory_needed.refuse_without_memory(config, network, images, devices)
    except Problem:
        raise
    except Exception as error:
        log.debug("the image size was not checked before the run (%r)", error, exc_info=True)


def _has_weights(config: RunConfig) -> bool:
    """Whether the backbone takes weights from a file, chosen or not, or from a cache that may lack them."""
    described = catalogs.current().get(f"backbone/{config.backbone.name}", {}).get("params", {})
    source = config.backbone.params.get("weights")
    asked = (source == "cache" and "download" in described) or (source == "file" and "weights_file" in described)
    return asked or any(config.backbone.params.get(name) for name, facts in described.items() if facts.get("path"))
