"""Runs that came from elsewhere: which folder each is of, and how far its journal was read."""

import json
from dataclasses import dataclass
from typing import Any

from workbench.workspace.connection import Connection

# Not among the tables with checksums: all of it can be read again from the folders.
TABLE = (
    "create table arrivals (uid text primary key, "
    "run_id integer not null unique references runs(id) on delete cascade, source text not null, "
    "bytes integer not null default 0, waiting integer not null default 1, said text not null default '{}') strict"
)


@dataclass(slots=True)
class Arrival:
    """One run that came, or is coming, from a folder.

    Attributes:
        uid: its number in the world.
        run_id: its number here.
        read: bytes of its journal that the workspace has; always whole lines.
        waiting: whether an evaluation that the journal names may not be here yet.
        said: the state and problem that the journal said last, by column.
    """

    uid: str
    run_id: int
    read: int
    waiting: bool
    said: dict[str, Any]


def known(db: Connection, uid: str) -> Arrival | None:
    """The run of that number of the world; None where it never came."""
    sql = "select run_id, bytes, waiting, said from arrivals where uid = ?"
    row = db.execute(sql, (uid,)).fetchone()
    return None if row is None else Arrival(uid, row[0], max(0, row[1]), bool(row[2]), dict(json.loads(row[3])))


def refresh(db: Connection, arrival: Arrival) -> None:
    """Bring it up to what another program wrote down meanwhile."""
    current = known(db, arrival.uid)
    if current is not None:
        arrival.read, arrival.waiting, arrival.said = current.read, current.waiting, current.said


def came(db: Connection, uid: str, run_id: int, source: str, read: int = 0) -> None:
    """Write down that a run has come from the folder `source`; a second run of that number is not written down."""
    sql = "insert or ignore into arrivals (uid, run_id, source, bytes) values (?, ?, ?, ?)"
    db.execute(sql, (uid, run_id, source, read))


def advanced(db: Connection, arrival: Arrival) -> None:
    """Write down how far the run is read now."""
    sql = "update arrivals set bytes = ?, waiting = ?, said = ? where run_id = ?"
    db.execute(sql, (arrival.read, int(arrival.waiting), json.dumps(arrival.said), arrival.run_id))


def gone_on_here(db: Connection, run_id: int) -> bool:
    """Whether a process of this workspace has taken the run over: its folder elsewhere is another run since."""
    row = db.execute("select owner from runs where id = ?", (run_id,)).fetchone()
    return row is not None and row[0] is not None
