"""More seeds of compared configs: the next unused ones, all folds of each, and who gets none."""

import numpy as np
import pytest

from tests.unit.comparing.compared_runs import store
from workbench.comparing.grouping.groups import grouped
from workbench.comparing.grouping.more_seeds import more_seeds
from workbench.config import Choice, RunConfig, TrainingParams
from workbench.entries import catalog
from workbench.problem import Problem
from workbench.running import folds_and_seeds

AP = {1: np.linspace(0, 1, 6)}
FOLDS = {"name": "mlrc", "params": {"folds": 2}}


@pytest.fixture(scope="module")
def known():
    return catalog.at_first()


def planned(workspace, known, *ticked):
    return more_seeds(ticked, workspace.runs(), known, 2)


def made(workspace, plan):
    return [
        run
        for group in plan.groups
        for config in group.configs
        for run in folds_and_seeds.prepare(config, workspace)
    ]  # fmt: skip


def test_one_run_each_gets_the_next_two_seeds_and_stays_in_its_group(workspace, known):
    store(workspace, AP, name="Plain", seed=0)
    store(workspace, AP, name="Fast", seed=7, training=TrainingParams(lr=0.5))
    plan = planned(workspace, known, 1, 2)
    assert [(group.title, group.seeds) for group in plan.groups] == [("Plain", (1, 2)), ("Fast", (8, 9))]
    assert plan.runs == 4
    assert len(made(workspace, plan)) == 4
    groups = grouped(workspace.runs(), known)
    assert {group.title: group.seeds for group in groups} == {"Plain": [0, 1, 2], "Fast": [7, 8, 9]}


def test_seeds_of_unticked_and_queued_runs_are_used_too(workspace, known):
    for seed in (0, 1, 3):
        store(workspace, AP, name="Plain", seed=seed)
    plan = planned(workspace, known, 1)
    assert plan.groups[0].seeds == (2, 4)
    new = made(workspace, plan)
    assert [workspace.run(run).name for run in new] == ["Plain, seed 2", "Plain, seed 4"]
    assert planned(workspace, known, 1).groups[0].seeds == (5, 6)


def test_all_folds_are_made_again_and_the_time_is_that_of_the_groups_runs(workspace, known):
    config = RunConfig(name="Folds", split=Choice(**FOLDS), seeds=1)
    folds = folds_and_seeds.prepare(config, workspace)
    with workspace.writing() as db:
        db.execute("update runs set status = 'done', seconds = 10")
    plan = planned(workspace, known, folds[0])
    assert (plan.runs, plan.seconds) == (4, 40.0)
    new = [workspace.run(run) for run in made(workspace, plan)]
    assert [run.name for run in new] == [f"Folds, seed {seed}, fold {fold}" for seed in (1, 2) for fold in (1, 2)]


def test_imported_embeddings_get_none_and_it_is_said(workspace, known):
    store(workspace, AP, name="Plain")
    with workspace.writing() as db:
        config = RunConfig(name="Plain", dataset=Choice(name="imported"), loss=Choice(name="imported")).to_toml()
        db.execute("update runs set config = ?", (config,))
    plan = planned(workspace, known, 1)
    assert (plan.runs, plan.seconds) == (0, 0)
    assert plan.left_out == ("“Plain” gets none: its embeddings were imported.",)


def test_the_time_is_not_known_without_a_run_that_is_done(workspace, known):
    store(workspace, AP, name="Plain", status="failed")
    assert planned(workspace, known, 1).seconds is None


def test_after_the_largest_seed_the_lowest_unused_ones_follow(workspace, known):
    store(workspace, AP, name="Plain", seed=2**31 - 2)
    assert planned(workspace, known, 1).groups[0].seeds == (2**31 - 1, 0)
    assert [run.seed for run in map(workspace.run, made(workspace, planned(workspace, known, 1)))] == [2**31 - 1, 0]


def test_no_seed_is_used_twice_where_the_config_of_another_run_cannot_be_read(workspace, known):
    for seed in (0, 1, 2):
        store(workspace, AP, name="Plain", seed=seed)
    store(workspace, AP, name="Broken")
    with workspace.writing() as db:
        db.execute("update runs set config = 'no toml' where name = 'Broken'")
    assert planned(workspace, known, 1).groups[0].seeds == (3, 4)
    with pytest.raises(Problem, match="Run 4 cannot be compared"):
        planned(workspace, known, 1, 4)
