"""The fair comparisons in a workspace, reassembled from their sweeps."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.config import RunConfig
from workbench.entries.catalog import Catalog
from workbench.fair.plan import Plan, test_config
from workbench.fair.runs import SOURCE, Tried, tried_in
from workbench.fair.scores import Scores, scores_of
from workbench.fair.table import Comparison, compared, of_same_queries
from workbench.problem import Problem
from workbench.sweeps.space import read
from workbench.workspace import Workspace
from workbench.workspace.experiments import sweeps as stored
from workbench.workspace.experiments.sweeps import Sweep

NAME = re.compile(r"fair (?P<bench>\S+) (?P<method>\S+), (?P<steps>\d+) steps, (?P<part>tuning|best setting)")
OF_METHOD = ("name", "loss", "sampler", "augmentation")  # parts of a config that a loss brings with it
OF_STEPS = ("epochs", "batch_size", "views")  # fields of training that follow from its batches
Conditions = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class FairComparisons:
    """What was read, and of which sweeps."""

    sweeps: tuple[tuple[int, str], ...] = ()  # number and state
    comparisons: tuple[Comparison, ...] = ()  # the newest first


def read_comparisons(workspace: Workspace, known: Catalog, before: FairComparisons | None = None) -> FairComparisons:
    """Every fair comparison of which a method is done; `before` is given back where no sweep has changed.

    Losses belong together that were tuned with equally many trials, steps and folds, and tested with as many seeds,
    under equal conditions. One without a result on the test set, or tested on other images than the newest, is left
    out, with the reason. Methods that were tested with several numbers of seeds are in a comparison for each.
    """
    sweeps = [sweep for sweep in stored.every(workspace) if sweep.source == SOURCE and NAME.fullmatch(sweep.name)]
    state = tuple((sweep.id, sweep.state) for sweep in sweeps)
    if before is not None and before.sweeps == state:
        return before
    scores: dict[tuple[Conditions, int], dict[str, Scores]] = {}  # by what is shared and the number of seeds
    plans: dict[tuple[Conditions, int], Plan] = {}
    left_out: dict[Conditions, dict[str, str]] = {}
    for sweep in sweeps:
        if _part(sweep, "part") != "tuning" or sweep.state == "cancelled":
            continue
        method, conditions = _part(sweep, "method"), _conditions(sweep)
        if any(method in of_methods for (tuned, _), of_methods in scores.items() if tuned == conditions):
            continue  # a newer one is there
        try:
            for plan, result in _tested(workspace, sweep, sweeps, known):
                plans[conditions, plan.seeds] = plan
                scores.setdefault((conditions, plan.seeds), {})[method] = result
        except Problem as problem:
            left_out.setdefault(conditions, {})[method] = str(problem)
    made = []
    for (conditions, seeds), of_methods in scores.items():
        others = {name for (tuned, _), named in scores.items() if tuned == conditions for name in named}
        why = {
            **left_out.get(conditions, {}),
            **dict.fromkeys(sorted(others), f"It was not tested with {seeds} seeds."),
        }
        alike, elsewhere = of_same_queries(list(of_methods.values()))  # the newest first
        absent = {name: reason for name, reason in why.items() if name not in of_methods}
        comparison = compared(plans[conditions, seeds], alike, absent | elsewhere)
        _ = comparison.ranks, comparison.differences  # computed here, on the caller's thread
        made.append(comparison)
    return FairComparisons(state, tuple(made))


def _part(sweep: Sweep, name: str) -> str:
    match = NAME.fullmatch(sweep.name)
    assert match is not None
    return match[name]


def _conditions(sweep: Sweep) -> Conditions:
    """What the losses of one comparison share."""
    config = RunConfig.recorded(sweep.config).model_dump(mode="json")
    shared = {name: value for name, value in config.items() if name not in OF_METHOD}
    shared["training"] = {name: value for name, value in config["training"].items() if name not in OF_STEPS}
    shared["evaluation"] = {name: value for name, value in config["evaluation"].items() if name != "every"}
    return _part(sweep, "bench"), _part(sweep, "steps"), sweep.points, repr(shared)


def _tested(workspace: Workspace, tuning: Sweep, sweeps: Sequence[Sweep], known: Catalog) -> list[tuple[Plan, Scores]]:
    """The plan and the scores of the best setting for each number of seeds. Raises Problem if there are none."""
    config = RunConfig.recorded(tuning.config)
    if tuning.state != "done":
        raise Problem("Its search is not done.")
    parameters = tuple(read(text) for text in tuning.parameters)
    tried = tried_in(workspace, tuning.id, _part(tuning, "method"), parameters)
    tested: dict[int, tuple[Plan, Scores]] = {}
    missing = Problem("Its best setting was not tested.")
    for sweep in sweeps:
        if sweep.state != "done" or sweep.name != tuning.name.removesuffix("tuning") + "best setting":
            continue
        plan = _plan(tuning, config, RunConfig.recorded(sweep.config).seeds)
        if plan.seeds not in tested and test_config(plan, config, tried.best.setting, known).is_recorded_as(
            sweep.config
        ):
            try:
                tested[plan.seeds] = plan, scores_of(workspace, tried, _runs(workspace, sweep, tried))
            except Problem as problem:
                missing = problem
    if not tested:
        raise missing
    return list(tested.values())


def _plan(tuning: Sweep, config: RunConfig, seeds: int) -> Plan:
    folds = int(config.split.params.get("folds", 0))
    return Plan(_part(tuning, "bench"), Path(), tuning.points, seeds, int(_part(tuning, "steps")), folds)


def _runs(workspace: Workspace, sweep: Sweep, tried: Tried) -> list[Any]:
    trials = sorted(stored.trials(workspace, sweep.id), key=lambda trial: trial.seed)
    numbers = [trial.run_id for trial in trials if trial.state == "done" and trial.run_id is not None]
    if len(numbers) < len(trials):
        raise Problem(f"A run of {tried.method} failed.")
    return [workspace.run(number) for number in numbers]
