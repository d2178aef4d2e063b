"""What the networks of a run score on its own test half and on the other images that they were tested on."""

from dataclasses import dataclass

from workbench.entries import catalog as catalogs
from workbench.events import RunState
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.folders import travelling
from workbench.workspace.rows import Evaluation, Run
from workbench.workspace.run_names import data_title

OWN_HALF = "its own test half"


@dataclass(frozen=True, slots=True)
class NetworkScore:
    """One evaluation of a network of a run."""

    run_id: int  # that has the evaluation: the run itself, or its test
    epoch: int  # of the network
    images: str  # OWN_HALF, or the name of the folder or list of other images
    evaluation: Evaluation


def network_scores(workspace: Workspace, run_id: int) -> list[NetworkScore]:
    """The tests of a run's networks by their numbers, behind the evaluations of these networks on its own test half.

    Of a test those of the run that trained its network. Tests in the trash are left out, and so is a test that came
    from another workspace, where its run's number is another run's, and one that does not say which epoch was tested.

    Args:
        run_id: of a run, or of a test.

    Returns:
        None at all where the run was never tested on other images.

    Raises:
        Problem: there is no such run, or its evaluations cannot be read.
    """
    asked = workspace.run(run_id)
    source = run_id if asked.tested is None else asked.tested
    tests = [run for run in workspace.runs() if run.tested == source and _is_of_here(workspace, run)]
    if not tests or (asked.tested is not None and not _is_of_here(workspace, asked)):
        return []
    known, scores = catalogs.current(), list[NetworkScore]()
    for run in sorted(tests, key=lambda run: run.id):
        evaluations = workspace.evaluations(run.id)
        if run.tested_epoch is not None and evaluations:
            scores.append(NetworkScore(run.id, run.tested_epoch, data_title(known, run), evaluations[-1]))
    return [*_on_own_half(workspace, source, {score.epoch for score in scores}), *scores]


def _is_of_here(workspace: Workspace, run: Run) -> bool:
    return run.status == RunState.DONE and not workspace.has_file(run.id, travelling.CARD)


def _on_own_half(workspace: Workspace, run_id: int, epochs: set[int]) -> list[NetworkScore]:
    """The run's own evaluations of these epochs; none of a run that was deleted since."""
    try:
        evaluations = workspace.evaluations(run_id)
    except Problem:
        return []
    newest = {evaluation.epoch: evaluation for evaluation in evaluations if evaluation.epoch in epochs}
    return [NetworkScore(run_id, epoch, OWN_HALF, newest[epoch]) for epoch in sorted(newest)]
