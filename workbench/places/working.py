"""The user's requests for runs at places: to end, to resume, to fetch their checkpoints."""

from collections.abc import Callable

from workbench.places import records, sending
from workbench.places.contract import Ending
from workbench.places.launching import launcher_of
from workbench.places.place import Place
from workbench.problem import Problem
from workbench.workspace import Workspace, placements
from workbench.workspace.placements import Placement


def end(workspace: Workspace, run_id: int, how: Ending, cancelled: Callable[[], bool] = lambda: False) -> None:
    """Ask a run's place to end it; its end is reported by following.

    `cancelled` is called during a wait for the place, which then ends with Cancelled. Raises Unreachable or Problem.
    """
    placement, place = _placed(workspace, run_id)
    if placement.job:
        launcher_of(place, cancelled).stop(placement.job, how)


def resume(workspace: Workspace, run_id: int, cancelled: Callable[[], bool] = lambda: False) -> None:
    """Resume an ended run at its place, from its last checkpoint there; `cancelled` as in `end`.

    Raises Unreachable or Problem.
    """
    run = workspace.run(run_id)
    if not run.resumable:
        raise Problem(f"Run {run_id} is {run.status}: it cannot be resumed.", kept="It was not changed.")
    _, place = _placed(workspace, run_id)
    sending.submit(workspace, [run_id], place, launcher_of(place, cancelled))


def fetch_checkpoints(workspace: Workspace, run_id: int) -> None:
    """Request the checkpoints of a run that has ended, which following fetches. Raises Problem."""
    _placed(workspace, run_id)
    with workspace.writing() as db:
        placements.want(db, run_id, "checkpoints")


def _placed(workspace: Workspace, run_id: int) -> tuple[Placement, Place]:
    with workspace.reading() as db:
        placement = placements.required(db, run_id)
    return placement, records.named(placement.place)
