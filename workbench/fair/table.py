"""The fair comparison as a page: a ranking, the differences of all pairs and what was tried, as Markdown and CSV."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import Any

import numpy as np

from workbench.comparing.statistics.intervals import Interval, t_interval
from workbench.fair.plan import Plan
from workbench.fair.ranking import RESAMPLES, Difference, Rank, alike, differences, ranks
from workbench.fair.scores import Scores
from workbench.files.spreadsheet import csv_text
from workbench.numerals import megabytes
from workbench.problem import Problem
from workbench.sweeps.space import Setting, short, written

HEAD = (  # of the table of methods, in the window and in reports
    "Method", "Rank (95%)", "MAP@R % (95%)", "Best held-out epoch % (95%)", "R@1 %", "s / run",
    "Memory",
)  # fmt: skip
MEANING = (
    "Rank 1 has the highest mean MAP@R at the last epoch. The interval contains the rank in 95% of "
    f"{RESAMPLES:,} bootstrap samples, which draw seeds and queries with replacement, the same ones for every method. "
    "Where two intervals overlap, the order of the two methods may be chance."
)


@dataclass(frozen=True, slots=True)
class Placed:
    """One method of the critical-difference picture."""

    name: str
    rank: float  # mean over seeds; 1 is best
    low: float  # limits of the rank
    high: float


@dataclass(frozen=True)
class Comparison:
    """A fair comparison of methods; `scores` are ordered by descending mean at the last epoch."""

    plan: Plan
    scores: tuple[Scores, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)  # method -> why it has no scores

    @cached_property
    def ranks(self) -> list[Rank]:
        """Of each method, in the order of `scores`."""
        return ranks(np.stack([scores.values for scores in self.scores]))

    @cached_property
    def differences(self) -> list[Difference]:
        """Of all pairs, by their places in `scores`."""
        return differences(np.array([scores.last for scores in self.scores]))

    @cached_property
    def order(self) -> list[int]:
        """Places in `scores` by rising mean rank over seeds."""
        return sorted(range(len(self.scores)), key=lambda method: (self.ranks[method].mean, method))

    @cached_property
    def placed(self) -> list[Placed]:
        """The methods with their ranks, in the order of `order`."""
        ranks_of = self.ranks
        return [
            Placed(self.scores[index].method, ranks_of[index].mean, ranks_of[index].low, ranks_of[index].high)
            for index in self.order
        ]

    @cached_property
    def groups(self) -> list[tuple[int, int]]:
        """(first, last) places in `order` of methods between which no test finds a difference."""
        return alike(self.order, self.differences)


def compared(plan: Plan, scores: Sequence[Scores], left_out: Mapping[str, str] | None = None) -> Comparison:
    """Put the methods in order; `left_out` gives the reason why others have no scores.

    Raises:
        Problem: no method has scores, or they did not search the same queries.
    """
    if not scores:
        raise Problem("No method could be compared.", kept="Their runs are kept.")
    if any(not np.array_equal(method.sample_ids, scores[0].sample_ids) for method in scores):
        raise Problem("The methods did not search the same queries, so they cannot be ranked.")
    return Comparison(plan, tuple(sorted(scores, key=lambda method: -fmean(method.last))), left_out or {})


def of_same_queries(scores: Sequence[Scores]) -> tuple[list[Scores], dict[str, str]]:
    """The methods that searched the queries of the first, and for each other method why it has no rank beside them."""
    alike = [method for method in scores if np.array_equal(method.sample_ids, scores[0].sample_ids)]
    kept = {method.method for method in alike}
    return alike, {
        method.method: f"It was not tested on the same images as {scores[0].method}."
        for method in scores
        if method.method not in kept
    }


def markdown(comparison: Comparison) -> str:
    """The ranking, who differs from whom and what was tried, with the conditions above them."""
    lines = [conditions(comparison), "", *_ranking(comparison), "", *verdicts(comparison), "", *_tried(comparison)]
    return "\n".join(lines) + "\n"


def tables(comparison: Comparison) -> dict[str, str]:
    """CSV texts by file name: ranking.csv, pairs.csv, trials.csv."""
    return {
        "ranking.csv": csv_text(
            [
                "method", "rank", "rank_low_95", "rank_high_95", "mean_rank", "seeds", "map_at_r_last", "low_95",
                "high_95", "map_at_r_best_on_held_out", "recall_at_1", "held_out_map_at_r", "steps", "seconds",
                "memory_bytes", "map_at_r_by_seed",
            ],
            [_ranking_row(scores, rank) for scores, rank in zip(comparison.scores, comparison.ranks, strict=True)],
        ),
        "pairs.csv": csv_text(
            ["first", "second", "difference", "low_95", "high_95", "p", "p_holm"],
            [
                [
                    comparison.scores[pair.first].method, comparison.scores[pair.second].method, pair.interval.mean,
                    *_limits(pair.interval), *(("", "") if pair.undefined else (pair.p, pair.adjusted)),
                ]
                for pair in comparison.differences
            ],
        ),
        "trials.csv": csv_text(
            ["method", "trial", "held_out_map_at_r", "setting"],
            [
                [scores.method, standing.point, standing.mean, setting_words(standing.setting)]
                for scores in comparison.scores
                for standing in sorted(scores.tried.standings, key=lambda standing: standing.point)
            ],
        ),
    }  # fmt: skip


def setting_words(setting: Setting) -> str:
    """A setting as "training.lr = 0.001, loss.scale = 16"."""
    return ", ".join(f"{field} = {short(value)}" for field, value in setting.items())


def conditions(comparison: Comparison) -> str:
    """What is the same for all methods, in a paragraph."""
    plan, steps = comparison.plan, sorted({scores.steps for scores in comparison.scores})
    length = f"{steps[0]}" if len(steps) == 1 else f"{steps[0]} to {steps[-1]}"
    changed = f" Changed for all: {setting_words(dict(plan.changes))}." if plan.changes else ""
    return (
        f"{len(comparison.scores)} methods on {plan.bench}, n = {plan.seeds} seeds, "
        f"{len(comparison.scores[0].sample_ids):,} queries. {plan.trials} trials for each "
        f"(its defaults, then Optuna's TPE) on each of {plan.folds} class-disjoint folds of the training classes; "
        f"{length} optimiser steps in each run.{changed}"
    )


def title_of(comparison: Comparison) -> str:
    """A comparison in a few words, among others."""
    plan = comparison.plan
    return f"{plan.bench}: {len(comparison.scores)} methods, {plan.trials} trials, {plan.seeds} seeds"


def rows_of(comparison: Comparison) -> list[list[str]]:
    """The rows below HEAD, in the order of `scores`."""
    return [[method, rank, *others] for rank, method, *others in ranking_cells(comparison)]


def _ranking(comparison: Comparison) -> list[str]:
    lines = [
        "| rank (95%) | method | MAP@R % at the last epoch (95%) | at the epoch best on held-out classes | R@1 % "
        "| s / run | memory |",
        "|---|---|---|---|---|---|---|",
    ]
    return lines + [f"| {' | '.join(cells)} |" for cells in ranking_cells(comparison)]


def ranking_cells(comparison: Comparison) -> list[list[str]]:
    """A row for each method in the order of `scores`: rank, method, MAP@R % at the last epoch and at the epoch best on
    held-out classes, R@1 %, s / run and memory, as they are read."""
    return [
        [
            f"{rank.of_mean:g} ({_place(rank.low)} to {_place(rank.high)})", scores.method,
            _percent(t_interval(scores.last)),
            _percent(t_interval(scores.chosen)), f"{100 * fmean(scores.recall):.2f}", f"{scores.seconds:.0f}",
            f"{megabytes(scores.memory_bytes)} MB",
        ]
        for scores, rank in zip(comparison.scores, comparison.ranks, strict=True)
    ]  # fmt: skip


def _place(rank: float) -> str:
    """A limit of a rank: methods that are equal share their mean rank, such as 1.5."""
    return f"{round(rank, 1):g}"


def verdicts(comparison: Comparison) -> list[str]:
    """How many pairs differ, which methods do not differ, and why others are left out."""
    significant = sum(difference.significant for difference in comparison.differences)
    lines = [f"{significant} of {len(comparison.differences)} pairs differ at 5% after Holm's correction."]
    undefined = sum(difference.undefined for difference in comparison.differences)
    if undefined:
        lines.append(
            f"- {undefined} of them differ by the same with every seed: without variance the test is undefined."
        )
    for first, last in comparison.groups:
        names = ", ".join(comparison.scores[method].method for method in comparison.order[first : last + 1])
        lines.append(f"- No significant difference between: {names}.")
    return lines + [f"- {method} is left out. {why}" for method, why in comparison.left_out.items()]


def _tried(comparison: Comparison) -> list[str]:
    lines = [
        "| method | tried | trials (failed) | held-out MAP@R %: defaults | best | best setting |",
        "|---" * 6 + "|",
    ]
    for scores in comparison.scores:
        tried = scores.tried
        space = ", ".join(f"{parameter.field} {written(parameter)}" for parameter in tried.parameters)
        first = "failed" if tried.first is None else f"{100 * tried.first:.2f}"
        cells = [
            scores.method, space, f"{len(tried.standings) + tried.failed} ({tried.failed})", first,
            f"{100 * (tried.best.mean or 0):.2f}", setting_words(tried.best.setting),
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _ranking_row(scores: Scores, rank: Rank) -> list[Any]:
    over = t_interval(scores.last)
    return [
        scores.method, rank.of_mean, rank.low, rank.high, rank.mean, over.n, over.mean, *_limits(over),
        fmean(scores.chosen), fmean(scores.recall), scores.tried.best.mean, scores.steps, scores.seconds,
        scores.memory_bytes, " ".join(map(repr, scores.last)),
    ]  # fmt: skip


def _percent(over: Interval) -> str:
    middle = f"{100 * over.mean:.2f}"
    return f"{middle} ({100 * over.low:.2f} to {100 * over.high:.2f})" if over.known else middle


def _limits(over: Interval) -> list[Any]:
    return [over.low, over.high] if over.known else ["", ""]
