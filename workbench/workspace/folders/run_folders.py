"""The folders below `runs`: which of them are runs, and which number a new run may have."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from workbench import files
from workbench.files import parts
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.workspace.database.connection import Connection
from workbench.workspace.paths import LARGEST, inside, opened, regular, whole

RUNS = "runs"  # the folder of the runs' folders
HIGHEST = "highest-deleted.txt"  # in it: a number
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
        raise Problem(f"The folder {home} no longer exists: it was deleted or moved.", kept="Nothing was written.")


@dataclass(frozen=True, slots=True)
class FolderSize:
    """The bytes on the disk of the folder of a run, and its folders as they were then."""

    bytes: int
    folders: tuple[tuple[str, int], ...]  # path, and the time of the last change in ns

    @property
    def holds(self) -> bool:
        """Whether no file was added to the folders, replaced in them or deleted since; one may have grown."""
        try:
            return all(os.lstat(path).st_mtime_ns == moment for path, moment in self.folders)
        except OSError:
            return False


def bytes_of_runs(workspace: Path, run_ids: Sequence[int], progress: Progress = quiet) -> int:
    """Bytes on the disk of the folders of some runs, without following links; not for the window's thread.

    Raises:
        Problem: a folder cannot be read.
    """
    total = 0
    for number, run_id in enumerate(run_ids):
        progress("Sizes of runs", number, len(run_ids))
        total += _size_of(workspace, run_id).bytes
    return total


def sizes_of_runs(
    workspace: Path, run_ids: Sequence[int], known: Mapping[int, FolderSize] | None = None, progress: Progress = quiet
) -> dict[int, FolderSize]:
    """The size of the folder of each run, without following links; not for the window's thread.

    Args:
        known: sizes from before, which are taken again where they still hold: that takes a tenth of the time. Leave out
            runs that work: their files grow.

    Returns:
        The sizes by run, without runs whose folder cannot be read.
    """
    sizes, before = dict[int, FolderSize](), known or {}
    for number, run_id in enumerate(run_ids):
        progress("Sizes of runs", number, len(run_ids))
        if run_id in before and before[run_id].holds:
            sizes[run_id] = before[run_id]
            continue
        with suppress(Problem):
            sizes[run_id] = _size_of(workspace, run_id)
    return sizes


def _size_of(workspace: Path, run_id: int) -> FolderSize:
    """Raises Problem for a folder that cannot be read."""
    total, waiting, folders = 0, [str(folder_of(workspace, run_id))], list[tuple[str, int]]()
    linked: set[int] = set()  # numbers of files with several names: they are counted at the first one
    while waiting:
        path = waiting.pop()
        try:
            folders.append((path, os.lstat(path).st_mtime_ns))  # first: what comes meanwhile makes the size another
            with os.scandir(path) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        with suppress(FileNotFoundError):  # it was replaced meanwhile
                            fact = entry.stat(follow_symlinks=False)
                            total += fact.st_size if fact.st_ino not in linked else 0
                            linked |= {fact.st_ino} if fact.st_nlink > 1 else set()
        except FileNotFoundError:
            continue  # it is being deleted
        except OSError as error:
            raise Problem(f"The folder of run {run_id} cannot be read: {error.strerror}.") from error
    return FolderSize(total, tuple(folders))


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
    """The number of a new run: above every row's, every folder's, which a repair may have left without a row, and
    every one of a run that was deleted: reports and exports go on naming that run.

    Numbers after which none follows that a run may have are left out: Workbench gives none, but a damaged row may.
    """
    rows = (number for (number,) in db.execute("select id from runs"))
    folders = (run_number(name) or 0 for name in folder_names(runs))
    numbers = (*rows, *folders, highest_deleted(runs))
    return 1 + max((number for number in numbers if 0 < number < 10**DIGITS - 1), default=0)


def highest_deleted(runs: Path) -> int:
    """The highest number of a run that was deleted for ever while it was the newest; 0 for none or an unreadable file.

    It is kept in a file, as no table of the database has a place for it, and a repair takes it along.
    """
    with suppress(OSError, Problem):
        with opened(runs / HIGHEST) as file:
            text = file.read(DIGITS + 2).decode("ascii", "replace").strip()
        return run_number(text) or 0
    return 0


def keep_number(runs: Path, run_id: int) -> None:
    """Keep the number of a run that is deleted for ever from being given again. Raises Problem if it cannot be kept."""
    if run_id > highest_deleted(runs):
        with files.atomic_write(regular(runs / HIGHEST)) as file:
            file.write(f"{run_id}\n".encode())
