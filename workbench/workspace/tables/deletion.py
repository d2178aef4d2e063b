"""Deletes a run permanently: its rows, its folder, and imported images that no run shows any more."""

import contextlib
from pathlib import Path

from workbench.events import LIVE, RunState
from workbench.files import NoSpace
from workbench.problem import Problem
from workbench.workspace.contract import OpenWorkspace
from workbench.workspace.database.connection import Connection
from workbench.workspace.database.problems import Full
from workbench.workspace.folders.run_folders import keep_number
from workbench.workspace.owners import ownership
from workbench.workspace.paths import inside, regular, remove_folder
from workbench.workspace.rows import Run

IMPORTED_IMAGES = "imported-images"  # folder of the workspace for copies of imported images


class NotInTrash(Problem):
    """Another program has restored the run, or deleted it, since it was read."""


def delete_run(workspace: OpenWorkspace, run: Run) -> None:
    """Delete a run, in the trash or not. On a full disk its files go first: they make room to delete its rows.

    Its number is not given to another run.

    Raises:
        NotInTrash: it was read in the trash, and is not there any more; nothing is deleted.
        Problem: the workspace cannot be written, a folder is a link, or a process works on the run; then nothing is
            deleted, or, on a disk that stays full, only the run's files.
    """
    folder, images = workspace.folder(run.id), inside(workspace.path, IMPORTED_IMAGES)
    with workspace.reading() as db:  # before the files of a run go on a full disk
        _refuse(db, run)
        newest = db.execute("select max(id) from runs").fetchone()[0] == run.id
    number_is_kept = not newest or _keep_number(folder.parent, run.id)
    try:
        unshown = _delete_rows(workspace, run)
    except Full as full:
        remove_folder(folder.parent, folder.name)
        try:
            unshown = _delete_rows(workspace, run)
        except Full:
            kept = f"The files of run {run.id} are deleted; it stays in the list."
            raise Problem(full.what, kept=kept, todo="Free some space, then delete it again.") from None
    remove_folder(folder.parent, folder.name)
    if not number_is_kept:
        _keep_number(folder.parent, run.id)  # there is room now; else the run is deleted all the same
    if unshown is not None:
        _remove_images(images, unshown)


def _keep_number(runs: Path, run_id: int) -> bool:
    """Keep the number of a run from being given again; whether the disk had room for that."""
    try:
        keep_number(runs, run_id)
    except NoSpace:
        return False
    return True


def _refuse(db: Connection, run: Run) -> None:
    """Raises as `delete_run`: the run is not as it was read, or works."""
    row = db.execute("select trashed from runs where id = ?", (run.id,)).fetchone()
    if row is None:
        raise NotInTrash(f"Run {run.id} was deleted meanwhile by another window or a command.")
    if run.trashed is not None and row[0] is None:
        what = f"Run {run.id} was restored from the trash meanwhile by another window or a command."
        raise NotInTrash(what, kept="It was not deleted.")
    states = LIVE if run.trashed is None else (RunState.RUNNING, RunState.WAITING)
    ownership.refuse_while_working(db, run.id, states)


def _delete_rows(workspace: OpenWorkspace, run: Run) -> str | None:
    """The fingerprint of its data set where no other run shows it, else None."""
    with workspace.writing() as db:
        _refuse(db, run)
        db.execute(
            "delete from projections where evaluation_id in (select id from evaluations where run_id = ?)", (run.id,)
        )
        db.execute("delete from evaluations where run_id = ?", (run.id,))
        db.execute("delete from runs where id = ?", (run.id,))
        shown = db.execute("select 1 from runs where dataset_id = ? limit 1", (run.dataset_id,)).fetchone()
        data = db.execute("select fingerprint from datasets where id = ?", (run.dataset_id,)).fetchone()
    return None if shown is not None or data is None else str(data[0])


def _remove_images(folder: Path, key: str) -> None:
    """Delete the copies of one data set; other files in the folder, and images outside of it, stay."""
    for path in folder.glob("*") if folder.is_dir() else ():
        if path.suffix in (".npy", ".json") and (path.stem == key or path.stem.startswith(f"{key}-")):
            # Links stay, and on Windows files that a window has open, as with the run's folder.
            with contextlib.suppress(OSError, Problem):
                regular(path).unlink()
