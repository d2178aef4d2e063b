"""Imported run folders: where each run came from, and how far its journal was read."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.events import RunState
from workbench.workspace.database.connection import Connection
from workbench.workspace.folders import journal

# This table has no checksums, because all of it can be read again from the folders.
TABLE = (
    "create table arrivals (uid text primary key, "
    "run_id integer not null unique references runs(id) on delete cascade, source text not null, "
    "bytes integer not null default 0, waiting integer not null default 1, said text not null default '{}') strict"
)


@dataclass(slots=True)
class Arrival:
    """One run that was, or is being, imported from a folder.

    Attributes:
        uid: its unique number.
        run_id: its number here.
        read: bytes of its journal that the workspace has; always complete lines.
        waiting: whether an evaluation in the journal may still be missing.
        said: the last state and problem in the journal, by column; "annotations" are those that came last
            (annotations.py); "settled", once all has come, is the state of the folders then (settled.py), and
            "lacking" how many of its evaluations were not there, and "deleted" the bytes of the checkpoints that are
            there and were deleted here.
    """

    uid: str
    run_id: int
    read: int
    waiting: bool
    said: dict[str, Any]


def known(db: Connection, uid: str) -> Arrival | None:
    """The run of that unique number; None if it was never imported."""
    sql = "select run_id, bytes, waiting, said from arrivals where uid = ?"
    row = db.execute(sql, (uid,)).fetchone()
    return None if row is None else Arrival(uid, row[0], max(0, row[1]), bool(row[2]), _said(row[3]))


def _said(text: str) -> dict[str, Any]:
    """The entries of a stored `said` that are as this module writes them: a database from elsewhere is not trusted."""
    try:
        stored = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    entries = stored.items() if isinstance(stored, dict) else ()
    kept = {name: value for name, value in entries if isinstance(value, str)}
    if "status" in kept and kept["status"] not in set(RunState):
        del kept["status"]
    return kept


def hear(said: dict[str, Any], entry: journal.Entry) -> None:
    """Change the last state and problem, as `Arrival.said` has them, by the next line of the journal."""
    if entry.owner is not None and RunState(said.get("status", RunState.QUEUED)).resumable:
        said |= {"status": RunState.QUEUED.value, "problem": ""}  # a process has taken it up again
    if entry.run is not None:
        values = entry.run.model_dump(exclude_unset=True)
        said |= {name: values[name] for name in ("status", "problem", "heartbeat") if name in values}


def said_in(folder: Path) -> dict[str, Any]:
    """The last state and problem in the journal of a run's own folder, which a rebuilt database does not have."""
    said: dict[str, Any] = {"status": RunState.QUEUED.value}
    for entry in filter(None, journal.entries(folder)):
        hear(said, entry)
    return said


def set_owner(db: Connection, run_id: int, owner: journal.OwnerFacts) -> None:
    """Store the process that trains an imported run."""
    values = (owner.pid, owner.host, owner.born, run_id)
    db.execute("update runs set pid = ?, host = ?, born = ? where id = ?", values)


def refresh(db: Connection, arrival: Arrival) -> None:
    """Read what another program has stored meanwhile."""
    current = known(db, arrival.uid)
    if current is not None:
        arrival.read, arrival.waiting, arrival.said = current.read, current.waiting, current.said


def came(db: Connection, uid: str, run_id: int, source: str) -> None:
    """Store that a run was imported from the folder `source`; a second run of that number is not stored."""
    db.execute("insert or ignore into arrivals (uid, run_id, source) values (?, ?, ?)", (uid, run_id, source))


def advanced(db: Connection, arrival: Arrival) -> None:
    """Store how far the journal has been read."""
    sql = "update arrivals set bytes = ?, waiting = ?, said = ? where run_id = ?"
    db.execute(sql, (arrival.read, int(arrival.waiting), json.dumps(arrival.said), arrival.run_id))


def replayed(db: Connection, run_id: int, read: int) -> None:
    """Store that a repair has replayed `read` bytes of an imported run's own journal; reading continues behind them.

    An import that was killed before its commit has written lines there that the database did not have.
    """
    sql = "update arrivals set bytes = ?, waiting = 1, said = '{}' where run_id = ? and bytes < ?"
    db.execute(sql, (read, run_id, read))


def looked(db: Connection, arrival: Arrival) -> None:
    """Store what a look at the files said, unless another program has read on in the journal meanwhile."""
    sql = "update arrivals set waiting = ?, said = ? where run_id = ? and bytes = ?"
    db.execute(sql, (int(arrival.waiting), json.dumps(arrival.said), arrival.run_id, arrival.read))


def origin(db: Connection, run_id: int) -> tuple[str, bool]:
    """The folder that a run was imported from, and whether arrays may still come from there.

    The folder is empty for any other run, and in an older workspace that knows no imports.
    """
    if db.execute("select 1 from sqlite_master where type = 'table' and name = 'arrivals'").fetchone() is None:
        return "", False
    row = db.execute("select source, waiting from arrivals where run_id = ?", (run_id,)).fetchone()
    return ("", False) if row is None else (str(row[0]), bool(row[1]))


def gone_on_here(db: Connection, run_id: int) -> bool:
    """Whether a process of this workspace has taken the run over, so that its folder is no longer the same run."""
    row = db.execute("select owner from runs where id = ?", (run_id,)).fetchone()
    return row is not None and row[0] is not None
