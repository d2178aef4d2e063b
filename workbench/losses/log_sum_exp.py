"""Log-sum-exp over chosen pairs in few passes, with no number so small that a processor slows down over it."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

LEAST = -80.0  # exp of less, beside a sum of 1 or more, is nothing even in float64


def log_sum_exp(values: Tensor, chosen: Tensor | None = None) -> Tensor:
    """Log of the sum of exp over the chosen of each row of [n, m]; [n], differentiable once.

    A row with none has the most negative number over four, and no gradient.

    Args:
        values: [n, m] float.
        chosen: bool [n, m]; None is all but the diagonal (a sample itself), where m is at least n.
    """
    sums: Tensor = _LogSumExp.apply(values, chosen)
    return sums


class _LogSumExp(torch.autograd.Function):
    """Keeps one matrix for the gradient; torch's own over a masked copy makes twice the passes."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, chosen: Tensor | None) -> Tensor:
        if chosen is None:
            shares = values.clone().fill_diagonal_(-torch.inf)
        else:
            shares = torch.where(chosen, values, -torch.inf)
        top = shares.amax(1, keepdim=True).clamp_min_(torch.finfo(values.dtype).min / 4)
        # Below LEAST exp would give subnormal numbers: a product with a matrix of them takes twenty times as long.
        shares = F.threshold(shares.sub_(top), LEAST, -torch.inf, inplace=True).exp_()
        total = shares.sum(1, keepdim=True).clamp_min_(1)  # it is 1 or more but in a row with none
        ctx.save_for_backward(shares, total)
        return (top + total.log())[:, 0]

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        shares, total = ctx.saved_tensors
        return F.hardshrink(shares * (gradient[:, None] / total), torch.finfo(shares.dtype).tiny), None
