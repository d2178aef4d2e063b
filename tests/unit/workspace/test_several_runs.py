"""What is done to several runs in one step: the trash and back, and tags."""

import pytest

from workbench.config import RunConfig
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.experiments import experiments

GONE = 99


@pytest.fixture
def space(tmp_path):
    """A workspace of three runs; the second trains."""
    with Workspace(tmp_path / "space", create=True) as workspace:
        for number, status in enumerate(("done", "running", "failed"), 1):
            workspace.create_run(RunConfig(name=f"run {number}"))
            workspace.set_status(number, status)
        yield workspace


def numbers(workspace, *, trashed=False):
    return {run.id for run in workspace.runs(trashed)}


def test_several_runs_go_to_the_trash_but_for_those_that_work_or_are_gone(space):
    assert space.trash_several([1, 2, 3, GONE]) == [1, 3]
    assert (numbers(space), numbers(space, trashed=True)) == ({2}, {1, 3})


def test_several_runs_come_back_but_for_those_that_are_gone(space):
    space.trash_several([1, 3])
    space.delete(1)
    assert space.restore_several([1, 3, GONE]) == [3]
    assert (numbers(space), numbers(space, trashed=True)) == ({2, 3}, set())


def test_a_run_that_is_not_there_is_not_moved_to_the_trash(space):
    with pytest.raises(Problem, match="no longer exists"):
        space.trash(GONE)


def test_tags_are_given_and_taken_and_the_others_stay(space):
    space.set_tags(1, ["baseline", "old"])
    space.set_tags(3, ["mine"])
    space.change_tags({1: ["new"], 3: ["new", "mine"], GONE: ["new"]}, {1: ["old"]})
    assert [space.run(number).tags for number in (1, 2, 3)] == [("baseline", "new"), (), ("mine", "new")]
    space.change_tags({1: ["old"]}, {1: ["new"], 3: ["new"]})
    assert [space.run(number).tags for number in (1, 2, 3)] == [("baseline", "old"), (), ("mine",)]


def test_a_run_gets_another_colour_and_one_that_is_gone_is_refused_alone_and_left_out_of_several(space):
    space.set_colour(1, 5)
    with pytest.raises(Problem, match="no longer exists"):
        space.set_colour(GONE, 5)
    space.set_colours({2: 7, GONE: 3})
    assert {run.id: run.colour for run in space.runs()} == {1: 5, 2: 7, 3: 2}


def test_experiments_begin_with_colours_of_their_own(space):
    """With a colour for each run, groups of three seeds had two colours in turn."""
    for _ in range(2):
        number = experiments.create(space, RunConfig())
        for seed in range(3):
            space.create_run(RunConfig(seed=seed), number)
    space.create_run(RunConfig())
    more = space.create_run(RunConfig(seed=3), 1)
    colours = {run.id: run.colour for run in space.runs()}
    assert [colours[run_id] for run_id in sorted(colours)] == [0, 1, 2, 3, 4, 5, 4, 5, 6, 5, 6]
    assert colours[more] == 6, "after the other seeds"
