"""The user's requests for runs at places: to end, to resume, to fetch their checkpoints."""

from collections.abc import Callable
from dataclasses import replace

from workbench.places import records, sending
from workbench.places.contract import Ending, JobState, Standing, Unreachable
from workbench.places.launching import launcher_of
from workbench.places.place import Place
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.folders import deleted_checkpoints
from workbench.workspace.owners import ownership
from workbench.workspace.rows import Placement
from workbench.workspace.tables import placements


def standing(workspace: Workspace, run_id: int) -> Standing | None:
    """The state of a run's job there, by its place; None if the place never got it. Raises Unreachable or Problem."""
    placement, place = _placed(workspace, run_id)
    return launcher_of(place).states([placement.job])[0] if placement.job else None


def end(workspace: Workspace, run_id: int, how: Ending, cancelled: Callable[[], bool] = lambda: False) -> None:
    """Ask a run's place to end it; its end is reported by following.

    `cancelled` is called during a wait for the place, which then ends with Cancelled. Raises Unreachable or Problem.
    """
    placement, place = _placed(workspace, run_id)
    if not placement.job:
        raise Problem(f"Run {run_id} was not started at {place.name}.", kept="There is nothing to end.")
    if placement.silent == placements.ELSEWHERE and not place.is_at(placement.machine):
        _give_up(workspace, placement, place)
        return
    try:
        launcher_of(place, cancelled).stop(placement.job, how)
    except Unreachable as problem:
        raise Unreachable(
            f"The request to end run {run_id} was not answered: {problem}",
            kept=f"If it did not arrive, the run continues at {place.name}.",
            todo="End it again once the place answers.",
        ) from None


def _give_up(workspace: Workspace, placement: Placement, place: Place) -> None:
    """End, here alone, a run that its place does not know."""
    sentence = placements.elsewhere(placement, place.whereabouts)
    with workspace.writing() as db:
        if placements.renew(db, placement, replace(placement, silent="", open=False)):
            placements.end(db, placement.run_id, "interrupted", f"It was ended only here. {sentence}")


def resume(workspace: Workspace, run_id: int, cancelled: Callable[[], bool] = lambda: False) -> None:
    """Resume an ended run at its place, from its last checkpoint there; `cancelled` as in `end`.

    Raises Unreachable or Problem.
    """
    run = workspace.run(run_id)
    placement, place = _placed(workspace, run_id)
    with workspace.reading() as db:
        sender = ownership.owner_of(db, "runs", run_id)
    sending_it = sender is not None and sender.alive and not sender.here
    never_sent = run.status == "queued" and not placement.job and not sending_it
    if not run.resumable and not never_sent:
        raise Problem(f"Run {run_id} is {run.status}: it cannot be resumed.", kept="It was not changed.")
    sending.submit(workspace, [run_id], place, launcher_of(place, cancelled))


def fetch_checkpoints(workspace: Workspace, run_id: int, cancelled: Callable[[], bool] = lambda: False) -> None:
    """Request the checkpoints of a run that has ended, which following fetches; `cancelled` as in `end`.

    Raises Unreachable, or Problem: also for a run that has not ended, whose checkpoints change.
    """
    placement, place = _placed(workspace, run_id)
    if not placement.job:
        raise Problem(f"Run {run_id} was not started at {place.name}.", kept="There are no checkpoints there.")
    state = launcher_of(place, cancelled).states([placement.job])[0].state
    if state.live:
        raise Problem(
            f"Run {run_id} has not ended at {place.name}: it {'waits' if state is JobState.QUEUED else 'trains'} "
            "there, and its checkpoints change until its end.",
            kept="Nothing was fetched, and the run continues.",
            todo="Fetch them once it has ended.",
        )
    deleted_checkpoints.forget(workspace.folder(run_id))  # those that were deleted here are wanted again
    with workspace.writing() as db:
        placements.want(db, run_id, "checkpoints")


def _placed(workspace: Workspace, run_id: int) -> tuple[Placement, Place]:
    with workspace.reading() as db:
        placement = placements.required(db, run_id)
    place = records.existing(placement.place)
    if place is None:
        raise records.Removed(placement.place)
    place.check_job(run_id, placement.job)
    return placement, place
