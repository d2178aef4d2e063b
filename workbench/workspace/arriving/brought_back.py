"""Checkpoints that a run had and has no longer, taken from a folder where they still are.

That may be an export of the run, its run folder, or a copy of its workspace. A file is the run's own by its hash alone:
names and what lies beside it are not trusted, and nothing in the folder is changed.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from workbench.events import CHECKPOINTS, LIVE
from workbench.files import parts
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.workspace.arriving.copies import COPIES, copied, move
from workbench.workspace.contract import OpenWorkspace
from workbench.workspace.database.connection import Connection
from workbench.workspace.folders import deleted_checkpoints, journal
from workbench.workspace.folders.replaying import shown
from workbench.workspace.measured.artefacts import add_artefact
from workbench.workspace.paths import is_file
from workbench.workspace.tables.runs import check_there

DEEPEST = 3  # folders below the one that is searched: a copy of a workspace has its runs at 2
MOST_FOLDERS = 20_000
UNCHANGED = "Nothing was changed."


@dataclass(frozen=True, slots=True)
class Lost:
    """A checkpoint that the run had.

    Attributes:
        name: of its file in the folder of the run.
        bytes: its size.
        blake2b: its hash.
        step: optimiser steps done; None where it is not known.
    """

    name: str
    bytes: int
    blake2b: str
    step: int | None


def lost(workspace: OpenWorkspace, run_id: int) -> list[Lost]:
    """The checkpoints that were deleted or are missing, and whose hash is known; reads the run's journal.

    Raises:
        Problem: there is no such run, or its journal cannot be read.
    """
    home = workspace.folder(run_id)
    with workspace.reading() as db:
        check_there(db, run_id)
        sql = "select path, bytes, blake2b, step from artefacts where run_id = ? and kind = 'checkpoint'"
        rows = {str(path): facts for path, *facts in db.execute(sql, (run_id,))}
    try:
        saved = journal.last_saved(home)
    except OSError as error:
        what = f"{home / journal.NAME} cannot be read ({error.strerror or type(error).__name__})."
        raise Problem(what, kept=UNCHANGED) from error
    deleted = deleted_checkpoints.read(home)
    gone = list[Lost]()
    for kind, name in CHECKPOINTS.items():
        if os.path.lexists(home / name):
            continue
        facts = saved.get(kind)
        step = None if facts is None else facts.step
        if name in deleted and deleted[name].blake2b:
            gone.append(Lost(name, deleted[name].bytes, deleted[name].blake2b, step))
        elif name in rows:
            size, digest, row_step = rows[name]
            gone.append(Lost(name, size, digest, row_step))
        elif facts is not None and facts.blake2b:
            gone.append(Lost(name, facts.bytes, facts.blake2b, step))
    return gone


def bring_back(workspace: OpenWorkspace, run_id: int, source: Path, progress: Progress = quiet) -> list[Lost]:
    """Copy the lost checkpoints of a run that are in a folder, or in the folders below it; returns those that came.

    Args:
        workspace: open for writing.
        run_id: a run that has ended.
        source: is searched to a depth of DEEPEST; links are not followed.
        progress: called with the bytes of each copy; may raise Cancelled: what was copied before is kept.

    Raises:
        Problem: the run has not ended, or lacks nothing that could be recognised; none of its checkpoints is there; or
            the disk is full or refuses the copy.
    """
    wanted = lost(workspace, run_id)
    parts.remove_dead(workspace.folder(run_id), COPIES)  # what a kill left, also after the last of them
    if not wanted:
        raise nothing_lost(workspace, run_id)
    with workspace.reading() as db:
        _refuse(db, run_id)
    home, came = workspace.folder(run_id), list[Lost]()
    for folder in _folders(source, progress):
        for one in [one for one in wanted if one not in came]:
            if not _has_size(folder / one.name, one.bytes):
                continue
            with copied(folder, home, {one.name: (one.bytes, one.blake2b)}, progress) as copies:
                if copies is not None and _moved(workspace, run_id, copies, one):
                    came.append(one)
        if len(came) == len(wanted):
            break
    if not came:
        raise Problem(
            f"{shown(str(source))} holds no checkpoint of run {run_id}: no file there has the content of its own.",
            kept=UNCHANGED,
            todo="Choose an export of the run (Run folder), or a copy of its workspace from that time.",
        )
    return came


def nothing_lost(workspace: OpenWorkspace, run_id: int) -> Problem:
    """Why there is nothing to bring back."""
    home = workspace.folder(run_id)
    if is_file(home / CHECKPOINTS["last"]):
        return Problem(f"Run {run_id} has its checkpoints.", kept=UNCHANGED)
    return Problem(
        f"Run {run_id} has no checkpoint, and it is not known which it had: none could be recognised.", kept=UNCHANGED
    )


def _refuse(db: Connection, run_id: int) -> None:
    """Raises Problem for a run that has not ended, or is gone."""
    check_there(db, run_id)
    ((status,),) = db.execute("select status from runs where id = ?", (run_id,)).fetchall()
    if status in LIVE:
        raise Problem(f"Run {run_id} has not ended: it is {status}.", kept=UNCHANGED, todo="End it first.")


def _moved(workspace: OpenWorkspace, run_id: int, copies: Path, one: Lost) -> bool:
    """Move the copy into the run's folder; False where the run has that checkpoint meanwhile.

    The row comes first: a kill then leaves a checkpoint that is still lost, not a file that no row knows.
    """
    home = workspace.folder(run_id)
    with workspace.writing() as db:
        _refuse(db, run_id)  # again: another program may have resumed it since
        if os.path.lexists(home / one.name):
            return False
        add_artefact(db, copies, run_id, "checkpoint", copies / one.name, one.step, one.blake2b)
    move([copies / one.name], home)
    return True


def _folders(source: Path, progress: Progress) -> Iterator[Path]:
    """The folder and those below it, the nearest first; those that cannot be read are passed over."""
    nearest, seen = [source], 1
    for _ in range(DEEPEST + 1):
        below = list[Path]()
        for folder in nearest:
            progress("Looking for checkpoints", 0, 0)
            yield folder
            with suppress(OSError), os.scandir(folder) as entries:
                for entry in entries:
                    if seen < MOST_FOLDERS and entry.is_dir(follow_symlinks=False):
                        below.append(Path(entry.path))
                        seen += 1
        nearest = sorted(below)


def _has_size(path: Path, size: int) -> bool:
    try:
        facts = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(facts.st_mode) and facts.st_size == size
