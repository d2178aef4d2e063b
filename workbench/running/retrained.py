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
    """A new run of the same config, in the same experiment, in place of one that goes into the trash; its number.

    It has no owner yet: whoever trains it takes it over. The run that a killed call has made in an experiment is taken
    again: replace several runs from the newest to the oldest, so that none takes one that goes itself. Where a kill
    comes before the old run is in the trash, the next look for dead runs puts it there.

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
