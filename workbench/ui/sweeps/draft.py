"""The sweep dialog without Qt: which fields can be varied, what is wrong with what was typed, what a sweep costs."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.config import BadConfig, RunConfig
from workbench.entries.catalog import Catalog
from workbench.progress import Progress
from workbench.running import folds_and_seeds
from workbench.settings.changed import changed
from workbench.sweeps import objective
from workbench.sweeps.plan import Plan, SweepPreset, planned, sweep_presets
from workbench.sweeps.space import Value, checked, entries_of, fields, read
from workbench.ui.style.words import counted, device_name, duration

if TYPE_CHECKING:
    from workbench.running.preflight import Preflight

REPORTED = ("MAP@R", "recall@1", "P@R", "NMI")
MOST_SEEDS = 100


@dataclass(frozen=True, slots=True)
class Entered:
    """The entries of the dialog; a number that cannot be read is kept as text."""

    parameters: Sequence[str]  # "FIELD=VALUES"
    how: str
    metric: str
    seeds: int | str
    trials: int | str | None  # None for a grid, which has its own number
    changes: Mapping[str, Any]  # fields of every run that a paper's sweep sets otherwise
    stop_early: bool = False  # trials below the median of the others


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of a check: a plan, what is still missing, or the errors by field."""

    plan: Plan | None = None
    todo: str = ""
    errors: dict[str, str] = field(default_factory=dict)

    def others(self, varied: Collection[str]) -> str:
        """What is wrong with fields that have no row of their own, in one line."""
        return " ".join(f"{name}: {words}" for name, words in self.errors.items() if name not in varied)


class SweepDraft:
    """A sweep of one run.

    Args:
        config: the run, as it can start.
        known: the catalog.
        preflight: what is known of its time; None before Preflight has looked.
    """

    def __init__(self, config: RunConfig, known: Catalog, preflight: "Preflight | None" = None) -> None:
        self.config, self.preflight = config, preflight
        self._known = known
        self.fields = fields(config, known)
        self.presets = [preset for preset in sweep_presets() if self._fits(preset)]
        self.source = ""  # of the values, while they are a paper's

    @property
    def objectives(self) -> list[str]:
        """The figures that can be the objective, the default first."""
        held_out = self.config.holds_out(self._known)
        probed = (objective.PROBED,) if self.config.evaluation.linear_probe else ()
        return [*((objective.HELD_OUT,) if held_out else (*REPORTED, *probed)), *objective.TRAIN_SIDE]

    def take(self, key: str) -> SweepPreset | None:
        """The paper's sweep of that key, which is the source from now on; None if there is none."""
        preset = next((preset for preset in self.presets if preset.key == key), None)
        self.source = "" if preset is None else f"Values of {preset.source}"
        return preset

    def fields_beside(self, parameters: Sequence[str]) -> dict[str, dict[str, Any]]:
        """What can be varied beside parameters: fields of the entries that those try, else of the config's."""
        chosen: dict[str, tuple[Value, ...]] = {}
        for text in parameters:
            with suppress(BadConfig):  # it is being typed
                chosen |= entries_of([read(text)])
        return fields(self.config, self._known, chosen)

    def next_field(self, varied: Collection[str]) -> str:
        """A number of the loss that is not varied yet, or the learning rate, or any other number."""
        numbers = [name for name, facts in self.fields.items() if facts.get("type") in ("number", "integer")]
        first = [name for name in numbers if name.startswith("loss.")] + ["training.lr", *numbers]
        return next(name for name in first if name not in varied)

    def check_at_once(self, entered: Entered) -> Checked | None:
        """What is missing or not a number; None if `check` must check every trial."""
        if not entered.parameters:
            return Checked(todo="Add a parameter to vary.")
        if not all(text.partition("=")[2] for text in entered.parameters):
            return Checked(todo="Enter values for each parameter.")
        numbers = {"seeds": entered.seeds, "trials": entered.trials}
        wrong = {name: "Must be a whole number." for name, value in numbers.items() if isinstance(value, str)}
        if isinstance(entered.seeds, int) and not wrong and not 1 <= entered.seeds <= MOST_SEEDS:
            wrong["seeds"] = f"Must be 1 to {MOST_SEEDS}."
        return Checked(errors=wrong) if wrong else None

    def check(self, entered: Entered, progress: Progress) -> Checked:
        """The plan, or what is wrong with it; for a thread, as a grid may have thousands of trials."""
        assert not isinstance(entered.seeds, str)
        assert not isinstance(entered.trials, str)
        try:
            fixed = changed(self.config, dict(entered.changes), self._known, self.source)
            parameters = [read(text) for text in entered.parameters]
            plan = planned(
                fixed, parameters, entered.how, self._known, metric=entered.metric, source=self.source,
                seeds=entered.seeds, trials=entered.trials, stop_early=entered.stop_early,
            )  # fmt: skip
        except BadConfig as problem:
            return Checked(errors=problem.errors)
        return Checked(plan)

    def cost(self, plan: Plan, place: str = "") -> str:
        """Why there are fewer trials than asked for, the number of runs, and how long they would take on this machine.

        `place` is where they train instead.
        """
        per_trial = len(folds_and_seeds.children(plan.config))
        text = runs = counted(plan.runs, "run")
        if per_trial > 1:
            text = f"{counted(plan.trials, 'trial')} × {counted(per_trial, 'run')} per trial = {runs}"
        fewer = f"{plan.fewer} " if plan.fewer else ""
        if self.preflight is None:
            return f"{fewer}{text}. Their duration is known once Preflight has checked the run."
        seconds = self.preflight.seconds / len(folds_and_seeds.children(self.config)) * plan.runs
        varied = any(
            parameter.field.startswith(("training.", "backbone.", "dataset.")) for parameter in plan.parameters
        )
        about = ", if all take as long as the run on Set up" if varied else ""
        device = device_name(self.preflight.device)
        where = f"one after the other on {device} here" if place else f"on {device}"
        there = f" They train at {place}." if place else ""
        lasts = duration(seconds) if seconds < 1 else f"about {duration(seconds)}"
        return f"{fewer}{text}, {lasts} {where}{about}, without evaluations.{there}"

    def changes_of(self, preset: SweepPreset) -> dict[str, Any]:
        """The fields that a paper's sweep sets, without those of a split that the run has not, such as its folds."""
        of_split = self._known[f"split/{self.config.split.name}"]["params"]
        return {
            name: value
            for name, value in preset.changes.items()
            if not name.startswith("split.") or name.removeprefix("split.") in of_split
        }

    def _fits(self, preset: SweepPreset) -> bool:
        try:
            config = changed(self.config, self.changes_of(preset), self._known, preset.key)
            checked(preset.parameters, config, self._known)
        except BadConfig:
            return False
        return True
