"""What a deterministic run asks of torch and cuBLAS ends with it."""

import os

import torch

from workbench.config import Choice, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.running.launch import make_job, prepare_run
from workbench.running.preflight import preflight
from workbench.training import checkpoint
from workbench.workspace import Workspace


def test_after_a_deterministic_run_torch_is_as_it_was_before(monkeypatch, tmp_path):
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    monkeypatch.setattr(torch.backends.cudnn, "benchmark", True)
    seen = []
    real = checkpoint.seed_everything

    def seed(*settings):
        real(*settings)
        seen.append((os.environ.get("CUBLAS_WORKSPACE_CONFIG"), torch.are_deterministic_algorithms_enabled()))

    monkeypatch.setattr(checkpoint, "seed_everything", seed)
    config = RunConfig(
        device="cpu", backbone=Choice(name="conv4", params={"width": 4}),
        training=TrainingParams(epochs=1, deterministic=True),
        evaluation=EvaluationParams(probe_size=0, untrained=False),
    )  # fmt: skip
    preflight(config)
    with Workspace(tmp_path / "space", create=True) as workspace:
        number = prepare_run(config, workspace)
        make_job(workspace, number, Control()).start().join()
        assert workspace.run(number).status == "done"
    assert seen == [(":4096:8", True)] * 2, "the preflight and the run"
    assert "CUBLAS_WORKSPACE_CONFIG" not in os.environ
    assert not torch.are_deterministic_algorithms_enabled()
    assert torch.backends.cudnn.benchmark
