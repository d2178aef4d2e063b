"""Deletes evaluations that a run does not keep: their rows, their maps, and the files of both in the run's folder."""

import contextlib
import re
from collections.abc import Collection
from pathlib import Path

from workbench.problem import Problem
from workbench.workspace.contract import OpenWorkspace
from workbench.workspace.database.connection import Connection
from workbench.workspace.paths import regular

ARRAYS = re.compile(r"(?:embeddings|ranking|proxies|training|probe)-([0-9]{1,18})\.np[yz]")
OF_MAPS = re.compile(r"(?:map|kept)-([0-9]{1,18})-.*\.np[yz]")


def epoch_of(name: str) -> int | None:
    """The epoch of an evaluation's file, by its name; None for other files."""
    match = ARRAYS.fullmatch(name)
    return None if match is None else int(match[1])


def keep_only(db: Connection, run_id: int, epochs: Collection[int]) -> set[int]:
    """Delete the rows of a run's evaluations before the last of `epochs` that are of none of them, and of their maps.

    Returns their numbers.
    """
    rows = db.execute("select id, epoch from evaluations where run_id = ?", (run_id,)).fetchall()
    gone = {number for number, epoch in rows if is_other(epoch, epochs)}
    _delete(db, gone)
    _forget_files(db, run_id, epochs, gone)
    return gone


def delete_at(db: Connection, run_id: int, epochs: Collection[int]) -> None:
    """Delete the rows of a run's evaluations at these epochs, of their maps, and of the files of both."""
    rows = db.execute("select id, epoch from evaluations where run_id = ?", (run_id,)).fetchall()
    gone = {number for number, epoch in rows if epoch in epochs}
    _delete(db, gone)
    _forget_files(db, run_id, (), gone)
    paths = db.execute("select id, path from artefacts where run_id = ?", (run_id,)).fetchall()
    unused = [(number,) for number, path in paths if epoch_of(path) in epochs]
    db.executemany("delete from artefacts where id = ?", unused)


def _delete(db: Connection, numbers: Collection[int]) -> None:
    for number in numbers:
        db.execute("delete from projections where evaluation_id = ?", (number,))
        db.execute("delete from evaluations where id = ?", (number,))


def remove_maps(workspace: OpenWorkspace, run_id: int, evaluation_id: int) -> None:
    """Delete the files of maps of an evaluation that was deleted while they were made."""
    with workspace.writing() as db:
        _forget_files(db, run_id, (), {evaluation_id})
    remove_files(workspace.folder(run_id), (), {evaluation_id})


def sweep_maps(workspace: OpenWorkspace, run_id: int) -> None:
    """Delete the maps of evaluations that are gone: a kill between a commit and `remove_files` left them.

    Raises Problem for a workspace that cannot be written, and for a folder that is a link.
    """
    folder, names = workspace.folder(run_id), list[str]()
    with contextlib.suppress(OSError):
        names = [path.name for path in folder.iterdir()]
    named = {int(of_map[1]) for of_map in map(OF_MAPS.fullmatch, names) if of_map is not None}
    if not named:
        return
    with workspace.reading() as db:
        gone = named - _with_maps(db, run_id)
    if not gone:
        return
    with workspace.writing() as db:
        gone -= _with_maps(db, run_id)
        _forget_files(db, run_id, (), gone)
    remove_files(folder, (), gone)


def _with_maps(db: Connection, run_id: int) -> set[int]:
    """The numbers of a run's evaluations, and those in names of files that a map still has."""
    known = {number for (number,) in db.execute("select id from evaluations where run_id = ?", (run_id,))}
    sql = (
        "select a.path from artefacts a join projections p on a.id in (p.coordinates_id, p.kept_id) where a.run_id = ?"
    )
    paths = (OF_MAPS.fullmatch(path) for (path,) in db.execute(sql, (run_id,)))
    return known | {int(of_map[1]) for of_map in paths if of_map is not None}


def has_others(folder: Path, epochs: Collection[int]) -> bool:
    """Whether a run's folder has files that `remove_files` would delete."""
    return any(_is_unused(path.name, epochs, ()) for path in folder.iterdir())


def remove_files(folder: Path, epochs: Collection[int], gone: Collection[int] = ()) -> None:
    """Delete the files of evaluations before the last of `epochs` that are of none of them.

    Links stay, and on Windows files that a window has open.

    Args:
        gone: numbers of deleted evaluations, whose maps go, too.
    """
    for path in list(folder.iterdir()):
        if _is_unused(path.name, epochs, gone):
            with contextlib.suppress(OSError, Problem):
                regular(path).unlink()


def _forget_files(db: Connection, run_id: int, epochs: Collection[int], gone: Collection[int]) -> None:
    stored = db.execute("select id, path from artefacts where run_id = ?", (run_id,)).fetchall()
    unused = [(number,) for number, path in stored if _is_unused(path, epochs, gone)]
    db.executemany("delete from artefacts where id = ?", unused)


def _is_unused(name: str, epochs: Collection[int], gone: Collection[int]) -> bool:
    """Whether it is a file of an evaluation that was not kept."""
    if (of_map := OF_MAPS.fullmatch(name)) is not None:
        return int(of_map[1]) in gone
    epoch = epoch_of(name)
    return epoch is not None and is_other(epoch, epochs)


def is_other(epoch: int, epochs: Collection[int]) -> bool:
    """Whether the choice of these epochs lets go of that one; not of a later one, which was recorded after it."""
    return epoch not in epochs and epoch < max(epochs, default=0)
