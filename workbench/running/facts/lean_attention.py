"""Attention without numbers that keeps what the fused one keeps, while the memory of a step is counted."""

from typing import Any

import torch  # noqa: TID253 - only memory_needed.py imports this file, inside a function
from torch import Tensor  # noqa: TID253
from torch.nn import functional  # noqa: TID253
from torch.overrides import TorchFunctionMode  # noqa: TID253


class LeanAttention(TorchFunctionMode):
    """In the block attention on the meta device keeps no matrix of all pairs: there, torch takes the way that does."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """As torch calls it."""
        if func is functional.scaled_dot_product_attention:
            return _Attention.apply(*args[:3])
        return func(*args, **(kwargs or {}))


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        out = query.new_empty(*query.shape[:-1], value.shape[-1])
        ctx.save_for_backward(query, key, value, out)
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise NotImplementedError("What is counted is never trained.")
