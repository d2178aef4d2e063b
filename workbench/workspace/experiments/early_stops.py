"""Why the worker of a sweep stopped trials early: stored before they are, so that the next worker trains none on.

Whoever resumes the run of such a trial gives the trial its value.
"""

from math import isfinite

from workbench.metric_names import metric_name
from workbench.workspace.database.connection import Connection
from workbench.workspace.measured import curves
from workbench.workspace.tables import runs
from workbench.workspace.workspace import Workspace


def store(workspace: Workspace, trial_id: int, reason: str) -> None:
    """Record that a trial is to be stopped, and why."""
    with workspace.writing() as db:
        db.execute("update sweep_trials set stopped = ? where id = ?", (reason, trial_id))


def reason(workspace: Workspace, trial_id: int) -> str:
    """Why a trial was stopped, or is to be; empty if it is not."""
    with workspace.reading() as db:
        row = db.execute("select stopped from sweep_trials where id = ?", (trial_id,)).fetchone()
    return "" if row is None else str(row[0])


def note(workspace: Workspace, run_id: int, sentence: str) -> None:
    """Say in the note of a run, once, that it was stopped early."""
    with workspace.writing() as db:
        runs.add_note(db, run_id, sentence, once=True)


def take_end(db: Connection, run_id: int, status: str) -> None:
    """Give a trial that was stopped early the value of its run, which a person has resumed and which has ended.

    A run that is done is compared with the others again: the mark and the sentence about the stop go. One that was
    stopped again keeps both. A trial whose worker has yet to take its end is left to that.

    Args:
        db: a transaction in which the end of the run is stored.
        run_id: of any run.
        status: in which the run ended.
    """
    if status not in ("done", "stopped"):
        return
    stopped = db.execute(
        "select t.id, s.metric, t.problem from sweep_trials t join sweeps s on s.id = t.sweep_id "
        "where t.run_id = ? and t.state = 'done' and t.stopped != ''",
        (run_id,),
    ).fetchall()
    for trial_id, metric, sentence in stopped:
        value = _value(db, run_id, metric)
        if status == "stopped":
            sql = "update sweep_trials set objective = ifnull(?, objective) where id = ?"
            db.execute(sql, (value, trial_id))
            continue
        _forget_note(db, run_id, sentence)
        why = f"The run has no {metric_name(metric)} at its end." if value is None else ""
        db.execute(
            "update sweep_trials set state = ?, objective = ?, problem = ?, stopped = '' where id = ?",
            ("failed" if why else "done", value, why, trial_id),
        )


def _value(db: Connection, run_id: int, metric: str) -> float | None:
    """The metric at the run's best epoch, or of a curve of training the last point; None if that is no number."""
    (run,) = runs.read_runs(db, "id = ?", (run_id,))
    value = run.best.get(metric)
    if value is None:
        _, points = curves.scalars(db, run_id, metric)
        value = float(points[-1]) if len(points) else None
    return value if value is not None and isfinite(value) else None


def _forget_note(db: Connection, run_id: int, sentence: str) -> None:
    """Take the line that `note` added out of the note of a run."""
    ((text,),) = db.execute("select note from runs where id = ?", (run_id,)).fetchall()
    lines = [line for line in text.split("\n") if line != sentence]
    db.execute("update runs set note = ? where id = ?", ("\n".join(lines), run_id))
