"""Which settings a sweep tries: all combinations, seeded draws, or what Optuna's TPE proposes after what was found."""

import warnings
from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from workbench.config import BadConfig
from workbench.sweeps.space import Parameter, Setting, Value

if TYPE_CHECKING:
    import optuna

How = Literal["grid", "random", "bayes"]
HOWS: dict[How, str] = {"grid": "All combinations", "random": "Random draws", "bayes": "Bayesian (TPE)"}
MOST = 10_000  # settings of one sweep
REDRAWS = 200  # tries for a setting that has not been drawn yet
REASKS = 20
LEAST_BEFORE_MODEL, MOST_BEFORE_MODEL = 4, 10  # random settings before TPE begins to model


def grid(parameters: Sequence[Parameter]) -> list[Setting]:
    """Every combination; the last parameter changes fastest, those that only some entries have faster than all others.

    Raises:
        BadConfig: there are over MOST of them.
    """
    listed = {parameter.field: parameter.listed() for parameter in parameters}
    count = _number_of(parameters, {field: len(values) for field, values in listed.items()})
    if count > MOST:
        raise BadConfig("The sweep", {"grid": f"{count:,} combinations are over {MOST:,}: draw some at random."})
    settings: list[Setting] = [{}]
    for parameter in sorted(parameters, key=lambda parameter: bool(parameter.entries)):  # these depend on the others
        settings = [
            {**setting, **chosen}
            for setting in settings
            for chosen in (
                [{parameter.field: value} for value in listed[parameter.field]]
                if parameter.belongs_to(setting)
                else [Setting()]
            )
        ]
    return [belonging(parameters, setting) for setting in settings]


def draws(parameters: Sequence[Parameter], count: int, seed: int) -> list[Setting]:
    """`count` seeded draws, none twice; fewer where the parameters have fewer combinations."""
    rng = np.random.default_rng(seed)
    settings: dict[tuple[tuple[str, Value], ...], Setting] = {}  # so that a draw is looked up, not compared with all
    for _ in range(count * REDRAWS):
        if len(settings) == count:
            break
        drawn = belonging(parameters, {parameter.field: _drawn(parameter, rng) for parameter in parameters})
        settings.setdefault(tuple(drawn.items()), drawn)
    return list(settings.values())


def belonging(parameters: Sequence[Parameter], setting: Setting) -> Setting:
    """The setting in the order of the parameters, without the fields that its entries do not have."""
    return {
        parameter.field: setting[parameter.field]
        for parameter in parameters
        if parameter.field in setting and parameter.belongs_to(setting)
    }


def next_proposal(
    parameters: Sequence[Parameter],
    tried: Sequence[tuple[Setting, float | None]],
    seed: int,
    count: int,
    *,
    least: bool,
    pending: Sequence[Setting] = (),
) -> Setting:
    """TPE's proposal after the settings that have been tried; the same for the same history.

    It is one that has not been tried, if there is any: where TPE repeats itself, a random one.

    Args:
        parameters: what is varied.
        tried: settings in the order in which they were proposed, with their objective; None for one that failed, which
            TPE takes for worse than every other once one has an objective.
        seed: of the sweep.
        count: settings that the sweep will try in all.
        least: whether the least objective is the best.
        pending: settings of `tried` that train now: TPE takes them for bad ones until they are measured (a constant
            liar), so that several at once are not alike.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    drawn = min(max(count // 3, LEAST_BEFORE_MODEL), MOST_BEFORE_MODEL)
    # A study of its own for each proposal: nothing is left in memory that a restart could lose.
    turn = int(np.random.SeedSequence([seed, len(tried)]).generate_state(1)[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)  # of constant_liar, before optuna 5
        sampler = optuna.samplers.TPESampler(
            seed=turn, n_startup_trials=drawn, multivariate=False, constant_liar=bool(pending)
        )
    study = optuna.create_study(
        storage=optuna.storages.InMemoryStorage(),
        sampler=sampler,
        direction="minimize" if least else "maximize",
    )
    space = {parameter.field: _distribution(parameter) for parameter in parameters}
    measured = any(value is not None for _, value in tried)
    # TPE looks away from a trial of state FAIL, and proposes its like again and again.
    bad = optuna.trial.TrialState.PRUNED if measured else optuna.trial.TrialState.FAIL
    for setting, value in tried:
        state = bad if value is None else optuna.trial.TrialState.COMPLETE
        if value is None and setting in pending:
            state = optuna.trial.TrialState.RUNNING
        of_setting = {field: space[field] for field in setting}
        study.add_trial(
            optuna.trial.create_trial(params=dict(setting), distributions=of_setting, value=value, state=state)
        )
    for _ in range(REASKS):
        asked = study.ask(space)
        rounded = {parameter.field: _rounded(parameter, asked.params[parameter.field]) for parameter in parameters}
        proposed = belonging(parameters, rounded)
        if all(proposed != setting for setting, _ in tried):
            return proposed
    # Among more draws than have been tried, none twice, there is a new one, unless there is none at all.
    before = [setting for setting, _ in tried]
    return next((drawn for drawn in draws(parameters, len(tried) + 1, turn) if drawn not in before), proposed)


def combinations(parameters: Sequence[Parameter]) -> int | None:
    """How many settings there are at all; None if a range of real numbers has no end of them."""
    if any(parameter.ranged and not parameter.whole for parameter in parameters):
        return None
    return _number_of(
        parameters,
        {
            parameter.field: len(parameter.values) or int((parameter.high or 0) - (parameter.low or 0)) + 1
            for parameter in parameters
        },
    )


def _number_of(parameters: Sequence[Parameter], sizes: Mapping[str, int]) -> int:
    """The number of combinations of that many values of each field."""
    number = 1
    for parameter in parameters:
        dependent = [other for other in parameters if other.entries and other.chooser == parameter.field]
        if dependent:
            number *= sum(
                prod(sizes[other.field] for other in dependent if entry in other.entries) for entry in parameter.values
            )
        elif not parameter.entries:
            number *= sizes[parameter.field]
    return number


def _drawn(parameter: Parameter, rng: np.random.Generator) -> Value:
    if not parameter.ranged:
        return parameter.values[int(rng.integers(len(parameter.values)))]
    if parameter.whole and not parameter.log:
        return int(rng.integers(int(parameter.low or 0), int(parameter.high or 0) + 1))
    return parameter.at(float(rng.random()))


def _distribution(parameter: Parameter) -> "optuna.distributions.BaseDistribution":
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if parameter.low is None or parameter.high is None:
        return CategoricalDistribution(list(parameter.values))
    if parameter.whole:
        return IntDistribution(int(parameter.low), int(parameter.high), log=parameter.log)
    return FloatDistribution(parameter.low, parameter.high, log=parameter.log)


def _rounded(parameter: Parameter, value: Any) -> Value:
    if parameter.low is None or parameter.high is None or parameter.whole:
        rounded: Value = value
        return rounded
    return min(max(float(f"{value:.6g}"), parameter.low), parameter.high)
