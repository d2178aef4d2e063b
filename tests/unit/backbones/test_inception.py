"""BN-Inception is its paper's table of layers, takes weights under Caffe's names, and sees blue first."""

import pytest
import torch
from torch import nn

from workbench.backbones.bn_inception import features
from workbench.backbones.model import build_model
from workbench.config import EmbeddingParams
from workbench.problem import Problem

WIDTHS = {
    "3a": 256,
    "3b": 320,
    "3c": 576,
    "4a": 576,
    "4b": 576,
    "4c": 608,
    "4d": 608,
    "4e": 1056,
    "5a": 1024,
    "5b": 1024,
}
SIDES = {"3a": 28, "3b": 28, "3c": 14, "4a": 14, "4b": 14, "4c": 14, "4d": 14, "4e": 7, "5a": 7, "5b": 7}


def published(model):
    """A state dict under the names of the Caffe model, as its ports have them."""
    state = {}
    for key, value in model.state_dict().items():
        name = f"{key[:12]}_{key[13:]}" if key.startswith("inception_") else key
        state[name] = torch.rand_like(value) + 0.5 if value.is_floating_point() else value
    return state | {"last_linear.weight": torch.zeros(1000, 1024), "last_linear.bias": torch.zeros(1000)}


def test_every_block_has_the_width_and_the_side_of_the_table():
    images = torch.rand(1, 3, 224, 224)
    with torch.no_grad():
        for name, layer in features().eval().named_children():
            images = layer(images)
            if name.startswith("inception_"):
                assert images.shape == (1, WIDTHS[name[-2:]], SIDES[name[-2:]], SIDES[name[-2:]])
    weights = [each for each in features().modules() if isinstance(each, nn.Conv2d)]
    assert len(weights) == 69
    assert 10.0e6 < sum(each.numel() for each in features().parameters()) < 10.6e6


def test_names_are_those_of_the_caffe_model(tmp_path):
    state = published(features())
    for name in ("conv1_7x7_s2.weight", "conv2_3x3_reduce_bn.running_var", "inception_3a_1x1.weight",
                 "inception_4e_double_3x3_2_bn.weight", "inception_5b_pool_proj.bias"):  # fmt: skip
        assert name in state
    assert state["inception_3c_double_3x3_1.weight"].shape == (96, 64, 3, 3)
    torch.save(state, tmp_path / "bn.pth")
    model = build_model(
        "bn_inception", {"weights": "file", "weights_file": str(tmp_path / "bn.pth")}, EmbeddingParams(dim=8), 3
    )
    loaded = dict(model.backbone.named_parameters())
    assert any(torch.equal(weight, state["inception_5b_1x1.weight"]) for weight in loaded.values())


def test_blue_comes_first_and_on_0_to_255():
    model = build_model("bn_inception", {}, EmbeddingParams(dim=0, batch_norm=False), 3).eval()
    seen = []
    model.backbone.layers[1][1].register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0]))
    image = torch.zeros(1, 3, 32, 32)
    image[:, 0], image[:, 2] = 1.0, 100 / 255
    model(image)
    torch.testing.assert_close(seen[0][0, :, 0, 0], torch.tensor([100.0 - 104, 0 - 117, 255 - 128]))


@pytest.mark.parametrize("side", [57, 113, 199])
def test_a_size_that_its_blocks_cannot_halve_is_refused_with_one_that_they_can(side):
    model = features().eval()
    with pytest.raises(Problem, match=r"BN-Inception.*halves a feature map of") as refused:
        model(torch.zeros(1, 3, side, side))
    assert "227 px or a multiple of 32" in refused.value.todo
    assert model(torch.zeros(1, 3, 227, 227)).shape[1:] == (1024, 7, 7)


def test_published_weights_are_a_file():
    with pytest.raises(Problem, match="torchvision does not publish them"):
        build_model("bn_inception", {"weights": "cache"}, EmbeddingParams(), 3)


@pytest.mark.parametrize("name", ["bn_inception", "googlenet", "resnet18"])
@pytest.mark.parametrize("pooling", ["mean", "max", "both"])
def test_features_are_pooled_as_asked(name, pooling):
    torch.manual_seed(0)
    backbone = build_model(name, {"pooling": pooling}, EmbeddingParams(dim=0), 3).backbone.eval()
    images = torch.rand(2, 3, 96, 96)
    with torch.no_grad():
        places = backbone.layers[1](images).flatten(2)
        wanted = {"mean": places.mean(2), "max": places.amax(2), "both": places.mean(2) + places.amax(2)}[pooling]
        torch.testing.assert_close(backbone(images), wanted)


@pytest.mark.parametrize(("frozen", "share"), [("none", 0.0), ("low", 0.03), ("low_mid", 0.2), ("all", 1.0)])
def test_frozen_layers_get_no_gradient(frozen, share):
    backbone = build_model("resnet18", {"frozen": frozen}, EmbeddingParams(dim=4), 3).backbone
    held = [weight.numel() for weight in backbone.parameters() if not weight.requires_grad]
    whole = sum(weight.numel() for weight in backbone.parameters())
    assert sum(held) / whole >= share
    assert (sum(held) == whole) == (frozen == "all")
    if frozen == "low":
        assert not next(backbone.parameters()).requires_grad
