"""A data set whose files were moved: the new folder is found once for all its images."""

import os
from pathlib import Path

from workbench.datasets.images.loader import on_disk
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.workspace.folders.dataset_copy import keep_dataset
from workbench.workspace.workspace import Workspace

TRIED = 500  # images that are tried in a folder before all are counted
OFTEN = 100  # images between two reports: a folder of a network disk answers slowly


def find_images(workspace: Workspace, dataset_id: int, folder: Path, progress: Progress = quiet) -> tuple[int, int]:
    """Read the images of a data set from below `folder` from now on; call it on a thread.

    They may be in it, in a folder of it, or in its parent folder; the one with most of the images is used.
    `progress` may raise Cancelled, which leaves everything as it was.

    Returns:
        How many images were found, and how many the data set has.

    Raises:
        Problem: the data set has no files, none of them was found, or the workspace cannot be written.
    """
    data, paths = workspace.dataset(dataset_id), workspace.samples(dataset_id).paths
    if not data.root or not paths:
        raise Problem(f"{data.name} has no image files.", kept="Nothing was changed.")
    sample = paths[:: max(1, len(paths) // TRIED)]
    best = max(_candidates(folder), key=lambda root: _there(root, sample, "Trying folders", progress))
    count = _there(best, paths, "Looking for images", progress)
    if not count:
        raise Problem(
            f"None of the {len(paths):,} images of {data.name} is in {folder}.",
            kept="Nothing was changed.",
            todo=f"Choose the folder that holds {paths[0]}.",
        )
    with workspace.writing() as db:
        db.execute("update datasets set root = ? where id = ?", (str(best), dataset_id))
        for (run_id,) in db.execute("select id from runs where dataset_id = ?", (dataset_id,)).fetchall():
            if workspace.folder(run_id).is_dir():
                keep_dataset(db, dataset_id, workspace.folder(run_id))
    return count, len(paths)


def _candidates(folder: Path) -> list[Path]:
    """The folders to try; the chosen one first, which is used unless another has more images."""
    try:
        below = sorted(entry for entry in folder.iterdir() if entry.is_dir())
    except OSError as error:
        raise Problem(f"The folder {folder} cannot be read: {error.strerror}.", kept="Nothing was changed.") from error
    return [folder, *below, folder.parent]


def _there(root: Path, paths: list[str], doing: str, progress: Progress) -> int:
    count = 0
    for done, path in enumerate(paths):
        if done % OFTEN == 0:
            progress(doing, done, len(paths))
        count += os.path.isfile(on_disk(root, path))
    return count
