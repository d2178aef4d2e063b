"""A queue of the latest embeddings with their labels; part of the checkpoint."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Memory(nn.Module):
    """A queue of `size` embeddings [d]; new ones replace the oldest."""

    embeddings: Tensor
    labels: Tensor

    def __init__(self, size: int, embedding_dim: int) -> None:
        super().__init__()
        self.register_buffer("embeddings", torch.zeros(size, embedding_dim))
        self.register_buffer("labels", torch.full((size,), -1, dtype=torch.int64))
        self.seen = 0  # a plain number: reading one from the GPU in every step would stall it

    def contents(self) -> tuple[Tensor, Tensor]:
        """Copies of embeddings [m, d] and labels [m], in no order: the memory changes before the backward pass."""
        count = min(self.seen, len(self.labels))
        return self.embeddings[:count].clone(), self.labels[:count].clone()

    @torch.no_grad()
    def add(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        """Store copies of embeddings [n, d]; if there are more than `size`, the last ones.

        Returns:
            [n] int64: the place of each in `contents()`, -1 of those that were not stored.
        """
        size = len(self.labels)
        if not size:
            return torch.full_like(labels, -1)
        left_out = max(0, len(labels) - size)
        embeddings, labels = embeddings.detach()[-size:], labels[-size:]
        places = (self.seen + torch.arange(len(labels), device=labels.device)) % size
        self.embeddings[places] = embeddings.to(self.embeddings.dtype)
        self.labels[places] = labels
        self.seen += len(labels)
        return F.pad(places, (left_out, 0), value=-1)

    def get_extra_state(self) -> dict[str, int]:
        """What a checkpoint stores besides the tensors: how many embeddings were seen."""
        return {"seen": self.seen}

    def set_extra_state(self, state: dict[str, int]) -> None:
        """Restores what get_extra_state returned."""
        self.seen = int(state["seen"])
