"""Log-sum-exp over chosen pairs in few passes, without subnormal numbers, which slow a processor down."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from workbench.losses.batch import is_quick

LEAST = -80.0  # exp of less, added to a sum of 1 or more, changes nothing even in float64


def log_sum_exp(values: Tensor, chosen: Tensor | None = None) -> Tensor:
    """Log of the sum of exp over the chosen values of each row of [n, m]; [n], differentiable once.

    A row without chosen values has a quarter of the most negative number, and no gradient.

    Args:
        values: [n, m] float.
        chosen: bool [n, m]; None is all but the diagonal (a sample itself), where m is at least n.
    """
    if is_quick(values.device, values.numel()):
        least = torch.finfo(values.dtype).min / 4
        if chosen is None:
            return values.clone().fill_diagonal_(least).logsumexp(1)
        return torch.where(chosen, values, least).logsumexp(1)
    sums: Tensor = _LogSumExp.apply(values, chosen)
    return sums


class _LogSumExp(torch.autograd.Function):
    """Keeps one matrix for the gradient; torch's logsumexp of a masked copy needs twice the passes."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, chosen: Tensor | None) -> Tensor:
        if chosen is None:
            shares = values.clone().fill_diagonal_(-torch.inf)
        else:
            shares = torch.where(chosen, values, -torch.inf)
        top = shares.amax(1, keepdim=True).clamp_min_(torch.finfo(values.dtype).min / 4)
        # Below LEAST exp would give subnormal numbers: a product with a matrix of them takes twenty times as long.
        shares = F.threshold(shares.sub_(top), LEAST, -torch.inf, inplace=True).exp_()
        total = shares.sum(1, keepdim=True).clamp_min_(1)  # 1 or more, except in a row without chosen values
        ctx.save_for_backward(shares, total)
        return (top + total.log())[:, 0]

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        shares, total = ctx.saved_tensors
        return F.hardshrink(shares * (gradient[:, None] / total), torch.finfo(shares.dtype).tiny), None
