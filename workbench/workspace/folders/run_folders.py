"""The folders below `runs`: which of them are runs, and which number a new run may have."""

import os
from collections.abc import Sequence
from pathlib import Path

from workbench import files
from workbench.files import parts
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.workspace.database.connection import Connection
from workbench.workspace.paths import LARGEST, inside, whole

RUNS = "runs"  # the folder of the runs' folders
DIGITS = 18  # at most, of a run's number: one more could not be stored


def folder_of(workspace: Path, run_id: int) -> Path:
    """The folder of a run's config, checkpoints, embeddings and journal. Raises Problem for no number or a link."""
    return inside(workspace, f"{RUNS}/{whole(run_id, 'a run')}")


def make_folder(workspace: Path, path: Path) -> None:
    """Make a folder for files about runs, with those above it, but never the workspace or the folder of a run again.

    Raises:
        Problem: it is in the folder of a run, or in a workspace, that is not there any more; or as `files.make_folder`.
    """
    runs, path = Path(os.path.abspath(workspace)) / RUNS, Path(os.path.abspath(path))
    below = path.relative_to(runs).parts[:1] if path.is_relative_to(runs) else ()
    home = runs.joinpath(*below) if below and run_number(below[0]) is not None else runs.parent
    if not path.is_relative_to(home):
        files.make_folder(path)
        return
    try:
        for folder in reversed([path, *path.parents][: len(path.parts) - len(home.parts)]):
            folder.mkdir(exist_ok=True)
    except OSError as error:
        if home.is_dir():
            raise files.explain(error, path) from error
    if not home.is_dir():
        raise Problem(f"The folder {home} is not there any more: it was deleted or moved.", kept="Nothing was written.")


def bytes_of_runs(workspace: Path, run_ids: Sequence[int], progress: Progress = quiet) -> int:
    """Bytes on the disk of the folders of some runs, without following links; not for the window's thread.

    Raises:
        Problem: a folder cannot be read.
    """
    total = 0
    for number, run_id in enumerate(run_ids):
        progress("Sizes of runs", number, len(run_ids))
        waiting = [str(folder_of(workspace, run_id))]
        while waiting:
            try:
                with os.scandir(waiting.pop()) as entries:
                    for entry in entries:
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
                        else:
                            total += entry.stat(follow_symlinks=False).st_size
            except FileNotFoundError:
                continue  # it is being deleted
            except OSError as error:
                raise Problem(f"The folder of run {run_id} cannot be read: {error.strerror}.") from error
    return total


def without_row(db: Connection, runs: Path) -> list[str]:
    """The names of folders (or links) in `runs` that are no run of the database."""
    known = {str(number) for (number,) in db.execute("select id from runs")}
    return [name for name in folder_names(runs) if name not in known]


def folder_names(runs: Path) -> list[str]:
    """Folders and links in `runs`, those that are named by numbers first and in order.

    Files are no runs, and neither is what is being deleted.
    """
    if not runs.is_dir():
        return []
    with os.scandir(runs) as entries:
        names = [entry.name for entry in entries if entry.is_symlink() or entry.is_dir(follow_symlinks=False)]
    names = [name for name in names if not parts.NAME.fullmatch(name)]
    return sorted(names, key=lambda name: (run_number(name) or LARGEST, name))


def run_number(name: str) -> int | None:
    """The number of the run whose folder has that name; None for any other name, such as "01"."""
    usual = name.isascii() and name.isdigit() and not name.startswith("0") and len(name) <= DIGITS
    return int(name) if usual else None


def next_number(db: Connection, runs: Path) -> int:
    """The number of a new run: above every row's and every folder's, which a repair may have left without a row.

    Numbers after which none follows that a run may have are left out: Workbench gives none, but a damaged row may.
    """
    rows = (number for (number,) in db.execute("select id from runs"))
    folders = (run_number(name) or 0 for name in folder_names(runs))
    return 1 + max((number for number in (*rows, *folders) if 0 < number < 10**DIGITS - 1), default=0)
