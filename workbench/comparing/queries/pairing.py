"""Compares two groups: the difference of each seed over the same queries, and over all seeds."""

from contextlib import closing, suppress
from dataclasses import dataclass
from math import nan

import numpy as np

from workbench.comparing.fairness.guards import unlike_data
from workbench.comparing.fairness.shared_epochs import runs_named
from workbench.comparing.grouping.groups import Group
from workbench.comparing.grouping.tested import fold_of_run
from workbench.comparing.measures import (
    At,
    Measured,
    chosen_runs,
    is_share,
    seed_means,
    test_halves,
    unlike_halves,
)
from workbench.comparing.queries.query_values import QueryValues, has_query_values, read_query_values
from workbench.comparing.statistics.intervals import (
    FEWEST_SEEDS,
    RESAMPLES,
    Interval,
    paired_bootstrap,
    t_interval,
    welch_interval,
)
from workbench.metric_names import metric_name
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.workspace import Workspace
from workbench.workspace.measured.evaluations import NoEvaluation, unless_deleted
from workbench.workspace.rows import Run

ONE_SPLIT = "Compare runs with the same split."


@dataclass(frozen=True, slots=True, eq=False)
class SeedDifference:
    """One seed (and fold) of both groups. The difference is second minus first."""

    seed: int
    fold: int  # 0 if there are no folds
    first_run: int
    second_run: int
    first: float
    second: float
    over_queries: Interval  # limits are NaN if the metric has no values of queries


@dataclass(frozen=True, slots=True, eq=False)
class QueryDifferences:
    """Each query that both groups have, means over the compared runs, as columns; the greatest loss first."""

    sample_ids: np.ndarray  # [n] int64
    first: np.ndarray  # [n] float64
    second: np.ndarray
    runs: np.ndarray  # [n] int64: pairs of runs that have the query
    seen: np.ndarray  # [n] int64: the first of `paired` that has it
    paired: tuple[tuple[int, int], ...]  # (run of the first, run of the second), of seeds that kept values of queries

    @property
    def difference(self) -> np.ndarray:
        """[n] second minus first."""
        difference: np.ndarray = self.second - self.first
        return difference

    def count(self) -> tuple[int, int, int]:
        """How many queries are better in the second, equal, and better in the first."""
        signs = np.sign(self.difference)
        return int((signs > 0).sum()), int((signs == 0).sum()), int((signs < 0).sum())


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The difference of two groups in one metric, second minus first."""

    first: Group
    second: Group
    metric: str
    at: At
    seeds: tuple[SeedDifference, ...]
    over_seeds: Interval
    paired: bool  # False: no seed and fold in common, so the groups were compared as independent
    queries: QueryDifferences | None
    notes: tuple[str, ...]

    @property
    def winner(self) -> Group | None:
        """The better group; None with too few seeds, an undecided interval, or a metric without a direction."""
        if not self.over_seeds.decides or not is_share(self.metric):
            return None
        return self.second if self.over_seeds.mean > 0 else self.first

    @property
    def verdict(self) -> str:
        """One sentence that claims no more than the interval allows."""
        n = self.over_seeds.n
        if n < FEWEST_SEEDS:
            return f"Not enough seeds (n = {n}): {FEWEST_SEEDS} or more are needed to say which is better."
        if self.over_seeds.holds_zero:
            return f"No winner: the 95% interval over seeds contains zero (n = {n})."
        if not self.over_seeds.decides:
            return (
                f"No winner: the difference is the same with every seed, without a variance to judge it by (n = {n})."
            )
        if self.winner is None:
            higher = self.second if self.over_seeds.mean > 0 else self.first
            return f"“{higher.title}” is higher: the 95% interval over seeds excludes zero (n = {n})."
        return f"“{self.winner.title}” is better: the 95% interval over seeds excludes zero (n = {n})."


def compare(
    workspace: Workspace,
    first: Group,
    second: Group,
    measured: dict[int, Measured],
    metric: str,
    at: At,
    *,
    progress: Progress = quiet,
    resamples: int = RESAMPLES,
) -> Comparison:
    """Compare two groups over the seeds that both have, query by query. Takes seconds: not on the window's thread.

    Args:
        measured: of all runs of both groups.
        metric, at: the number that is compared.
        progress: called at each stage; may raise Cancelled.
        resamples: of the bootstrap over queries.

    Raises:
        Problem: different data or test images, or a group without the metric there; it says which.
    """
    apart = unlike_data(workspace, first, second)
    if apart:
        raise Problem(apart, todo="Choose runs of one data set.")
    runs = {group.title: chosen_runs(group, measured, metric, at) for group in (first, second)}
    for title, group_runs in runs.items():
        if not group_runs:
            where = at if isinstance(at, str) else f"at epoch {at}"
            missing = f"No run of “{title}” has {metric_name(metric)} ({where})."
            raise Problem(missing, todo="Choose another metric or epoch.")
    halves = [test_halves(measured[run.id] for run in runs[group.title]) for group in (first, second)]
    if unlike_halves(*halves):
        other = f"“{first.title}” and “{second.title}” were tested on different images, so no difference is shown."
        raise Problem(other, todo=ONE_SPLIT)
    ours, theirs = ({(run.seed, fold_of_run(run)): run for run in runs[group.title]} for group in (first, second))
    places = sorted(ours.keys() & theirs.keys())
    notes = _alone(first, second, ours, theirs) if places else []
    values = _Values(workspace, measured, metric, at)
    if not places:
        return _unpaired(first, second, list(ours.values()), list(theirs.values()), values)
    seeds, pairs = [], []
    for done, key in enumerate(places):
        progress(f"Seed {key[0]}", done, len(places))
        pair = values.of(ours[key]), values.of(theirs[key])
        seeds.append(_of_seed(key, (ours[key], theirs[key]), pair, values, resamples))
        pairs.append(pair)
    by_seed = seed_means([(seed_difference.seed, seed_difference.over_queries.mean) for seed_difference in seeds])
    if unkept := sorted(run.id for key in places for run in (ours[key], theirs[key]) if values.is_unkept(run)):
        what = "did not keep the evaluation that is compared: its metrics are known, but no values of single queries."
        todo = "They were deleted with its embeddings; compare at last, or at another epoch that is kept, to have them."
        notes.append(f"{runs_named(unkept).capitalize()} {what} {todo}")
    if not has_query_values(metric):
        without = "has no values of single queries: no interval within a seed, and no list of queries."
        notes.append(f"{metric_name(metric)} {without}")
    queries = _queries(pairs, [(ours[key].id, theirs[key].id) for key in places])
    return Comparison(
        first, second, metric, at, tuple(seeds), t_interval(list(by_seed.values())), True, queries, tuple(notes)
    )


class _Values:
    """Numbers of runs as asked for; values of queries are read once for each run."""

    def __init__(self, workspace: Workspace, measured: dict[int, Measured], metric: str, at: At) -> None:
        self.workspace, self.measured, self.metric, self.at = workspace, measured, metric, at
        self._deleted: set[int] = set()  # runs that deleted their evaluation since they were measured

    def value(self, run: Run) -> float:
        value = self.measured[run.id].value(self.metric, self.at)
        return nan if value is None else value

    def is_unkept(self, run: Run) -> bool:
        """Whether its queries would have values if it had kept its evaluation."""
        evaluation = self.measured[run.id].at(self.at)
        gone = evaluation is not None and (not evaluation.kept or run.id in self._deleted)
        return gone and has_query_values(self.metric)

    def of(self, run: Run) -> QueryValues | None:
        evaluation = self.measured[run.id].at(self.at)
        if evaluation is None or not evaluation.kept or not has_query_values(self.metric):
            return None
        with suppress(NoEvaluation), unless_deleted(self.workspace, evaluation.id):
            with closing(self.workspace.reader()) as db:
                values = read_query_values(db, run, evaluation, self.metric)
            if len(values.sample_ids):
                return values
            if self.workspace.has_evaluation(evaluation.id):  # without queries: it has numbers of the run alone
                return None
        self._deleted.add(run.id)
        return None


def _of_seed(
    key: tuple[int, int],
    runs: tuple[Run, Run],
    pair: tuple[QueryValues | None, QueryValues | None],
    values: _Values,
    resamples: int,
) -> SeedDifference:
    numbers = runs[0].id, runs[1].id
    if pair[0] is None or pair[1] is None:
        first, second = values.value(runs[0]), values.value(runs[1])
        return SeedDifference(*key, *numbers, first, second, Interval(second - first, nan, nan, 0))
    ids, left, right = pair[0].common(pair[1])
    counts = len(pair[0].sample_ids), len(pair[1].sample_ids)
    if counts != (len(ids), len(ids)):  # another gallery makes even the queries that both have easier or harder
        named = f"Runs {numbers[0]} and {numbers[1]} (seed {key[0]}) were not tested on the same images"
        said = f"{named}: of their {counts[0]:,} and {counts[1]:,} queries they share {len(ids):,}."
        raise Problem(said, todo=ONE_SPLIT)
    interval = paired_bootstrap(left, right, resamples=resamples, seed=key[0])
    return SeedDifference(*key, *numbers, float(left.mean()), float(right.mean()), interval)


def _unpaired(first: Group, second: Group, ours: list[Run], theirs: list[Run], values: _Values) -> Comparison:
    left, right = (
        list(seed_means([(run.seed, values.value(run)) for run in runs]).values()) for runs in (ours, theirs)
    )
    alike = {run.seed for run in ours} & {run.seed for run in theirs}
    lack = "No fold of a seed in common" if alike else "No seed in common"
    note = f"{lack}, so the groups are compared as independent (Welch), without an interval over queries."
    over = welch_interval(left, right)
    return Comparison(first, second, values.metric, values.at, (), over, False, None, (note,))


def _alone(
    first: Group, second: Group, ours: dict[tuple[int, int], Run], theirs: dict[tuple[int, int], Run]
) -> list[str]:
    sentences = []
    for group, mine, other in ((first, ours, theirs), (second, theirs, ours)):
        alone = sorted({seed for seed, _ in mine.keys() - other.keys()})
        if alone:
            word = "seed" if len(alone) == 1 else "seeds"
            sentences.append(f"Only in “{group.title}”, so left out: {word} {', '.join(map(str, alone))}.")
    return sentences


def _queries(
    pairs: list[tuple[QueryValues | None, QueryValues | None]], runs: list[tuple[int, int]]
) -> QueryDifferences | None:
    kept, parts = list[tuple[int, int]](), []
    for (left, right), run_pair in zip(pairs, runs, strict=True):
        if left is not None and right is not None:
            kept.append(run_pair)
            parts.append(left.common(right))
    if not parts:
        return None
    every = np.concatenate([part[0] for part in parts])
    pair_of = np.repeat(np.arange(len(parts)), [len(part[0]) for part in parts])
    ids, at, index = np.unique(every, return_index=True, return_inverse=True)
    counts = np.bincount(index, minlength=len(ids))
    first, second = (
        np.bincount(index, weights=np.concatenate([part[column] for part in parts]), minlength=len(ids)) / counts
        for column in (1, 2)
    )
    order = np.argsort(second - first, kind="stable")
    seen = pair_of[at]
    return QueryDifferences(ids[order], first[order], second[order], counts[order], seen[order], tuple(kept))
