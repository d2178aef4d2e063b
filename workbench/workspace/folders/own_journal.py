"""Whether the journal in a run's folder is the run's own: folders, and files in them, can be mistaken for others."""

from math import isclose, isnan
from pathlib import Path

from workbench.workspace.database.connection import Connection
from workbench.workspace.folders import journal
from workbench.workspace.measured.evaluations import as_metrics


def started(folder: Path) -> str:
    """When the run began, by its journal; empty if it does not say. Raises as `journal.entries`."""
    began = (entry.started for entry in journal.entries(folder, b'"started"') if entry is not None)
    return next((moment for moment in began if moment), "")


def is_foreign(db: Connection, folder: Path, run_id: int) -> bool:
    """Whether the journal is of another run: it began at another time, or measured other values at the same epoch.

    Runs that began in one second and measured the same cannot be told apart. Raises as `journal.entries`.
    """
    ((stored,),) = db.execute("select started from runs where id = ?", (run_id,)).fetchall()
    if stored and started(folder) not in ("", stored):
        return True
    sql = "select epoch, distance, metrics from evaluations where run_id = ?"
    known = {(epoch, distance): as_metrics(text) for epoch, distance, text in db.execute(sql, (run_id,))}
    for entry in filter(None, journal.entries(folder, b'"evaluation"')):
        facts = entry.evaluation
        if facts is not None and _differ(known.get((facts.epoch, facts.distance), {}), facts.metrics):
            return True
    return False


def _differ(stored: dict[str, float], said: dict[str, float | None]) -> bool:
    """Whether a value that both have is another; one that is undefined, or not a number, differs from none."""
    pairs = [(value, said.get(name)) for name, value in stored.items()]
    return any(
        not isclose(value, other, rel_tol=1e-9, abs_tol=1e-12)
        for value, other in pairs
        if other is not None and not isnan(value) and not isnan(other)
    )
