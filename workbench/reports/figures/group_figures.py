"""What a report of several runs draws: curves with a band, and means with their intervals."""

from collections.abc import Sequence
from functools import partial
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from workbench.colours import OF_RUNS, told_apart
from workbench.comparing.comparison_text import metric_title
from workbench.comparing.measures import Curve, Summary, is_share
from workbench.comparing.overview import Overview
from workbench.comparing.statistics.intervals import FEWEST_SEEDS
from workbench.reports.figures.drawing import COLUMN, FULL, Drawing, cut, legend_name

LINES = ("-", "--", "-.", ":")
MARKERS = "osD^vPX*"
MOST_CURVES = 8  # more lines cannot be distinguished
MOST_MEANS = 40  # rows that one page holds
MOST_LETTERS = 80  # of a title
BELOW, BESIDE, BESIDE_WIDE = 44, 22, 60  # letters in a line of a title: below a plot, left of one, of one page's width
LINE_IN = 0.13  # inches


def draw(overview: Overview, sections: tuple[str, ...]) -> dict[str, Drawing]:
    """The drawings "group-curves" and "group-means", where their sections are wanted and have something to draw."""
    drawn: dict[str, Drawing] = {}
    colours = _colours(overview)
    every = drawn_curves(overview)
    if "group-curves" in sections and every:
        curves = every[:MOST_CURVES]
        names = _named([f"{name} (n = {curve.n})" for name, curve in zip(_titles(curves), curves, strict=True)], BELOW)
        height = 2.2 + LINE_IN * sum(map(_lines, names))
        drawn["group-curves"] = Drawing(
            partial(_curves, overview.metric, curves, names, colours), COLUMN, height, _points(every)
        )
    summaries = [summary for summary in overview.summaries if summary.values][:MOST_MEANS]
    if "groups" in sections and len(summaries) > 1:
        width = COLUMN if len(summaries) <= MOST_CURVES else FULL
        names = _named(_titles(summaries), BESIDE if width == COLUMN else BESIDE_WIDE)
        row = max(0.3 if width == COLUMN else 0.2, 0.04 + LINE_IN * max(map(_lines, names)))
        paint = partial(_means, overview.metric, summaries, names, colours)
        height = (0.75 if width == COLUMN else 0.6) + row * len(summaries)
        drawn["group-means"] = Drawing(paint, width, height, _means_table(summaries))
    return drawn


def drawn_curves(overview: Overview) -> list[Curve]:
    """The curves over epochs that there are: none of a group that trained nothing."""
    return [curve for curve in overview.curves if curve.runs and not curve.group.trained_nothing]


def _colours(overview: Overview) -> dict[str, str]:
    """Of each group by title, as the window draws it."""
    places = told_apart([group.colour for group in overview.groups])
    return {group.title: OF_RUNS[place] for group, place in zip(overview.groups, places, strict=True)}


def _curves(metric: str, curves: list[Curve], names: list[str], colours: dict[str, str], host: Figure) -> None:
    axes = host.add_subplot()
    scale = 100 if is_share(metric) else 1
    for index, curve in enumerate(curves):
        colour, line = colours[curve.group.title], LINES[index % len(LINES)]
        for _, epochs, values in curve.runs:
            axes.plot(epochs, scale * values, color=colour, alpha=0.25, linewidth=0.6)
        axes.plot(
            curve.places, scale * curve.mean, line, color=colour, label=legend_name(names[index]),
            marker=MARKERS[index], markersize=2.5,
        )  # fmt: skip
        if np.isfinite(curve.low).any():
            axes.fill_between(
                curve.places, scale * curve.low, scale * curve.high, color=colour, alpha=0.15, linewidth=0
            )
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set(xlabel="Epoch", title=metric_title(metric))
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2))


def _means(metric: str, summaries: list[Summary], names: list[str], colours: dict[str, str], host: Figure) -> None:
    axes = host.add_subplot()
    scale = 100 if is_share(metric) else 1
    for index, summary in enumerate(summaries):
        colour, interval = colours[summary.group.title], summary.interval
        values = [scale * value for value in summary.by_seed.values()]
        axes.plot(values, [index] * len(values), "o", color=colour, markersize=3, alpha=0.4, markeredgewidth=0)
        if interval.known:
            axes.plot([scale * interval.low, scale * interval.high], [index, index], color=colour, linewidth=1.4)
        axes.plot([scale * interval.mean], [index], MARKERS[index % len(MARKERS)], color=colour, markersize=5)
    axes.set_yticks(range(len(summaries)), names)
    axes.set(title=metric_title(metric), ylim=(len(summaries) - 0.5, -0.5))


def _points(curves: list[Curve]) -> tuple[list[str], list[list[Any]]]:
    rows: list[list[Any]] = []
    for curve in curves:
        for run, epochs, values in curve.runs:
            rows += [
                [curve.group.title, run.id, run.seed, epoch, value, "", ""]
                for epoch, value in zip(epochs.tolist(), values.tolist(), strict=True)
            ]
        columns = (curve.places, curve.mean, curve.low, curve.high)
        means = zip(*(column.tolist() for column in columns), strict=True)
        rows += [[curve.group.title, "mean", "", *cells] for cells in means]
    return ["group", "run", "seed", "epoch", "value", "low_95", "high_95"], rows


def _means_table(summaries: list[Summary]) -> tuple[list[str], list[list[Any]]]:
    rows: list[list[Any]] = [
        [summary.group.title, summary.interval.n, summary.interval.mean, summary.spread, *_limits(summary),
         " ".join(f"{seed}:{value!r}" for seed, value in summary.by_seed.items())]
        for summary in summaries
    ]  # fmt: skip
    return ["group", "seeds", "mean", "standard_deviation", "low_95", "high_95", "value_by_seed"], rows


def _limits(summary: Summary) -> tuple[Any, Any]:
    return (summary.interval.low, summary.interval.high) if summary.interval.n >= FEWEST_SEEDS else ("", "")


def _titles(shown: Sequence[Curve] | Sequence[Summary]) -> list[str]:
    return apart([of_group.group.title for of_group in shown])


def named_apart(titles: Sequence[str], letters: int) -> list[str]:
    """Titles of groups without the words that all begin with, in lines of so many letters."""
    return _named(apart(list(titles)), letters)


def _named(titles: list[str], letters: int) -> list[str]:
    """Titles in lines of so many letters; a longer one than a plot has room for is cut."""
    return [fill(cut(title, MOST_LETTERS), letters) for title in titles]


def _lines(title: str) -> int:
    return title.count("\n") + 1


def apart(titles: list[str]) -> list[str]:
    """Titles without the words with which all of them begin; the last word of each stays, and what a number is of."""
    words = [title.split() for title in titles]
    shared = 0
    while len(words) > 1 and all(
        len(title_words) > shared + 1 and title_words[shared] == words[0][shared] for title_words in words
    ):
        shared += 1
    if any(title_words[shared][:1].isdigit() for title_words in words if title_words):
        while shared and not words[0][shared - 1].endswith((":", ",")):
            shared -= 1
    return [_closed(" ".join(title_words[shared:])) for title_words in words]


def _closed(words: str) -> str:
    """Words without a bracket at their end that nothing opens."""
    return words[:-1] if words.endswith(")") and words.count(")") > words.count("(") else words
