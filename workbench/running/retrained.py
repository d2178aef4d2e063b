"""Runs whose checkpoints are gone cannot go on: where a person asks for it, new ones are trained in their place."""

from collections.abc import Sequence

from workbench.config import RunConfig
from workbench.events import RunState
from workbench.workspace import Workspace
from workbench.workspace.folders import deleted_checkpoints
from workbench.workspace.measured.artefacts import stored_paths
from workbench.workspace.tables import runs
from workbench.workspace.tables.replaced_runs import INSTEAD_OF, settle


def unable_to_go_on(workspace: Workspace, run_ids: Sequence[int]) -> dict[int, str]:
    """Why runs cannot go on, as half a sentence by run; runs that can, or that a process may be training, have none.

    Raises:
        Problem: there is no such run, or its journal cannot be read.
    """
    reasons = dict[int, str]()
    for run_id in run_ids:
        if RunState(workspace.run(run_id).status).resumable:
            with workspace.reading() as db:
                saved = bool(stored_paths(db, run_id, "checkpoint"))
            if why := deleted_checkpoints.why_it_cannot_go_on(workspace.folder(run_id), saved=saved):
                reasons[run_id] = why
    return reasons


def replaced(workspace: Workspace, run_id: int) -> int:
    """Make a run of the same config, in the same experiment, and move the old one to the trash; the new run's number.

    The new run has no owner yet: whoever trains it takes it over. In an experiment, a later unfinished run of this
    config counts as the new one: a call that was killed may have made it. So replace several runs from the newest to
    the oldest, or one of them would be taken for the new one. If a kill comes before the old run is in the trash, the
    next look for dead runs moves it there.

    Raises:
        Problem: the workspace cannot be written, or a process has taken the old run since.
    """
    run = workspace.run(run_id)
    config = RunConfig.recorded(run.config)
    later = (other for other in workspace.runs() if other.id > run_id and other.experiment_id == run.experiment_id)
    fresh = (other for other in later if other.status != "done" and config.is_recorded_as(other.config))
    new = next((other.id for other in fresh if run.experiment_id is not None), None)
    if new is None:
        new = workspace.create_run(config, run.experiment_id, facts={INSTEAD_OF: run_id})
        workspace.hand_over(new)
    with workspace.writing() as db:  # one step: a run that is restored from the trash later stays restored
        runs.trash(db, run_id)
        settle(db, new)
    return new
