"""The anatomy measured for any loss: its parts add up, its classifier is found, what is undefined is NaN."""

import math

import pytest
import torch

from workbench.losses import anatomy_view as module
from workbench.losses import build_loss, list_losses
from workbench.losses.anatomy_view import anatomy, classifier_of

N, D, K = 240, 6, 3


@pytest.fixture
def batch():
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(N) % K
    return torch.randn(N, D, generator=generator) + 2 * torch.eye(K, D)[labels], labels


def trained(name, batch):
    torch.manual_seed(0)
    loss = build_loss(name, num_classes=K, embedding_dim=D)
    if weights := list(loss.parameters()):
        optimiser = torch.optim.SGD(weights, lr=0.1)
        for _ in range(20):
            optimiser.zero_grad()
            value = loss(*batch)
            if value.requires_grad:
                value.backward()
            optimiser.step()
    return loss.eval()


@pytest.mark.parametrize("name", list_losses())
def test_every_loss_has_an_anatomy(name, batch):
    found = anatomy(trained(name, batch), *batch, K)
    assert {"anatomy/spce/tightness", "anatomy/ms/contrastive", "anatomy/entropy/within"} <= set(found)
    assert found["anatomy/entropy/labels"] == pytest.approx(math.log(K))
    assert found["anatomy/information/generative"] == pytest.approx(
        found["anatomy/entropy/embeddings"] - found["anatomy/entropy/within"]
    )


def test_ce_s_parts_add_up_to_its_value_and_pce_s_to_pce(batch):
    loss = trained("ce", batch)
    found = anatomy(loss, *batch, K)
    expected = torch.nn.functional.cross_entropy(loss.logits(batch[0]), batch[1]).item()
    assert found["anatomy/ce"] == pytest.approx(expected, rel=1e-5)
    assert found["anatomy/ce/tightness"] + found["anatomy/ce/contrastive"] == pytest.approx(expected, rel=1e-5)
    assert found["anatomy/pce/tightness"] + found["anatomy/pce/contrastive"] == pytest.approx(found["anatomy/pce"])
    assert found["anatomy/lambda"] > 0


def test_fewer_images_than_dimensions_leave_a_gap_not_a_number(batch):
    loss = trained("ce", batch)
    found = anatomy(loss, batch[0][: D - 1], batch[1][: D - 1], K)
    assert math.isnan(found["anatomy/pce"])
    assert found["anatomy/lambda"] < 1e-8


def test_pce_that_would_take_too_long_is_left_out(batch, monkeypatch):
    monkeypatch.setattr(module, "DEAREST", K * D**3 - 1)
    found = anatomy(trained("ce", batch), *batch, K)
    assert math.isnan(found["anatomy/lambda"])
    assert math.isfinite(found["anatomy/ce"])


def test_proxies_stand_in_for_a_classifier_only_where_each_class_has_one(batch):
    weight, bias = classifier_of(trained("norm_ce", batch), K)
    assert weight.shape == (K, D)
    assert bias is None
    assert classifier_of(trained("contrastive", batch), K) is None
    assert "anatomy/ce" not in anatomy(trained("contrastive", batch), *batch, K)
