"""Runs whose rows have less than their journals."""

from pathlib import Path

from workbench.events import LIVE
from workbench.problem import Problem
from workbench.workspace import journal, ownership
from workbench.workspace.connection import Connection, sqlite3

HAS_POINT = (
    "exists (select 1 from scalar_points where run_id = ? and metric_id = (select id from metrics where name = ?) "
    "and step = ?)"
)
NOT_ENDED = (*LIVE, "interrupted")


def behind_journal(db: Connection, runs: Path) -> list[int]:
    """Runs whose rows lack entries of their journal, and that no process of this machine is training.

    Unreadable journals are skipped.
    """
    behind = []
    for run_id, status in db.execute("select id, status from runs order by id").fetchall():
        try:
            if not _at_work(db, run_id, status) and _lacks(db, runs / str(run_id), run_id, status):
                behind.append(run_id)
        except (Problem, OSError):
            continue
    return behind


def _at_work(db: Connection, run_id: int, status: str) -> bool:
    try:
        owner = ownership.owner_of(db, "runs", run_id)
    except sqlite3.OperationalError:  # of an older version, without the columns; it writes its journal last
        return False
    return status in LIVE and owner is not None and owner.alive


def _lacks(db: Connection, folder: Path, run_id: int, status: str) -> bool:
    counted, said, evaluations = 0, status, set()
    for entry in filter(None, journal.entries(folder)):
        counted += len(entry.scalars)
        if entry.evaluation is not None:
            evaluations.add((entry.evaluation.epoch, entry.evaluation.distance))
        if entry.run is not None and "status" in entry.run.model_fields_set:
            said = entry.run.status
    stored = set(db.execute("select epoch, distance from evaluations where run_id = ?", (run_id,)))
    if evaluations - stored or (status in NOT_ENDED and said not in NOT_ENDED):
        return True
    if counted <= db.execute("select count(*) from scalar_points where run_id = ?", (run_id,)).fetchone()[0]:
        return False
    sql = f"select {HAS_POINT}"
    return not all(
        db.execute(sql, (run_id, name, step)).fetchone()[0]
        for entry in filter(None, journal.entries(folder))
        for name, step, _ in entry.scalars
    )
