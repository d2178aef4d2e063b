"""Losses that were pytorch-metric-learning's, and are now our own, against it in float64: same values and gradients."""

import pytest
import torch
from pytorch_metric_learning import losses as library
from pytorch_metric_learning import miners
from pytorch_metric_learning.distances import DotProductSimilarity, LpDistance
from pytorch_metric_learning.utils.loss_and_miner_utils import get_all_pairs_indices
from torch import nn

from workbench.losses import build_loss
from workbench.losses.ccp import bounded

D, K = 5, 4
EUCLIDEAN, PRODUCT = LpDistance(normalize_embeddings=False), DotProductSimilarity(normalize_embeddings=False)
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

    def __init__(self, epsilon, beta=50, distance=None):
        super().__init__()
        self.loss = library.MultiSimilarityLoss(beta=beta, distance=distance)
        self.miner = miners.MultiSimilarityMiner(epsilon, distance=distance)

    def forward(self, z, y, others=None, other_labels=None):
        pairs = self.miner(z, y, others, other_labels)
        return self.loss(z, y, pairs, ref_emb=others, ref_labels=other_labels)


PAIRS = {  # parameters here, the library's loss
    "triplet": ({"triplets": "all"}, lambda: library.TripletMarginLoss(0.2)),
    "triplet, a wide margin": ({"triplets": "all", "margin": 1.5}, lambda: library.TripletMarginLoss(1.5)),
    "triplet, a narrow margin": ({"triplets": "all", "margin": 0.01}, lambda: library.TripletMarginLoss(0.01)),
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


INNER = {  # the library's loss within CCP, without unit length
    "contrastive_positive_margin": lambda: library.ContrastiveLoss(0.2652, 0.5409, distance=EUCLIDEAN),
    "multi_similarity": lambda: Mined(0.1, beta=40, distance=PRODUCT),
    "triplet": lambda: library.TripletMarginLoss(0.0961, distance=EUCLIDEAN),
}


@pytest.mark.parametrize("which", BATCHES)
@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("placed", [False, True], ids=["within the batch", "with proxies"])
def test_ccp_has_the_library_s_value_and_gradients(inner, placed, which):
    z, y = embeddings(which) / 6, BATCHES[which]
    loss, peer = build_loss("ccp", num_classes=K, embedding_dim=D, inner=inner, proxies=3).double(), INNER[inner]()
    if placed:
        loss.place(torch.randn(3 * K, D, dtype=torch.float64, generator=torch.Generator().manual_seed(1)) / 3)
    proxies = loss.proxies.detach().clone().requires_grad_()

    def reference(batch):
        inside, centres = bounded(batch), bounded(proxies.flatten(0, 1))
        nothing = 0 * (batch.sum() + proxies.sum())
        if not placed:
            return peer(inside, y) + nothing
        if inner == "multi_similarity":
            return peer(inside, y, centres, loss.classes)
        return peer(centres, loss.classes, ref_emb=inside, ref_labels=y) + nothing

    here, there = z.clone().requires_grad_(), z.clone().requires_grad_()
    value, expected = loss(here, y) + 0 * loss.proxies.sum(), reference(there)
    slopes = torch.autograd.grad(value, [here, loss.proxies]), torch.autograd.grad(expected, [there, proxies])
    assert_equal((value, *slopes[0]), (expected, *slopes[1]))


@pytest.mark.parametrize("which", [which for which in BATCHES if which != "one image"])  # a single pair gave 0
@pytest.mark.parametrize("inner", ["contrastive_positive_margin", "multi_similarity"])
def test_pairs_with_the_memory_have_the_library_s_value_and_gradient(inner, which):
    z, y = embeddings(which), BATCHES[which]
    loss = build_loss("xbm", num_classes=K, embedding_dim=D, inner=inner, memory=60, warm_up=1).double().train()
    peer = library.MultiSimilarityLoss() if inner == "multi_similarity" else library.ContrastiveLoss(0.3, 1)
    kept = nn.functional.normalize(z.flip(1))
    loss(z.flip(1), y)  # fills the memory; the next step uses it

    def reference(batch, labels):
        others = torch.cat([kept, nn.functional.normalize(batch).detach()])  # the batch is stored before it is compared
        anchors, positives, *far = get_all_pairs_indices(labels, labels.repeat(2))
        another = positives != anchors + len(labels)
        pairs = (anchors[another], positives[another], *far)
        return peer(batch, labels) + peer(batch, labels, pairs, ref_emb=others, ref_labels=labels.repeat(2))

    there = z.clone().requires_grad_()
    expected = reference(there, y)
    assert_equal(value_and_slopes(loss, z, y), (expected, torch.autograd.grad(expected, [there])))
