"""Copies of the data set and the experiment beside each run, from which a lost database can be rebuilt."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ValidationError

from workbench import files
from workbench.workspace.database.columns import texts_of
from workbench.workspace.database.connection import Connection, new_id
from workbench.workspace.folders.journal import Text, Whole
from workbench.workspace.paths import opened, originals, regular

if TYPE_CHECKING:
    from workbench.datasets.image_set import ImageSet


LARGEST_EXPERIMENT = 4 << 20  # bytes
LARGEST_COPY = 512 << 20  # bytes


class CutError(ValueError):
    """A file that was not written, or copied, completely."""


class DatasetCopy(BaseModel):
    """The content of `dataset.json`."""

    name: Text
    root: Text
    fingerprint: Text
    class_names: list[Text]
    pixels: Text
    image_size: Whole
    channels: Whole
    samples: list[tuple[Whole, Whole, Text, Whole, Text, Text]]  # id, row, path, label, class, official


class ExperimentCopy(BaseModel):
    """The content of `experiment.json`."""

    name: Text
    config: Text
    created: Text


def register(db: Connection, image_set: "ImageSet", pixels: Path | None) -> int:
    """The number of a data set, which is stored with its samples the first time; `pixels` is its cache, or None."""
    facts = copy_of(image_set, pixels)
    key, root = facts.fingerprint, facts.root
    row = db.execute("select id from datasets where fingerprint = ?", (key,)).fetchone()
    if row is not None and not _has(db, row[0], facts):  # it was imported with a run folder and is wrong
        db.execute("update datasets set fingerprint = fingerprint || '-' || id where id = ?", row)
    elif row is not None:
        db.execute("update datasets set root = ?, pixels = ? where id = ?", (root, str(pixels or ""), row[0]))
        return int(row[0])
    return _insert(db, facts)


def fingerprints_of_images(db: Connection) -> dict[int, str]:
    """Of each data set by its number: its fingerprint without the size and the channels that its images have here."""
    rows = db.execute("select id, fingerprint, image_size, channels from datasets")
    return {number: str(key).removesuffix(_decoded(*decoded)) for number, key, *decoded in rows}


def _decoded(image_size: int, channels: int) -> str:
    """The end of a fingerprint: the same images of another size are another data set of the workspace."""
    return f"-{image_size}x{channels}"


def restore_dataset(db: Connection, folder: Path) -> int | None:
    """Restore the data set's rows from the copy beside the run's config; None if there is none.

    Raises:
        Problem, OSError or ValueError: the copy cannot be read, or is invalid.
    """
    path = regular(folder / "dataset.json")
    if not path.exists():
        return None
    facts = read_copy(path)
    row = db.execute("select id from datasets where fingerprint = ?", (facts.fingerprint,)).fetchone()
    return _insert(db, facts) if row is None else int(row[0])


def read_copy(path: Path) -> DatasetCopy:
    """The content of a `dataset.json`. Raises CutError if it is incomplete, ValueError if invalid, Problem, OSError."""
    with opened(path) as file:
        if os.fstat(file.fileno()).st_size > LARGEST_COPY:
            raise ValueError(f"{path.name} is over {LARGEST_COPY >> 20} MiB")
        text = file.read(LARGEST_COPY)  # it may grow meanwhile: then it is cut
    try:
        return DatasetCopy.model_validate_json(text)
    except ValidationError as error:
        if any(problem["type"] == "json_invalid" for problem in error.errors(include_input=False)):
            raise CutError(f"{path.name} is not whole") from None
        raise ValueError(f"{path.name} is of another form") from None


def arrived(db: Connection, facts: DatasetCopy) -> int:
    """The number of the data set of an imported run folder; that of the same fingerprint, if the workspace has one.

    Raises:
        ValueError: it is no valid data set, or that of the same fingerprint has other samples.
    """
    ids, rows = [sample[0] for sample in facts.samples], [sample[1] for sample in facts.samples]
    if rows != list(range(len(rows))) or len(set(ids)) != len(ids):
        raise ValueError("its samples are not numbered as they should be")
    if any(not 0 <= sample[3] < len(facts.class_names) for sample in facts.samples):
        raise ValueError("a sample has a class that is not named")
    originals(facts.root, [sample[2] for sample in facts.samples])
    known = db.execute("select id from datasets where fingerprint = ?", (facts.fingerprint,)).fetchone()
    if known is None:
        return _insert(db, facts)
    if not _has(db, known[0], facts):
        raise ValueError("the data set of that fingerprint has other samples here")
    return int(known[0])


def _has(db: Connection, dataset_id: int, facts: DatasetCopy) -> bool:
    """Whether a stored data set has these samples, in this order."""
    stored = db.execute('select id from samples where dataset_id = ? order by "row"', (dataset_id,)).fetchall()
    return [number for (number,) in stored] == [sample[0] for sample in facts.samples]


def same_as_stored(db: Connection, dataset_id: int, facts: DatasetCopy) -> bool:
    """Whether a copy is one of that data set of the workspace: by its fingerprint and its samples."""
    row = db.execute("select fingerprint from datasets where id = ?", (dataset_id,)).fetchone()
    names = (facts.fingerprint, f"{facts.fingerprint}-{dataset_id}")  # the latter once another took its fingerprint
    return row is not None and row[0] in names and _has(db, dataset_id, facts)


def copy_of(image_set: "ImageSet", pixels: Path | None) -> DatasetCopy:
    """Everything that a workspace stores of a data set; `pixels` is its cache of decoded images."""
    names, labels, ids = image_set.class_names, image_set.labels.tolist(), image_set.sample_ids.tolist()
    official = image_set.official or [""] * len(ids)
    return DatasetCopy.model_construct(
        name=image_set.name,
        root="" if image_set.root is None else os.fsencode(image_set.root).decode("utf-8", "replace"),
        fingerprint=f"{image_set.fingerprint}{_decoded(image_set.image_size, image_set.channels)}",
        class_names=list(names), pixels=str(pixels or ""), image_size=image_set.image_size,
        channels=image_set.channels,
        samples=[
            (ids[row], row, image_set.paths[row], labels[row], names[labels[row]], official[row])
            for row in range(len(ids))
        ],
    )  # fmt: skip


def write_copy(facts: DatasetCopy, folder: Path) -> None:
    """Write a data set's rows beside a run. Raises Problem if the disk refuses it."""
    with files.atomic_write(regular(folder / "dataset.json")) as file:
        file.write(json.dumps(dict(facts), ensure_ascii=False).encode())


def _insert(db: Connection, facts: DatasetCopy) -> int:
    dataset_id = new_id(
        db.execute(
            "insert into datasets (name, root, fingerprint, class_names, pixels, image_size, channels) "
            "values (:name, :root, :fingerprint, :class_names, :pixels, :image_size, :channels)",
            dict(facts) | {"class_names": json.dumps(facts.class_names), "samples": None},
        )
    )
    db.executemany(
        'insert into samples (dataset_id, id, "row", path, label, class, official) values (?, ?, ?, ?, ?, ?, ?)',
        ((dataset_id, *sample) for sample in facts.samples),
    )
    return int(dataset_id)


def keep_dataset(db: Connection, dataset_id: int, folder: Path) -> None:
    """Write the data set's rows beside a run, so that its evaluations can be rebuilt."""
    names = ("name", "root", "fingerprint", "class_names", "pixels", "image_size", "channels")
    row = db.execute(f"select {', '.join(names)} from datasets where id = ?", (dataset_id,)).fetchone()
    facts = dict(zip(names, row, strict=True))
    sql = 'select id, "row", path, label, class, official from samples where dataset_id = ? order by "row"'
    samples = [tuple(sample) for sample in db.execute(sql, (dataset_id,))]
    facts |= {"class_names": texts_of(facts["class_names"]), "samples": samples}
    write_copy(DatasetCopy.model_construct(**facts), folder)


def keep_experiment(db: Connection, experiment_id: int, folder: Path) -> None:
    """Write the experiment of a run beside it."""
    row = db.execute("select name, config, created from experiments where id = ?", (experiment_id,)).fetchone()
    with files.atomic_write(regular(folder / "experiment.json")) as file:
        file.write(json.dumps(dict(zip(("name", "config", "created"), row, strict=True)), ensure_ascii=False).encode())


def read_experiment(folder: Path) -> ExperimentCopy | None:
    """The content of a run's `experiment.json`; None without one. Raises Problem, OSError or ValueError."""
    try:
        with opened(folder / "experiment.json") as file:
            text = file.read(LARGEST_EXPERIMENT + 1)
    except FileNotFoundError:
        return None
    if len(text) > LARGEST_EXPERIMENT:
        raise ValueError(f"experiment.json is over {LARGEST_EXPERIMENT >> 20} MiB")
    try:
        return ExperimentCopy.model_validate_json(text)
    except ValidationError:
        raise ValueError("experiment.json is of another form") from None


def restore_experiment(db: Connection, folder: Path) -> int | None:
    """The number of the run's experiment, which the first of its runs restores; None for a run without one.

    Raises:
        Problem, OSError or ValueError: as `restore_dataset`.
    """
    facts = read_experiment(folder)
    if facts is None:
        return None
    values = (facts.name, facts.config, facts.created)
    sql = "select id from experiments where name = ? and config = ? and created = ?"
    row = db.execute(sql, values).fetchone()
    if row is not None:
        return int(row[0])
    return new_id(db.execute("insert into experiments (name, config, created) values (?, ?, ?)", values))
