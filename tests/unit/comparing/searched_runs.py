"""Runs with embeddings that were searched, and the same search written out plainly in float64."""

from dataclasses import replace

import numpy as np

from tests.ui.small_run import Images, blobs
from workbench import files
from workbench.comparing.overview import overview
from workbench.config import Choice, RunConfig
from workbench.entries import catalog
from workbench.evaluation import retrieve
from workbench.events import Ended, Evaluated, Status
from workbench.workspace.recorder import Recorder

LABELS = np.repeat(np.arange(4), 12)


def blobs_of(seed, width=6, scale=1.0, labels=LABELS, spread=0.9):
    """Embeddings [n, width] float32 that are often, but not always right."""
    return (scale * blobs(labels, spread, seed, width)).astype(np.float32)


def unit_rows(table):
    """Rows of length 1 in float64."""
    rows = table.astype(np.float64)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def gaps(queries, gallery, distance):
    """One minus cosine, or the squared distance, [m, n]."""
    if distance == "cosine":
        return 1 - unit_rows(queries) @ unit_rows(gallery).T
    return np.square(queries[:, None].astype(np.float64) - gallery[None].astype(np.float64)).sum(2)


def plain_search(table, labels, distance, asks=None):
    """Whether each query finds its class first, and its average precision at R (Musgrave et al., 2020)."""
    n = len(labels)
    far = gaps(table, table, distance)
    np.fill_diagonal(far, np.inf)
    if asks is not None:
        far[:, asks] = np.inf
    hits, precision = [], []
    for query in range(n) if asks is None else np.flatnonzero(asks):
        order = np.argsort(far[query], kind="stable")
        order = order[np.isfinite(far[query][order])]
        right = labels[order] == labels[query]
        r = int(right.sum())
        hits.append(float(right[0]))
        precision.append(sum(right[: rank + 1].mean() for rank in range(r) if right[rank]) / r)
    return np.array(hits), np.array(precision)


def store_searched(
    workspace, table, *, loss="ce", seed=0, labels=LABELS, distance="cosine", asks=None, name="Digits", order=None
):
    """A run of this loss with one evaluation, searched as a run is; its images may be stored in another order."""
    n = len(labels)
    ids = np.arange(n, dtype=np.int64) * 1_000_003 + 2**40
    names = tuple(f"class {number:02}" for number in range(int(labels.max()) + 1))
    paths = [f"{names[label]}/{row:05}.png" for row, label in enumerate(labels.tolist())]
    images = Images(paths, labels, names, ids, f"{name}-{n}")
    if asks is not None:
        images = replace(images, official=tuple("query" if one else "gallery" for one in asks))
    config = RunConfig(name=loss, seed=seed, loss=Choice(name=loss))
    run_id = workspace.create_run(config)
    recorder = Recorder(workspace, run_id)
    recorder(Status("Loading"))
    recorder.dataset(workspace.register_dataset(images, None))
    at = np.arange(n) if order is None else order
    found = retrieve(
        table[at], labels[at], ids[at], k=10, ks=(1,), distance=distance, is_query=None if asks is None else asks[at]
    )
    recorder(
        Evaluated(1, 1, distance, found.metrics, ids[at], labels[at], table[at], found.ap, found.first_hit, found.r,
                  found.neighbours, found.similarities, None, None)
    )  # fmt: skip
    recorder(Ended("done"))
    return run_id


def compared(workspace, *numbers):
    """The overview of these runs, or of all, at their last epochs."""
    runs = [workspace.run(number) for number in numbers] if numbers else workspace.runs()
    return overview(workspace, runs, catalog.current(), "MAP@R", "last")


def spoil_embeddings(workspace, run_id, value):
    """Put a number into the stored embeddings of a run, with the hash of the new file, as elsewhere may write it."""
    path = workspace.file(run_id, "embeddings-1.npy")
    table = np.load(path)
    table[3, 1] = value
    np.save(path, table)
    with workspace.writing() as db:
        db.execute(
            "update artefacts set blake2b = ? where run_id = ? and path = ?", (files.digest(path), run_id, path.name)
        )
