"""Backbones for pictures of 32 px: ResNet-32 of the long-tailed tables, and ResNets with a small stem."""

import pytest
import torch
from torch import nn

from workbench.backbones.model import build_model
from workbench.backbones.resnet32 import ResNet32
from workbench.backbones.small_network import StagesParams
from workbench.config import EmbeddingParams
from workbench.problem import Problem


def test_resnet_32_has_the_size_of_its_source():
    backbone = ResNet32(StagesParams(), 3).eval()
    convolutions = [each for each in backbone.modules() if isinstance(each, nn.Conv2d)]
    assert len(convolutions) == 31, "the 32nd layer is the embedding's linear one"
    assert 0.45e6 < sum(weight.numel() for weight in backbone.parameters()) < 0.48e6
    assert backbone.layers[:-2](torch.rand(1, 3, 32, 32)).shape == (1, 64, 8, 8)


def test_a_shortcut_without_weights_keeps_every_second_place():
    block = ResNet32(StagesParams(), 3).eval().layers[8]
    nn.init.zeros_(block.norm2.weight)
    images = torch.rand(1, 16, 8, 8)
    found = block(images)
    assert found.shape == (1, 32, 4, 4)
    assert torch.equal(found[:, 8:24], images[..., ::2, ::2])
    assert not found[:, :8].any()


def test_the_small_stem_keeps_all_places():
    for stem, side in (("published", 1), ("small", 4)):
        backbone = build_model("resnet18", {"stem": stem}, EmbeddingParams(dim=10), 3).backbone.eval()
        assert backbone.layers[1](torch.rand(1, 3, 32, 32)).shape[-1] == side


def test_the_small_stem_does_not_go_with_published_weights():
    with pytest.raises(Problem, match="belong to the published stem"):
        build_model("resnet18", {"stem": "small", "weights": "cache"}, EmbeddingParams(), 3)


@pytest.mark.parametrize(
    ("name", "params", "side", "least"),
    [("squeezenet1_0", {}, 16, 32), ("googlenet", {}, 8, 16), ("timm", {"model": "test_convnext"}, 28, 32)],
)
def test_images_that_are_too_small_are_a_problem_of_their_size(name, params, side, least):
    model = build_model(name, params, EmbeddingParams(dim=10), 3)
    with pytest.raises(Problem, match=f"Images of {side} px are too small.*needs about {least} px or more") as raised:
        model(torch.rand(4, 3, side, side))
    assert raised.value.field == "dataset.image_size"
    assert model.training
    assert model.backbone.training
    model(torch.rand(4, 3, least, least))


def test_an_error_that_no_size_mends_stays_what_it_is(monkeypatch):
    model = build_model("conv4", {}, EmbeddingParams(dim=10), 3)
    monkeypatch.setattr(model.backbone, "forward", lambda images: torch.ones(2) @ torch.ones(3))
    with pytest.raises(RuntimeError, match="inconsistent tensor size"):
        model(torch.rand(2, 3, 32, 32))


def test_a_batch_without_memory_is_not_called_too_small(monkeypatch):
    model = build_model("conv4", {}, EmbeddingParams(dim=10), 3)
    forward = model.backbone.forward

    def short_of_memory(images):
        if len(images) > 1:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        return forward(images)

    monkeypatch.setattr(model.backbone, "forward", short_of_memory)
    with pytest.raises(RuntimeError, match="can't allocate memory"):
        model(torch.rand(2, 3, 32, 32))
