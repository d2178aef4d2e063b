"""The average of the weights is evaluated beside them; float16 scales its loss; the backbone alone is compiled."""

import copy

import numpy as np
import pytest
import torch

from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.events import Evaluated, Noted, Scalar
from workbench.problem import Problem
from workbench.running.building import load_data
from workbench.running.engine import Engine
from workbench.training import checkpoint
from workbench.training.meter import SYSTEM
from workbench.training.trainer import train_step


def engine(tmp_path, emit=lambda event: None, **training):
    config = RunConfig(
        device="cpu", backbone=Choice(name="conv4", params={"width": 4}), embedding=EmbeddingParams(dim=8),
        evaluation=EvaluationParams(probe_size=0, neighbours=5, untrained=False),
        training=TrainingParams(**{"epochs": 1, "batch_size": 256, **training}),
    )  # fmt: skip
    return Engine(config, load_data(config, lambda *_: None), tmp_path, Control(), emit)


def test_the_average_of_the_weights_is_evaluated_beside_them(tmp_path):
    events = []
    made = engine(tmp_path, events.append, weight_average=0.5)
    weight, decay = made.parts.model.head.linear.weight, 0.5
    expected, batches = None, made.feed.training(made.sampler, made.augmentation, 0)(1, 0)
    for images, labels in list(batches)[:3]:
        train_step(made.parts, images, labels, lambda: None)
        expected = weight.detach().clone() if expected is None else decay * expected + (1 - decay) * weight.detach()
    average = made.parts.average.module
    assert torch.allclose(average.head.linear.weight, expected, atol=1e-6)
    made.evaluator.evaluate(1)
    [evaluated] = [event for event in events if isinstance(event, Evaluated)]
    assert evaluated.metrics["average/MAP@R"] != evaluated.metrics["MAP@R"]
    told = {event.name: event.value for event in events if isinstance(event, Scalar)}
    assert told["test/average/MAP@R"] == evaluated.metrics["average/MAP@R"]


def test_the_average_is_in_the_checkpoint_and_only_where_it_is_asked_for(tmp_path):
    made = engine(tmp_path, weight_average=0.9)
    made.run()
    state = checkpoint.load(tmp_path / "last.pt")
    again = engine(tmp_path, weight_average=0.9)
    again.resume(tmp_path / "last.pt")
    assert all(map(torch.equal, again.parts.average.state_dict().values(), made.parts.average.state_dict().values()))
    plain = engine(tmp_path)
    plain.save("last", 0)
    assert set(state) - set(checkpoint.load(tmp_path / "last.pt")) == {"average"}


def test_float16_takes_the_step_of_float32_nearly(tmp_path):
    first, second = engine(tmp_path, precision="float32"), engine(tmp_path, precision="fp16")
    second.parts.model.load_state_dict(copy.deepcopy(first.parts.model.state_dict()))
    second.parts.loss.load_state_dict(copy.deepcopy(first.parts.loss.state_dict()))
    assert second.parts.scaler.is_enabled()
    assert not first.parts.scaler.is_enabled()
    found = []
    for made in (first, second):
        images, labels = next(made.feed.training(made.sampler, made.augmentation, 0)(1, 0))
        found.append(train_step(made.parts, images, labels, lambda: None).item())
    assert found[0] == pytest.approx(found[1], rel=0.01)
    gradients = [
        torch.cat([w.grad.flatten() for w in made.parts.weights if w.grad is not None]) for made in (first, second)
    ]
    assert torch.nn.functional.cosine_similarity(*gradients, dim=0) > 0.8, "float16 on a CPU is rough"
    assert gradients[1].norm() == pytest.approx(gradients[0].norm().item(), rel=0.3), "unscaled again"
    second.save("last", 0)
    assert checkpoint.load(tmp_path / "last.pt")["scaler"]["scale"] > 1


def test_the_wait_for_batches_is_told_every_few_steps(tmp_path):
    events = []
    engine(tmp_path, events.append, batch_size=64).run()
    waits = [event for event in events if isinstance(event, Scalar) and event.name == "batch/feed_wait"]
    rates = [event.step for event in events if isinstance(event, Scalar) and event.name == "batch/lr"]
    assert [event.step for event in waits] == rates
    assert all(0 <= event.value < 60 for event in waits)
    assert np.isfinite([event.value for event in waits]).all()


def test_only_the_backbone_is_compiled_and_its_weights_keep_their_names(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(torch.nn.Module, "compile", lambda module, *_, **__: asked.append(module))
    plain, made = engine(tmp_path), engine(tmp_path, compile_backbone=True)
    assert asked == [made.parts.model.backbone]
    assert list(plain.parts.model.state_dict()) == list(made.parts.model.state_dict())


def test_the_first_step_of_a_compiled_backbone_is_told_and_so_is_one_that_cannot_be_compiled(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.nn.Module, "compile", lambda module, *_, **__: None)
    events = []
    engine(tmp_path, events.append, compile_backbone=True).run()
    assert sum("The first step took" in event.text for event in events if isinstance(event, Noted)) == 1
    made = engine(tmp_path, compile_backbone=True)

    def fails(images):
        raise torch._dynamo.exc.TorchDynamoException("no C++ compiler")

    monkeypatch.setattr(made.parts.model.backbone, "forward", fails)
    with pytest.raises(Problem, match=r"cannot compile this backbone here \(no C\+\+ compiler\)"):
        made.run()


def test_what_a_step_costs_is_told_with_its_parts(tmp_path):
    events = []
    engine(tmp_path, events.append, batch_size=8).run()
    costs = {}
    for event in events:
        if isinstance(event, Scalar) and event.name.startswith(SYSTEM):
            costs.setdefault(event.name.removeprefix(SYSTEM), []).append((event.step, event.value))
    assert costs.keys() >= {"forward", "loss", "backward", "optimiser", "probe", "memory", "seconds"}
    assert costs["seconds"] == sorted(costs["seconds"]), "time goes on from step to step"
    assert "limit/machine_memory" in costs, "the load of the machine is told, and what limits it"
    steps = [step for step, _ in costs["forward"]]
    assert steps[:3] == [2, 5, 10], "early, however slow the steps are"
    assert all(step % 10 == 0 for step in steps[2:]), "the steps whose numbers are read anyway"
    assert all(0 < seconds < 60 for _, seconds in costs["forward"] + costs["backward"])
    assert all(value > 2**20 for _, value in costs["memory"])
