"""Metrics of groups at the best, the last or one epoch: a value for each run, a mean for each group."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from statistics import fmean, stdev

import numpy as np

from workbench.comparing.grouping.groups import Group
from workbench.comparing.grouping.tested import fold_of_run
from workbench.comparing.statistics.intervals import Interval, t_interval
from workbench.workspace import Workspace
from workbench.workspace.measured import evaluations
from workbench.workspace.measured.unkept import with_curves
from workbench.workspace.rows import Evaluation, Run, counting

At = str | int  # "best", "last", or an epoch
BEST, LAST = "best", "last"
FIRST_SHOWN = ("MAP@R", "recall@1", "P@R")
MOST_OF_SHARE = 1 + 1e-6  # a mean of float32 may be a little above 1
SHARES = (  # fractions of which more is better
    "recall@", "P@", "MAP@", "kNN", "NMI", "linear/", "classifier/", "validation/", "l2/", "cosine/", "level/",
    "average/", "decided/",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """One run with all its evaluations, by epoch, also those that it did not keep."""

    run: Run
    evaluations: tuple[Evaluation, ...]
    test_half: str = ""  # a mark of the images that it was searched in; empty if not known, or the same for all

    @property
    def is_test(self) -> bool:
        """Whether it is a test of a network on other images."""
        return self.run.tested is not None

    def at(self, at: At) -> Evaluation | None:
        """The evaluation at "best", "last" or an epoch; None if the run has none there."""
        if at == LAST:
            return self.evaluations[-1] if self.evaluations else None
        epoch = self.run.best_epoch if at == BEST else at
        return next((evaluation for evaluation in reversed(self.evaluations) if evaluation.epoch == epoch), None)

    def value(self, metric: str, at: At) -> float | None:
        """A finite number, or None."""
        evaluation = self.at(at)
        value = None if evaluation is None else evaluation.metrics.get(metric)
        return value if value is not None and np.isfinite(value) else None


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """One group in one metric. Folds of a seed are one value, their mean, so that `n` counts seeds."""

    group: Group
    values: dict[int, float]  # run -> value, of the runs that have one
    by_seed: dict[int, float]
    interval: Interval  # over seeds
    spread: float | None  # standard deviation over seeds; None for fewer than two
    seconds: float | None  # of training, mean over runs; None if no run has trained
    memory: int | None  # bytes, the maximum of the runs
    test_halves: Mapping[int, set[str]] = field(default_factory=dict)  # seed -> marks of its test images, where known
    images: frozenset[str] = frozenset()  # of its runs, as in Run

    @property
    def trained_to_the_end(self) -> bool:
        """Whether its values are of runs that are done, not of some that ended early or still train."""
        return any(run.status == "done" for run in self.group.runs if run.id in self.values)


def trained_to_the_end(summaries: Sequence[Summary], at: At) -> list[Summary]:
    """Those whose best or last epoch is known; all where none is, and at one epoch, which is the same for all."""
    return [summary for summary in summaries if isinstance(at, int) or summary.trained_to_the_end] or list(summaries)


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A metric over epochs or a training scalar over steps: runs of a group, their mean, the interval over seeds."""

    group: Group
    runs: tuple[tuple[Run, np.ndarray, np.ndarray], ...]  # epochs or steps [m] int64 and values [m] float64
    places: np.ndarray  # [k] epochs or steps, rising: those that every run in the mean has
    mean: np.ndarray  # [k]; NaN if a training scalar of a run is no number
    low: np.ndarray  # [k], NaN under three seeds
    high: np.ndarray
    bin_width: float = 0.0  # steps whose mean each value of a run is; 0: values at the places themselves
    stride: int = 1  # steps from one point of a run that was read to the next, at the most of all runs

    @property
    def n(self) -> int:
        """Different seeds of the runs that its mean is of: a drawn run that ended early may not be one of them."""
        return len({run.seed for run in runs_in_mean([run for run, _, _ in self.runs])})


def unfinished(run: Run) -> str:
    """ "stopped, epoch 4 of 10" of a run that is not done; else empty."""
    return "" if run.status == "done" else f"{run.status}, epoch {run.epoch} of {run.epochs}"


def read_measures(workspace: Workspace, runs: Iterable[Run]) -> dict[int, Measured]:
    """Every evaluation of the runs, by run, over its own connection, so that the window never waits for it."""
    with closing(workspace.reader()) as db:
        return {
            run.id: Measured(run, tuple(with_curves(db, run, evaluations.read_evaluations(db, "run_id", run.id))))
            for run in runs
        }


def metric_names(measured: Iterable[Measured]) -> list[str]:
    """Metrics that any run has: MAP@R, recalls and P@R first, the others by name."""
    metrics = {
        name for run_measures in measured for evaluation in run_measures.evaluations for name in evaluation.metrics
    }
    metrics = {name for name in metrics if not name.endswith(("/low", "/high")) and name.partition("/")[0] != "queries"}
    return sorted(metrics, key=lambda name: (FIRST_SHOWN.index(name) if name in FIRST_SHOWN else 9, name))


def is_share(metric: str) -> bool:
    """Whether the metric is a fraction of which more is better; geometry and hubness are plain numbers."""
    return metric.startswith(SHARES)


def is_logged_share(scalar: str) -> bool:
    """Whether a scalar of training is such a fraction: the metrics of the test set, and accuracies."""
    return scalar == "train/accuracy" or is_share(scalar.removeprefix("test/"))


def percent_factor(scalar: str, values: np.ndarray) -> int:
    """What the values of a scalar are multiplied by to be shown: 100 if it is a fraction, else 1.

    Other programs and loops may log such a metric in percent: values above 1 stay as they are.
    """
    known = values[np.isfinite(values)]
    return 100 if is_logged_share(scalar) and not (known > MOST_OF_SHARE).any() else 1


def as_fractions(scalar: str, values: np.ndarray) -> np.ndarray:
    """The values of one run, in which a share is a fraction also if it was logged in percent; see `percent_factor`."""
    return values / 100 if percent_factor(scalar, values) == 1 and is_logged_share(scalar) else values


def common_epochs(measured: Iterable[Measured]) -> list[int]:
    """Epochs at which every run that has evaluations was evaluated, rising."""
    sets = [
        {evaluation.epoch for evaluation in run_measures.evaluations}
        for run_measures in measured
        if run_measures.evaluations
    ]
    return sorted(set.intersection(*sets)) if sets else []


def chosen_runs(group: Group, measured: dict[int, Measured], metric: str, at: At) -> list[Run]:
    """The runs of a group that have the metric there: of one seed and fold the newest.

    An unfinished run has not reached its best or last epoch: it counts only if no run of the group is done.
    """
    runs = group.runs if isinstance(at, int) else counting(group.runs) or group.runs
    return _newest([run for run in runs if measured[run.id].value(metric, at) is not None])


def runs_in_mean(drawn: Sequence[Run]) -> list[Run]:
    """Of the runs of one group that have a curve, the oldest first, those that its mean is of: as in `chosen_runs`."""
    return _newest(counting(drawn) or drawn)


def _newest(runs: Sequence[Run]) -> list[Run]:
    return list({(run.seed, fold_of_run(run)): run for run in runs}.values())


def summarised(group: Group, measured: dict[int, Measured], metric: str, at: At) -> Summary:
    """The group's values and cost; n is 0 when no run has the metric there."""
    runs = chosen_runs(group, measured, metric, at)
    values = {run.id: measured[run.id].value(metric, at) or 0.0 for run in runs}
    by_seed = seed_means([(run.seed, values[run.id]) for run in runs])
    over = list(by_seed.values())
    seconds = [run.seconds for run in group.runs if run.seconds > 0 and run.tested is None]  # a test trains nothing
    return Summary(
        group,
        values,
        by_seed,
        t_interval(over),
        stdev(over) if len(over) > 1 else None,
        fmean(seconds) if seconds else None,
        max((run.memory_bytes for run in group.runs), default=0) or None,
        test_halves(measured[run.id] for run in runs),
        frozenset(run.images for run in group.runs) - {""},
    )


def test_halves(measured: Iterable[Measured]) -> dict[int, set[str]]:
    """For each seed the marks of the test images of its runs, where they are known."""
    halves: dict[int, set[str]] = {}
    for run_measures in measured:
        if run_measures.test_half:
            halves.setdefault(run_measures.run.seed, set()).add(run_measures.test_half)
    return halves


def unlike_halves(first: Mapping[int, set[str]], second: Mapping[int, set[str]]) -> bool:
    """Whether test images differ in a seed that both have or, without any, in all seeds; see `test_halves`."""
    if shared := first.keys() & second.keys():
        return any(first[seed] != second[seed] for seed in shared)
    return bool(first and second) and set().union(*first.values()).isdisjoint(*second.values())


def seed_means(pairs: Sequence[tuple[int, float]]) -> dict[int, float]:
    """Mean of the values of each seed, by rising seed; the values of one seed are its folds."""
    gathered: dict[int, list[float]] = {}
    for seed, value in pairs:
        gathered.setdefault(seed, []).append(value)
    return {seed: fmean(gathered[seed]) for seed in sorted(gathered)}


def curve_of(group: Group, measured: dict[int, Measured], metric: str) -> Curve:
    """The metric of each run by epoch; over the epochs that all `runs_in_mean` have, mean and interval over seeds."""
    tables: dict[int, dict[int, float]] = {}
    for run in group.runs:
        values = {
            evaluation.epoch: evaluation.metrics.get(metric, np.nan) for evaluation in measured[run.id].evaluations
        }
        tables[run.id] = {epoch: value for epoch, value in values.items() if np.isfinite(value)}
    drawn = [run for run in group.runs if tables[run.id]]
    lines = tuple(
        (run, np.array(list(tables[run.id]), np.int64), np.array(list(tables[run.id].values()), np.float64))
        for run in drawn
    )
    counted = runs_in_mean(drawn)
    epochs = sorted(set.intersection(*(set(tables[run.id]) for run in counted))) if counted else []
    intervals = [
        t_interval(list(seed_means([(run.seed, tables[run.id][epoch]) for run in counted]).values()))
        for epoch in epochs
    ]
    mean, low, high = limits_of(intervals)
    return Curve(group, lines, np.array(epochs, np.int64), mean, low, high)


def limits_of(intervals: Sequence[Interval]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means, lower and upper limits of k intervals, each float64 [k]."""
    table = np.array([(interval.mean, interval.low, interval.high) for interval in intervals], np.float64).reshape(
        -1, 3
    )
    return table[:, 0], table[:, 1], table[:, 2]
