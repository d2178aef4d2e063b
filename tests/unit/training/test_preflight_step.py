"""Preflight times the trainer's own step: clipping, penalty and schedule are in it."""

import pytest
import torch

from workbench.config import Choice, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.problem import Problem
from workbench.running.building import load_data
from workbench.running.engine import Engine
from workbench.running.facts.timing import time_steps
from workbench.running.preflight import preflight


def test_a_timed_step_is_a_step_of_the_run(tmp_path, monkeypatch):
    config = RunConfig(
        device="cpu", backbone=Choice(name="conv4", params={"width": 4}), evaluation=EvaluationParams(probe_size=0),
        training=TrainingParams(batch_size=100, clip_norm=1e-3, warmup_steps=8, lr=0.8, optimiser="sgd"),
    )  # fmt: skip
    engine = Engine(config, load_data(config, lambda *_: None), tmp_path, Control(), lambda event: None)
    asked = []
    monkeypatch.setattr(engine.companion, "penalty", lambda: asked.append(None))
    assert time_steps(engine, 3, lambda: False).step > 0
    assert len(asked) == engine.parts.step == engine.parts.schedule.last_epoch == 3
    assert engine.parts.optimiser.param_groups[0]["lr"] == pytest.approx(0.4)
    gradients = [weight.grad for weight in engine.parts.weights if weight.grad is not None]
    assert torch.stack([each.norm() for each in gradients]).norm() == pytest.approx(1e-3, rel=1e-3)


def test_a_backbone_that_cannot_be_compiled_is_a_sentence_in_preflight_too(monkeypatch):
    def fails(module, *_, **__):
        module.forward = raises

    def raises(images):
        raise type("InductorError", (RuntimeError,), {"__module__": "torch._inductor.exc"})("no C++ compiler")

    monkeypatch.setattr(torch.nn.Module, "compile", fails)
    config = RunConfig(
        device="cpu", backbone=Choice(name="conv4", params={"width": 4}), evaluation=EvaluationParams(probe_size=0),
        training=TrainingParams(batch_size=100, compile_backbone=True),
    )  # fmt: skip
    with pytest.raises(Problem, match=r"cannot compile this backbone here \(no C\+\+ compiler\)") as caught:
        preflight(config)
    assert "The run is kept" not in str(caught.value), "there is none yet"


@pytest.mark.parametrize("chunk", [1, 9])
def test_a_last_chunk_of_one_image_goes_with_the_batch_norm_of_the_head(chunk, tmp_path):
    config = RunConfig(
        device="cpu", dataset=Choice(name="digits", params={"image_size": 16}),
        backbone=Choice(name="timm", params={"model": "test_vit"}), evaluation=EvaluationParams(probe_size=0),
        training=TrainingParams(batch_size=10, chunk=chunk),
    )  # fmt: skip
    engine = Engine(config, load_data(config, lambda *_: None), tmp_path, Control(), lambda event: None)
    assert time_steps(engine, 1, lambda: False).loss > 0
