"""Batch-norm of a batch whose parts lie on several ranks, played by threads."""

import threading
from collections.abc import Sequence

import pytest
import torch
from torch import Tensor, nn

from tests.waits import HANG
from workbench.training.shared_norm import SharedNorm


class Exchange:
    """What each of several threads hands in, for all of them."""

    def __init__(self, count: int) -> None:
        self._barrier = threading.Barrier(count, timeout=HANG)
        self._parts: list[Tensor] = [torch.empty(0)] * count

    def of_each(self, rank: int, own: Tensor) -> Tensor:
        self._parts[rank] = own
        self._barrier.wait()
        parts = torch.stack(self._parts)
        self._barrier.wait()
        return parts


def trained(images: Tensor, slopes: Tensor, norm: nn.BatchNorm2d) -> tuple[Tensor, Tensor]:
    """What the layer gives, and the gradient of its images."""
    own = images.clone().requires_grad_()
    normalised = norm(own)
    normalised.backward(slopes)
    assert own.grad is not None
    return normalised.detach(), own.grad


@pytest.mark.parametrize("sizes", [[4, 4], [3, 5], [1, 2, 5]])
@pytest.mark.parametrize("affine", [True, False])
def test_parts_are_normalised_as_the_whole_batch(sizes: Sequence[int], affine: bool) -> None:
    torch.manual_seed(0)
    images = torch.randn(8, 6, 5, 5, dtype=torch.float64) * 3 + 100
    slopes = torch.randn_like(images)

    def layer() -> nn.BatchNorm2d:
        norm = nn.BatchNorm2d(6, affine=affine, dtype=torch.float64)
        if affine:
            nn.init.uniform_(norm.weight, generator=torch.Generator().manual_seed(1))
            nn.init.uniform_(norm.bias, generator=torch.Generator().manual_seed(2))
        return norm

    whole, exchange = layer(), Exchange(len(sizes))
    expected = trained(images, slopes, whole)
    norms = [layer() for _ in sizes]
    given: list[tuple[Tensor, Tensor]] = [expected] * len(sizes)

    def work(rank: int) -> None:
        with SharedNorm(lambda own: exchange.of_each(rank, own), sizes, rank):
            given[rank] = trained(images.split(sizes)[rank], slopes.split(sizes)[rank], norms[rank])

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(len(sizes))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for place in (0, 1):
        torch.testing.assert_close(
            torch.cat([parts[place] for parts in given]), expected[place], rtol=1e-12, atol=1e-12
        )
    for norm in norms:
        torch.testing.assert_close(norm.running_mean, whole.running_mean, rtol=1e-12, atol=0)
        torch.testing.assert_close(norm.running_var, whole.running_var, rtol=1e-12, atol=0)
    if affine:
        for name in ("weight", "bias"):
            gradients = [getattr(norm, name).grad for norm in norms]
            torch.testing.assert_close(sum(gradients), getattr(whole, name).grad, rtol=1e-11, atol=1e-11)
