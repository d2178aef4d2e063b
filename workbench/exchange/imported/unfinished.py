"""What is left of a run whose import or test was killed before all of it was stored."""

from time import monotonic, sleep

from workbench.config import IMPORTED
from workbench.events import RunState
from workbench.workspace import Workspace
from workbench.workspace.rows import Run

PATIENCE = 2.0  # seconds in which a process that was killed is gone
AGAIN = 0.1  # seconds between two looks


def remove_unfinished(workspace: Workspace, after: int, patience: float = PATIENCE) -> list[int]:
    """Delete the runs that a killed process has begun to import or to test; returns their numbers.

    Nothing is lost with them: the files that they were made of are where they were. Runs that are whole, those whose
    process still works, and those that trained stay.

    Args:
        after: the highest number that a run had when the process began.
        patience: seconds to wait for the end of the process.

    Raises:
        Problem: the workspace cannot be written.
    """
    until = monotonic() + patience
    while True:
        workspace.sweep_dead_runs()
        half = [run.id for run in workspace.runs() if run.id > after and _is_half(run)]
        if half or monotonic() > until:
            break
        sleep(AGAIN)
    for run_id in half:
        workspace.delete(run_id, at_once=True)
    return half


def _is_half(run: Run) -> bool:
    return run.status == RunState.INTERRUPTED and (run.dataset == IMPORTED or bool(run.curves_of))
