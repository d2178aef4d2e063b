"""Runs whose rows have less than their journals."""

from dataclasses import dataclass
from pathlib import Path

from workbench.events import LIVE
from workbench.problem import Problem
from workbench.workspace.database.connection import Connection, sqlite3
from workbench.workspace.folders import journal
from workbench.workspace.folders.own_journal import is_foreign
from workbench.workspace.owners import ownership
from workbench.workspace.paths import is_file

HAS_POINT = (
    "exists (select 1 from scalar_points where run_id = ? and metric_id = (select id from metrics where name = ?) "
    "and step = ?)"
)
NOT_ENDED = (*LIVE, "interrupted")


@dataclass(frozen=True, slots=True)
class Lacking:
    """What a run's rows lack of its journal.

    Attributes:
        here: whether the run's folder has some of it, so that a repair completes the rows.
        elsewhere: epochs of evaluations whose arrays are not in the folder: they did not come, or were refused.
    """

    here: bool
    elsewhere: tuple[int, ...] = ()


def behind_journal(db: Connection, runs: Path) -> list[int]:
    """Runs whose rows lack entries of their journal that a repair can restore, as in `lacking`."""
    return [run_id for run_id, lacks in lacking(db, runs).items() if lacks.here]


def lacking(db: Connection, runs: Path) -> dict[int, Lacking]:
    """Runs whose rows lack entries of their journal, and that no process of this machine is training.

    Unreadable journals, and those of another run, are skipped.
    """
    behind = {}
    for run_id, status in db.execute("select id, status from runs order by id").fetchall():
        try:
            if not _at_work(db, run_id, status) and not is_foreign(db, runs / str(run_id), run_id):
                lacks = _lacks(db, runs / str(run_id), run_id, status)
                if lacks.here or lacks.elsewhere:
                    behind[run_id] = lacks
        except (Problem, OSError):
            continue
    return behind


def _at_work(db: Connection, run_id: int, status: str) -> bool:
    try:
        owner = ownership.owner_of(db, "runs", run_id)
    except sqlite3.OperationalError:  # of an older version, without the columns; it writes its journal last
        return False
    return status in LIVE and owner is not None and owner.alive


def _lacks(db: Connection, folder: Path, run_id: int, status: str) -> Lacking:
    counted, said, evaluations = 0, status, set()
    for entry in filter(None, journal.entries(folder)):
        counted += len(entry.scalars)
        if entry.evaluation is not None:
            evaluations.add((entry.evaluation.epoch, entry.evaluation.distance))
        if entry.run is not None and "status" in entry.run.model_fields_set:
            said = entry.run.status
    evaluations -= set(db.execute("select epoch, distance from evaluations where run_id = ?", (run_id,)))
    epochs = {epoch for epoch, _ in evaluations}
    elsewhere = tuple(sorted(epoch for epoch in epochs if not has_arrays(folder, epoch)))
    here = len(elsewhere) < len(epochs) or (status in NOT_ENDED and said not in NOT_ENDED)
    return Lacking(here or _lacks_points(db, folder, run_id, counted), elsewhere)


def has_arrays(folder: Path, epoch: int) -> bool:
    """Whether a run's folder has the two files that each evaluation has."""
    return all(is_file(folder / name) for name in (f"embeddings-{epoch}.npy", f"ranking-{epoch}.npz"))


def _lacks_points(db: Connection, folder: Path, run_id: int, counted: int) -> bool:
    if counted <= db.execute("select count(*) from scalar_points where run_id = ?", (run_id,)).fetchone()[0]:
        return False
    sql = f"select {HAS_POINT}"
    return not all(
        db.execute(sql, (run_id, name, step)).fetchone()[0]
        for entry in filter(None, journal.entries(folder))
        for name, step, _ in entry.scalars
    )
