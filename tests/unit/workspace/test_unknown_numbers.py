"""Whoever reads what a run, an evaluation or a data set has is told where there is none of that number."""

import pytest

from workbench.config import RunConfig
from workbench.problem import Problem, UnknownName
from workbench.workspace.measured.evaluations import NoEvaluation

OF_A_RUN = {
    "scalar_names": (),
    "scalars": ("batch/loss",),
    "chart_steps": (),
    "evaluations": (),
    "artefacts": ("best",),
}


@pytest.mark.parametrize("read", OF_A_RUN)
def test_what_an_unknown_run_has_is_refused_with_the_command_that_lists_runs(read, workspace):
    with pytest.raises(UnknownName, match=r"There is no run 7 in .* `workbench list runs --workspace .*` shows them"):
        getattr(workspace, read)(7, *OF_A_RUN[read])


def test_a_run_that_has_nothing_yet_is_read(workspace):
    run_id = workspace.create_run(RunConfig())
    steps, values = workspace.scalars(run_id, "batch/loss")
    assert (len(steps), len(values)) == (0, 0)
    assert [getattr(workspace, read)(run_id, *OF_A_RUN[read]) for read in sorted(set(OF_A_RUN) - {"scalars"})] == [
        []
    ] * 4


@pytest.mark.parametrize("read", ["queries", "proxies", "projections"])
def test_what_an_unknown_evaluation_has_is_refused(read, workspace):
    with pytest.raises(NoEvaluation, match="There is no evaluation 7 in"):
        getattr(workspace, read)(7)


def test_the_samples_of_an_unknown_data_set_are_refused(workspace):
    with pytest.raises(Problem, match="There is no data set 7 in this workspace"):
        workspace.samples(7)


def test_the_neighbours_of_an_unknown_run_are_refused_as_such(workspace):
    with pytest.raises(UnknownName, match="There is no run 7 in"):
        workspace.neighbours(7, 1)
    run_id = workspace.create_run(RunConfig())
    with pytest.raises(Problem, match=f"Run {run_id} has no evaluation yet"):
        workspace.neighbours(run_id, 1)


def test_an_unknown_run_cannot_be_taken_over(workspace):
    with pytest.raises(UnknownName, match="There is no run 7 in"):
        workspace.take_over(7)


def test_an_unknown_run_gets_no_state(workspace):
    with pytest.raises(Problem, match="Run 7 no longer exists"):
        workspace.set_status(7, "failed")


def test_a_run_without_a_data_set_has_no_samples(workspace):
    assert workspace.samples(workspace.run(workspace.create_run(RunConfig())).dataset_id).paths == []
