"""Weights whose batch-norm was multiplied into them keep their features, in training mode, too."""

import pytest
import torch
from torch import nn

from workbench import registry
from workbench.backbones.pretrained import folded_layers
from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.events import Progress, Remarked
from workbench.running import launch
from workbench.running.preflight import preflight
from workbench.workspace import Workspace

registry.discover("workbench.backbones")


def made(path, name="mobilenet_v2"):
    entry = registry.entry("backbone", name)
    return entry.build(entry.params(weights="file", weights_file=str(path)), 3)


def state_of(name="mobilenet_v2", *, mean=0.0, var=1.0, shift=0.1):
    """Weights of an untrained network with these statistics and shifts in every batch-norm layer."""
    torch.manual_seed(0)
    entry = registry.entry("backbone", name)
    backbone = entry.build(entry.params(), 3)
    for module in backbone.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.fill_(mean)
            module.running_var.fill_(var)
            module.bias.data.fill_(shift)
    names = {"mobilenet_v2": "features."}
    return {names[name] + key.removeprefix("layers.1."): value for key, value in backbone.state_dict().items()}


@pytest.fixture
def weights(tmp_path):
    def saved(**changes):
        torch.save(state_of(**changes), tmp_path / "weights.pth")
        return tmp_path / "weights.pth"

    return saved


@pytest.mark.parametrize("var", [1.0, 1 - 1e-5], ids=["one", "one less epsilon"])
def test_folded_batch_norm_is_frozen(weights, var):
    backbone, images = made(weights(var=var)), torch.rand(8, 3, 32, 32)
    assert folded_layers(backbone) == 52
    assert torch.equal(backbone.train()(images), backbone.eval()(images))
    layers = [module for module in backbone.modules() if isinstance(module, nn.BatchNorm2d)]
    assert not any(weight.requires_grad for layer in layers for weight in layer.parameters())


@pytest.mark.parametrize(
    "changes", [{"mean": 0.2}, {"var": 2.0}, {"shift": 0.0}], ids=["mean", "variance", "untrained"]
)
def test_other_batch_norm_is_trained_as_it_is_asked_for(weights, changes):
    backbone, images = made(weights(**changes)), torch.rand(8, 3, 32, 32)
    assert folded_layers(backbone) == 0
    assert not torch.equal(backbone.train()(images), backbone.eval()(images))


def test_the_real_weights_are_recognised(real_data):
    assert folded_layers(made(real_data / "weights" / "mobilenet_v2.pth")) == 52
    assert folded_layers(made(real_data / "weights" / "squeezenet1_0.pth", "squeezenet1_0")) == 0


def config_with(weights_file, **embedding):
    return RunConfig(
        device="cpu", backbone=Choice(name="mobilenet_v2", params={"weights": "file", "weights_file": weights_file}),
        embedding=EmbeddingParams(**embedding), training=TrainingParams(batch_size=8, epochs=1),
        evaluation=EvaluationParams(probe_size=0, untrained=False),
    )  # fmt: skip


def told_by_preflight(weights_file, **embedding):
    return preflight(config_with(weights_file, **embedding)).notes


def test_preflight_tells_of_folded_weights_and_of_modes_that_differ(weights):
    [(what, said)] = told_by_preflight(str(weights()))
    assert what == "the pretrained weights"
    assert "52 layers stay as they are" in said
    assert told_by_preflight(str(weights()), dropout=0.95) == [(what, said)], "dropout is no such difference"
    [(what, said)] = told_by_preflight(str(weights(mean=3.0)))
    assert "other features in training mode than in evaluation mode" in said


def test_a_run_without_preflight_tells_of_modes_that_differ_before_it_trains(weights, tmp_path):
    told, control = [], Control()

    def listen(event):
        if isinstance(event, Remarked):
            told.append(event.text)
        if isinstance(event, Progress):
            control.cancel()

    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id = launch.prepare_run(config_with(str(weights(mean=3.0))), workspace)
        launch.make_job(workspace, run_id, control, listen).start().join()
        [(_, noted)] = workspace.run(run_id).environment["data"]["notes"]
    [said] = told
    assert said.startswith("The pretrained weights give other features in training mode than in evaluation mode")
    assert noted in said, "reports say it, too"
