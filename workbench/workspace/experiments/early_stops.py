"""Why the worker of a sweep stopped trials early: stored before they are, so that the next worker trains none on."""

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
