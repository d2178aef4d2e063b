"""Groups in several metrics, each with its difference from one of them, the baseline."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from workbench.comparing.grouping.groups import Group
from workbench.comparing.grouping.tested import fold_of_run
from workbench.comparing.measures import Summary, is_share, seed_means, summarised, unlike_halves
from workbench.comparing.overview import Overview
from workbench.comparing.statistics.intervals import LEVEL, Interval, t_interval, welch_interval
from workbench.comparing.statistics.p_values import holm, paired_p, welch_p

NO_DIFFERENCE = Interval(nan, nan, nan, 0)
FIRST_METRICS = ("MAP@R", "recall@1", "P@R", "NMI")
MOST_METRICS = 4  # in the table unless the user ticks more


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """One group in one metric."""

    metric: str
    summary: Summary
    difference: Interval | None  # from the baseline, over seeds; None for the baseline itself
    best: bool  # whether it has the greatest mean of all groups, of the same test images, where more is better
    p: float | None = None  # two-sided, over seeds; None under three seeds, NaN if all differ by the same: undefined
    adjusted: float | None = None  # p after Holm's correction for all groups in this metric

    @property
    def differs(self) -> bool:
        """Whether it differs from the baseline at 5% after the correction."""
        return self.adjusted is not None and self.adjusted < 1 - LEVEL


@dataclass(frozen=True, slots=True, eq=False)
class BaselineRow:
    """One group with a cell for each metric of the table, in their order."""

    group: Group
    cells: tuple[Cell, ...]

    @property
    def is_baseline(self) -> bool:
        """Whether the other rows are compared with this one."""
        return all(cell.difference is None for cell in self.cells)


def usual_metrics(overview: Overview) -> list[str]:
    """The chosen metric, then the usual ones that any run has: at most `MOST_METRICS`."""
    usual = [name for name in FIRST_METRICS if name in overview.metrics and name != overview.metric]
    return [overview.metric, *usual][:MOST_METRICS]


def against_baseline(overview: Overview, baseline: Group, metrics: Sequence[str]) -> list[BaselineRow]:
    """A row for each group of the overview, the baseline first; cheap, nothing is read.

    p are corrected within each metric for the number of its tests (Holm, 1979).

    Args:
        overview: of the groups, at the evaluation that is asked for.
        baseline: one of its groups.
        metrics: the columns.
    """
    groups = [baseline, *(group for group in overview.groups if group is not baseline)]
    columns = [_column(overview, groups, metric) for metric in metrics]
    return [BaselineRow(group, tuple(column[index] for column in columns)) for index, group in enumerate(groups)]


def _column(overview: Overview, groups: Sequence[Group], metric: str) -> list[Cell]:
    summaries = [summarised(group, overview.measured, metric, overview.at) for group in groups]
    greatest = max((summary.interval.mean for summary in summaries if summary.values), default=nan)
    known = [summary for summary in summaries if summary.values]
    ranked = len(known) > 1 and is_share(metric) and all(comparable(known[0], summary) for summary in known)
    differences = [None, *(difference(summaries[0], summary) for summary in summaries[1:])]
    p_values = [_p(summaries[0], summary, over) for summary, over in zip(summaries, differences, strict=True)]
    adjusted = iter(holm([p for p in p_values if p is not None]))
    return [
        Cell(
            metric,
            summary,
            over,
            ranked and summary.interval.mean == greatest,
            p,
            None if p is None else next(adjusted),
        )
        for summary, over, p in zip(summaries, differences, p_values, strict=True)
    ]


def _p(baseline: Summary, other: Summary, over: Interval | None) -> float | None:
    if over is None or not over.known:
        return None
    if paired := seed_differences(baseline, other):
        return paired_p(np.array(paired))
    return welch_p(*(np.array(list(summary.by_seed.values())) for summary in (baseline, other)))


def difference(baseline: Summary, other: Summary) -> Interval:
    """Mean of the other minus the baseline with its 95% interval over seeds.

    Seeds that both have are paired (Student's t), each over the folds that both have of it; without any the groups are
    independent (Welch, 1947).

    Returns:
        Interval in the metric's unit; n is 0 if they are not `comparable` or a group has no value.
    """
    if not comparable(baseline, other):
        return NO_DIFFERENCE
    if paired := seed_differences(baseline, other):
        return t_interval(paired)
    return welch_interval(list(baseline.by_seed.values()), list(other.by_seed.values()))


def comparable(first: Summary, second: Summary) -> bool:
    """Whether both were measured on the same images, at any size, as far as is known; those of a seed may be others."""
    return first.images == second.images and not unlike_halves(first.test_halves, second.test_halves)


def seed_differences(baseline: Summary, other: Summary) -> list[float]:
    """The other minus the baseline in each seed that both have, by rising seed; in the metric's unit.

    The folds of a seed hold out other classes, so only those that both have are compared; the value is their mean.
    """
    ours, theirs = (
        {(run.seed, fold_of_run(run)): summary.values[run.id] for run in summary.group.runs if run.id in summary.values}
        for summary in (baseline, other)
    )
    shared = sorted(ours.keys() & theirs.keys())
    return list(seed_means([(seed, theirs[seed, fold] - ours[seed, fold]) for seed, fold in shared]).values())
