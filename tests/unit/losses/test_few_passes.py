"""Log-sum-exp, distances and other parts with gradients of their own, and the memory that every loss needs."""

import pytest
import torch
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from workbench.losses import build_loss, list_losses
from workbench.losses.batch import SHORTEST, distances, gram, on_sphere
from workbench.losses.shared.contrastive_pairs import contrastive_pairs
from workbench.losses.shared.log_sum_exp import log_sum_exp

N, D, K = 512, 16, 100
TINY = torch.finfo(torch.float32).tiny


@pytest.fixture
def values():
    return torch.randn(7, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 5


@pytest.fixture(params=["own gradient", "torch's"])
def either_way(request, monkeypatch):
    """The way of a processor, and that of a GPU with a small matrix."""
    if request.param != "own gradient":
        monkeypatch.setattr("workbench.losses.batch.SLOW", ())


def value_and_gradient(of, at):
    at = at.clone().requires_grad_()
    value = of(at)
    return value.detach(), torch.autograd.grad((value * torch.arange(1.0, len(value) + 1)).sum(), at)[0]


@pytest.mark.usefixtures("either_way")
def test_log_sum_exp_of_chosen_is_torch_s_over_a_masked_copy(values):
    chosen = torch.rand(values.shape, generator=torch.Generator().manual_seed(1)) < 0.5
    chosen[:, 0] = True
    found = value_and_gradient(lambda v: log_sum_exp(v, chosen), values)
    torch.testing.assert_close(
        found, value_and_gradient(lambda v: v.masked_fill(~chosen, -torch.inf).logsumexp(1), values)
    )


@pytest.mark.usefixtures("either_way")
def test_log_sum_exp_leaves_out_the_diagonal(values):
    itself = torch.eye(7, 9, dtype=torch.bool)
    found = value_and_gradient(log_sum_exp, values)
    torch.testing.assert_close(
        found, value_and_gradient(lambda v: v.masked_fill(itself, -torch.inf).logsumexp(1), values)
    )


@pytest.mark.usefixtures("either_way")
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


@pytest.mark.parametrize("shape", [(6, 4), (3, 2, 4)])
@pytest.mark.parametrize("radius", [1.0, 3.5])
def test_on_the_sphere_is_torch_s_normalize_and_its_gradient(shape, radius):
    generator = torch.Generator().manual_seed(0)
    vectors, weights = (torch.randn(shape, dtype=torch.float64, generator=generator) for _ in range(2))
    vectors[0] = 0
    vectors[1] *= SHORTEST / 10
    found, expected = (
        value_and_gradient(of, vectors)
        for of in (
            lambda v: (on_sphere(v, radius) * weights).flatten(1).sum(1),
            lambda v: (radius * F.normalize(v, dim=-1) * weights).flatten(1).sum(1),
        )
    )
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    assert torch.autograd.gradcheck(lambda v: on_sphere(v, radius), weights.requires_grad_())


@pytest.mark.usefixtures("either_way")
def test_gram_s_one_product_is_the_gradient_by_both_sides(values):
    weights = torch.rand(7, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(1))  # not symmetric
    found = value_and_gradient(lambda v: (gram(v) * weights).sum(1), values)
    torch.testing.assert_close(found, value_and_gradient(lambda v: (v @ v.T * weights).sum(1), values))


def plain_contrastive(unit, others, positive, negative, margin):
    """Over the pairs that are not zero; without a root of 0 for equal vectors."""
    squared = (unit[:, None] - others[None, :]).square().sum(2)
    apart = squared.clamp_min(1e-30).sqrt()
    pulled, pushed = squared[positive], (margin - apart).clamp_min(0)[negative]
    return pulled.sum() / max(1, pulled.count_nonzero()) + pushed.square().sum() / max(1, pushed.count_nonzero())


@pytest.mark.parametrize("labels", ["some", "one class", "no positive"])
@pytest.mark.parametrize("kept", [0, 9])
def test_contrastive_pairs_are_the_loss_within_the_batch_and_with_a_memory(labels, kept):
    generator = torch.Generator().manual_seed(0)
    unit, others = (F.normalize(torch.randn(n, 4, dtype=torch.float64, generator=generator)) for n in (8, 9))
    unit[5] = unit[2]  # pushed apart, but without a direction
    others[3] = unit[0]
    y = {"some": torch.arange(8) % 3, "one class": torch.zeros(8), "no positive": torch.arange(8)}[labels]
    same = y[:, None] == (torch.arange(9) % 3 + (8 if labels == "no positive" else 0) if kept else y)[None, :]
    itself = torch.zeros_like(same) if kept else torch.eye(8, dtype=torch.bool)

    def plain(v):
        v = F.normalize(v)
        return plain_contrastive(v, others if kept else v, same & ~itself, ~same, 1.2)[None]

    def ours(v):
        return contrastive_pairs(F.normalize(v), others if kept else None, same, 1.2)[None]

    torch.testing.assert_close(value_and_gradient(ours, unit), value_and_gradient(plain, unit))


def test_contrastive_pairs_keep_nothing_as_large_as_the_pairs():
    unit, others = F.normalize(torch.randn(6, 4)).requires_grad_(), F.normalize(torch.randn(50, 4))
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda each: kept.append(each.numel()) or each, lambda each: each):
        contrastive_pairs(unit, others, torch.rand(6, 50) < 0.5, 1.0)
    assert kept == [6 * 4]


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


@pytest.mark.parametrize("name", list_losses())
def test_small_matrices_on_a_gpu_give_the_same_value_and_gradient(name, monkeypatch):
    """With torch's own gradients of log-sum-exp and inner products, which take a GPU less time than Python's."""
    labels, found = torch.arange(32) // 4 % 8, []
    labels[-1] = 9  # without a positive
    for slow in (("cpu",), ()):
        monkeypatch.setattr("workbench.losses.batch.SLOW", slow)
        torch.manual_seed(0)
        loss = build_loss(name, num_classes=10, embedding_dim=D).double().train()
        if name == "ccp":
            loss.place(torch.randn(80, D, dtype=torch.float64))
        for _ in range(2):  # RankMI changes the embeddings in its second step alone
            embeddings = torch.randn(32, D, dtype=torch.float64, requires_grad=True)
            value = loss(embeddings, labels)
            (gradient,) = torch.autograd.grad(value, embeddings, allow_unused=True)
            found.append((value.detach(), gradient))
    torch.testing.assert_close(found[:2], found[2:], rtol=1e-11, atol=1e-13)
