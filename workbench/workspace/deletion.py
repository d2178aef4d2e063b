"""Deletes a run permanently: its rows, its folder, and imported images that no run shows any more."""

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.problem import Problem
from workbench.workspace.paths import inside, regular, remove_folder
from workbench.workspace.rows import Run

if TYPE_CHECKING:
    from workbench.workspace.workspace import Workspace

IMPORTED_IMAGES = "imported-images"  # folder of the workspace for copies of imported images


def delete_run(workspace: "Workspace", run: Run) -> None:
    """Delete a run, in the trash or not.

    Raises:
        Problem: the workspace cannot be written, or a folder is a link; then nothing is deleted.
    """
    folder, images = workspace.folder(run.id), inside(workspace.path, IMPORTED_IMAGES)
    with workspace.writing() as db:
        db.execute(
            "delete from projections where evaluation_id in (select id from evaluations where run_id = ?)", (run.id,)
        )
        db.execute("delete from evaluations where run_id = ?", (run.id,))
        db.execute("delete from runs where id = ?", (run.id,))
        shown = db.execute("select 1 from runs where dataset_id = ? limit 1", (run.dataset_id,)).fetchone()
        data = db.execute("select fingerprint from datasets where id = ?", (run.dataset_id,)).fetchone()
    remove_folder(folder.parent, folder.name)
    if shown is None and data is not None:
        _remove_images(images, data[0])


def _remove_images(folder: Path, key: str) -> None:
    """Delete the copies of one data set; other files in the folder, and images outside of it, stay."""
    for path in folder.glob("*") if folder.is_dir() else ():
        if path.suffix in (".npy", ".json") and (path.stem == key or path.stem.startswith(f"{key}-")):
            # Links stay, and on Windows files that a window has open, as with the run's folder.
            with contextlib.suppress(OSError, Problem):
                regular(path).unlink()
