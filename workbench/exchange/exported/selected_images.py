"""A set of images of a data set as a table, or as a folder of links with one folder for each class."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from workbench import files
from workbench.datasets.decisions import PathDecision, decisions_text
from workbench.files import parts
from workbench.files.disk_names import RESERVED, UNSAFE
from workbench.files.spreadsheet import csv_text
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.workspace import Workspace

TABLE = "selection.csv"
HEADER = ["sample_id", "class", "path", "half", "ap", "first_hit", "r"]
LONGEST, MOST_BYTES = 100, 200  # characters and bytes of a class in a folder's name: with a number 255 bytes at most


@dataclass(frozen=True, slots=True)
class Written:
    """How the images of a folder came to it."""

    links: int
    copies: int
    pictures: int  # written as PNG: the image is no file of its own
    missing: int  # neither file nor cache is there any more


def write_table(
    path: Path, workspace: Workspace, dataset_id: int, ids: np.ndarray, evaluation_id: int | None,
    progress: Progress = quiet,
) -> None:  # fmt: skip
    """One row for each sample, in the order of the data set; scores of the evaluation where it has the sample.

    Args:
        progress: called at each stage; may raise Cancelled, which leaves no file behind.

    Raises:
        Problem: the place cannot be written, or the data set is gone.
    """
    progress("Reading the samples", 0, 0)
    text = _csv_of(workspace, dataset_id, ids, evaluation_id)
    progress("Writing the file", 0, 0)
    with files.chosen_file(path) as file:
        file.write(text.encode())


def write_dropped(
    path: Path, workspace: Workspace, dataset_id: int, ids: np.ndarray, progress: Progress = quiet
) -> None:
    """The samples as label decisions, each with “drop”: a run that takes the file leaves these images out.

    Args:
        progress: called at each stage; may raise Cancelled, which leaves no file behind.

    Raises:
        Problem: the place cannot be written, or the data set is gone.
    """
    progress("Reading the samples", 0, 0)
    dataset, samples = workspace.dataset(dataset_id), workspace.samples(dataset_id)
    text = decisions_text(
        PathDecision(samples.paths[at], dataset.class_name(int(samples.labels[at])), "drop")
        for at in np.flatnonzero(np.isin(samples.ids, ids))
    )
    progress("Writing the file", 0, 0)
    with files.chosen_file(path) as file:
        file.write(text.encode())


def write_links(
    folder: Path, workspace: Workspace, dataset_id: int, ids: np.ndarray, evaluation_id: int | None, progress: Progress
) -> Written:
    """Make `folder` with a folder for each class, links in them, and selection.csv.

    A file that cannot be linked to is copied; an image that is no file of its own is written as PNG. The name of every
    one begins with its sample id. The folder is whole or not there.

    Args:
        folder: must not exist, or be empty.
        progress: called for each image; may raise Cancelled.

    Raises:
        Problem: the folder holds something, or cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Problem(f"{folder} is not empty.", kept="Nothing was written.", todo="Choose a new or empty folder.")
    try:
        with parts.part_folder(folder) as part:
            result = _fill(part, workspace, dataset_id, ids, progress)
            (part / TABLE).write_bytes(_csv_of(workspace, dataset_id, ids, evaluation_id).encode())
            progress("Writing images", len(ids), len(ids))
            if folder.exists():
                folder.rmdir()
            part.rename(folder)
    except OSError as error:
        raise files.explain(error, folder) from error
    return result


def _fill(part: Path, workspace: Workspace, dataset_id: int, ids: np.ndarray, progress: Progress) -> Written:
    names, samples = workspace.dataset(dataset_id).class_names, workspace.samples(dataset_id)
    pictures = workspace.pictures(dataset_id)
    links = copies = drawn = missing = 0
    places = np.flatnonzero(np.isin(samples.ids, ids)).tolist()
    for done, at in enumerate(places):
        progress("Writing images", done, len(places))
        sample, label = int(samples.ids[at]), int(samples.labels[at])
        home = part / f"{label:04} {safe(names[label] if label < len(names) else '')}".strip()
        home.mkdir(exist_ok=True)
        original = pictures.path(sample)
        if original is not None and original.is_file():
            target = home / f"{sample} {safe(original.name)}"
            try:
                target.symlink_to(original.resolve())
                links += 1
            except OSError:  # a file system or an account without links
                shutil.copyfile(original, target)
                copies += 1
            continue
        try:
            picture = pictures.thumbnail(sample)
        except Problem:
            missing += 1
            continue
        Image.fromarray(picture).save(home / f"{sample} {safe(Path(samples.paths[at]).stem)}.png")
        drawn += 1
    return Written(links, copies, drawn, missing)


def safe(name: str) -> str:
    """A name that every file system takes and that leads nowhere else: at most 100 characters, perhaps "unnamed".

    File systems count bytes: a name of three bytes a letter is cut to 66 letters.
    """
    kept = "".join("_" if letter in UNSAFE or not letter.isprintable() else letter for letter in name)
    short = kept.strip(" .")[-LONGEST:].encode("utf-8", "replace")[-MOST_BYTES:]
    name = short.decode("utf-8", "ignore").strip(" .") or "unnamed"
    return f"_{name}" if RESERVED.fullmatch(name) else name


def _csv_of(workspace: Workspace, dataset_id: int, ids: np.ndarray, evaluation_id: int | None) -> str:
    names, samples = workspace.dataset(dataset_id).class_names, workspace.samples(dataset_id)
    scores: dict[int, tuple[object, int, int]] = {}
    if evaluation_id is not None:
        queries = workspace.queries(evaluation_id)
        wanted = np.flatnonzero(np.isin(queries.sample_ids, ids)).tolist()
        for at in wanted:
            ap = float(queries.ap[at])
            scored = (ap if np.isfinite(ap) else "", int(queries.first_hit[at]), int(queries.r[at]))
            scores[int(queries.sample_ids[at])] = scored
    rows = []
    for at in np.flatnonzero(np.isin(samples.ids, ids)).tolist():
        sample, label = int(samples.ids[at]), int(samples.labels[at])
        word = names[label] if label < len(names) else str(label)
        rows.append([sample, word, samples.paths[at], samples.official[at], *scores.get(sample, ("", "", ""))])
    return csv_text(HEADER, rows)
