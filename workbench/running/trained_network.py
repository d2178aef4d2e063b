"""A run's checkpoints, and its best one as a network. Light to import; torch is loaded inside the functions."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workbench.config import RunConfig
from workbench.events import CHECKPOINTS
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.rows import Dataset

if TYPE_CHECKING:
    from torch import Tensor

    from workbench.backbones.model import EmbeddingModel


def checkpoints(workspace: Workspace, run_id: int) -> list[Path]:
    """The run's checkpoints that are there, the one to go on from first."""
    return [workspace.file(run_id, name) for name in CHECKPOINTS.values() if workspace.has_file(run_id, name)]


def best_checkpoint(workspace: Workspace, run_id: int) -> Path:
    """The checkpoint of the best evaluation, or the last. Raises Problem when there is none."""
    paths = checkpoints(workspace, run_id)
    if not paths:
        raise Problem(f"Run {run_id} has no checkpoint to go on from.", todo="Start it anew.")
    return paths[-1]


@dataclass(frozen=True, slots=True)
class Trained:
    """A run's best network as it is evaluated: squares of uint8 at `dataset.image_size`, scaled to 0..1."""

    model: "EmbeddingModel"  # on the CPU, in evaluation mode
    crop: "Callable[[Tensor], Tensor]"  # images [n, C, S, S] in 0..1 -> what the network is given
    dataset: Dataset
    step: int  # optimiser steps that made it
    epoch: int


def trained(workspace: Workspace, run_id: int) -> Trained:
    """The run's best checkpoint as a network. Raises Problem when there is none, or one that does not fit."""
    from workbench import registry
    from workbench.backbones.model import build_model
    from workbench.training import checkpoint

    info = workspace.run(run_id)
    path = best_checkpoint(workspace, run_id)
    if info.dataset_id is None:
        raise Problem(f"Run {run_id} has not read its data yet.", todo="Wait for its first epoch.")
    config = RunConfig.from_toml_text(info.config)
    data = workspace.dataset(info.dataset_id)
    backbone = {**config.backbone.params}
    if backbone.get("weights", "none") != "none":
        backbone["weights"] = "none"  # the checkpoint holds them
    state = checkpoint.load(path)
    registry.discover("workbench.datasets")
    model = build_model(config.backbone.name, backbone, config.embedding, data.channels)
    try:
        model.load_state_dict(state["model"])
    except (KeyError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        raise Problem(f"The checkpoint of run {run_id} does not fit its config ({reason}).") from None
    entry = registry.entry("augmentation", config.augmentation.name)
    augmentation = entry.build(entry.params(**config.augmentation.params))
    return Trained(model.eval(), augmentation.evaluate, data, int(state["step"]), int(state["epoch"]))


def embed_images(workspace: Workspace, run_id: int, images: list[np.ndarray]) -> np.ndarray:
    """Embeddings [m, d] float32 of a person's own images (uint8 [h, w, 3]) under the run's best checkpoint, on the CPU.

    Raises:
        Problem: no checkpoint, or one that does not fit.
    """
    import torch

    from workbench.datasets.images import square

    network = trained(workspace, run_id)
    data = network.dataset
    pixels = np.stack([square(image, data.image_size, data.channels) for image in images])  # [m, S, S, C]
    batch = torch.from_numpy(np.ascontiguousarray(pixels.transpose(0, 3, 1, 2))).float().div_(255)
    with torch.no_grad():
        embeddings: np.ndarray = network.model(network.crop(batch)).float().numpy()
    return embeddings
