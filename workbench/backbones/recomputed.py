"""Gradient checkpointing: layers that compute their activations twice, and batch-norm that counts a batch once."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint


class Recomputed(nn.Sequential):
    """Layers one after the other, each of which keeps its input alone and computes its activations again backward.

    Batch-norm takes each batch into its running statistics once with `count_batches_once`.
    """

    def forward(self, images: Tensor) -> Tensor:
        with first_computation():
            for layer in self:
                if any(True for _ in layer.parameters()):
                    images = checkpoint(layer, images, use_reentrant=False)
                else:
                    images = layer(images)  # pooling and ReLU: nothing is saved, and some work in place
        return images


_pass = threading.local()


def count_batches_once(model: nn.Module) -> None:
    """Let batch-norm of a model that recomputes layers take each batch into its running statistics once; call it once.

    That is in `first_computation`. The second one comes backward, outside of it, and may stop within any layer.
    """
    for module in model.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm) and module.track_running_stats:
            module.register_forward_pre_hook(partial(_set_share, share=module.momentum))


@contextmanager
def first_computation() -> Iterator[None]:
    """Inside, in this thread, the batch-norm of `count_batches_once` takes batches into its statistics."""
    _pass.first = True
    try:
        yield
    finally:
        _pass.first = False


def _set_share(norm: Any, inputs: Any, *, share: float | None) -> None:
    """Before a batch: the share that it gets in the running statistics."""
    if not norm.training:
        return
    first = getattr(_pass, "first", False)
    norm.momentum = share if first else 0.0
    if not first and norm.num_batches_tracked is not None:
        norm.num_batches_tracked.sub_(1)  # the layer adds it again
