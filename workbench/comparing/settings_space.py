"""Runs in the space of the settings in which they differ: a heat map over two of them, and a line for each run."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite, log10
from statistics import fmean
from typing import Any

from workbench.comparing.comparison_text import metric_title
from workbench.comparing.difference.baseline import comparable
from workbench.comparing.grouping.groups import Group
from workbench.comparing.grouping.settings import written
from workbench.comparing.measures import is_share, trained_to_the_end, unfinished
from workbench.comparing.overview import Overview
from workbench.numerals import same_decimals, significant

MOST_SETTINGS, MOST_METRICS = 9, 4  # axes of the parallel coordinates
LOG_FROM = 30.0  # ratio of the largest to the smallest value of a setting above which its axis is logarithmic
FOOT = 0.2  # of an axis of numbers, below them, where some run has none
TICKS = 5  # of an axis of numbers
MOST_VALUES, RANGES = 24, 12  # numbers that a heat map has rows for; of more it has that many ranges
METRICS = ("MAP@R", "recall@1", "P@R")


@dataclass(frozen=True, slots=True)
class Cell:
    """Runs with the same two settings."""

    mean: float  # over all values
    n: int  # values: one for each group and seed
    groups: int  # with any other settings


@dataclass(frozen=True, slots=True, eq=False)
class HeatMap:
    """Means of a metric by two settings; `column` is empty if one setting alone differs."""

    row: str  # dotted field
    column: str
    rows: tuple[str, ...]  # values as a user writes them, in order
    columns: tuple[str, ...]
    cells: dict[tuple[int, int], Cell]  # by place; a missing one has no run with the metric
    tested_like: str = ""  # title of a group: those in the cells were measured on its test images
    left_out: tuple[str, ...] = ()  # titles of groups that were measured on others
    ended_early: tuple[str, ...] = ()  # titles of groups whose runs did not train to their end, which is in no cell
    in_ranges: tuple[str, ...] = ()  # fields with more than MOST_VALUES numbers: their rows or columns are ranges

    @property
    def pooled(self) -> bool:
        """Whether a cell contains groups that differ in other settings."""
        return any(cell.groups > 1 for cell in self.cells.values())


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """One setting or metric; `places` are the runs' positions, 0 (bottom, also for no value) to 1 (top)."""

    title: str
    places: tuple[float, ...]
    words: tuple[str, ...]  # the value of each run
    ticks: tuple[tuple[float, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """One line for each run over all axes."""

    runs: tuple[int, ...]
    group_of: tuple[int, ...]  # place of the run's group in the overview
    titles: tuple[str, ...]
    axes: tuple[Axis, ...]
    unfinished: tuple[str, ...] = ()  # of each run, as "stopped, epoch 4 of 10", why its best is not known; else empty


def fields(overview: Overview) -> list[str]:
    """The settings in which the groups differ, numbers first; of those that always change together the first."""
    rows = [(not all(_is_number(value) for value in row.values), row.field) for row in _settings_of(overview)]
    return [field for _, field in sorted(rows, key=lambda row: row[0])]


def heat_map(overview: Overview, row: str, column: str, baseline: Group | None = None) -> HeatMap:
    """The metric of the overview by the settings `row` and `column`; an empty `column` for none.

    More than `MOST_VALUES` numbers of a setting, as of random draws, are put into `RANGES` ranges of equal width, on a
    logarithmic scale from a ratio of `LOG_FROM` on. A range holds its lower end, the last one its upper end, too.
    A mean over different images says nothing: groups that were tested on others than the baseline are left out. The
    first group with a value stands for a baseline without one. So are those that ended early, where others did not.
    """
    values = {difference.field: difference.values for difference in overview.differences}
    gathered: dict[tuple[int, int], list[list[float]]] = {}
    (on_rows, row_of), (on_columns, column_of) = (_divided(values.get(field, [None])) for field in (row, column))
    known = [(row, row_of), (column, column_of)]
    every = [(index, summary) for index, summary in enumerate(overview.summaries) if summary.by_seed]
    whole = set(trained_to_the_end([summary for _, summary in every], overview.at))
    measured = [(index, summary) for index, summary in every if summary in whole]
    chosen = [summary for _, summary in measured if summary.group is baseline]
    like = next(iter(chosen or [summary for _, summary in measured]), None)
    left_out = [summary.group.title for _, summary in measured if like is not None and not comparable(like, summary)]
    for index, summary in measured:
        if summary.group.title not in left_out:
            at = [numbers[written(values[field][index])] if field in values else 0 for field, numbers in known]
            gathered.setdefault((at[0], at[1]), []).append(list(summary.by_seed.values()))
    cells = {
        at: Cell(fmean(value for seed_values in groups for value in seed_values), sum(map(len, groups)), len(groups))
        for at, groups in gathered.items()
    }
    return HeatMap(
        row,
        column if column in values else "",
        on_rows,
        on_columns if column in values else ("",),
        cells,
        "" if like is None else like.group.title,
        tuple(left_out),
        tuple(summary.group.title for _, summary in every if summary not in whole),
        tuple(dict.fromkeys(field for field, places in known if len(set(places.values())) < len(places))),
    )


def lines(overview: Overview) -> Lines:
    """Every run that has the metric of the overview, over differing settings and metrics."""
    chosen = [
        (index, run)
        for index, summary in enumerate(overview.summaries)
        for run in summary.group.runs
        if run.id in summary.values
    ]
    axes = [
        _axis(row.field, [row.values[index] for index, _ in chosen]) for row in _settings_of(overview)[:MOST_SETTINGS]
    ]
    others = [name for name in METRICS if name in overview.metrics and name != overview.metric]
    for name in [*others, overview.metric][-MOST_METRICS:]:
        unit = 100 if is_share(name) else 1
        values = [overview.measured[run.id].value(name, overview.at) for _, run in chosen]
        axes.append(_axis(metric_title(name), [None if value is None else unit * value for value in values]))
    return Lines(
        tuple(run.id for _, run in chosen),
        tuple(index for index, _ in chosen),
        tuple(f"{overview.groups[index].title}, run {run.id}, seed {run.seed}" for index, run in chosen),
        tuple(axes),
        tuple("" if isinstance(overview.at, int) else unfinished(run) for _, run in chosen),
    )


def _settings_of(overview: Overview) -> list[Any]:
    """Differences without redundant ones, such as the parameters of a loss where its name differs too.

    Numbers are redundant where they divide the groups as another setting does and rise or fall with it: of random draws
    each value is of one group alone, and says as much of the groups, but not of its own effect.
    """
    seen: dict[tuple[int, ...], list[tuple[int, ...]]] = {}  # by how they divide the groups, the orders of the numbers
    kept = []
    for row in overview.differences:
        parts = tuple(_places_of(row.values))
        known = {written(value) for value in row.values if value is not None}
        if len(known) == 1:  # the same wherever it is drawn: which part it is says as much
            continue
        order = _rising(row.values)
        others = seen.setdefault(parts, [])
        if not others or (order and () not in others and order not in others):
            kept.append(row)
            others.append(order)
    return kept


def _rising(values: Sequence[Any]) -> tuple[int, ...]:
    """The place of each number by size, the same for numbers that fall as those rise; empty if some are no numbers."""
    if not all(value is None or _is_number(value) for value in values):
        return ()
    order = _ordered(values)
    numbers = _numbered(order)
    places = tuple(numbers[written(value)] for value in values)
    return min(places, tuple(len(order) - 1 - place for place in places))


def _places_of(values: Sequence[Any]) -> list[int]:
    """For each value the number of the first equal one."""
    known: dict[str, int] = {}
    return [known.setdefault(written(value), len(known)) for value in values]


def _axis(title: str, values: Sequence[Any]) -> Axis:
    words = tuple(_precise(value) for value in values)
    known = [value for value in values if value is not None]
    if known and all(_is_number(value) for value in known):
        return _axis_of_numbers(title, values, words)
    order = _ordered(values)
    spots = [(index + 0.5) / len(order) for index in range(len(order))]
    numbers = _numbered(order)
    places = tuple(spots[numbers[written(value)]] for value in values)
    return Axis(title, places, words, tuple((spot, written(value)) for spot, value in zip(spots, order, strict=True)))


def _axis_of_numbers(title: str, values: Sequence[Any], words: tuple[str, ...]) -> Axis:
    known = sorted({float(value) for value in values if value is not None})
    low, high = known[0], known[-1]
    bent = low > 0 and high / low >= LOG_FROM
    bare = any(value is None for value in values)
    foot = FOOT if bare else 0.0

    def spot(value: float) -> float:
        if high == low:
            return foot + (1 - foot) / 2
        part = (log10(value) - log10(low)) / (log10(high) - log10(low)) if bent else (value - low) / (high - low)
        return foot + (1 - foot) * part

    if len(known) <= TICKS:
        marks = known
    elif bent:
        marks = [10 ** (log10(low) + step / (TICKS - 1) * (log10(high) - log10(low))) for step in range(TICKS)]
    else:
        marks = [low + step / (TICKS - 1) * (high - low) for step in range(TICKS)]
    texts = [significant(mark, 4) for mark in marks]
    if not bent:  # on a logarithmic axis they have their significant digits in common
        texts = same_decimals(texts)
    ticks = tuple((spot(mark), text) for mark, text in zip(marks, texts, strict=True))
    places = tuple(0.0 if value is None else spot(float(value)) for value in values)
    return Axis(title, places, words, ((0.0, written(None)), *ticks) if bare else ticks)


def _ordered(values: Sequence[Any]) -> list[Any]:
    """Each value once: numbers by size before words, nothing last."""
    once = list({written(value): value for value in values}.values())
    return sorted(
        once,
        key=lambda value: (
            value is None,
            not _is_number(value),
            float(value) if _is_number(value) else 0.0,
            str(value),
        ),
    )


def _numbered(order: Sequence[Any]) -> dict[str, int]:
    """The place of each value in what `_ordered` made, by its written form: values that are written alike are one."""
    return {written(value): place for place, value in enumerate(order)}


def _divided(values: Sequence[Any]) -> tuple[tuple[str, ...], dict[str, int]]:
    """The titles of rows or columns for these values, and which of them a value is in, by its written form."""
    order = _ordered(values)
    numbers = [float(value) for value in order if _is_number(value)]
    if len(numbers) <= MOST_VALUES:
        return tuple(map(written, order)), _numbered(order)
    low, high = numbers[0], numbers[-1]
    bent = low > 0 and log10(high) - log10(low) >= log10(LOG_FROM)
    parts = [step / RANGES for step in range(RANGES + 1)]
    edges = [(1 - part) * low + part * high for part in parts]
    if bent:
        edges = [10 ** ((1 - part) * log10(low) + part * log10(high)) for part in parts]
    edges = [float(f"{edge:.12g}") for edge in edges]  # computed, one that is a value may lie just above it
    texts = [significant(edge) for edge in edges]
    titles = [f"{first} to {last}" for first, last in pairwise(texts if bent else same_decimals(texts))]
    others = [value for value in order if not _is_number(value)]
    places = {
        written(value): bisect_right(edges[1:-1], float(value))
        if _is_number(value)
        else len(titles) + others.index(value)
        for value in order
    }
    return (*titles, *map(written, others)), places


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _precise(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else written(value)
