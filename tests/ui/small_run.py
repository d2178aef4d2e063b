"""A finished run in a real workspace, made of arrays: what the map, the browser and the Inspector are tested on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from workbench.config import RunConfig
from workbench.events import Ended, Evaluated, ProbeEmbeddings, Status
from workbench.files import atomic_write
from workbench.workspace import Workspace
from workbench.workspace.recorder import Recorder


@dataclass(frozen=True)
class Images:
    """What the workspace needs of an ImageSet."""

    paths: list[str]
    labels: np.ndarray
    class_names: tuple[str, ...]
    sample_ids: np.ndarray
    fingerprint: str
    image_size: int = 8
    channels: int = 1
    name: str = "small"
    root: Path | None = None
    official: None = None


@dataclass(frozen=True)
class SmallRun:
    run_id: int
    evaluations: list[int]
    ids: np.ndarray
    labels: np.ndarray
    ap: np.ndarray
    first_hit: np.ndarray
    pixels: Path


def blobs(labels: np.ndarray, spread: float, seed: int, width: int = 6) -> np.ndarray:
    """Embeddings [n, width] around one centre for each class."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(int(labels.max()) + 1, width)) if len(labels) else np.empty((0, width))
    return (centres[labels] + spread * rng.normal(size=(len(labels), width))).astype(np.float32)


def evaluated(images: Images, epoch: int, embeddings: np.ndarray, k: int, proxies: np.ndarray | None) -> Evaluated:
    """Cosine retrieval written out plainly."""
    n, labels = len(images.labels), images.labels
    unit = embeddings / np.maximum(np.linalg.norm(embeddings, axis=1, keepdims=True), 1e-12)
    scores = unit @ unit.T
    np.fill_diagonal(scores, -np.inf)
    order = np.argsort(-scores, axis=1, kind="stable")[:, : n - 1]
    right = labels[order] == labels[:, None]
    r = right.sum(1)
    first = np.where(r > 0, right.argmax(1) + 1 if n > 1 else 0, 0)
    ap = np.full(n, np.nan, np.float32)
    for row in np.flatnonzero(r):
        hits = right[row, : r[row]]
        ap[row] = (hits * np.cumsum(hits) / np.arange(1, r[row] + 1)).sum() / r[row]
    near = order[:, :k]
    return Evaluated(
        epoch, 10 * epoch, "cosine", {"recall@1": float((first == 1).mean()), "MAP@R": 0.1 + epoch / 100},
        images.sample_ids, labels, embeddings, ap, first.astype(np.int32), r.astype(np.int32),
        images.sample_ids[near], np.take_along_axis(scores, near, 1).astype(np.float32),
        proxies, None if proxies is None else np.arange(len(proxies)),
    )  # fmt: skip


def store_run(
    workspace: Workspace,
    labels: np.ndarray,
    *,
    embeddings: list[np.ndarray] | None = None,
    pictures: np.ndarray | None = None,
    class_names: tuple[str, ...] = (),
    with_proxies: bool = True,
    probes: Sequence[ProbeEmbeddings | None] = (),
    k: int = 20,
    name: str = "Small",
    config: RunConfig | None = None,
    paths: Sequence[str] = (),
) -> SmallRun:
    """Store a run with one evaluation for each of `embeddings` (epochs 1, 2, ...; two of blobs by default).

    `probes` has the embeddings of the training images of each of them; `config` is by default one of that name alone,
    and the paths have the name of the class.
    """
    n = len(labels)
    names = class_names or tuple(f"class {each:02}" for each in range(int(labels.max()) + 1))
    ids = np.arange(n, dtype=np.int64) * 1_000_003 + 2**40
    named = list(paths) or [f"{names[label]}/{row:05}.png" for row, label in enumerate(labels.tolist())]
    if pictures is None:
        rng = np.random.default_rng(0)
        pictures = rng.integers(0, 256, (n, 8, 8, 1), dtype=np.uint8)
    images = Images(named, labels, names, ids, f"{name}-{n}", pictures.shape[1], pictures.shape[3])
    pixels = workspace.path / f"pixels-{name}-{images.image_size}.npy"
    with atomic_write(pixels) as file:  # a page may be reading that of the run before
        np.save(file, pictures)
    run_id = workspace.create_run(config or RunConfig(name=name))
    recorder = Recorder(workspace, run_id)
    recorder(Status("Loading"))
    recorder.dataset(workspace.register_dataset(images, pixels))
    tables = embeddings or [blobs(labels, 1.2, 0), blobs(labels, 0.6, 0)]
    last = None
    for epoch, table in enumerate(tables, start=1):
        centres = np.stack([table[labels == each].mean(0) for each in np.unique(labels)]) if with_proxies else None
        last = evaluated(images, epoch, table, min(k, n - 1), centres)
        last = replace(last, probe=probes[epoch - 1] if probes else None)
        recorder(last)
    recorder(Ended("done"))
    assert last is not None
    evaluations = [each.id for each in workspace.evaluations(run_id)]
    return SmallRun(run_id, evaluations, ids, labels, last.ap, last.first_hit, pixels)
