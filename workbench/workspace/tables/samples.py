"""Data sets and their samples: read over a connection of the workspace, and stored by the first run on them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.names import visible_name
from workbench.problem import Problem
from workbench.workspace.database import checksums
from workbench.workspace.database.columns import FROM_A_COPY, Unreadable, even, texts_of
from workbench.workspace.database.connection import Connection
from workbench.workspace.folders.dataset_copy import register
from workbench.workspace.measured import sealing
from workbench.workspace.paths import originals, pixel_cache
from workbench.workspace.rows import Dataset, Samples

if TYPE_CHECKING:
    from workbench.datasets.image_set import ImageSet
    from workbench.datasets.pictures import Pictures


def read_dataset(db: Connection, dataset_id: int, near: Path) -> Dataset:
    """One data set, its class names as they are shown; `near`: the workspace's folder, where its pixel cache may be.

    Raises:
        Problem: there is none, or it cannot be read.
    """
    names = ("id", "name", "root", "fingerprint", "class_names", "pixels", "image_size", "channels")
    row = db.execute(f"select {', '.join(names)} from datasets where id = ?", (dataset_id,)).fetchone()
    if row is None:
        raise Problem(f"There is no data set {dataset_id} in this workspace.")
    facts = dict(zip(names, row, strict=True))
    try:
        facts["class_names"] = tuple(map(visible_name, texts_of(facts["class_names"])))
    except Unreadable as error:
        raise Problem(
            f"The names of the classes of data set {dataset_id} could not be read ({error}).",
            kept="The runs are kept.",
            todo=f"Numbers stand in for the names on the map. {FROM_A_COPY}",
        ) from None
    facts["name"] = visible_name(facts["name"])
    facts["pixels"] = pixel_cache(str(facts["pixels"]), near) if facts["pixels"] else None
    return Dataset(**facts)


def refuse_unknown(db: Connection, dataset_id: int, kept: str = "") -> None:
    """Raise Problem if there is no data set of that number, as where the row of a run was damaged."""
    if db.execute("select 1 from datasets where id = ?", (dataset_id,)).fetchone() is None:
        raise Problem(f"There is no data set {dataset_id} in this workspace.", kept=kept)


def read_samples(db: Connection, dataset_id: int) -> Samples:
    """All samples by row. Raises Problem, also when there is no such data set."""
    numbers = [np.empty((0, 3), np.int64)]
    paths: list[str] = []
    official: list[str] = []
    readable = True
    for part in checksums.checked_parts(db, dataset_id):
        paths += [path for _, _, _, path, _, _ in part]
        official += [half for _, _, _, _, _, half in part]
        try:
            numbers.append(np.array([row[:3] for row in part], np.int64))
        except (TypeError, ValueError, OverflowError):
            readable = False
    if not paths:
        refuse_unknown(db, dataset_id)
    if not readable:
        what = f"The samples of data set {dataset_id} could not be read."
        raise Problem(what, kept="The runs are kept.", todo=FROM_A_COPY)
    rows, ids, labels = (np.ascontiguousarray(column) for column in np.concatenate(numbers).T)
    even(f"Data set {dataset_id}", {"ids": ids, "rows": rows, "labels": labels})
    return Samples(ids=ids, rows=rows, labels=labels, paths=paths, official=official)


def no_samples() -> Samples:
    """Those of a run without a data set."""
    ids, rows, labels = np.empty((3, 0), np.int64)
    return Samples(ids=ids, rows=rows, labels=labels, paths=[], official=[])


def params_of(db: Connection, dataset_id: int) -> tuple[str, dict[str, Any]]:
    """The name of the data set's kind and its parameters by the config of a run; an empty name if none is recorded."""
    from workbench.config import BadConfig, RunConfig

    row = db.execute("select config from runs where dataset_id = ? limit 1", (dataset_id,)).fetchone()
    if row is None:
        return "", {}
    try:
        chosen = RunConfig.recorded(str(row[0])).dataset
    except BadConfig:
        return "", {}
    return chosen.name, chosen.params


def pictures(data: Dataset, columns: Samples | None, kind: str, params: dict[str, Any]) -> "Pictures":
    """Images of a data set by sample id: from the pixel cache, in full from the original file; None: it has none.

    `kind` and `params` are those of `params_of`: by them a grey file of 16 bits is read as it was, and a box is found
    in its file.
    """
    from workbench.datasets.images.image_parts import whole_files
    from workbench.datasets.images.loader import bits_of
    from workbench.datasets.pictures import Pictures

    if columns is None:
        return Pictures({}, None, {}, any_images=False)
    ids, bits = columns.ids.tolist(), bits_of(params)
    files = dict(zip(ids, originals(data.root, columns.paths), strict=True)) if data.root else {}
    rows = dict(zip(ids, columns.rows.tolist(), strict=True))
    whole = None if data.root else whole_files(kind, params)
    if whole is None:
        return Pictures(rows, data.pixels, files, bits=bits)
    originals(str(whole.root), columns.paths)  # refuses a name that leads out of the folder
    return Pictures(rows, data.pixels, files, bits=bits, parts=(dict(zip(ids, columns.paths, strict=True)), whole))


def store_dataset(db: Connection, image_set: "ImageSet", pixels: Path | None) -> int:
    """The number of a data set, stored with its samples at the first time; `pixels` is its cache, None without."""
    dataset_id = register(db, image_set, pixels)
    if db.execute("select 1 from sample_sums where dataset_id = ?", (dataset_id,)).fetchone() is None:
        sealing.seal_samples(db, dataset_id)
    return dataset_id
