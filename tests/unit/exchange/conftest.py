"""Runs to export: one made of arrays, and one that is really trained for an epoch."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.trained_sample import sample_space
from workbench.config import RunConfig
from workbench.control import Control
from workbench.datasets.image_set import ImageSet
from workbench.evaluation.retrieval import retrieve
from workbench.events import Ended, Evaluated, Scalar, Status
from workbench.running import launch
from workbench.workspace import Workspace
from workbench.workspace.recorder import Recorder

CLASSES = ["=1+1", "<b>cat</b>", "@dog"]


@pytest.fixture
def workspace(tmp_path):
    with Workspace(tmp_path / "space", create=True) as made:
        yield made


@pytest.fixture
def stored_run(workspace):
    """A finished run with hostile names: curves with NaN and negative numbers, and evaluations after epochs 1 and 2."""
    labels = np.arange(12, dtype=np.int64) % 3
    paths = [f"={row}/tab\there.png" for row in range(12)]
    images = ImageSet("arrays", None, paths, labels, CLASSES, 1, 8, lambda row: np.zeros((8, 8), np.uint8))
    run_id = workspace.create_run(RunConfig(name="=HYPERLINK(1)"))
    recorder = Recorder(workspace, run_id)
    recorder(Status("Training"))
    recorder.dataset(workspace.register_dataset(images, None))
    for step, value in ((1, 2.5), (2, float("nan")), (300, -0.125)):
        recorder(Scalar("probe/spce", step, value))
    recorder(Scalar("=batch", 2, 1.0))
    for epoch, spread in ((1, 0.1), (2, 3.0)):
        noise = np.random.default_rng(epoch).normal(size=(12, 5))
        vectors = (np.eye(3, 5)[labels] + spread * noise).astype(np.float32)
        found = retrieve(vectors, labels, images.sample_ids)
        recorder(
            Evaluated(
                epoch, epoch, "cosine", found.metrics, images.sample_ids, labels, vectors, found.ap, found.first_hit,
                found.r, found.neighbours, found.similarities,
            )
        )  # fmt: skip
    recorder(Ended("done"))
    return run_id


@pytest.fixture(scope="session")
def trained_space(tmp_path_factory) -> Path:
    """A workspace whose run 1 is the sample after one epoch."""
    return sample_space(tmp_path_factory.mktemp("trained"), 1)


@pytest.fixture
def photograph_run(tmp_path, monkeypatch):
    """Train for an epoch on large JPEG files: (run, a file of its test set, the embedding that the run stored)."""
    draw = np.random.default_rng(0)
    for row in range(24):
        folder = tmp_path / "photographs" / "abcd"[row % 4]
        folder.mkdir(parents=True, exist_ok=True)
        coarse = draw.integers(0, 256, (20, 30, 3), dtype=np.uint8)
        Image.fromarray(coarse).resize((300, 200)).save(folder / f"{row}.jpg", quality=95)
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))

    def train(workspace, keep, evaluated):
        config = RunConfig.model_validate(
            {
                "dataset": {"name": "folder", "folder": str(tmp_path / "photographs"), "image_size": 32},
                "split": {"name": "classes"},
                "backbone": {"name": "conv4", "width": 8},
                "embedding": {"dim": 16},
                "augmentation": {"name": "crop_flip", "evaluated": evaluated},
                "training": {"epochs": 1, "batch_size": 8, "keep_images": keep},
            }
        )
        run_id = launch.prepare_run(config, workspace)
        launch.make_job(workspace, run_id, Control()).start().join()
        run, last = workspace.run(run_id), workspace.evaluations(run_id)[-1]
        ids, _, embeddings = workspace.embeddings(last.id)
        samples = workspace.samples(run.dataset_id)
        path = samples.paths[samples.ids.tolist().index(ids[0])]
        return run_id, tmp_path / "photographs" / path, np.array(embeddings[0])

    return train
