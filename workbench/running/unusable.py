"""What refuses a run before it is made: its device, data, split, batches, weights and files of label decisions."""

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from workbench.config import RunConfig
from workbench.control import Cancelled
from workbench.entries import catalog as catalogs
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.running import folds_and_seeds
from workbench.running.devices import together
from workbench.running.devices.launched_ranks import LAUNCHED
from workbench.running.listed import Listed

log = logging.getLogger(__name__)


def refuse_unusable(
    config: RunConfig, progress: Progress, *, batches: bool = True, devices: Sequence[str] = ()
) -> Listed | None:
    """List and split the data of the config's first run, and read its weights; nothing is decoded or stored.

    First the `devices` are looked for, by default the config's.

    Weights that are not on this machine are fetched if the config allows it.

    With `batches` the training half must have the classes and images for one, too: images that turn out to be
    unreadable only make it smaller.

    Returns what was listed, for `make_job` of that run; None if the check itself failed.

    Raises:
        Problem: one of them cannot be used. Cancelled: of `progress`.
    """
    try:
        _refuse_missing_devices(devices or config.device.split(","))
        return _listed(config, progress, batches)
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
        device.choose(names[0])


def _listed(config: RunConfig, progress: Progress, batches: bool) -> Listed:
    from workbench.running.building import (
        Data,
        build_entry,
        build_sampler,
        list_images,
        training_labels,
        with_decisions,
    )

    first = folds_and_seeds.children(config)[0].config
    listed = Listed()
    image_set = list_images(first, progress, listed)
    split = build_entry("split", first, image_set, first.seed)
    data = with_decisions(first, Data(image_set, np.empty((0, 0, 0, 0), np.uint8), Path(), split))
    if batches:
        build_sampler(first, training_labels(data))
    if _has_weights(first):
        progress("Reading the weights", 0, 0)
        from workbench.backbones.model import build_model

        build_model(first.backbone.name, first.backbone.params, first.embedding, image_set.channels, progress)
    return listed


def _has_weights(config: RunConfig) -> bool:
    """Whether the backbone takes weights from a place on the disk, or from a cache that may lack them."""
    described = catalogs.current().get(f"backbone/{config.backbone.name}", {}).get("params", {})
    of_a_cache = "download" in described and config.backbone.params.get("weights") == "cache"
    return of_a_cache or any(config.backbone.params.get(name) for name, facts in described.items() if facts.get("path"))
