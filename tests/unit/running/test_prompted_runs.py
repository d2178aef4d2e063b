"""Runs of prompts in a frozen transformer: resumed exactly, told by size, kept as a small file that loads again."""

import pytest
import torch
from safetensors.torch import load_file

from workbench.backbones.model import EmbeddingModel, build_model
from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.exchange.formats import export_run
from workbench.problem import Problem
from workbench.progress import quiet
from workbench.running import launch, trained_network
from workbench.running.building import load_data
from workbench.running.engine import Engine
from workbench.running.facts.remarks import weight_notes
from workbench.workspace import Workspace

PARAMS = {"model": "test_vit", "prompts": 3}


def config(epochs=2, chunk=0):
    return RunConfig(
        name="prompts", device="cpu", backbone=Choice(name="timm", params=PARAMS),
        embedding=EmbeddingParams(dim=8), training=TrainingParams(epochs=epochs, batch_size=256, chunk=chunk),
        evaluation=EvaluationParams(probe_size=0, neighbours=2, untrained=False),
    )  # fmt: skip


def engine(folder, **asked):
    folder.mkdir(exist_ok=True)
    asked = config(**asked)
    return Engine(asked, load_data(asked, quiet), folder, Control(), lambda event: None)


@pytest.mark.parametrize("chunk", [pytest.param(0, marks=pytest.mark.slow), 100])
def test_a_resumed_run_ends_as_the_whole_one(tmp_path, chunk):
    whole = engine(tmp_path / "whole", chunk=chunk)
    whole.run()
    first = engine(tmp_path / "first", chunk=chunk)  # which seeds the random numbers anew
    first.control.stop()
    first.run()
    second = engine(tmp_path / "second", chunk=chunk)
    second.resume(tmp_path / "first" / "last.pt")
    second.run()
    for (name, value), other in zip(
        whole.parts.model.state_dict().items(), second.parts.model.state_dict().values(), strict=True
    ):
        assert torch.equal(value, other), name


def test_a_backbone_that_compares_images_is_refused_before_the_first_step(tmp_path, monkeypatch):
    alone = EmbeddingModel.features

    def compared(model, images):
        return alone(model, images) - alone(model, images).mean(0)

    monkeypatch.setattr(EmbeddingModel, "features", compared)
    engine(tmp_path / "whole")
    with pytest.raises(Problem, match="cannot be trained in chunks: the features of an image depend on the others"):
        engine(tmp_path / "chunks", chunk=100)


def test_preflight_says_how_much_is_trained(tmp_path):
    made = engine(tmp_path / "run")
    trained = 6 * 3 * 64 + 64 * 8 + 8
    total = sum(weight.numel() for weight in made.parts.model.parameters())
    share = f"trains {trained:,} of {total:,} weights ({trained / total:.2%})"
    network = ("the network", f"{share}; the others stay as they are")
    random = ("the frozen layers", "are random: choose pretrained weights, or train more of them")
    assert weight_notes(made) == [network, random]
    made.parts.model.backbone.weights_path = tmp_path / "weights.safetensors"
    assert weight_notes(made) == [network]


def test_what_was_trained_is_a_small_file_that_another_run_loads(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id = launch.prepare_run(config(epochs=1), workspace)
        launch.make_job(workspace, run_id, Control()).start().join()
        assert workspace.run(run_id).status == "done", workspace.run(run_id).problem
        export_run(workspace, run_id, ["trained"], tmp_path)
        expected = trained_network.trained(workspace, run_id).model
    path = tmp_path / "trained.safetensors"
    state = load_file(path)
    assert {name for name in state if name.startswith("backbone.")} == {
        f"backbone.model.blocks.{block}.prompts" for block in range(6)
    }
    assert path.stat().st_size < 20_000
    again = build_model("timm", {**PARAMS, "trained_file": str(path)}, EmbeddingParams(dim=8), 1)
    for block in range(6):
        assert torch.equal(again.backbone.model.blocks[block].prompts, expected.backbone.model.blocks[block].prompts)
    with pytest.raises(Problem, match="does not match the trained weights"):
        build_model("timm", {**PARAMS, "prompts": 2, "trained_file": str(path)}, EmbeddingParams(dim=8), 1)
    with pytest.raises(Problem, match="does not match the trained weights"):
        build_model("timm", {**PARAMS, "lora_rank": 2, "trained_file": str(path)}, EmbeddingParams(dim=8), 1)
