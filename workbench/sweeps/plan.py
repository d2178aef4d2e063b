"""A sweep before its first run: what is varied, how, how often and by which metric; the papers' sweeps as presets."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from workbench.config import BadConfig, RunConfig
from workbench.entries.catalog import Catalog
from workbench.files.resources import resources
from workbench.running import folds_and_seeds
from workbench.sweeps import objective, proposals
from workbench.sweeps.early_stop import FEWEST
from workbench.sweeps.proposals import HOWS, How
from workbench.sweeps.space import Parameter, Setting, checked, configured, read
from workbench.sweeps.trials import refusal

DEFAULT_TRIALS = 20
TRIED_OUT = 50  # random settings of a Bayesian sweep that are checked before it starts


@dataclass(frozen=True, slots=True)
class Plan:
    """A checked sweep. Its runs are those of `config` with each setting, over folds and seeds."""

    config: RunConfig  # seeds is the number of runs of each setting (and fold)
    parameters: tuple[Parameter, ...]
    how: How
    trials: int  # settings
    metric: str  # the objective
    source: str = ""  # the paper's table, for a preset
    wanted: int = 0  # settings that were asked for; 0 if there are as many
    stop_early: bool = False  # whether trials below the median of the others are stopped
    refused: str = ""  # of a Bayesian sweep: a sentence on settings that cannot be trained, if there are any

    @property
    def fewer(self) -> str:
        """A sentence where there are fewer settings than were asked for; empty if there are as many."""
        if not self.wanted:
            return ""
        plural = "" if self.trials == 1 else "s"
        trained = " that can be trained" if self.refused else ""
        return (
            f"These values have only {self.trials:,} combination{plural}{trained}: "
            f"{self.trials:,} trial{plural} instead of {self.wanted:,}."
        )

    @property
    def runs(self) -> int:
        """Number of runs: settings times folds and seeds."""
        return self.trials * len(folds_and_seeds.children(self.config))

    @property
    def reported(self) -> bool:
        """Whether the objective is of the test set."""
        return objective.reported(self.metric)

    @property
    def remarks(self) -> list[str]:
        """Sentences on what the values of its objective cannot say."""
        varied = [parameter.field for parameter in self.parameters if parameter.ranged or len(parameter.values) > 1]
        optimistic = objective.OPTIMISTIC if self.reported else ""
        of_values = (objective.on_other_images(varied), objective.on_other_steps(varied))
        sentences = (optimistic, *of_values, self._too_few, self.refused)
        return [sentence for sentence in sentences if sentence]

    @property
    def _too_few(self) -> str:
        """A sentence where there are too few trials to stop any early; empty if there are enough."""
        if not self.stop_early or self.runs - self.runs // self.trials >= FEWEST:
            return ""
        return f"No trial will be stopped early: each would have to be compared with at least {FEWEST} others."

    def settings(self) -> list[Setting]:
        """The settings that are known before the first run; none for a Bayesian sweep."""
        if self.how == "grid":
            return proposals.grid(self.parameters)
        return proposals.draws(self.parameters, self.trials, self.config.seed) if self.how == "random" else []


def planned(
    config: RunConfig,
    parameters: Sequence[Parameter],
    how: str,
    known: Catalog,
    *,
    trials: int | None = None,
    seeds: int | None = None,
    metric: str = "",
    source: str = "",
    stop_early: bool = False,
) -> Plan:
    """Check everything that can be checked before the first run.

    Args:
        trials: settings of a random or Bayesian sweep, DEFAULT_TRIALS when not said; a grid has its own number. Where
            there are fewer combinations, each is tried once, and `Plan.fewer` says so.
        seeds: runs of each setting; those of the config when not said.
        metric: the objective, see `objective.chosen`.
        stop_early: whether trials below the median of the others are stopped, see `early_stop`.

    Raises:
        BadConfig: a wrong field, value, range, metric or way, or a setting whose fields do not go together.
    """
    if how not in HOWS:
        raise BadConfig("The sweep", {"how": f"Must be one of {', '.join(HOWS)}."})
    if seeds is not None:
        config = config.model_copy(update={"seeds": seeds})
    swept = checked(parameters, config, known)
    metric = objective.chosen(metric, config, known)
    if stop_early and metric == objective.PROBED:
        sentence = (
            f"{metric} is measured only after the last epoch: choose another metric, or do not stop trials early."
        )
        raise BadConfig("The sweep", {"metric": sentence})
    if how == "grid":
        if trials is not None:
            raise BadConfig("The sweep", {"trials": "A grid takes every combination: leave the number out."})
        wanted = count = len(proposals.grid(swept))
    else:
        wanted = DEFAULT_TRIALS if trials is None else trials
        if not 1 <= wanted <= proposals.MOST:
            raise BadConfig("The sweep", {"trials": f"Must be 1 to {proposals.MOST:,}."})
        there = proposals.combinations(swept)
        count = wanted if there is None else min(wanted, there)
        if how == "random":  # a narrow range of real numbers has an end, too
            count = len(proposals.draws(swept, count, config.seed))
    plan = Plan(config, swept, how, count, metric, source, wanted if count < wanted else 0, stop_early)
    for setting in plan.settings():
        configured(config, setting, known)
    return _tried_out(plan, wanted, known) if how == "bayes" else plan


def _tried_out(plan: Plan, wanted: int, known: Catalog) -> Plan:
    """A Bayesian sweep with what some random settings say, or all if there are few. Raises BadConfig if none fits."""
    settings = proposals.draws(plan.parameters, TRIED_OUT, plan.config.seed)
    refused = [reason for setting in settings if (reason := refusal(plan.config, setting, known))]
    if not refused:
        return plan
    fitting = len(settings) - len(refused)
    if not fitting:
        configured(plan.config, settings[0], known)
    among, trials = f"{len(settings)} random", plan.trials
    if len(settings) == proposals.combinations(plan.parameters):
        among, trials = f"the {len(settings)}", min(trials, fitting)
    words = (
        f"{len(refused)} of {among} settings cannot be trained. The sweep does not count such settings as trials. "
        f"One of the reasons: {refused[0]}"
    )
    return replace(plan, trials=trials, wanted=wanted if trials < wanted else 0, refused=words)


@dataclass(frozen=True, slots=True)
class SweepPreset:
    """A paper's ablation from resources/sweeps."""

    key: str  # the file's name without ending
    title: str
    summary: str
    source: str  # paper and table
    preset: str  # the run that it varies
    parameters: tuple[Parameter, ...]
    how: How
    trials: int | None
    changes: Mapping[str, object]  # fields of the run that are set otherwise
    metric: str  # in which the paper reports it; empty where that is the default of the run


@lru_cache(maxsize=1)
def sweep_presets() -> tuple[SweepPreset, ...]:
    """The papers' ablations by their `order`."""
    ordered = []
    for path in (resources() / "sweeps").glob("*.toml"):
        preset = tomllib.loads(path.read_text("utf-8"))
        parameters = tuple(read(f"{field}={text}") for field, text in preset["parameters"].items())
        ordered.append(
            (
                preset["order"],
                SweepPreset(
                    path.stem,
                    preset["title"],
                    preset["summary"],
                    preset["source"],
                    preset["preset"],
                    parameters,
                    preset.get("how", "grid"),
                    preset.get("trials"),
                    preset.get("set", {}),
                    preset.get("metric", ""),
                ),
            )
        )
    return tuple(preset for _, preset in sorted(ordered, key=lambda pair: pair[0]))
