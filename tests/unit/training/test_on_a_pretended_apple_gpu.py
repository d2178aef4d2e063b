"""What a run on an Apple GPU computes is what the CPU computes, without float64 and other things that it lacks."""

import copy

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from tests.pretended_apple import AppleGpu, OnApple, on_apple
from workbench.backbones.conv4 import Conv4, Conv4Params
from workbench.datasets.batches.augment import CropFlip, CropFlipParams, colour_turn, sampled
from workbench.evaluation.clusters import nmi
from workbench.losses import build_loss, list_losses
from workbench.losses.anatomy_view import anatomy
from workbench.losses.shared.pair_lists import keep_on_cpu

N, D, K = 32, 16, 10


def batch():
    labels = np.arange(N) // 4 % K
    torch.manual_seed(0)
    return torch.randn(N, D), torch.from_numpy(labels)


def measured(loss, embeddings, labels):
    torch.manual_seed(1)
    value = loss(embeddings, labels).item()
    loss.eval()
    points = anatomy(loss, embeddings, labels)
    charts = [mark for chart in loss.charts(embeddings, labels) for mark in chart.marks]
    return [value, *points.values()], charts


@pytest.mark.parametrize("name", list_losses())
def test_a_loss_its_anatomy_and_its_charts(name):
    loss = build_loss(name, num_classes=K, embedding_dim=D)
    if name == "ccp":
        loss.place(torch.randn(8 * K, D))
    other = on_apple(copy.deepcopy(loss))
    embeddings, labels = batch()
    expected, marks = measured(loss, embeddings, labels)
    there = keep_on_cpu(labels.as_subclass(OnApple), labels.numpy())
    with AppleGpu():
        found, other_marks = measured(other, embeddings.as_subclass(OnApple), there)
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-6, nan_ok=True)
    for mark, other_mark in zip(marks, other_marks, strict=True):
        assert other_mark.y == pytest.approx(mark.y, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("params", [{"jitter": 0.2, "hue": 0.1}, {"fixed": True}])
def test_a_random_crop(params):
    crop, images = CropFlip(CropFlipParams(**params)), torch.rand(4, 3, 20, 20)
    expected = crop(images, torch.Generator().manual_seed(0))
    try:
        with AppleGpu():
            found = crop(images.as_subclass(OnApple), torch.Generator().manual_seed(0))
    finally:
        colour_turn.cache_clear()
    assert isinstance(found, OnApple)
    assert torch.allclose(found.as_subclass(torch.Tensor), expected, atol=1e-5)


def test_places_beyond_a_border():
    images, grid = torch.rand(2, 3, 9, 7), torch.rand(2, 5, 5, 2) * 3 - 1.5
    expected = sampled(images, grid)
    with AppleGpu():
        found = sampled(images.as_subclass(OnApple), grid.as_subclass(OnApple))
    assert torch.allclose(found.as_subclass(torch.Tensor), expected, atol=1e-5)


@pytest.mark.parametrize("side", [8, 28, 64])
def test_four_convolutions_on_sides_that_are_no_multiple_of_the_parts(side):
    network, images = Conv4(Conv4Params(width=4), 1).eval(), torch.rand(2, 1, side, side)
    expected = network(images)
    with AppleGpu():
        found = on_apple(network)(images.as_subclass(OnApple))
    assert torch.equal(found.as_subclass(torch.Tensor), expected)


def test_clusters():
    embeddings, labels = (tensor.numpy() for tensor in batch())
    with AppleGpu():
        assert nmi(embeddings, labels, device="mps") == nmi(embeddings, labels)


@pytest.mark.parametrize(
    "operation",
    [
        lambda x: x.double(),
        lambda x: x.to(torch.float64),
        lambda x: torch.zeros(3, dtype=torch.float64, device=x.device),
        lambda x: torch.pdist(x),
        lambda x: x + torch.ones(3),
        lambda x: F.grid_sample(x.view(1, 1, 3, 3), x.view(1, 3, 3, 1).expand(1, 3, 3, 2), padding_mode="border"),
        lambda x: F.adaptive_max_pool2d(x[None], 2),
    ],
)
def test_what_an_apple_gpu_lacks_is_seen(operation):
    with AppleGpu(), pytest.raises((TypeError, RuntimeError)):
        operation(torch.ones(3, 3).as_subclass(OnApple))
