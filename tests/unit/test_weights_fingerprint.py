"""The file that a backbone's weights came from has its fingerprint in the run's report: one's own or the cache's."""

import pytest
import torch
from torchvision import models

from tests.class_folders import class_folders
from workbench import files
from workbench.config import Choice, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.reports.content.provenance import facts_of
from workbench.running.launch import make_job, prepare_run
from workbench.workspace import Workspace


@pytest.fixture
def pictures(tmp_path):
    return class_folders(tmp_path / "data", "abcd", 4, (12, 12, 3))


@pytest.fixture
def cached(tmp_path, monkeypatch):
    """A file in a cache of torch's that holds weights of ResNet-18."""
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path / "hub"))
    path = tmp_path / "hub" / "checkpoints" / models.ResNet18_Weights.IMAGENET1K_V1.url.rpartition("/")[2]
    path.parent.mkdir(parents=True)
    torch.save(models.resnet18(weights=None).state_dict(), path)
    return path


@pytest.mark.parametrize(
    "weights", ["file", *(pytest.param(where, marks=pytest.mark.slow) for where in ("none", "cache"))]
)
def test_the_file_that_was_loaded_has_its_fingerprint_in_the_run_and_its_report(pictures, cached, tmp_path, weights):
    own = tmp_path / "own.pth"
    torch.save(models.resnet18(weights=None).state_dict(), own)
    expected = {"none": "", "file": files.digest(own), "cache": files.digest(cached)}[weights]
    backbone = {"weights": weights, "weights_file": str(own)}  # named, but read for "file" alone
    config = RunConfig(
        device="cpu", dataset=Choice(name="folder", params={"folder": str(pictures), "image_size": 32}),
        split=Choice(name="classes"), backbone=Choice(name="resnet18", params=backbone),
        training=TrainingParams(epochs=1, batch_size=4), evaluation=EvaluationParams(probe_size=0, untrained=False),
    )  # fmt: skip
    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id = prepare_run(config, workspace)
        make_job(workspace, run_id, Control()).start().join()
        run = workspace.run(run_id)
        assert (run.status, run.problem) == ("done", "")
        assert run.environment["weights"] == expected
        assert facts_of(run).get("Weights fingerprint", "") == expected
        assert facts_of(run)["Memory, GiB"] == run.environment["memory_gib"]
