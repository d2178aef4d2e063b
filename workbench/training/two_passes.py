"""The gradient of a batch that is larger than memory: all features first, then the backbone again, chunk by chunk."""

from contextlib import AbstractContextManager
from typing import Any, Protocol, cast

import torch
from torch import Tensor, nn

from workbench.problem import Problem
from workbench.training import checkpoint
from workbench.training.device import autocast
from workbench.training.ranks import OneRank

ROUNDING = 1e-4  # of the largest feature: what kernels may differ in between two batches of the same shape


class Halves(Protocol):
    """A model in two halves: `features` treats each image separately, `head` may use all of them together."""

    def features(self, images: Tensor) -> Tensor:
        """Features [n, f] of images [n, C, H, W]."""

    head: nn.Module
    """Features [n, f] -> embeddings [n, d]."""


class TwoPasses:
    """A batch whose activations are stored for one chunk at a time; its loss and gradient are those of the whole batch.

    Use it once: `embeddings`, then the loss of them and its backward pass, then `backward`. The features of all images
    are computed without a gradient; the head and the loss see them together; the gradient that reaches the features
    then goes through the backbone chunk by chunk. Random layers draw the same numbers both times.

    Args:
        model: it must pass `refuse_batch_norm` and `refuse_coupling`.
        images: the batch [n, C, H, W].
        chunk: images whose activations are kept at a time, at least 1.
        device: of the images.
        precision: of the training (`device.autocast`).
        ranks: each of which has its share of the images of a batch.

    Source: Gao et al. 2021 (Scaling deep contrastive learning batch size under memory limited setup), Section 3.2.
    """

    def __init__(
        self, model: Halves, images: Tensor, chunk: int, device: torch.device, precision: str,
        ranks: OneRank | None = None,
    ) -> None:  # fmt: skip
        self._ranks = ranks or OneRank()
        self._model, self._chunks = model, images.split(chunk)
        self._device, self._precision = device, precision
        self._states: list[dict[str, Any]] = []  # random states before each chunk
        self._features: Tensor | None = None

    def embeddings(self, n: int = 0, step: int = 0) -> Tensor:
        """Embeddings [n, d] of the batch, with a gradient back to the features of this rank's images.

        Several ranks need n, by default the number of images, and the number of steps done, which seeds their draws.
        """
        parts = []
        with self._ranks.drawing_apart(step), torch.no_grad(), self._autocast():
            for images in self._chunks:
                self._states.append(checkpoint.rng_state(self._device))
                parts.append(self._model.features(images))
        self._features = torch.cat(parts).requires_grad_()
        with self._autocast():
            return self._ranks.headed(self._model.head, self._features, n or len(self._features))

    def backward(self) -> None:
        """Add the gradients of the backbone, from the gradient that the loss has left on the features."""
        if self._features is None or self._features.grad is None:
            return
        after = checkpoint.rng_state(self._device)
        gradients = self._features.grad.split(len(self._chunks[0]))
        for images, state, gradient in zip(self._chunks, self._states, gradients, strict=True):
            checkpoint.set_rng_state(state, self._device)
            with self._autocast():
                features = self._model.features(images)
            if not features.requires_grad:  # the backbone is frozen
                break
            features.backward(gradient)
        checkpoint.set_rng_state(after, self._device)

    def _autocast(self) -> AbstractContextManager[object]:
        """A new autocast for each pass: within one, the second pass would reuse the casts of the weights."""
        return autocast(self._device, self._precision)


def coupling_layers(backbone: nn.Module) -> int:
    """The number of layers whose output for an image depends on the rest of the batch.

    Batch-norm that is trained looks at all images of a batch. Frozen batch-norm and other norms look at one.
    """
    was = {module: module.training for module in backbone.modules()}
    backbone.train()
    norms = [module for module in was if isinstance(module, nn.modules.batchnorm._BatchNorm)]
    count = sum(module.training or module.running_mean is None for module in norms)
    for module, training in was.items():
        module.training = training
    return count


def refuse_batch_norm(backbone: nn.Module) -> None:
    """Raise Problem if the backbone has `coupling_layers`."""
    if count := coupling_layers(backbone):
        raise Problem(
            f"This backbone cannot be trained in chunks: {count:,} of its layers are batch-norm, which compares all "
            "images of a batch.",
            kept="Nothing was started.",
            todo="Freeze batch-norm, use a backbone without it, or set the chunk to 0.",
        )


def refuse_coupling(model: nn.Module, images: Tensor) -> None:
    """Raise Problem if an image's features depend on another image of its batch, by any layer, also of a plug-in.

    They do not if the gradient of one image's features is zero at the other, and if they stay the same when the other
    image is replaced, which also shows statistics that a layer detaches. The model stays as it is: its modes, buffers
    and gradients, and the random state.

    Args:
        model: has `Halves`. images: [2, C, H, W].
    """
    modes = {module: module.training for module in model.modules()}
    kept = [(buffer, buffer.clone()) for buffer in model.buffers()]
    state = checkpoint.rng_state(images.device)

    def restore() -> None:
        checkpoint.set_rng_state(state, images.device)
        with torch.no_grad():
            for buffer, was in kept:
                buffer.copy_(was)

    def first_features(pair: Tensor) -> Tensor:
        return cast(Halves, model).features(pair)[0].flatten()

    pair = images.detach().clone().requires_grad_()
    noise = torch.randn(images[1].shape, generator=torch.Generator().manual_seed(0)).to(images)
    model.train()
    try:
        features = first_features(pair)
        # their plain sum would be constant behind a layer norm
        weighted = (features * torch.linspace(1, 2, len(features), device=features.device)).sum()
        gradient = torch.autograd.grad(weighted, pair)[0] if weighted.requires_grad else torch.zeros_like(pair)
        restore()
        with torch.no_grad():
            beside_noise = first_features(torch.stack([images[0], noise]))
    finally:
        restore()
        for module, training in modes.items():
            module.training = training
    moved = (beside_noise - features.detach()).nan_to_num().abs().max()
    if gradient[1].nan_to_num().any() or moved > ROUNDING * features.detach().nan_to_num().abs().max():
        raise Problem(
            "This backbone cannot be trained in chunks: the features of an image depend on the others of its batch.",
            kept="Nothing was started.",
            todo="Use another backbone, or set the chunk to 0.",
        )
