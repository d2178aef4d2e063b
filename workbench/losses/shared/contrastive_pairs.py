"""The contrastive loss as a mean over its active pairs, with its gradient computed in the same passes."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

NEAREST = 1e-6  # squared distance up to which two vectors count as equal, because the root has no gradient at 0


def contrastive_pairs(unit: Tensor, others: Tensor | None, same: Tensor, margin: float) -> Tensor:
    """Mean squared distance of positives plus mean squared shortfall of negatives, each over its pairs not zero.

    Scalar, differentiable once, with respect to `unit` only; a part without pairs is 0. No [n, m] tensor is kept for
    the gradient.

    Args:
        unit: [n, d] vectors at length 1.
        others: [m, d] vectors at length 1, constants; None is `unit` itself, without pairs of a vector with itself.
        same: [n, m] bool, the positive pairs; all others are negative.
        margin: distance above which negatives have no loss.
    """
    loss: Tensor = _ContrastivePairs.apply(unit, others, same, margin)
    return loss


class _ContrastivePairs(torch.autograd.Function):
    """In place, and by indices where a mask would be slower: a memory makes many pairs."""

    @staticmethod
    def forward(ctx: Any, unit: Tensor, others: Tensor | None, same: Tensor, margin: float) -> Tensor:
        partners = unit if others is None else others
        squared = F.threshold((-2 * unit @ partners.T).add_(2), NEAREST, 0.0, inplace=True)
        if others is None:
            squared.fill_diagonal_(0)
            same = same.clone().fill_diagonal_(True)
        apart = squared.sqrt()
        pulled = torch.where(same, squared, 0.0)
        pushed = apart.neg().add_(margin).clamp_min_(0).masked_fill_(same, 0)
        pulls, pushes = (pairs.count_nonzero().clamp_min(1) for pairs in (pulled, pushed))
        value = pulled.sum() / pulls + pushed.flatten().square().sum() / pushes
        if ctx.needs_input_grad[0]:
            # By the squared distances: 1 for each pull, -(m - D) / D for each push, 0 between equal vectors.
            apart = F.threshold(apart, 0.0, torch.inf, inplace=True)
            slope = pulled.sign_().div_(pulls).addcdiv_(pushed.div_(pushes), apart, value=-1)
            ctx.save_for_backward((slope @ partners).mul_(-2 if others is not None else -4))
        return value

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        (slope,) = ctx.saved_tensors
        return gradient * slope, None, None, None
