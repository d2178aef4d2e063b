"""Gradient checkpointing of a network that is a sequence of layers."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint


class Recomputed(nn.Sequential):
    """Layers one after the other, each of which keeps its input alone and computes its activations again backward.

    Batch-norm takes each batch into its running statistics once, as without checkpointing.
    """

    def forward(self, images: Tensor) -> Tensor:
        for layer in self:
            if any(True for _ in layer.parameters()):
                images = checkpoint(layer, images, use_reentrant=False, context_fn=_Contexts(layer))
            else:
                images = layer(images)  # pooling and ReLU: nothing is saved, and some work in place
        return images


class _Contexts:
    """What surrounds the first computation of a layer and the second one."""

    def __init__(self, layer: nn.Module) -> None:
        self._layer = layer

    def __call__(self) -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
        return nullcontext(), _statistics_kept(self._layer)


@contextmanager
def _statistics_kept(layer: nn.Module) -> Iterator[None]:
    """Inside, batch-norm in training mode leaves its running statistics as they are."""
    following = [
        module
        for module in layer.modules()
        if isinstance(module, nn.modules.batchnorm._BatchNorm) and module.training and module.track_running_stats
    ]
    before = [(module, module.momentum) for module in following]
    for module in following:
        module.momentum = 0.0  # of the new batch
    try:
        yield
    finally:
        for module, momentum in before:
            module.momentum = momentum
            if module.num_batches_tracked is not None:
                module.num_batches_tracked.sub_(1)
