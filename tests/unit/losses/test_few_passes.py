"""Log-sum-exp and distances with gradients of their own, and the memory that every loss needs."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from workbench.losses import build_loss, list_losses
from workbench.losses.batch import distances
from workbench.losses.log_sum_exp import log_sum_exp

N, D, K = 512, 16, 100
TINY = torch.finfo(torch.float32).tiny


@pytest.fixture
def values():
    return torch.randn(7, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 5


def value_and_gradient(of, at):
    at = at.clone().requires_grad_()
    value = of(at)
    return value.detach(), torch.autograd.grad((value * torch.arange(1.0, len(value) + 1)).sum(), at)[0]


def test_log_sum_exp_of_chosen_is_torch_s_over_a_masked_copy(values):
    chosen = torch.rand(values.shape, generator=torch.Generator().manual_seed(1)) < 0.5
    chosen[:, 0] = True
    found = value_and_gradient(lambda v: log_sum_exp(v, chosen), values)
    torch.testing.assert_close(
        found, value_and_gradient(lambda v: v.masked_fill(~chosen, -torch.inf).logsumexp(1), values)
    )


def test_log_sum_exp_leaves_out_the_diagonal(values):
    itself = torch.eye(7, 9, dtype=torch.bool)
    found = value_and_gradient(log_sum_exp, values)
    torch.testing.assert_close(
        found, value_and_gradient(lambda v: v.masked_fill(itself, -torch.inf).logsumexp(1), values)
    )


def test_a_row_with_nothing_chosen_has_no_gradient_and_a_nan_stays(values):
    chosen = torch.ones(values.shape, dtype=torch.bool)
    chosen[2] = False
    value, gradient = value_and_gradient(lambda v: log_sum_exp(v, chosen), values)
    assert value[2] == torch.finfo(torch.float64).min / 4
    assert not gradient[2].any()
    values[3, 3] = torch.nan
    assert log_sum_exp(values, chosen).isnan().tolist() == [False] * 3 + [True] + [False] * 3


@pytest.mark.parametrize("weight", [1.0, 1e-25])
def test_no_gradient_is_subnormal(weight):
    """A product with a matrix of subnormal numbers takes twenty times as long (N-pairs at 512 numbers)."""
    values = (torch.linspace(0, 200, 4000).view(1, -1)).requires_grad_()
    plain = torch.autograd.grad(weight * values.logsumexp(1).sum(), values)[0]
    assert ((plain > 0) & (plain < TINY)).any()
    found = torch.autograd.grad(weight * log_sum_exp(values, values > -1).sum(), values)[0]
    assert not ((found > 0) & (found < TINY)).any()
    torch.testing.assert_close(found, plain)


def test_distances_and_their_gradient_are_the_equation_s():
    z = torch.randn(6, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    z[4] = z[1]
    weights = torch.randn(6, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    z.requires_grad_()
    apart = distances(z)
    different = (z.detach()[:, None] != z.detach()[None, :]).any(2)
    first, second = different.nonzero(as_tuple=True)
    expected = (z[first] - z[second]).norm(dim=1)
    torch.testing.assert_close(apart[different], expected)
    assert not apart[~different].any()
    found = torch.autograd.grad((apart * weights).sum(), z)[0]
    torch.testing.assert_close(found, torch.autograd.grad((expected * weights[different]).sum(), z)[0])


class Largest(TorchDispatchMode):
    """The number of elements of the largest storage that any operation gave."""

    elements = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        found = func(*args, **(kwargs or {}))
        for each in found if isinstance(found, (tuple, list)) else (found,):
            if isinstance(each, torch.Tensor):
                self.elements = max(self.elements, each.untyped_storage().nbytes() // each.element_size())
        return found


@pytest.mark.parametrize("name", list_losses())
def test_no_loss_makes_a_tensor_of_n_by_n_by_n(name):
    """Forward and backward at 512 images: at most 16 numbers for each pair of images, not 512."""
    torch.manual_seed(0)
    loss = build_loss(name, num_classes=K, embedding_dim=D).train()
    z = torch.randn(N, D).requires_grad_()
    labels = torch.arange(N) // 4 % K
    if name == "ccp":
        loss.place(torch.randn(8 * K, D))
    with Largest() as largest:
        for _ in range(2):  # RankMI changes the embeddings in its second step alone
            value = loss(z, labels)
            if value.requires_grad:
                value.backward()
    assert N * D <= largest.elements <= 16 * N * N


def test_the_largest_tensor_is_seen():
    with Largest() as largest:
        torch.ones(4, 4, 4).sum().item()
    assert largest.elements == 64
