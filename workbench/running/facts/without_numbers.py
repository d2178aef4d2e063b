"""The network of a config on torch's meta device, where nothing is computed or read: for checks before a run."""

from typing import TYPE_CHECKING

from workbench.config import RunConfig
from workbench.entries import catalog as catalogs
from workbench.problem import Problem

if TYPE_CHECKING:
    from torch import Tensor

    from workbench.backbones.model import EmbeddingModel


COLOURS = 3  # channels of images that were not seen: the size does not depend on them


def image_size_of(config: RunConfig) -> int | None:
    """The side in px that the config gives its images; None for a data set without such a field, as of a plug-in."""
    named = catalogs.current().get(f"dataset/{config.dataset.name}", {}).get("params", {}).get("image_size", {})
    size = config.dataset.params.get("image_size", named.get("default"))
    return size if isinstance(size, int) else None


def unloaded(config: RunConfig) -> RunConfig:
    """The config with a backbone that takes no weights from this machine's disk or from a cache."""
    described = catalogs.current().get(f"backbone/{config.backbone.name}", {}).get("params", {})
    without = {name: "" for name, facts in described.items() if facts.get("path")}
    without |= {"weights": "none"} if "weights" in described else {}
    backbone = config.backbone.model_copy(update={"params": {**config.backbone.params, **without}})
    return config.model_copy(update={"backbone": backbone})


def without_numbers(
    config: RunConfig, channels: int, image_size: int, model: "EmbeddingModel | None"
) -> "tuple[EmbeddingModel, Tensor]":
    """The network of the config, and one image as an evaluation gives it, on torch's meta device."""
    import torch

    from workbench.backbones.model import build_model
    from workbench.running.building import build_entry, side_of_whole

    augmentation = build_entry("augmentation", config)
    if model is None:
        try:
            model = build_model(config.backbone.name, config.backbone.params, config.embedding, channels)
        except Problem as problem:  # open_clip makes none without numbers
            raise RuntimeError(str(problem)) from problem
    side = side_of_whole(augmentation, image_size) or image_size
    return model.to("meta").eval(), augmentation.evaluate(torch.zeros(1, channels, side, side))
