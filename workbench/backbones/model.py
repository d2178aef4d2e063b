"""The trained model: normalisation of pixels, a backbone, an embedding head."""

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from workbench import registry
from workbench.backbones.head import EmbeddingHead

if TYPE_CHECKING:
    from workbench.config import EmbeddingParams


class EmbeddingModel(nn.Module):
    """Images [n, C, H, W] in 0..1, or features [n, f] that the backbone made of them before -> embeddings [n, d]."""

    mean: Tensor
    std: Tensor

    def __init__(
        self, backbone: nn.Module, head: EmbeddingHead, mean: tuple[float, ...], std: tuple[float, ...]
    ) -> None:
        super().__init__()
        self.backbone, self.head = backbone, head
        self.register_buffer("mean", torch.tensor(mean).view(1, -1, 1, 1))
        self.register_buffer("std", torch.tensor(std).view(1, -1, 1, 1))

    def features(self, images: Tensor) -> Tensor:
        """Features [n, f] before the embedding head; inputs that are features already are returned unchanged."""
        if images.ndim == 2:
            return images
        features: Tensor = self.backbone((images - self.mean) / self.std)
        return features

    def forward(self, images: Tensor) -> Tensor:
        embeddings: Tensor = self.head(self.features(images))
        return embeddings


def build_model(name: str, params: dict[str, Any], embedding: "EmbeddingParams", channels: int) -> EmbeddingModel:
    """A backbone by name under a new head.

    Args:
        name: as in `list_backbones()`.
        params: the backbone's own.
        embedding: size and treatment of the embedding.
        channels: 1 or 3, of the images.

    Raises:
        Problem: unknown name, or weights that cannot be used.
    """
    registry.discover("workbench.backbones")
    entry = registry.entry("backbone", name)
    backbone = entry.build(entry.params(**params), channels)
    return EmbeddingModel(backbone, EmbeddingHead(backbone.feature_dim, embedding), backbone.mean, backbone.std)
