"""A loss against its equation written out in float64: value and gradient, in double and in single precision."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

PRECISIONS = ((torch.float32, 1e-5), (torch.float64, 1e-9))  # how far a loss may be off, as a share


def agree(loss: nn.Module, reference: Callable[[Tensor, Tensor], Tensor], batch: tuple[Tensor, Tensor]) -> None:
    """Value, and gradient by its length, against `reference(z, y)`."""
    z, y = batch
    z = z.clone().requires_grad_()
    expected = reference(z, y)
    (slope,) = torch.autograd.grad(expected, z)
    assert slope.abs().max() > 1e-3, "the reference says something"
    for dtype, tolerance in PRECISIONS:
        other = z.detach().to(dtype).requires_grad_()
        value = loss.to(dtype)(other, y)
        (found,) = torch.autograd.grad(value, other)
        torch.testing.assert_close(value.double(), expected.detach(), rtol=tolerance, atol=0)
        assert (found.double() - slope).norm() <= tolerance * slope.norm()
