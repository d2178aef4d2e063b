"""Runs at places: what was asked of the place, and what it reported since."""

from collections.abc import Mapping
from dataclasses import astuple, replace

from workbench.events import LIVE
from workbench.problem import Problem
from workbench.workspace.database.connection import Connection
from workbench.workspace.rows import Placement
from workbench.workspace.times import now

# Not among the tables with checksums: a row that is gone costs the following of its run, which can be taken up by hand.
TABLE = (
    "create table placements (run_id integer primary key references runs(id) on delete cascade, uid text not null, "
    "place text not null, job text not null default '', state text not null default 'queued', "
    "words text not null default '', reached text, silent text not null default '', wanted text not null default '', "
    "open integer not null default 1) strict"
)
COLUMNS = "run_id, uid, place, job, state, words, reached, silent, wanted, open, machine"
MACHINE = "alter table placements add column machine text not null default ''"
REMOVED = "The place was removed."  # as `silent`
ELSEWHERE = "The place has another host or folder."  # as `silent`: it does not know the run


def store(db: Connection, placement: Placement) -> None:
    """Store a run's placement, in place of the one before."""
    marks = ", ".join("?" * len(COLUMNS.split(", ")))
    db.execute(f"insert or replace into placements ({COLUMNS}) values ({marks})", astuple(placement))


def renew(db: Connection, known: Placement, placement: Placement) -> bool:
    """As `store`, unless something else was asked of the place since `known` was read; returns whether it was not."""
    if of_run(db, known.run_id) != known:
        return False
    store(db, placement)
    return True


def rename(db: Connection, names: Mapping[str, str]) -> None:
    """Give the runs of places their places' new names: `names` holds them by the old ones."""
    for placement in every(db):
        if placement.place in names:
            store(db, replace(placement, place=names[placement.place]))


def of_run(db: Connection, run_id: int) -> Placement | None:
    """The placement of a run; None for a run of a machine that has the workspace open."""
    rows = _read(db, "run_id = ?", (run_id,))
    return rows[0] if rows else None


def every(db: Connection, run_id: int | None = None) -> list[Placement]:
    """All placements, by run, or that of one run; none in an older workspace that is open for reading only."""
    if not _is_kept(db):
        return []
    return _read(db, "1", ()) if run_id is None else _read(db, "run_id = ?", (run_id,))


def at_work(db: Connection, place: str) -> list[Placement]:
    """The placements of a place from which more data may come, by run."""
    return _read(db, "place = ? and open = 1", (place,))


def note_removed(db: Connection, place: str) -> bool:
    """Note of the runs of a place that it was removed; whether more data might come of any that it has."""
    waiting = at_work(db, place)
    for placement in waiting:
        if placement.silent != REMOVED:
            store(db, replace(placement, silent=REMOVED))
    return any(placement.job for placement in waiting)


def elsewhere(placement: Placement, now_at: str) -> str:
    """A sentence on a run that the place, which points to `now_at`, does not know."""
    place = placement.place
    return (
        f"Run {placement.run_id} was sent to {place} when that was {placement.machine}. Now {place} is {now_at}, which "
        "does not know it: it may still train there. "
        f"Give {place} its former host and folder, and it is followed again."
    )


def places_at_work(db: Connection) -> list[str]:
    """The names of places from which more data may come."""
    sql = "select distinct place from placements where open = 1 order by place"
    return [name for (name,) in db.execute(sql)] if _is_kept(db) else []


def of_sweep(db: Connection, sweep_id: int) -> str:
    """The name of the place to which runs of a sweep were sent; empty if none was."""
    sql = (
        "select p.place from sweep_trials t join placements p on p.run_id = t.run_id where t.sweep_id = ? "
        "order by p.run_id limit 1"
    )
    row = db.execute(sql, (sweep_id,)).fetchone() if _is_kept(db) else None
    return "" if row is None else str(row[0])


def end(db: Connection, run_id: int, status: str, problem: str) -> bool:
    """Set the end of a run that its journal does not have; returns whether it was still marked as running."""
    live = ", ".join(f"'{state}'" for state in LIVE)
    sql = f"update runs set status = ?, problem = ?, ended = ? where id = ? and status in ({live})"
    return bool(db.execute(sql, (status, problem, now(), run_id)).rowcount)


def over(db: Connection) -> set[int]:
    """The runs that have ended, as far as this workspace knows."""
    live = ", ".join(f"'{state}'" for state in LIVE)
    return {run_id for (run_id,) in db.execute(f"select id from runs where status not in ({live})")}


def wait(db: Connection, run_id: int) -> None:
    """Mark a run as waiting at its place."""
    db.execute("update runs set status = 'queued', problem = '', phase = '', ended = null where id = ?", (run_id,))


def want(db: Connection, run_id: int, files: str) -> None:
    """Ask for more files of a run than those that come by themselves: "checkpoints"."""
    db.execute("update placements set wanted = ?, open = 1 where run_id = ?", (files, run_id))


def required(db: Connection, run_id: int) -> Placement:
    """As `of_run`. Raises Problem for a run that is at no place."""
    placement = of_run(db, run_id)
    if placement is None:
        raise Problem(f"Run {run_id} was not sent to a place.", kept="Nothing was changed.")
    return placement


def _read(db: Connection, where: str, values: tuple[object, ...]) -> list[Placement]:
    known = {column[1] for column in db.execute("pragma table_info(placements)")}  # an older one has no machine
    names = [name for name in COLUMNS.split(", ") if name in known]
    rows = db.execute(f"select {', '.join(names)} from placements where {where} order by run_id", values)
    placed = (Placement(**dict(zip(names, row, strict=True))) for row in rows)
    return [replace(placement, open=bool(placement.open)) for placement in placed]


def _is_kept(db: Connection) -> bool:
    """Whether the workspace has this table: an older one that is open for reading only does not."""
    return db.execute("select 1 from sqlite_master where type = 'table' and name = 'placements'").fetchone() is not None
