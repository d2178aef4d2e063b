"""What every registered loss must obey in float64: slopes, single precision, names of classes, turned embeddings."""

import pytest
import torch
from torch import nn

from workbench import registry
from workbench.losses import build_loss, list_losses
from workbench.losses.shared.distance_weighted import times_drawn

registry.discover("workbench.losses")
N, D, K = 18, 5, 3
every_loss = pytest.mark.parametrize("name", list_losses())
DRAWN = ("margin", "rankmi")  # weigh negatives by distance; the weights count as constants
PROXY_COLUMNS = ("softmax.W",)
CONSTANT_WEIGHTS = ("ice", "circle", "adaface")  # their gradients take weights or lengths as constants
TURN = torch.linalg.qr(torch.randn(D, D, generator=torch.Generator().manual_seed(1), dtype=torch.float64)).Q


@pytest.fixture
def batch():
    generator = torch.Generator().manual_seed(0)
    return torch.randn(N, D, generator=generator, dtype=torch.float64), torch.arange(N) % K


def built(name, dtype=torch.float64):
    """The loss with parameters that are no zeros, CCP with its proxies placed."""
    generator = torch.Generator().manual_seed(2)
    torch.manual_seed(0)
    loss = build_loss(name, num_classes=K, embedding_dim=D).double().eval()
    for weight in loss.parameters():
        if not weight.any():
            nn.init.normal_(weight, std=0.3, generator=generator)
    if name == "ccp":
        loss.place(torch.randn(K * loss.params.proxies, D, generator=generator, dtype=torch.float64))
    return loss.to(dtype)


def value_and_slope(loss, z, y):
    z = z.clone().requires_grad_()
    value = loss(z, y)
    (slope,) = torch.autograd.grad(value, z)
    return value.double(), slope.double()


@pytest.mark.parametrize("name", [each for each in list_losses() if each not in CONSTANT_WEIGHTS])
def test_the_gradient_is_the_slope(name, batch, monkeypatch):
    z, y = batch
    if name in DRAWN:
        fixed = times_drawn(torch.cdist(nn.functional.normalize(z), nn.functional.normalize(z)),
                            y[:, None] != y[None, :], torch.full((N,), N // K - 1), D, training=False)  # fmt: skip
        monkeypatch.setattr(f"workbench.losses.{name}.times_drawn", lambda *given: fixed)
    loss = built(name)
    assert torch.autograd.gradcheck(lambda each: loss(each, y), z.clone().requires_grad_())


@every_loss
def test_single_precision_agrees_with_double_to_five_digits(name, batch):
    z, y = batch
    value, slope = value_and_slope(built(name), z, y)
    found, found_slope = value_and_slope(built(name, torch.float32), z.float(), y)
    assert (found - value).abs() <= 1e-5 * value.abs().clamp_min(1e-2)
    assert slope.norm() > 1e-4
    assert (found_slope - slope).norm() <= 1e-5 * slope.norm()


@every_loss
def test_naming_the_classes_otherwise_changes_nothing(name, batch):
    z, y = batch
    loss, other = built(name), built(name)
    renamed = torch.tensor([2, 0, 1])
    with torch.no_grad():
        if name == "tsc":
            other.assigned[renamed] = loss.assigned  # which target a class has, not where the targets lie
        else:
            for key, held in other.state_dict().items():
                before = loss.state_dict()[key]
                if key in PROXY_COLUMNS:  # [D, K c]
                    held.T.unflatten(0, (K, -1))[renamed] = before.T.unflatten(0, (K, -1))
                elif torch.is_tensor(held) and held.ndim and held.shape[0] == K:  # a row for each class
                    held[renamed] = before
    expected, slope = value_and_slope(loss, z, y)
    found, found_slope = value_and_slope(other, z, renamed[y])
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(found_slope, slope)


@every_loss
def test_turning_all_embeddings_and_proxies_changes_nothing(name, batch):
    """Losses are made of lengths, angles and distances; the gradient turns along."""
    z, y = batch
    loss, other = built(name), built(name)
    with torch.no_grad():
        for held in other.state_dict().values():
            if torch.is_tensor(held) and held.is_floating_point() and held.ndim and held.shape[-1] == D:
                held.copy_(held @ TURN)
            elif torch.is_tensor(held) and held.shape[:1] == (D,):  # a column for each proxy
                held.copy_(TURN.T @ held)
    expected, slope = value_and_slope(loss, z, y)
    found, found_slope = value_and_slope(other, z @ TURN, y)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(found_slope, slope @ TURN)
