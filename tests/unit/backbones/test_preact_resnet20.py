"""The pre-activation ResNet-20: its size, its shapes, and that every weight learns."""

import pytest
import torch
from torch import nn

from workbench import registry
from workbench.backbones.model import build_model
from workbench.backbones.preact_resnet20 import PreactResNet20
from workbench.backbones.small_network import StagesParams
from workbench.config import EmbeddingParams


def test_it_is_registered_without_published_weights():
    registry.discover("workbench.backbones")
    assert registry.entry("backbone", "preact_resnet20").facts.pretrained is False


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("side", [8, 28, 32, 105])
def test_it_takes_small_images_of_any_size(channels, side):
    model = build_model("preact_resnet20", {}, EmbeddingParams(dim=2), channels).eval()
    assert model(torch.rand(2, channels, side, side)).shape == (2, 2)


def test_it_has_twenty_layers_and_the_size_of_its_source():
    backbone = PreactResNet20(StagesParams(), 3)
    threes = [each for each in backbone.modules() if isinstance(each, nn.Conv2d) and each.kernel_size == (3, 3)]
    assert len(threes) == 19, "the 20th layer is the embedding's linear one"
    assert backbone.feature_dim == 64
    assert 0.265e6 < sum(weight.numel() for weight in backbone.parameters()) < 0.28e6


def test_stages_halve_the_places_twice():
    backbone = PreactResNet20(StagesParams(width=8), 1).eval()
    assert backbone.layers[:-4](torch.rand(1, 1, 28, 28)).shape == (1, 32, 7, 7)


def test_the_block_adds_to_what_it_was_given():
    block = PreactResNet20(StagesParams(), 1).eval().layers[2]
    nn.init.zeros_(block.convolution2.weight)
    images = torch.randn(2, 16, 5, 5)
    assert torch.equal(block(images), images)


def test_every_weight_gets_a_gradient():
    torch.manual_seed(0)
    model = build_model("preact_resnet20", {}, EmbeddingParams(dim=2), 1).train()
    model(torch.rand(8, 1, 28, 28)).square().sum().backward()
    without = [name for name, weight in model.named_parameters() if weight.grad is None or not weight.grad.any()]
    assert not without
