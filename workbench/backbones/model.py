"""The trained model: normalisation of pixels, a backbone, an embedding head."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn

from workbench import registry
from workbench.backbones.head import EmbeddingHead
from workbench.backbones.pretrained import load_trained
from workbench.entries.facts import BackboneFacts
from workbench.problem import Problem
from workbench.progress import Progress, quiet

if TYPE_CHECKING:
    from workbench.config import EmbeddingParams

SIDES = (16, 32, 48, 64, 96, 128, 160, 192, 224, 256, 320, 384)  # px, tried where a network cannot take images
MADE_OF = ("feature_dim", "mean", "std")  # what the module of a backbone has


class EmbeddingModel(nn.Module):
    """Images [n, C, H, W] in 0..1, or features [n, f] that the backbone made of them before -> embeddings [n, d]."""

    mean: Tensor
    std: Tensor

    def __init__(
        self, backbone: nn.Module, head: EmbeddingHead, mean: tuple[float, ...], std: tuple[float, ...]
    ) -> None:
        super().__init__()
        self.backbone, self.head = backbone, head
        self.feature_dim = cast(int, backbone.feature_dim)
        self.register_buffer("mean", torch.tensor(mean).view(1, -1, 1, 1))
        self.register_buffer("std", torch.tensor(std).view(1, -1, 1, 1))

    def features(self, images: Tensor) -> Tensor:
        """Features [n, f] before the embedding head; inputs that are features already are returned unchanged.

        Raises:
            Problem: images that are too small for the backbone.
        """
        if images.ndim == 2:
            return images
        try:
            features: Tensor = self.backbone((images - self.mean) / self.std)
        except RuntimeError as error:
            if type(error) is not RuntimeError or (least := self._least_side(images)) is None:
                raise  # what torch cannot compile has a type of its own
            side = min(images.shape[-2:])
            raise Problem(
                f"Images of {side} px are too small for this backbone: it needs about {least} px or more.",
                kept="Nothing was started.",
                todo="Choose a larger image size, and check the crop of the augmentation.",
                field="dataset.image_size",
            ) from error
        return features

    @torch.no_grad()
    def _least_side(self, images: Tensor) -> int | None:
        """The smallest of SIDES that the backbone takes, if not even one image of this size goes through; else None."""
        training = {module for module in self.backbone.modules() if module.training}
        self.backbone.eval()  # no statistics of batch-norm change
        height, width = images.shape[-2:]
        larger = [(side, side) for side in SIDES if side > min(height, width)]
        try:
            takes = (size for size in [(height, width), *larger] if self._takes(images, size))
            first = next(takes, None)
            return None if first is None or first == (height, width) else first[0]
        finally:
            for module in training:
                module.training = True

    def _takes(self, images: Tensor, size: tuple[int, int]) -> bool:
        """Whether one image of that height and width goes through the backbone."""
        try:
            self.backbone(images.new_zeros(1, images.shape[1], *size))
        except (RuntimeError, Problem):
            return False
        return True

    def forward(self, images: Tensor) -> Tensor:
        features = self.features(images)
        try:
            embeddings: Tensor = self.head(features)
        except RuntimeError as error:
            if features.shape[1:] == (self.feature_dim,):
                raise
            raise Problem(
                f"The backbone returned features of the shape {list(features.shape)} instead of "
                f"[{len(features)}, {self.feature_dim}].",
                todo="Its forward must return [n, feature_dim].",
            ) from error
        return embeddings


def build_model(
    name: str, params: dict[str, Any], embedding: "EmbeddingParams", channels: int, progress: Progress = quiet
) -> EmbeddingModel:
    """A backbone by name under a new head.

    Args:
        name: as in `list_backbones()`.
        params: the backbone's own.
        embedding: size and treatment of the embedding.
        channels: 1 or 3, of the images.
        progress: is told how far a download of weights is; it may raise Cancelled.

    Raises:
        Problem: unknown name, weights that cannot be used, or a module without what `BackboneFacts` names.
    """
    registry.discover("workbench.backbones")
    entry = registry.entry("backbone", name)
    options = {"progress": progress} if cast(BackboneFacts, entry.facts).fetches else {}
    values = entry.params(**params)
    backbone = entry.build(values, channels, **options)
    if lacking := [name for name in MADE_OF if not hasattr(backbone, name)]:
        raise Problem(
            f"The backbone {entry.name!r} cannot be used: its module has no {', '.join(lacking)}.",
            todo="Its factory must return a module with these.",
        )
    if trained_file := getattr(values, "trained_file", ""):
        load_trained(backbone, Path(trained_file), entry.title)
    return EmbeddingModel(backbone, EmbeddingHead(backbone.feature_dim, embedding), backbone.mean, backbone.std)
