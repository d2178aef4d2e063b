"""Deletes checkpoints of runs that have ended, to free space; what was measured of them stays."""

import os
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from workbench import files
from workbench.events import CHECKPOINTS, LIVE, RunState
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.workspace.contract import OpenWorkspace
from workbench.workspace.database.connection import Connection
from workbench.workspace.folders import deleted_checkpoints
from workbench.workspace.folders.deleted_checkpoints import Deleted
from workbench.workspace.owners import ownership
from workbench.workspace.paths import regular
from workbench.workspace.tables import placements
from workbench.workspace.tables.runs import check_there
from workbench.workspace.times import now

COPIES = "Checkpoints come back only from an export of the run or a copy of the workspace."
LOST = (
    "A run without checkpoints cannot be resumed. Its network can no longer be exported, be the start of another run, "
    f"or embed new images and words to search with. {COPIES}"
)
LOST_LAST = f"A run without its last checkpoint cannot be resumed. {COPIES}"
STAYS = "Curves, evaluations, neighbours, maps and reports stay."
BEST_STAYS = "The network of the best epoch, curves, evaluations, neighbours, maps and reports stay."
UNCHANGED = "Nothing of it was deleted."


@dataclass(slots=True)
class Space:
    """What the deletion of checkpoints frees, or has freed.

    Attributes:
        freed: bytes by run; runs without anything to delete are not among them.
        kept: a sentence by run, why nothing of it can be deleted; or which of its files stays, and why.
    """

    freed: dict[int, int] = field(default_factory=dict)
    kept: dict[int, str] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """Of all runs."""
        return sum(self.freed.values())


def to_be_freed(
    workspace: OpenWorkspace, run_ids: Sequence[int], *, keep_best: bool = False, progress: Progress = quiet
) -> Space:
    """What `delete_checkpoints` would free now; nothing is changed. `progress` may raise Cancelled."""
    space = Space()
    for done, run_id in enumerate(run_ids):
        progress("Sizes of checkpoints", done, len(run_ids))
        try:
            with workspace.reading() as db:
                _refuse(db, run_id)
            folder = workspace.folder(run_id)
            size = _freed(_held(folder), {path.name for path in _files(folder, keep_best)})
        except (Problem, OSError) as error:
            space.kept[run_id] = _sentence(run_id, error)
        else:
            if size:
                space.freed[run_id] = size
    return space


def delete_checkpoints(
    workspace: OpenWorkspace, run_ids: Sequence[int], *, keep_best: bool = False, progress: Progress = quiet
) -> Space:
    """Delete the checkpoints of runs; each run is done by itself, and one that is refused is named.

    Args:
        keep_best: delete only the last checkpoint, needed to resume; the network of the best epoch stays. A run
            without a best checkpoint then keeps its last one.
        progress: called before each run; may raise Cancelled: those of the runs before it are deleted then.
    """
    space = Space()
    for done, run_id in enumerate(run_ids):
        progress("Deleting checkpoints", done, len(run_ids))
        try:
            size, remark = _delete(workspace, run_id, keep_best)
        except (Problem, OSError) as error:
            space.kept[run_id] = _sentence(run_id, error)
        else:
            if size:
                space.freed[run_id] = size
            if remark:
                space.kept[run_id] = remark
    return space


def _sentence(run_id: int, error: Problem | OSError) -> str:
    if isinstance(error, Problem):
        return error.what
    return f"The checkpoints of run {run_id} cannot be deleted ({error.strerror or type(error).__name__})."


def _delete(workspace: OpenWorkspace, run_id: int, keep_best: bool) -> tuple[int, str]:
    """The bytes that were freed, and a sentence on what was not done. Raises Problem or OSError: nothing was deleted.

    The note comes before the deletion: a kill between both leaves the files, and a note that then says nothing. On a
    full disk the files go first, as they make the room for the note. A file that stays, as one that another program
    has open on Windows, counts again: it is there.
    """
    folder = workspace.folder(run_id)
    with workspace.reading() as db:
        _refuse(db, run_id)
        paths = _files(folder, keep_best)
        deleted, held = _facts(db, run_id, paths), _held(folder)
    if not paths:
        return 0, ""
    unnoted = ""
    try:
        with workspace.writing() as db:
            _refuse(db, run_id)  # again: another program may have taken it over since
            deleted_checkpoints.record(folder, deleted)
            stays = _unlink(paths)
            _forget_rows(db, run_id, [path for path in paths if path.name not in stays])
    except files.NoSpace:
        stays = _unlink(paths)
        gone = {name: one for name, one in deleted.items() if name not in stays}
        try:
            deleted_checkpoints.record(folder, gone)
        except files.NoSpace:
            unnoted = f"The checkpoints of run {run_id} were deleted; there was no space to note when."
        with suppress(files.NoSpace), workspace.writing() as db:  # a row whose file is gone harms nothing
            _forget_rows(db, run_id, [path for path in paths if path.name in gone])
    freed = _freed(held, deleted.keys() - stays.keys())
    kept = " and ".join(f"{name} ({reason})" for name, reason in stays.items())
    return freed, f"Of run {run_id} {kept} cannot be deleted." if kept else unnoted


def _files(folder: Path, keep_best: bool) -> list[Path]:
    """The checkpoints that are to be deleted. Raises Problem for a link, and for what is no file."""
    last, best = (regular(folder / CHECKPOINTS[kind]) for kind in ("last", "best"))
    if keep_best and not best.exists():
        return []
    return [path for path in ((last,) if keep_best else (last, best)) if path.exists()]


def _held(folder: Path) -> dict[str, tuple[tuple[int, int], int]]:
    """The file (device, number) and the bytes of each checkpoint, by its name: one file may have both names."""
    facts = {name: os.lstat(folder / name) for name in CHECKPOINTS.values() if (folder / name).exists()}
    return {name: ((fact.st_dev, fact.st_ino), fact.st_size) for name, fact in facts.items()}


def _freed(held: Mapping[str, tuple[tuple[int, int], int]], gone: Set[str]) -> int:
    """The bytes of the files that have no name any more without these."""
    stay = {file for name, (file, _) in held.items() if name not in gone}
    return sum({file: size for file, size in held.values() if file not in stay}.values())


def _facts(db: Connection, run_id: int, paths: Iterable[Path]) -> dict[str, Deleted]:
    sql = "select path, blake2b from artefacts where run_id = ? and kind = 'checkpoint'"
    digests, at = dict(db.execute(sql, (run_id,)).fetchall()), now()
    return {
        path.name: Deleted(at=at, bytes=path.stat().st_size, blake2b=digests.get(path.name, "")[:64]) for path in paths
    }


def _unlink(paths: Iterable[Path]) -> dict[str, str]:
    """Delete files; the names of those that stay, with the reason."""
    stays = dict[str, str]()
    for path in paths:
        try:
            regular(path).unlink(missing_ok=True)
        except OSError as error:
            stays[path.name] = error.strerror or type(error).__name__
        except Problem as problem:  # it has become a link, or a folder
            stays[path.name] = problem.what.rstrip(".")
    return stays


def _forget_rows(db: Connection, run_id: int, paths: Iterable[Path]) -> None:
    sql = "delete from artefacts where run_id = ? and kind = 'checkpoint' and path = ?"
    db.executemany(sql, [(run_id, path.name) for path in paths])
    db.execute("update runs set phase = phase where id = ?", (run_id,))  # windows hear of it, also without such a row


def _refuse(db: Connection, run_id: int) -> None:
    """Raise Problem for a run of which something may still write or go on from a checkpoint, and for one in the trash.

    Call it in the transaction that deletes: a run is taken over in a transaction, too.
    """
    check_there(db, run_id)
    ((status, trashed),) = db.execute("select status, trashed from runs where id = ?", (run_id,)).fetchall()
    if trashed is not None:
        raise Problem(f"Run {run_id} is in the trash.", kept=UNCHANGED, todo="Restore it, or empty the trash.")
    if status in LIVE and run_id not in ownership.dead_runs(db):
        word = RunState(status).word.lower()
        raise Problem(f"Run {run_id} has not ended: it is {word}.", kept=UNCHANGED, todo="End it first.")
    placement = next(iter(placements.every(db, run_id)), None)
    if placement is not None and placement.open:
        what = f"Run {run_id} may still be written at {placement.place}, or its files are on their way here."
        raise Problem(what, kept=UNCHANGED, todo="Wait until all of it has come.")
    sql = (
        "select s.id from sweep_trials t join sweeps s on s.id = t.sweep_id where t.run_id = ? "
        "and s.state in ('active', 'paused') and t.state in ('queued', 'running', 'paused')"
    )
    if (sweep := db.execute(sql, (run_id,)).fetchone()) is not None:
        what = f"Run {run_id} belongs to sweep {sweep[0]}, which is to go on from its checkpoint."
        raise Problem(what, kept=UNCHANGED, todo="End the sweep first.")
