"""What a fair comparison runs: one config for each loss, its search space, and the config of the best setting."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.config import BadConfig, RunConfig
from workbench.entries import catalog as catalogs
from workbench.entries.catalog import Catalog
from workbench.fair.benches import BENCHES, with_batches
from workbench.problem import Problem
from workbench.progress import quiet
from workbench.running import preflight
from workbench.settings.changed import changed
from workbench.settings.presets import presets
from workbench.sweeps.space import SECTIONS, Parameter, Setting, checked

TUNING_SEED = 0
FIRST_SEED = 1  # of the runs on the test set: none of them was tuned on
LOOKS = 5  # evaluations of a run on the test set; the best on held-out classes is one of them


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a bench fixes for every loss."""

    steps: int  # of the optimiser
    folds: int  # parts of the training classes; each is held out once
    per_class: int  # images of a class in the batches of losses that need pairs
    changes: Mapping[str, Any] = field(default_factory=dict)  # of the bench's preset, by dotted field
    of_labels: Mapping[str, Any] = field(default_factory=dict)  # the same, for losses that need no views of images


CONDITIONS = {
    "omniglot": Conditions(300, 4, 4),
    "mnist": Conditions(300, 2, 32),  # five digits train: with more folds one digit would be held out alone
    "caltech": Conditions(
        300, 4, 2, {"training.backbone_lr": 0.0, "training.lr": 1e-3, "training.warmup_steps": 0},
        {"training.keep_features": True, "augmentation.name": "none"},
    ),
}  # fmt: skip
"""Held-out classes are training classes, so MNIST's digits 5 to 9 are searched, not its official test set.

Photographs are features of a frozen network; losses without labels compare views, so they get crops of the images.
"""


@dataclass(frozen=True, slots=True)
class Plan:
    """One fair comparison: the same for each of its losses."""

    bench: str
    data: Path
    trials: int
    seeds: int
    steps: int
    folds: int
    changes: Mapping[str, Any] = field(default_factory=dict)  # of every run, by dotted field


def planned(
    bench: str, data: Path, trials: int, seeds: int, *, steps: int | None = None, folds: int | None = None,
    changes: Mapping[str, Any] | None = None,
) -> Plan:  # fmt: skip
    """A plan with the bench's own steps and folds where none are asked for."""
    fixed = CONDITIONS[bench]
    return Plan(bench, data, trials, seeds, steps or fixed.steps, folds or fixed.folds, changes or {})


def refuse_missing_data(plan: Plan) -> None:
    """Raises Problem, before the first loss, where the data folder lacks what the bench reads of it."""
    bench = BENCHES[plan.bench]
    for dotted, below in bench.data.items():
        place = plan.data.absolute() / below
        if dotted not in plan.changes and not place.exists():
            raise Problem(
                f"{place} is not there, which the comparison on {plan.bench} reads.",
                kept="Nothing was started.",
                todo="Choose the folder that has it as --data.",
            )


def refuse_unfit_changes(plan: Plan, known: Catalog) -> None:
    """Raises BadConfig for a change that no method can have; those of loss and split depend on the method's."""
    preset = next(preset.config for preset in presets() if preset.key == BENCHES[plan.bench].preset)
    every = {dotted: value for dotted, value in plan.changes.items() if not dotted.startswith(("loss.", "split."))}
    changed(preset, every, known, "The comparison")


def tuning_config(plan: Plan, method: str, known: Catalog) -> RunConfig:
    """The runs of every setting of a loss: one for each fold, evaluated once, at the end.

    Raises:
        BadConfig: a change that the config cannot have.
        Problem: data that cannot be used.
    """
    bench, fixed = BENCHES[plan.bench], CONDITIONS[plan.bench]
    values = next(preset.config for preset in presets() if preset.key == bench.preset).model_dump()
    values["loss"] = {"name": method}
    with_batches(values, method, fixed.per_class, known)
    split = next(name for name in catalogs.names(known, "split") if catalogs.fact(known, "split", name, "folds"))
    values["split"] = {"name": split, "folds": plan.folds, "fold": 0}
    values["evaluation"] |= {"probe_size": 0, "untrained": False, "neighbours": 1}
    values |= {"name": f"fair {plan.bench} {method}, {plan.steps} steps, tuning", "seed": TUNING_SEED, "seeds": 1}
    places = {dotted: str(plan.data.absolute() / below) for dotted, below in bench.data.items()}
    config, errors = RunConfig.from_values(values, known)
    if config is None:
        raise BadConfig(f"The comparison of {method} on {plan.bench}", errors)
    of_labels = {} if catalogs.fact(known, "loss", method, "of_images") else fixed.of_labels
    config = changed(config, {**fixed.changes, **of_labels, **places, **plan.changes}, known, "The comparison")
    epochs = max(1, round(plan.steps / preflight.steps_per_epoch(config, quiet)))
    return changed(config, {"training.epochs": epochs, "evaluation.every": epochs}, known, "The comparison")


def search_space(config: RunConfig, known: Catalog) -> tuple[tuple[Parameter, ...], Setting]:
    """What is tuned for the config's loss, and the first setting: the values that the config has.

    A field of the run whose value the bench fixes outside the declared ones is left as it is.

    Raises:
        Problem: the loss declares no search space.
    """
    declared = catalogs.fact(known, "loss", config.loss.name, "search")
    if not declared:
        raise Problem(
            f"The loss {config.loss.name!r} declares no search space.",
            todo="Add `search` to its registration (workbench/losses/search_space.py).",
        )
    named = [
        Parameter(
            name if "." in name else f"loss.{name}",
            tuple(tried["values"]), tried["low"], tried["high"], tried["log"],
        )
        for name, tried in declared.items()
    ]  # fmt: skip
    first = {parameter.field: value_of(config, parameter.field, known) for parameter in named}
    kept = [parameter for parameter in checked(named, config, known) if _holds(parameter, first[parameter.field])]
    return tuple(kept), {parameter.field: first[parameter.field] for parameter in kept}


def value_of(config: RunConfig, dotted: str, known: Catalog) -> Any:
    """What the config has in that field, or the entry's default."""
    part, _, name = dotted.partition(".")
    return getattr(getattr(config, part), name) if part in SECTIONS else config.value(known, part, name)


def test_config(plan: Plan, tuned: RunConfig, setting: Setting, known: Catalog) -> RunConfig:
    """The runs of a setting over new seeds, evaluated several times on the way."""
    every = max(1, tuned.training.epochs // LOOKS)
    name = tuned.name.removesuffix("tuning") + "best setting"
    beside = {"evaluation.every": every, "seed": FIRST_SEED, "seeds": plan.seeds}
    return changed(tuned, {**setting, **beside, "name": name}, known, "The best setting")


def seeds_and_folds(plan: Plan) -> list[tuple[int, int]]:
    """The (seed, fold) of each run on the test set: the held-out classes change with the seed."""
    return [(FIRST_SEED + turn, 1 + turn % plan.folds) for turn in range(plan.seeds)]


def _holds(parameter: Parameter, value: Any) -> bool:
    if parameter.low is None or parameter.high is None:
        return value in parameter.values
    return bool(parameter.low <= value <= parameter.high)
