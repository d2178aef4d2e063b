"""Embeddings of another program as a search-only run: copied block by block, without metrics or images."""

from pathlib import Path
from typing import Literal

import numpy as np

from workbench import __version__
from workbench.datasets.images.loader import display_name
from workbench.exchange.imported.importing import config_of, imported_run
from workbench.exchange.imported.named_arrays import KEPT
from workbench.exchange.imported.tables import mapped_array
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.workspace import Workspace
from workbench.workspace.measured.galleries import MOST_ROWS, Note, write_gallery
from workbench.workspace.times import now

MOST_CLASSES = 1_000_000  # with names of their own


def import_gallery(
    workspace: Workspace,
    embeddings: Path,
    labels: Path | None = None,
    name: str = "",
    distance: Literal["cosine", "l2"] = "cosine",
    progress: Progress = quiet,
) -> int:
    """Make a search-only run of embeddings; returns its number. The files are never read completely into memory.

    Args:
        embeddings: .npy [n, d] of numbers; float16 and float32 are kept as they are.
        labels: .npy [n] of whole numbers or text; None without.
        name: of the run; by default the name of the file of embeddings.
        progress: called with the rows that are copied; may raise Cancelled, which leaves no run behind.

    Raises:
        Problem: files that cannot be used, numbers that are not finite, or a workspace that cannot be written.
    """
    if workspace.read_only:
        raise Problem(f"The workspace {workspace.path} is open for reading only.", kept=KEPT)
    embeddings, labels = embeddings.absolute(), None if labels is None else labels.absolute()
    vectors = _vectors_of(embeddings)
    progress("Reading the labels", 0, 0)
    numbers, names = (None, None) if labels is None else _labels(labels, len(vectors), embeddings)
    config = config_of(name or display_name(embeddings.stem), embeddings, labels, None, distance)
    with imported_run(workspace, config, "Copying the embeddings") as recorder:
        note = write_gallery(workspace.folder(recorder.run_id), vectors, numbers, names, distance, progress)
        recorder.environment(_environment(note, embeddings, labels))
    return recorder.run_id


def _vectors_of(path: Path) -> np.ndarray:
    """A map of the embeddings. Raises Problem for anything but numbers [n, d]."""
    array = mapped_array(path, MOST_ROWS)
    if array.dtype.kind not in "fiu" or array.ndim != 2 or not array.size:
        raise Problem(
            f"{path} holds {array.dtype} {list(array.shape)}, not embeddings.", kept=KEPT,
            todo="Save numbers of the shape [n, d] by numpy.save.",
        )  # fmt: skip
    return array


def _labels(path: Path, count: int, embeddings: Path) -> tuple[np.ndarray, list[str] | None]:
    """Labels [n] int64, and their names where they are text."""
    labels = mapped_array(path, MOST_ROWS)
    if labels.ndim != 1 or labels.dtype.kind not in "iuU":
        raise Problem(
            f"{path} holds {labels.dtype} {list(labels.shape)}, not labels.", kept=KEPT,
            todo="Save whole numbers or text of the shape [n].",
        )  # fmt: skip
    if len(labels) != count:
        raise Problem(
            f"{embeddings.name} holds {count:,} embeddings, but {path.name} {len(labels):,} labels.", kept=KEPT,
            todo="Give one label for each embedding, in the same order.",
        )  # fmt: skip
    if labels.dtype.kind != "U":
        return np.asarray(labels, np.int64), None
    names, numbers = np.unique(labels, return_inverse=True)
    if len(names) > MOST_CLASSES:
        raise Problem(f"{path} names {len(names):,} classes, more than {MOST_CLASSES:,}.", kept=KEPT)
    return np.asarray(numbers, np.int64), [str(word) for word in names.tolist()]


def _environment(note: Note, embeddings: Path, labels: Path | None) -> dict[str, object]:
    return {
        "workbench": __version__,
        "imported": {
            "embeddings": str(embeddings), "labels": str(labels or ""), "images": "", "dimensions": note.dim,
            "at": now(),
        },
        "gallery": {"rows": note.count, "dimensions": note.dim, "distance": note.distance},
    }  # fmt: skip
