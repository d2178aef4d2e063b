"""Checks a workspace's database, and rebuilds a damaged one from the old one, its WAL and the run folders."""

import contextlib
import json
import os
import re
import shutil
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import psutil
from sqlite_utils import Database

from workbench import files
from workbench.config import IMPORTED
from workbench.events import LIVE
from workbench.jobs import command_line
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.workspace.database import write_ahead
from workbench.workspace.database.connection import (
    APPLICATION_ID,
    READABLE_UP_TO,
    Connection,
    DatabaseError,
    has_size,
    open_reader,
    open_writer,
)
from workbench.workspace.database.problems import Damaged, Full, explain
from workbench.workspace.folders import arrivals, turns
from workbench.workspace.folders.behind import behind_journal, lacking
from workbench.workspace.folders.replaying import UNREADABLE, reason, shown
from workbench.workspace.folders.run_folders import folder_names, without_row
from workbench.workspace.owners import lease
from workbench.workspace.owners.lease import Lease
from workbench.workspace.paths import DATABASE, regular
from workbench.workspace.recorder import REPAIRED
from workbench.workspace.repairs.rebuild import readable, rebuild
from workbench.workspace.repairs.salvage import FOLDER_GONE, salvage
from workbench.workspace.repairs.verification import damaged_rows
from workbench.workspace.schema.migrations import migration
from workbench.workspace.schema.schema import check_schema
from workbench.workspace.tables import placements
from workbench.workspace.workspace import Workspace

READY = f"{DATABASE}.repaired"  # a complete new database, while the damaged one is moved aside
BESIDE = ("-wal", "-shm", "-journal")
EVALUATION = re.compile(r"the evaluation of epoch ([0-9]{1,18}) \(.*", re.DOTALL)  # in the notes of a repair
RECORDED = ("evaluations", "scalar_points", "artefacts")  # tables of what a run has recorded
MOST_EPOCHS = 5  # that a sentence names
UNCHANGED = "It was not changed."
IF_DAMAGED = "If its first page is damaged, move it away and repair again: the runs come back from their folders."
State = Literal["whole", "damaged", "missing"]


def repair(folder: Path, progress: Progress = quiet) -> tuple[str, list[str]]:
    """Rebuild a damaged or missing database, and add what the run folders have and an intact one lacks.

    A new database is built beside the old one and replaces it when it is complete. The damaged one is kept under
    another name, with its WAL. An intact one is changed only if it lacks something; no run's folder is changed.
    `progress` is called between runs and before the new database replaces the old one; it may raise Cancelled, after
    which a damaged database is as it was.

    Returns:
        What was done, and sentences on what the workspace still lacks, as from `missing`.

    Raises:
        Problem: no workspace; an intact database that must not be repaired (of a newer Workbench or another program,
            locked, not readable); another program repairs it; or one that cannot be written. Then nothing was changed.
        lease_holder.Leased: it is on a network disk, and another machine has it.
    """
    database = folder / DATABASE
    if not database.exists() and not (folder / "runs").is_dir():
        raise Problem(f"{folder} is not a workspace: it holds no {DATABASE} and no runs.", todo="Choose another.")

    def refuse() -> None:
        raise Problem(f"Another program repairs {folder}.", kept="It continues.", todo="Wait until it has ended.")

    with lease.held(database) as leased, turns.alone(folder, folder / ".repairing.lock", refuse):
        return _repair(folder, leased, progress)


def _repair(folder: Path, leased: Lease | None, progress: Progress) -> tuple[str, list[str]]:
    progress("Checking the database", 0, 0)
    database, runs = folder / DATABASE, folder / "runs"
    for ending in ("", *BESIDE):
        regular(database.with_name(f"{DATABASE}{ending}"))
    _remove_remains(folder)
    completed = _complete(database)
    _undo_half_done(database, wal=leased is None)
    log = write_ahead.set_aside(database)
    cut = f" Its last changes could not be read; the log is kept as {log.name}." if log is not None else ""
    condition = state(database)
    if condition == "whole" and not _can_be_opened(folder):
        condition = "damaged"
    if condition != "whole":
        try:
            said = _made_again(folder, leased, progress)
        except OSError as error:
            raise files.explain(error, database) from None
        except Full:  # of the folder where the new one is made
            raise _no_room(folder) from None
    else:
        with closing(open_reader(database)) as db:
            count = db.execute("select count(*) from runs").fetchone()[0]
            lacks = behind_journal(db, runs) or any(_is_run(runs / name) for name in without_row(db, runs))
        said = f"The database of {folder} is intact: {'1 run' if count == 1 else f'{count} runs'}. Nothing was changed."
        if lacks:
            with Workspace(folder) as workspace:
                rebuilt = rebuild(workspace, None, progress)
            if rebuilt.back or rebuilt.completed:
                said = f"The database of {folder} is intact, but lacked what folders of runs hold. {rebuilt}"
            else:
                said = " ".join([said, *rebuilt.not_restored()])
    with closing(open_reader(database)) as db:
        return completed + said + cut, missing(db, folder)


def _complete(database: Path) -> str:
    """Put the new database of a repair in its place that was killed while it moved the damaged one; a sentence on it.

    Names, notes and decisions are in no run's folder: a second repair would not find them again.
    """
    ready = regular(database.with_name(READY))
    if not ready.exists():
        return ""
    if database.exists():  # it was killed before that: this repair reads the damaged one again
        ready.unlink()
        return ""
    _move_aside(database)
    ready.replace(database)
    files.sync_folder(database.parent)
    return "A repair that was interrupted just before its end was completed. "


def _undo_half_done(database: Path, *, wal: bool) -> None:
    """Have SQLite undo what a killed program left half done without a log, as on a network disk: a reader may not."""
    if database.exists() and database.with_name(f"{database.name}-journal").exists():
        with contextlib.suppress(Problem):  # of what is read then; `state` says it again
            open_writer(database, wal=wal, declared=check_schema).close()


def _can_be_opened(folder: Path) -> bool:
    """Whether a database that SQLite calls intact can be opened with the current schema."""
    with closing(open_reader(folder / DATABASE)) as db:
        if not migration.pending(Database(db)):
            return True
    try:
        Workspace(folder).close()
    except Damaged:
        return False
    return True


def missing(db: Connection, folder: Path) -> list[str]:
    """Sentences on what a workspace lacks: folders without a row, rows without a folder, runs restored in part."""
    said = []
    for name in without_row(db, folder / "runs"):
        why = "`workbench doctor --repair` adds it"
        try:
            readable(folder / "runs" / name)
        except UNREADABLE as error:
            why = reason(error)
        said.append(f"runs/{shown(name)} is not a run of the database: {why}")
    names, behind = set(folder_names(folder / "runs")), lacking(db, folder / "runs")
    for number, data, environment in db.execute("select id, dataset, environment from runs order by id"):
        if str(number) not in names or not (folder / "runs" / str(number) / "config.toml").exists():
            gone = f"the folder of run {number} is missing"
            todo = "delete it and import it again" if data == IMPORTED else "resume or delete the run"
            unmade = f"run {number} has no folder, because its program ended before it made one; {todo}"
            said.append(unmade if _never_begun(db, number) else gone)
        if noted := [part for part in _noted(environment) if not _has_come(db, number, part)]:
            said.append(f"run {number} lacks: {'; '.join(noted)}")
        elif number in behind and behind[number].here:
            said.append(
                f"run {number} has more in its journal than in the database; `workbench doctor --repair` completes it"
            )
        elif number in behind and not _live(db, number):
            said.append(f"run {number} lacks: {_not_come(db, number, behind[number].elsewhere)}")
    return said


def state(database: Path) -> State:
    """Read the whole database and return whether it is intact. Opens it for reading only.

    Raises:
        Problem: it is intact but of another program, of a newer Workbench or locked; or it cannot be read.
    """
    if not regular(database).exists():
        return "missing"
    if not has_size(database):
        return "damaged"
    try:
        with closing(open_reader(database)) as db:
            tables = db.execute("select count(*) from sqlite_master").fetchone()[0]
            if tables and db.execute("pragma application_id").fetchone()[0] != APPLICATION_ID:
                raise Problem(f"{database} is an SQLite file of another program.", kept=UNCHANGED, todo=IF_DAMAGED)
            if db.execute("pragma user_version").fetchone()[0] > READABLE_UP_TO:
                what = f"The database {database} was made by a newer Workbench."
                raise Problem(what, kept=UNCHANGED, todo=f"Update Workbench to open it. {IF_DAMAGED}")
            check_schema(db, database)
            whole = tables and db.execute("pragma integrity_check(1)").fetchone()[0] == "ok"
            if not whole or not all(finding.good for finding in damaged_rows(db, lambda text, done, total: None)):
                return "damaged"
            return "whole"
    except (Damaged, UnicodeDecodeError):  # the latter is damage in the text of the schema itself
        return "damaged"
    except DatabaseError as error:
        problem = explain(error, database)
        if isinstance(problem, Damaged):
            return "damaged"
        raise problem from None


def _made_again(folder: Path, leased: Lease | None, progress: Progress) -> str:
    database, runs = folder / DATABASE, folder / "runs"
    with TemporaryDirectory(prefix=f".repair-{os.getpid()}-", dir=folder) as scratch:
        new = Path(scratch) / "new"
        from_wal = _read_back(database, new)
        with Workspace(new, create=not from_wal) as workspace:
            rebuilt = rebuild(workspace, runs, progress)
            if from_wal:
                also = f"It was read back from {DATABASE}-wal."
            else:
                also = salvage(workspace, database, set(folder_names(runs)))
        if state(new / DATABASE) != "whole":
            raise Damaged(new / DATABASE)
        progress("Putting the new database in its place", 0, 0)
        if leased is not None:
            leased.check()  # this machine may have been suspended, and another may have taken over
        ready = database.with_name(READY)
        (new / DATABASE).replace(ready)
        files.sync_folder(folder)
        kept = _move_aside(database)
        ready.replace(database)
        files.sync_folder(folder)
    return " ".join(filter(None, (f"Rebuilt {database}: {rebuilt}", also, kept)))


def _no_room(folder: Path) -> Problem:
    """The Problem for a disk that has no room for the new database, beside the damaged one."""
    return Problem(
        f"The disk of {folder} has no room for a new database.",
        kept="The damaged one and the runs' folders are as they were.",
        todo="Free a little more than the damaged one has, then repair again.",
    )


def _read_back(database: Path, new: Path) -> bool:
    """Restore a missing or empty database from its WAL into `new`; returns whether that has every page."""
    wal = database.with_name(f"{DATABASE}-wal")
    if (database.exists() and database.stat().st_size) or not regular(wal).exists():
        return False
    new.mkdir()
    shutil.copyfile(wal, new / wal.name)
    with wal.open("rb") as file:
        size = int.from_bytes(file.read(12)[8:], "big")  # of a page, by the WAL's header
    (new / DATABASE).write_bytes(bytes(size if 512 <= size <= 65536 else 4096))  # an empty file would delete the WAL
    try:
        if state(new / DATABASE) == "whole":
            return True
    except Problem:
        pass
    shutil.rmtree(new)
    return False


def _move_aside(database: Path) -> str:
    """Rename the damaged database and its companion files; returns a sentence."""
    kept = database.with_name(f"{DATABASE}.damaged-{datetime.now():%Y%m%d-%H%M%S-%f}")
    for ending in ("", *BESIDE):
        path = database.with_name(database.name + ending)
        if path.exists():
            path.rename(kept.with_name(kept.name + ending))
    return f"The damaged database is kept as {kept.name}." if kept.exists() else ""


def _is_run(folder: Path) -> bool:
    try:
        readable(folder)
    except UNREADABLE:
        return False
    return True


def _remove_remains(folder: Path) -> None:
    """Remove the remains of repairs that were killed."""
    running = {str(process) for process in psutil.pids()}
    for left in folder.glob(".repair-*-*"):
        process = left.name.split("-")[1]
        if process.isdecimal() and process not in running and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)


def _never_begun(db: Connection, run_id: int) -> bool:
    """Whether nothing was recorded of a run, so that nothing is lost with its folder."""
    recorded = " or ".join(f"exists (select 1 from {table} where run_id = runs.id)" for table in RECORDED)
    fresh = "dataset_id is null and started is null and done = 0 and status in ('queued', 'interrupted', 'failed')"
    sql = f"select {fresh} and problem != ? and not ({recorded}) from runs where id = ?"
    return bool(db.execute(sql, (FOLDER_GONE, run_id)).fetchone()[0])


def _live(db: Connection, run_id: int) -> bool:
    ((status,),) = db.execute("select status from runs where id = ?", (run_id,)).fetchall()
    return status in LIVE


def _not_come(db: Connection, run_id: int, epochs: Sequence[int]) -> str:
    """Words on evaluations whose arrays are not in the run's folder, which no repair restores."""
    numbers = ", ".join(map(str, epochs[:MOST_EPOCHS])) + (" and more" if len(epochs) > MOST_EPOCHS else "")
    named = f"the evaluation of epoch {numbers}" if len(epochs) == 1 else f"the evaluations of epochs {numbers}"
    source, waiting = arrivals.origin(db, run_id)
    if not source:
        return f"{named}, whose arrays are not in its folder"
    origin = next((placement.place for placement in placements.every(db, run_id)), shown(source))
    if not waiting:
        return f"{named}, which could not be used when its run came from {origin}"
    todo = f"; `workbench ingest {command_line(shown(source))}` imports them" if origin == shown(source) else ""
    return f"{named}, whose arrays have not come from {origin}{todo}"


def _noted(environment: str) -> list[str]:
    """What a repair could not restore of a run, from its environment."""
    try:
        return [str(part) for part in json.loads(environment)[REPAIRED]["missing"]]
    except (ValueError, TypeError, LookupError, RecursionError):
        return []


def _has_come(db: Connection, run_id: int, part: str) -> bool:
    """Whether a part that a repair could not restore is an evaluation whose arrays were imported since."""
    named = EVALUATION.fullmatch(part)
    sql = "select 1 from evaluations where run_id = ? and epoch = ?"
    return named is not None and db.execute(sql, (run_id, int(named[1]))).fetchone() is not None
