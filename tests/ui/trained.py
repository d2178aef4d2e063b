"""A small trained run for the window's tests: drawn blobs, real embeddings, no training."""

import functools
from pathlib import Path
from typing import Any

import numpy as np

from workbench.config import RunConfig
from workbench.datasets.cache.pixels import decoded
from workbench.datasets.image_set import ImageSet
from workbench.evaluation.retrieval import retrieve
from workbench.events import Ended, Evaluated, Progress, Scalar
from workbench.workspace import Workspace
from workbench.workspace.recorder import Recorder

SIDE = 16  # px
CLASSES = ("ant", "=bee", "<b>cat</b>", "dog")


def image_set(count: int) -> ImageSet:
    """`count` pictures, each class its own grey."""
    labels = np.arange(count) % len(CLASSES)
    rng = np.random.default_rng(0)
    pictures = (50 + 50 * labels[:, None, None] + rng.integers(0, 20, (count, SIDE, SIDE))).astype(np.uint8)
    paths = [
        f"{CLASSES[label].strip('<>/')}/{row:03}.png".replace("<", "").replace(">", "")
        for row, label in enumerate(labels)
    ]
    return ImageSet("blobs", None, paths, labels.astype(np.int64), list(CLASSES), 1, SIDE, lambda row: pictures[row])


def evaluated(images: ImageSet, epoch: int, spread: float) -> Evaluated:
    """Embeddings around one corner per class; more `spread` gives more mistakes."""
    rng = np.random.default_rng(epoch)
    vectors = np.eye(len(CLASSES), 6)[images.labels] + spread * rng.normal(size=(len(images.labels), 6))
    vectors = vectors.astype(np.float32)
    found = retrieve(vectors, images.labels, images.sample_ids, k=20, ks=(1, 2, 4, 8))
    proxies, of_class = np.eye(len(CLASSES), 6, dtype=np.float32), np.arange(len(CLASSES))
    return Evaluated(
        epoch, epoch * 10, "cosine", found.metrics, images.sample_ids, images.labels, vectors, found.ap,
        found.first_hit, found.r, found.neighbours, found.similarities, proxies, of_class,
    )  # fmt: skip


@functools.cache  # to search the neighbours takes a sixth of the time of making a run
def evaluated_blobs(count: int, epoch: int, spread: float) -> Evaluated:
    """The same of `count` pictures, computed once for all tests: its arrays are only read."""
    return evaluated(image_set(count), epoch, spread)


def trained_run(
    workspace: Workspace, cache: Path, count: int = 40, name: str = "blobs", facts: dict[str, Any] | None = None
) -> int:
    """A finished run with curves and the evaluations of epochs 0, 1 and 2; returns its number.

    `facts` are put beside those of its environment.
    """
    images, _, pixels = decoded(image_set(count), workspace.path / cache.name, lambda text, done, total: None)
    run_id = workspace.create_run(RunConfig(name=name))
    recorder = Recorder(workspace, run_id)
    recorder.dataset(workspace.register_dataset(images, pixels))
    recorder.environment({"torch": "x", "device": "cpu", "versions": {}} | (facts or {}))
    for step in range(1, 21):
        recorder(Scalar("batch/loss", step, 2 / step))
        recorder(Scalar("probe/ce", step, 2 / step))
        recorder(Scalar("probe/spce", step, 1.5 / step))
    recorder(Progress(20, 20, 100.0))
    for epoch, spread in ((0, 1.0), (1, 0.3), (2, 0.5)):
        event = evaluated_blobs(count, epoch, spread)
        for metric in ("recall@1", "MAP@R"):
            recorder(Scalar(f"test/{metric}", epoch * 10, event.metrics[metric]))
        recorder(event)
    recorder(Ended("done"))
    return run_id
