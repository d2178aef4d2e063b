"""Batch-norm by the statistics of the whole batch when each rank has a part of it, on any device."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from workbench.losses.shared.pair_lists import to_device

Gather = Callable[[Tensor], Tensor]
"""A vector [m] of this rank -> those of all ranks [k, m], in the order of the ranks; they hold until the next call."""


class SharedNorm(TorchFunctionMode):
    """In this context every batch-norm in training mode uses the statistics of all ranks together.

    It replaces `torch.nn.functional.batch_norm`, so that layers of any library keep their class and the names
    in a checkpoint. torch's SyncBatchNorm does the same on CUDA only.

    Args:
        gather: called on every rank twice for each layer, in the forward and in the backward pass.
        sizes: images of each rank, in the order of the ranks.
        rank: this one.
    """

    def __init__(self, gather: Gather, sizes: Sequence[int], rank: int) -> None:
        super().__init__()
        self._gather, self._sizes, self._rank = gather, sizes, rank

    def __torch_function__(
        self, func: Callable[..., Any], types: Iterable[type], args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if func is F.batch_norm:
            return self._normalised(*args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))

    def _normalised(
        self,
        images: Tensor,
        running_mean: Tensor | None,
        running_var: Tensor | None,
        weight: Tensor | None = None,
        bias: Tensor | None = None,
        training: bool = False,
        momentum: float = 0.1,
        eps: float = 1e-5,
    ) -> Tensor:
        if not training:
            return F.batch_norm(images, running_mean, running_var, weight, bias, False, momentum, eps)
        mean, variance = _moments(images.detach(), self._gather, self._sizes)
        count = images.numel() / images.shape[1] * sum(self._sizes) / self._sizes[self._rank]
        if running_mean is not None and running_var is not None:
            running_mean.lerp_(mean.to(running_mean.dtype), momentum)
            running_var.lerp_((variance * (count / (count - 1))).to(running_var.dtype), momentum)
        normalised: Tensor = _Normalise.apply(images, weight, bias, mean, variance, count, eps, self._gather)
        return normalised


def _moments(images: Tensor, gather: Gather, sizes: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Mean [C] and variance [C] (not corrected) of each channel, over all ranks.

    Every small operation counts: after a convolution its code is no longer in the cache.
    """
    wide = images.float() if images.dtype in (torch.float16, torch.bfloat16) else images
    moments = gather(torch.cat(torch.batch_norm_update_stats(wide, None, None, 0.0)))  # 40 times var_mean's speed
    if min(sizes) == max(sizes):
        between, together = torch.var_mean(moments, 0, correction=0)
        mean, variance = together.chunk(2)
        return mean, variance + between[: len(mean)]
    shares = to_device(np.array(sizes), moments.device).to(moments.dtype)[:, None] / sum(sizes)
    means, variances = moments.chunk(2, 1)
    mean = (shares * means).sum(0)
    return mean, (shares * (variances + (means - mean).square())).sum(0)


class _Normalise(torch.autograd.Function):
    """Batch-norm with moments that depend on the images of all ranks."""

    @staticmethod
    def forward(
        ctx: Any, images: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor, variance: Tensor,
        count: float, eps: float, gather: Gather,
    ) -> Tensor:  # fmt: skip
        ctx.save_for_backward(images, weight, mean, (variance + eps).rsqrt())
        ctx.count, ctx.eps, ctx.gather = count, eps, gather
        return F.batch_norm(images, mean, variance, weight, bias, False, 0.0, eps)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        images, weight, mean, scale = ctx.saved_tensors
        gradient = gradients[0]
        _, of_weight, of_bias = torch.ops.aten.native_batch_norm_backward(
            gradient, images, torch.ones_like(mean) if weight is None else weight, None, None, mean, scale, True,
            ctx.eps, [False, True, True],
        )  # fmt: skip
        products, sums = ctx.gather(torch.cat([of_weight, of_bias])).sum(0).div_(ctx.count).chunk(2)
        slope = scale if weight is None else scale * weight
        across = products * slope * scale
        constant = torch.addcmul(across * mean, slope, sums, value=-1)
        shape = (1, -1, *[1] * (images.ndim - 2))
        of_images = torch.addcmul(constant.view(shape), images, across.view(shape), value=-1)
        of_images.addcmul_(gradient, slope.view(shape))
        own = (None, None) if weight is None else (of_weight, of_bias)
        return of_images.to(images.dtype), *own, None, None, None, None, None
