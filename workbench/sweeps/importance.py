"""Which parameter of a sweep matters: the share of the variance of the objective that each explains (fANOVA)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from math import isclose, isfinite, log
from statistics import fmean
from typing import Any

import numpy as np

from workbench.config import RunConfig
from workbench.entries.catalog import Catalog
from workbench.metric_names import metric_name
from workbench.numerals import percentage, significant
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.sweeps.space import Parameter, Value, checked, read
from workbench.workspace.experiments.sweeps import Sweep, Trial

FEWEST = 10  # settings, below which the forest has too little to learn from
TREES, DEPTH = 64, 6  # of the forest; deeper trees take minutes for a thousand settings
RESAMPLES, TREES_OF_RESAMPLE = 20, 8
SEED = 0
SOURCE = "fANOVA, Hutter et al. 2014"
ONE_VALUE = "Left out, as all of these settings have the same value"
PROPOSED = (
    "A Bayesian sweep tries few settings where the first results were bad, so that the shares say less about such "
    "values than those of random draws."
)


@dataclass(frozen=True, slots=True)
class Share:
    """A field with the fraction (0..1) of the variance that it explains alone."""

    field: str  # dotted
    share: float
    low: float  # the least that it is in the resamples of the settings and in all of them
    high: float  # the most


@dataclass(frozen=True, slots=True)
class Importance:
    """The shares, greatest first; none where `reason` says why there are none."""

    metric: str
    settings: int  # that trained to their end with every run
    shares: tuple[Share, ...] = ()
    predicted: float | None = None  # R² of the forest, of each setting from the trees that did not see it
    reason: str = ""
    single: tuple[str, ...] = ()  # fields of several values, with one in these settings
    proposed: bool = False  # whether later settings were chosen after earlier results
    parts: tuple["Part", ...] = ()  # one for each choice of entries that have fields of their own

    @property
    def rest(self) -> float:
        """The fraction that no field explains alone: what two or more do together."""
        return max(0.0, 1 - sum(share.share for share in self.shares))

    @property
    def any_shares(self) -> bool:
        """Whether there is a share, of all settings or of those of a part."""
        return bool(self.shares) or any(part.shares for part in self.parts)


@dataclass(frozen=True, slots=True)
class Part:
    """The settings with one of some entries, which alone have some fields, such as the margin of a loss."""

    chooser: str  # the field that names the entry: "loss.name"
    entries: tuple[str, ...]
    titles: str  # of the entries, as a person reads them
    fields: tuple[str, ...]  # that no other setting has
    measured: Importance  # of these settings alone, over all fields that each of them has

    @property
    def shares(self) -> tuple[Share, ...]:
        """The shares of its own fields, greatest first."""
        return tuple(share for share in self.measured.shares if share.field in self.fields)

    @property
    def among(self) -> str:
        """ "among the 14 settings with Proxy anchor": which settings its shares are of."""
        plural = "" if self.measured.settings == 1 else "s"
        return f"among the {self.measured.settings:,} setting{plural} with {self.titles}"


def importance(sweep: Sweep, trials: Sequence[Trial], known: Catalog, progress: Progress = quiet) -> Importance:
    """How much of the variance of the objective each field of a sweep explains, by its settings so far.

    A random forest predicts the mean objective of a setting (over seeds and folds) from its fields. Its prediction
    for a value of one field, averaged over the ranges of all others, has a variance over the range of that field;
    divided by the variance of the whole prediction it is the share of the field: functional ANOVA (Hutter, Hoos and
    Leyton-Brown, An Efficient Approach for Assessing Hyperparameter Importance, ICML 2014), as Optuna computes it.
    Listed values and the points of a grid weigh alike; a logarithmic range is even in the logarithm. Only settings
    count of which every run has trained to its end.

    A field that only some entries have, such as the margin of a loss, has a share among the settings with these entries
    alone, from a forest of its own: a value in place of the missing ones, which the authors' program puts there,
    would make the field explain what the choice of the entry does. Optuna measures a field so, too, where it is named.

    It takes seconds, most of them in Python, and loads scikit-learn: server.py computes it for the window.
    """
    try:
        config = RunConfig.from_toml_text(sweep.config, known=known)
        parameters = checked([read(text) for text in sweep.parameters], config, known)
        whole = _Subset("", (), "", (), _axes_of(parameters, sweep.how == "grid"))
        subsets = [whole, *_subsets(parameters, sweep.how == "grid", known)]
    except Problem as unread:
        return Importance(sweep.metric, 0, reason=f"What the sweep varies cannot be read. {unread}")
    steps = len(subsets) * RESAMPLES
    first, *others = (
        _of(sweep, subset, trials, partial(_in_all, progress, number * RESAMPLES, steps))
        for number, subset in enumerate(subsets)
    )
    parts = [
        Part(subset.chooser, subset.entries, subset.titles, subset.fields, measured)
        for subset, measured in zip(subsets[1:], others, strict=True)
    ]
    return replace(first, parts=tuple(parts))


def share_words(share: Share) -> str:
    """ "81.2% [70.0, 88.3]": the share and its range over the resamples."""
    return f"{percentage(share.share)} [{100 * share.low:.1f}, {100 * share.high:.1f}]"


def notes(measured: Importance, titles: Mapping[str, str]) -> list[str]:
    """Sentences on what the shares say and do not say; `titles` are those of the fields."""
    if not measured.any_shares:
        return [measured.reason]
    sentences = [measured.reason, _meaning(measured, "")] if measured.reason else _notes_on_all(measured)
    for part in measured.parts:
        named = ", ".join(titles.get(field, field) for field in part.fields)
        if part.shares:
            assert part.measured.predicted is not None
            sentences.append(
                f"{named}: of the variance {part.among} (R² {significant(part.measured.predicted, 2)}), so that "
                "it cannot be added to the other shares."
            )
        elif part.measured.reason:
            sentences.append(f"No share of {named} {part.among}: {_continued(part.measured.reason)}")
    alike = dict.fromkeys(
        [
            *measured.single,
            *(field for part in measured.parts for field in part.measured.single if field in part.fields),
        ]
    )
    if alike:
        sentences.append(f"{ONE_VALUE}: {', '.join(titles.get(field, field) for field in alike)}.")
    if measured.proposed:
        sentences.append(PROPOSED)
    return sentences


def _notes_on_all(measured: Importance) -> list[str]:
    assert measured.predicted is not None
    return [
        _meaning(measured, f" among {measured.settings:,} settings that finished training"),
        f"No field explains the other {percentage(measured.rest)} alone. The forest behind these shares predicts "
        f"settings that it has not seen with R² {significant(measured.predicted, 2)}.",
    ]


def _meaning(measured: Importance, among: str) -> str:
    return (
        f"Shares of the variance of {metric_name(measured.metric)}{among}, within the ranges that were searched "
        f"({SOURCE}). They show no cause. Ranges: over {RESAMPLES} resamples of the settings."
    )


def _continued(sentence: str) -> str:
    """The sentence behind a colon."""
    return sentence[:1].lower() + sentence[1:]


def as_data(measured: Importance) -> dict[str, Any]:
    """The shares and what they are of, as plain data."""
    return {
        "method": SOURCE, **_data_of(measured, measured.shares),
        "parts": [
            {"field": part.chooser, "entries": list(part.entries), "fields": list(part.fields)}
            | _data_of(part.measured, part.shares)
            for part in measured.parts
        ],
        "left_out": [*_without_share(measured.parts), *measured.single],
    }  # fmt: skip


def _without_share(parts: Sequence[Part]) -> list[str]:
    """The fields that only some settings have and that have no share."""
    return [field for part in parts for field in part.fields if all(share.field != field for share in part.shares)]


def _data_of(measured: Importance, shares: Sequence[Share]) -> dict[str, Any]:
    return {
        "settings": measured.settings, "reason": measured.reason, "r2": measured.predicted,
        "shares": [asdict(share) for share in shares],
    }  # fmt: skip


def results(trials: Sequence[Trial]) -> list[list[Any]]:
    """What the shares depend on, as plain data: number, outcome and objective of each trial."""
    return [[trial.id, trial.outcome, trial.objective] for trial in trials]


def from_answer(answer: Mapping[str, Any]) -> Importance:
    """The importance in an answer of server.py."""
    facts = {one.name: answer[one.name] for one in fields(Importance)}
    parts = [
        Part(
            part["chooser"],
            tuple(part["entries"]),
            part["titles"],
            tuple(part["fields"]),
            from_answer(part["measured"]),
        )
        for part in facts["parts"]
    ]
    shares = tuple(Share(**share) for share in facts["shares"])
    return Importance(**{**facts, "single": tuple(facts["single"]), "shares": shares, "parts": tuple(parts)})


@dataclass(frozen=True, slots=True)
class _Axis:
    """A field as one axis of the forest, on which equal lengths are equally likely to be searched."""

    field: str
    low: float
    high: float
    log: bool = False
    listed: tuple[Value, ...] = ()  # each value has a unit of the axis, in this order; empty for a range

    @property
    def several(self) -> bool:
        """Whether the sweep has more than one value for the field."""
        return len(self.listed) != 1

    def place(self, value: object) -> float | None:
        """Where a stored value lies; None where the sweep cannot have set it."""
        if self.listed:
            return float(self.listed.index(value)) if value in self.listed else None
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            return None
        if self.log and value <= 0:
            return None
        at = log(value) if self.log else float(value)
        return at if self.low <= at <= self.high else None


def _axis(parameter: Parameter, grid: bool) -> _Axis:
    """The axis of a parameter. Raises BadConfig for a grid over a range without points."""
    if parameter.low is None or parameter.high is None or grid:
        listed = parameter.listed()
        if all(isinstance(value, int | float) for value in listed):
            listed = tuple(sorted(listed))
        return _Axis(parameter.field, -0.5, len(listed) - 0.5, listed=listed)
    half = 0.5 if parameter.whole else 0.0  # each whole number has a unit, also the first and the last
    low, high = parameter.low - half, parameter.high + half
    return _Axis(parameter.field, *((log(low), log(high)) if parameter.log else (low, high)), log=parameter.log)


@dataclass(frozen=True, slots=True)
class _Subset:
    """Settings with one of some entries, and the fields that each of them has; without entries all settings."""

    chooser: str
    entries: tuple[str, ...]
    titles: str
    fields: tuple[str, ...]  # that only these settings have
    axes: tuple[_Axis, ...]

    def has(self, setting: Mapping[str, object]) -> bool:
        """Whether a setting is one of them."""
        return not self.entries or setting.get(self.chooser) in self.entries


def _axes_of(parameters: Sequence[Parameter], grid: bool, entries: tuple[str, ...] = ()) -> tuple[_Axis, ...]:
    """The axes of the parameters that each setting with one of these entries has."""
    return tuple(
        _axis(parameter, grid)
        for parameter in parameters
        if not parameter.entries or (entries and set(entries) <= set(parameter.entries))
    )


def _subsets(parameters: Sequence[Parameter], grid: bool, known: Catalog) -> Iterator[_Subset]:
    """The settings of each choice of entries that have fields of their own, in the order of the parameters."""
    own: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for parameter in parameters:
        if parameter.entries:
            own.setdefault((parameter.chooser, parameter.entries), []).append(parameter.field)
    for (chooser, entries), named in own.items():
        kind = chooser.partition(".")[0]
        of_kind = [parameter for parameter in parameters if parameter.chooser == chooser or not parameter.entries]
        chosen = [
            replace(parameter, values=entries) if parameter.field == chooser else parameter for parameter in of_kind
        ]
        titles = " or ".join(str(known.get(f"{kind}/{entry}", {}).get("title", entry)) for entry in entries)
        yield _Subset(chooser, entries, titles, tuple(named), _axes_of(chosen, grid, entries))


def _of(sweep: Sweep, subset: _Subset, trials: Sequence[Trial], progress: Progress) -> Importance:
    """The shares of the fields of a subset, from its settings alone."""
    axes = subset.axes
    rows, values = _finished([trial for trial in trials if subset.has(trial.setting)], axes)
    varied = [at for at in range(len(axes)) if len(set(rows[:, at].tolist())) > 1]
    facts = Importance(
        sweep.metric,
        len(values),
        reason=_reason(values, len(varied)),
        single=tuple(axis.field for at, axis in enumerate(axes) if at not in varied and axis.several),
        proposed=sweep.how == "bayes",
    )
    if facts.reason:
        return facts
    return _measured(facts, [axes[at] for at in varied], rows[:, varied], values, progress)


def _in_all(progress: Progress, before: int, steps: int, text: str, done: int, _: int) -> None:
    """Report the progress of one of several subsets."""
    progress(text, before + done, steps)


def _finished(trials: Sequence[Trial], axes: Sequence[_Axis]) -> tuple[np.ndarray, np.ndarray]:
    """Places [settings, axes] and mean objectives of the settings of which every run has trained to its end."""
    by_point: dict[int, list[Trial]] = {}
    for trial in trials:
        by_point.setdefault(trial.point, []).append(trial)
    rows, values = [], []
    for several in by_point.values():
        objectives = [trial.objective for trial in several if trial.outcome == "done" and trial.objective is not None]
        places = [axis.place(several[0].setting.get(axis.field)) for axis in axes]
        if len(objectives) == len(several) and None not in places:
            rows.append(places)
            values.append(fmean(objectives))
    return np.array(rows, float).reshape(len(rows), len(axes)), np.array(values)


def _reason(values: np.ndarray, varied: int) -> str:
    """Why no shares are computed; empty if they can be."""
    if len(values) < FEWEST:
        return (
            f"The importance of the parameters is computed from {FEWEST} settings that finished training; "
            f"there {'is' if len(values) == 1 else 'are'} {len(values)}."
        )
    if isclose(values.min(), values.max(), rel_tol=1e-6):
        return f"All {len(values):,} settings have the same value, so that no parameter explains a difference."
    if varied < 2:
        return "Only one parameter has several values: there is nothing to compare it with."
    return ""


def _measured(
    facts: Importance, axes: Sequence[_Axis], rows: np.ndarray, values: np.ndarray, progress: Progress
) -> Importance:
    """The facts with the shares, or with the reason why the forest has none."""
    predicted = _predicted(rows, values)
    if predicted <= 0:
        reason = (
            f"The {len(values):,} settings do not show which parameter matters: a random forest of their values does "
            f"not predict settings that it has not seen (R² {significant(predicted, 2)}). More trials may show it."
        )
        return replace(facts, predicted=predicted, reason=reason)
    whole = _shares(axes, rows, values, TREES)
    rng = np.random.default_rng(SEED)
    resampled: list[dict[str, float]] = []
    while len(resampled) < RESAMPLES:
        progress("Parameter importance", len(resampled), RESAMPLES)
        drawn = rng.integers(len(values), size=len(values))
        if not isclose(values[drawn].min(), values[drawn].max(), rel_tol=1e-6):
            resampled.append(_shares(axes, rows[drawn], values[drawn], TREES_OF_RESAMPLE))
    shares = []
    for axis in sorted(axes, key=lambda axis: -whole[axis.field]):
        several = [whole[axis.field], *(again[axis.field] for again in resampled)]
        shares.append(Share(axis.field, whole[axis.field], min(several), max(several)))
    return replace(facts, predicted=predicted, shares=tuple(shares))


def _predicted(rows: np.ndarray, values: np.ndarray) -> float:
    """R² of a forest like Optuna's, out of bag."""
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(n_estimators=TREES, max_depth=DEPTH, random_state=SEED, oob_score=True)
    return float(forest.fit(rows, values).oob_score_)


def _shares(axes: Sequence[_Axis], rows: np.ndarray, values: np.ndarray, trees: int) -> dict[str, float]:
    """The share of each field, by Optuna, whose axes are even as they are: it knows no logarithm here."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    space: dict[str, optuna.distributions.BaseDistribution] = {
        axis.field: optuna.distributions.FloatDistribution(axis.low, axis.high) for axis in axes
    }
    study = optuna.create_study(storage=optuna.storages.InMemoryStorage())
    for row, value in zip(rows.tolist(), values.tolist(), strict=True):
        params = dict(zip(space, row, strict=True))
        study.add_trial(optuna.trial.create_trial(params=params, distributions=space, value=value))
    evaluator = optuna.importance.FanovaImportanceEvaluator(n_trees=trees, max_depth=DEPTH, seed=SEED)
    return {field: float(share) for field, share in evaluator.evaluate(study).items()}
