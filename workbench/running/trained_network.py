"""A run's checkpoints, and its best one as a network. Light to import; torch is loaded inside the functions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.config import RunConfig
from workbench.events import CHECKPOINTS
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.folders import deleted_checkpoints
from workbench.workspace.folders.deleted_checkpoints import START_AGAIN
from workbench.workspace.paths import is_file
from workbench.workspace.rows import Dataset

if TYPE_CHECKING:
    from torch import Tensor

    from workbench.backbones.model import EmbeddingModel
    from workbench.datasets.images.loader import Picture
    from workbench.datasets.prepared import Prepared

UNCHANGED, ELSEWHERE = "The run is unchanged.", "choose another device, such as cpu"


def checkpoints(workspace: Workspace, run_id: int) -> list[Path]:
    """The run's existing checkpoints, the one to resume from first."""
    return checkpoint_files(workspace.folder(run_id))


def checkpoint_files(folder: Path) -> list[Path]:
    """As `checkpoints`, for a run's folder; links do not count."""
    return [folder / name for name in CHECKPOINTS.values() if is_file(folder / name)]


def best_checkpoint(workspace: Workspace, run_id: int) -> Path:
    """The checkpoint of the best evaluation, or the last. Raises Problem when there is none."""
    paths = checkpoints(workspace, run_id)
    if not paths:
        if deleted_checkpoints.day_of(workspace.folder(run_id)):
            raise Problem(deleted_checkpoints.lack(run_id, workspace.folder(run_id)), todo=START_AGAIN)
        raise Problem(f"Run {run_id} has no checkpoint to continue from.", todo="Start it again from the beginning.")
    return paths[-1]


@dataclass(frozen=True, slots=True)
class Trained:
    """A run's network in evaluation mode: squares of uint8, scaled to 0..1."""

    model: "EmbeddingModel"  # in evaluation mode; on the CPU, unless it is moved
    crop: "Callable[[Tensor], Tensor]"  # images [n, C, S, S] in 0..1 -> what the network is given
    checkpoint: Path  # the file that it was read from
    dataset: Dataset
    step: int  # optimiser steps that made it
    epoch: int
    prepared: "Prepared"  # how an image becomes such a square, of S px
    compared: "Callable[[Tensor], Tensor]"  # embeddings [n, d] -> as the run compares and stores them

    def embed(self, images: Sequence[np.ndarray | Path | str]) -> np.ndarray:
        """Embeddings [m, d] float32 of a user's own images, one or more: files, or uint8 [h, w, 3] or [h, w].

        A file is read as the run's data was: an image of the run gets the embedding that the run stored. If large
        JPEG files are decoded in another way, their embeddings differ slightly.

        Raises:
            Problem: a file that cannot be read.
            TypeError, ValueError: an object that is not an image, or no image at all.
        """
        if isinstance(images, str | Path) or not len(images):
            raise ValueError(f"`embed` takes a list of one image or more, not {images!r}.")
        if isinstance(images, np.ndarray) and images.ndim == 3 and images.shape[2] in (1, 3):
            # Its rows would be taken for grey images that are 3 pixels wide.
            raise ValueError(f"`embed` takes a list of images: put the one of shape {list(images.shape)} in a list.")
        return self.embed_inputs(self.inputs(images))

    def inputs(self, images: Sequence[np.ndarray | Path | str]) -> np.ndarray:
        """The network's input for images, float32 [m, C, H, W] in 0..1; images and errors as for `embed`."""
        return self.inputs_of(np.stack([self.square(image) for image in images]))

    def square(self, image: np.ndarray | Path | str) -> np.ndarray:
        """The square of pixels that is made of an image, uint8 [S, S, C]; errors as for `embed`."""
        return self.prepared.square(self._picture(image))

    def inputs_of(self, pixels: np.ndarray) -> np.ndarray:
        """The network's input for squares uint8 [m, S, S, C], float32 [m, C, H, W] in 0..1."""
        import torch

        batch = torch.from_numpy(np.ascontiguousarray(pixels.transpose(0, 3, 1, 2))).float().div_(255)
        return np.asarray(self.crop(batch).numpy())

    def move_to(self, device: str) -> None:
        """Embed on this device from now on: "auto", "cpu", "cuda", "cuda:1", "mps".

        Raises:
            Problem: it is not there, or has no memory for the network.
        """
        from workbench.training.device import choose, refusing_what_does_not_fit

        with refusing_what_does_not_fit(UNCHANGED, ELSEWHERE):
            self.model.to(choose(device))

    def embed_inputs(self, batch: np.ndarray) -> np.ndarray:
        """Embeddings [m, d] float32 of the network's input, float32 [m, C, H, W].

        Raises:
            Problem: the device has no memory for them.
        """
        import torch

        from workbench.training.device import refusing_what_does_not_fit

        with torch.no_grad(), refusing_what_does_not_fit(UNCHANGED, ELSEWHERE):
            inputs = torch.from_numpy(batch).to(next(self.model.parameters()).device)
            return np.asarray(self.compared(self.model(inputs).float().cpu()).numpy())

    def _picture(self, image: Any) -> "Picture":
        """An image as Pillow or NumPy has it. Raises Problem for a file, TypeError for anything that is none."""
        from PIL import Image

        from workbench.datasets.images.loader import BadImage

        if isinstance(image, str | Path):
            try:
                return self.prepared.read(Path(image))
            except BadImage as reason:
                todo = "Leave it out, or choose another."
                raise Problem(f"{image} {reason}.", kept="No image was embedded.", todo=todo) from None
        if isinstance(image, Image.Image):
            return image
        shape, kind = list(getattr(image, "shape", ())), getattr(image, "dtype", type(image).__name__)
        if not isinstance(image, np.ndarray) or kind != np.uint8 or shape[2:] not in ([], [1], [3]) or len(shape) < 2:
            raise TypeError(f"An image is a file, or an array uint8 [h, w, 3] or [h, w], not {kind} {shape}.")
        if not image.size:
            raise ValueError(f"An image has at least one pixel, and this one has the shape {shape}.")
        return image


def trained(workspace: Workspace, run_id: int, checkpoint_file: Path | None = None) -> Trained:
    """A checkpoint of the run, by default its best, as a network.

    Raises:
        Problem: there is no checkpoint, or it does not match the run's config.
    """
    from workbench import registry
    from workbench.backbones.model import build_model
    from workbench.training import checkpoint

    info = workspace.run(run_id)
    path = best_checkpoint(workspace, run_id) if checkpoint_file is None else checkpoint_file
    if info.dataset_id is None:
        raise Problem(f"Run {run_id} has not read its data yet.", todo="Wait for its first epoch.")
    config = RunConfig.from_toml_text(info.config)
    data = workspace.dataset(info.dataset_id)
    backbone = {**config.backbone.params}
    for field, none in (("weights", "none"), ("trained_file", "")):
        if field in backbone:
            backbone[field] = none  # the checkpoint holds them
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
    step, epoch = int(state["step"]), int(state["epoch"])
    prepared = _prepared(workspace, config, data, augmentation)
    compared = _compared(config, len(data.class_names), model.head.dim)
    return Trained(model.eval(), augmentation.evaluate, path, data, step, epoch, prepared, compared)


def _compared(config: RunConfig, classes: int, dim: int) -> "Callable[[Tensor], Tensor]":
    """What maps embeddings [n, d] to what the run compares: into the ball for hyperbolic distances."""
    from workbench.losses import build_loss

    if config.evaluation.distance != "hyperbolic":
        return lambda embeddings: embeddings
    loss = build_loss(config.loss.name, num_classes=max(1, classes), embedding_dim=dim, **config.loss.params)

    def in_ball(embeddings: "Tensor") -> "Tensor":
        own = loss.own_distance(embeddings)
        if own is None:
            raise Problem(f"The loss {config.loss.name!r} has no points in the Poincaré ball to compare an image by.")
        return own[1]

    return in_ball


def _prepared(workspace: Workspace, config: RunConfig, data: Dataset, augmentation: Any) -> "Prepared":
    """How the run's images were read, kept and cut for evaluation."""
    from workbench.datasets.cache.encoded_images import Encoded
    from workbench.datasets.cache.keeping import form_of
    from workbench.datasets.images.loader import bits_of
    from workbench.datasets.prepared import Prepared

    squeezed = bool(getattr(augmentation, "whole_evaluation", False))
    whole = squeezed or bool(getattr(augmentation, "whole_training", False))
    count = len(workspace.samples(data.id).paths)
    wanted, larger = config.training.keep_images, config.training.keep_side
    form = form_of(count, data.image_size, data.channels, wanted, whole, larger)
    return Prepared(
        side=augmentation.side(data.image_size) if squeezed else data.image_size,
        kept=form.side,
        channels=data.channels,
        stretched=config.dataset.params.get("fit") == "stretch",
        encoded=isinstance(form, Encoded),
        squeezed=squeezed,
        bits=bits_of(config.dataset.params),
    )
