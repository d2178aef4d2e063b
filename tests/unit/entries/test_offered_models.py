"""The table of timm's models that the form offers says what timm says."""

import pytest
import timm

from workbench.backbones.timm_models import SHORT_LIST, TimmParams, timm_model
from workbench.entries.offered_models import offered_models

WRITTEN_FROM = "1.0.31"  # of timm; packaging/timm_table.py writes the table
of_this_timm = pytest.mark.skipif(timm.__version__ != WRITTEN_FROM, reason=f"the table is that of timm {WRITTEN_FROM}")
OFFERED = {model.name: model for model in offered_models("timm_models")}


@of_this_timm
def test_every_model_and_all_its_weights_are_listed_once():
    assert sorted(OFFERED) == sorted([*timm.list_models(), *timm.list_models(pretrained=True)])
    assert len(offered_models("timm_models")) == len(OFFERED)


@of_this_timm
def test_licence_and_side_are_those_of_the_weights():
    for name in timm.list_models(pretrained=True):
        settings = timm.get_pretrained_cfg(name)
        assert OFFERED[name].licence == (settings.license or "not stated")
        _, height, width = settings.input_size
        assert OFFERED[name].image == (str(height) if height == width else f"{height}x{width}")


@pytest.mark.parametrize("name", ["test_vit", "test_convnext", "mobilenetv4_conv_small", "resnet18"])
def test_parameters_and_features_are_those_of_the_backbone(name):
    backbone = timm_model(TimmParams(model=name), channels=3)
    assert OFFERED[name].parameters == sum(weight.numel() for weight in backbone.parameters())
    assert OFFERED[name].features == backbone.feature_dim


def test_the_short_list_comes_first():
    assert tuple(model.name for model in offered_models("timm_models")[: len(SHORT_LIST)]) == SHORT_LIST


def test_without_weights_no_licence_is_said():
    assert not OFFERED["vit_small_patch16_224"].licence
