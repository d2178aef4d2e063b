"""Finished runs in a real workspace with any average precisions, for what is compared."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.config import RunConfig
from workbench.events import Ended, Evaluated, Progress, Status
from workbench.exchange.imported.importing import config_of
from workbench.workspace import Workspace
from workbench.workspace.recorder import Recorder

CLASSES = 3


@dataclass(frozen=True)
class Images:
    """What the workspace needs of an ImageSet."""

    sample_ids: np.ndarray
    labels: np.ndarray
    paths: list[str]
    official: list[str] | None = None
    name: str = "small"
    fingerprint: str = "small"
    class_names: tuple[str, ...] = ("ant", "bee", "cat")
    image_size: int = 8
    channels: int = 1
    root: Path | None = None


def images(count: int, fingerprint: str = "small", official: list[str] | None = None) -> Images:
    """`count` images of three classes, by turns; ids do not rise with the rows."""
    ids = (np.arange(count, dtype=np.int64)[::-1] * 7919) + 2**40
    labels = np.arange(count, dtype=np.int64) % CLASSES
    return Images(ids, labels, [f"{row:03}.png" for row in range(count)], official, fingerprint, fingerprint)


def evaluated(shown: Images, epoch: int, ap: np.ndarray, rows: np.ndarray, metrics: Mapping[str, float]) -> Evaluated:
    """An evaluation with these average precisions; a query is right where its AP is above a half."""
    known = np.isfinite(ap)
    first_hit = np.where(ap > 0.5, 1, 3).astype(np.int32)
    means: dict[str, float] = {"queries": int(known.sum())}
    if known.any():
        means |= {"MAP@R": float(ap[known].mean()), "recall@1": float((first_hit == 1)[known].mean())}
    near = shown.sample_ids[rows][:, None]
    return Evaluated(
        epoch, 10 * epoch, "cosine", {**means, **metrics}, shown.sample_ids[rows], shown.labels[rows],
        np.zeros((len(rows), 2), np.float32), ap.astype(np.float32), first_hit,
        np.where(known, 5, 0).astype(np.int32), near, np.ones((len(rows), 1), np.float32), None, None,
    )  # fmt: skip


def store(
    workspace: Workspace,
    aps: Mapping[int, np.ndarray],
    *,
    seed: int = 0,
    shown: Images | None = None,
    rows: np.ndarray | None = None,
    metrics: Mapping[str, float] | None = None,
    status: str = "done",
    pixels: Path | None = None,
    facts: dict[str, Any] | None = None,
    reached: int = 0,
    **config: Any,
) -> int:
    """A run with one evaluation for each epoch of `aps` (epoch -> [n] average precision); its number."""
    count = len(next(iter(aps.values()))) if aps else 6
    shown = shown or images(count)
    rows = np.arange(count) if rows is None else rows
    run_id = workspace.create_run(RunConfig(**{"name": "Small", "seed": seed, **config}))
    recorder = Recorder(workspace, run_id)
    recorder(Status("Loading"))
    recorder.dataset(workspace.register_dataset(shown, pixels or workspace.path / "pixels.npy"))
    recorder.environment(facts or {})
    for epoch, ap in aps.items():
        recorder(evaluated(shown, epoch, np.asarray(ap, np.float64), rows, metrics or {}))
    if reached:
        recorder.reached(reached)
    recorder(Progress(10, 10, 50.0))
    recorder(Ended(status))
    return run_id


def store_test(
    workspace: Workspace,
    trained: int,
    ap: np.ndarray,
    *,
    epoch: int = 1,
    shown: Images | None = None,
    called: str = "photos",
    distance: str = "cosine",
    **facts: Any,
) -> int:
    """A test of the network of that run and epoch on images, with these average precisions; its number.

    `facts` are further ones of the environment's part on the network, such as asked="best".
    """
    source = workspace.run(trained)
    images_of = Path("elsewhere") / called
    config = config_of(f"{source.name} on {called}", Path(f"run {trained}"), None, images_of, distance).model_dump()
    config["dataset"] |= {"network": trained, "epoch": epoch, "checkpoint": f"{trained:032x}"}
    del config["seed"]
    imported = {"embeddings": f"run {trained}", "network": trained, "epoch": epoch, **facts}
    shown = shown or images(len(ap), called)
    return store(workspace, {epoch: ap}, shown=shown, facts={"imported": imported}, **config)
