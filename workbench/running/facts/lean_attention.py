"""Attention without numbers that keeps what the fused one keeps, while the memory of a step is counted."""

from collections.abc import Callable
from types import FunctionType
from typing import Any

import torch  # noqa: TID253 - only memory_needed.py imports this file, inside a function
from torch import Tensor  # noqa: TID253
from torch.nn import functional  # noqa: TID253
from torch.overrides import TorchFunctionMode  # noqa: TID253

FUSED_DIMENSIONS = 4  # images, heads, tokens, numbers of a head


class LeanAttention(TorchFunctionMode):
    """In the block attention on the meta device keeps no matrix of all pairs: there, torch takes the way that does."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """As torch calls it."""
        if func is functional.scaled_dot_product_attention:
            return _lean(*args, **(kwargs or {}))
        if func is functional.multi_head_attention_forward:  # of nn.MultiheadAttention: calls the other one unseen
            func = _calling_lean(func)
        return func(*args, **(kwargs or {}))


def _lean(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, **options: Any,
) -> Any:  # fmt: skip
    """Lean where the CPU fuses: it keeps the matrix of all pairs for a bias that is trained, and for dropout."""
    biased = attn_mask is not None and attn_mask.requires_grad
    if biased or dropout_p or query.dim() != FUSED_DIMENSIONS or value.shape[-1] != query.shape[-1]:
        return functional.scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, **options)
    return _Attention.apply(query, key, value)


def _calling_lean(function: Any) -> Callable[..., Any]:
    """The same function with lean attention; torch's own stays as it is, for a run that trains on another thread."""
    names = {"scaled_dot_product_attention": _lean, "has_torch_function": lambda tensors: False}
    copy = FunctionType(function.__code__, {**function.__globals__, **names}, None, function.__defaults__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


class _Attention(torch.autograd.Function):  # without a backward pass: what is counted is never trained
    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        out = torch.empty_like(query)  # in the order of its numbers, too, as on the CPU: else reshaping it copies it
        ctx.save_for_backward(query, key, value, out)
        return out
