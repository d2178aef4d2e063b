"""A network that starts with what another run trained: the same features, and a refusal of what does not fit."""

import pytest
import torch
from safetensors.torch import save_file

from workbench.backbones.model import build_model
from workbench.config import EmbeddingParams
from workbench.problem import Problem

NETWORKS = [
    ("conv4", {"width": 4, "positions": 2}, 1),
    ("resnet32", {"width": 4}, 3),
    ("preact_resnet20", {"width": 4}, 3),
    ("squeezenet1_0", {}, 3),
    ("resnet18", {"stem": "small"}, 1),
    ("bn_inception", {}, 3),
    ("timm", {"model": "test_vit"}, 3),
]


def made(name, params, channels, **more):
    return build_model(name, {**params, **more}, EmbeddingParams(dim=8), channels).eval()


def exported(model, file):
    """The file that the export "Trained weights" of a run writes."""
    frozen = {name for name, weight in model.named_parameters() if not weight.requires_grad}
    save_file({name: value.contiguous() for name, value in model.state_dict().items() if name not in frozen}, file)
    return str(file)


@pytest.mark.parametrize(("name", "params", "channels"), NETWORKS, ids=[name for name, *_ in NETWORKS])
def test_every_backbone_starts_with_the_weights_of_a_run(name, params, channels, tmp_path):
    first = made(name, params, channels)
    for module in first.backbone.modules():  # statistics belong to what was trained
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.uniform_(-1, 1)
    file = exported(first, tmp_path / "trained.safetensors")
    again = made(name, params, channels, trained_file=file)
    side = 160 if name == "timm" else 64
    images = torch.rand(2, channels, side, side)
    with torch.no_grad():
        assert torch.equal(again.features(images), first.features(images))
    assert str(again.backbone.weights_path) == file
    assert not torch.equal(first.head.linear.weight, again.head.linear.weight), "the head is made new"


@pytest.mark.parametrize("other", [("conv4", {"width": 8, "positions": 2}, 1), ("squeezenet1_0", {}, 3)], ids=str)
def test_weights_of_another_network_are_refused_by_the_field(other, tmp_path):
    file = exported(made("conv4", {"width": 4, "positions": 2}, 1), tmp_path / "trained.safetensors")
    with pytest.raises(Problem, match=r"does not match the trained weights in .*, such as layers") as refused:
        made(*other, trained_file=file)
    assert refused.value.field == "backbone.trained_file"


def test_a_file_without_what_is_trained_here_is_refused(tmp_path):
    file = exported(made("squeezenet1_0", {"frozen": "low"}, 3), tmp_path / "trained.safetensors")
    again = made("squeezenet1_0", {"frozen": "low"}, 3, trained_file=file)
    assert again.backbone.weights_path is None, "its frozen layers are random"
    with pytest.raises(Problem, match="freeze at least as much"):
        made("squeezenet1_0", {}, 3, trained_file=file)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(Problem, match="There is no weights file"):
        made("conv4", {}, 1, trained_file=str(tmp_path / "absent.safetensors"))
