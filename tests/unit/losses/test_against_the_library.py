"""Losses that were pytorch-metric-learning's, and are now our own, against it in float64: same values and gradients."""

import pytest
import torch
from pytorch_metric_learning import losses as library
from pytorch_metric_learning import miners
from torch import nn

from workbench.losses import build_loss

D, K = 5, 4
BATCHES = {
    "four classes": torch.arange(18) % K,
    "more images than the library compares one by one": torch.arange(30) % K,
    "uneven classes": torch.tensor([0, 0, 0, 0, 1, 2]),
    "no positives": torch.arange(K),
    "one class": torch.full((6,), 2),
    "one image": torch.tensor([3]),
    "equal embeddings": torch.tensor([0, 0, 1, 1, 2, 2, 0]),
}
PROXIES = {  # parameters here, the key of the proxies, the library's loss
    "arcface": ({"scale": 8.0}, "softmax.W", lambda: library.ArcFaceLoss(K, D, margin=28.6, scale=8)),
    "arcface, past 180 degrees": (
        {"scale": 8.0, "margin": 80.0}, "softmax.W", lambda: library.ArcFaceLoss(K, D, margin=80, scale=8)
    ),
    "cosface": ({}, "softmax.W", lambda: library.CosFaceLoss(K, D)),
    "sub_center_arcface": (
        {}, "softmax.W", lambda: library.SubCenterArcFaceLoss(num_classes=K, embedding_size=D, margin=28.6)
    ),
    "proxy_anchor": ({}, "anchors.proxies", lambda: library.ProxyAnchorLoss(K, D)),
    "proxy_anchor, sharp": (
        {"alpha": 400.0, "margin": 0.9}, "anchors.proxies", lambda: library.ProxyAnchorLoss(K, D, 0.9, 400)
    ),
}  # fmt: skip


class Mined(nn.Module):
    """The library's multi-similarity loss on what its miner finds."""

    def __init__(self, epsilon):
        super().__init__()
        self.loss, self.miner = library.MultiSimilarityLoss(), miners.MultiSimilarityMiner(epsilon)

    def forward(self, z, y):
        return self.loss(z, y, self.miner(z, y))


PAIRS = {  # parameters here, the library's loss
    "contrastive_positive_margin": ({}, lambda: library.ContrastiveLoss(0.3, 0.8)),
    "contrastive_positive_margin, positives to 0": (
        {"positive_margin": 0.0, "negative_margin": 2.0},
        lambda: library.ContrastiveLoss(0, 2),
    ),
    "circle": ({}, library.CircleLoss),
    "circle, another margin": ({"margin": 0.1, "scale": 256.0}, lambda: library.CircleLoss(0.1, 256)),
    "multi_similarity": ({}, lambda: Mined(0.1)),
    "multi_similarity, few pairs": ({"epsilon": 0.0}, lambda: Mined(0.0)),
    "multi_similarity, all pairs": ({"epsilon": 2.0}, lambda: Mined(2.0)),
}


def embeddings(which):
    z = 3 * torch.randn(len(BATCHES[which]), D, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    if which == "equal embeddings":
        z[1], z[2], z[5] = z[0], z[0], 2 * z[4]  # in a class, between classes, and equal once at unit length
    return z


def value_and_slopes(loss, z, y, *more):
    wanted = [z.clone().requires_grad_(), *loss.parameters()]
    value = loss(wanted[0], y, *more)
    return value, torch.autograd.grad(value, wanted)


def assert_equal(found, expected):
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("which", BATCHES)
@pytest.mark.parametrize("case", PROXIES)
def test_a_loss_with_proxies_has_the_library_s_value_and_gradients(case, which):
    params, key, make = PROXIES[case]
    torch.manual_seed(0)
    loss = build_loss(case.split(",")[0], num_classes=K, embedding_dim=D, **params)
    torch.manual_seed(0)
    peer = make()
    assert torch.equal(loss.state_dict()[key], next(peer.parameters())), "a seed gives the proxies that it gave"
    assert list(loss.state_dict()) == [key]
    z, y = embeddings(which), BATCHES[which]
    assert_equal(value_and_slopes(loss.double(), z, y), value_and_slopes(peer.double(), z, y))


@pytest.mark.parametrize("which", BATCHES)
@pytest.mark.parametrize("case", PAIRS)
def test_a_loss_of_pairs_has_the_library_s_value_and_gradient(case, which):
    params, make = PAIRS[case]
    loss = build_loss(case.split(",")[0], num_classes=K, embedding_dim=D, **params)
    assert not loss.state_dict(), "a checkpoint holds nothing of it, as before"
    z, y = embeddings(which), BATCHES[which]
    assert_equal(value_and_slopes(loss, z, y), value_and_slopes(make(), z, y))


@pytest.mark.parametrize("name", ["arcface", "sub_center_arcface"])
def test_an_embedding_on_its_proxy_has_a_gradient(name):
    """The slope of an angle of 0 is infinite: the library's gradient is NaN there."""
    loss = build_loss(name, num_classes=K, embedding_dim=D, scale=8.0).double()
    with torch.no_grad():
        loss.softmax["W"].copy_(torch.eye(D, dtype=torch.float64).repeat(1, 3)[:, : loss.softmax["W"].shape[1]])
    value, slopes = value_and_slopes(loss, 2 * torch.eye(D, dtype=torch.float64)[:K], torch.arange(K))
    assert all(number.isfinite().all() for number in (value, *slopes))
