"""All groups against the baseline in several metrics: differences over seeds, p after Holm, and what they say."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, isnan, sqrt

from workbench.comparing.comparison_text import NO_VALUE, limits, number
from workbench.comparing.difference.baseline import (
    MOST_METRICS,
    NO_DIFFERENCE,
    BaselineRow,
    Cell,
    against_baseline,
)
from workbench.comparing.grouping.groups import Group
from workbench.comparing.measures import is_share
from workbench.comparing.overview import Overview
from workbench.comparing.queries.pairing import Comparison
from workbench.comparing.statistics.intervals import FEWEST_SEEDS, LEVEL, Interval
from workbench.metric_names import metric_name

FEW_SEEDS = 5  # with fewer the words say what more of them would give
UNDEFINED = "undefined"
MOST_NAMED = 4  # groups that a sentence names
DIGITS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, slots=True, eq=False)
class Tested:
    """One group against the baseline in one metric."""

    metric: str
    difference: Interval  # the group minus the baseline, in the metric's unit; limits are NaN under three seeds
    p: float | None  # two-sided, over seeds; None under three seeds, NaN if all differ by the same: undefined
    adjusted: float | None  # p after Holm's correction for all groups in this metric
    seeds: tuple[int, int]  # with the metric, of the baseline and of the group; they may have fewer in common

    @property
    def differs(self) -> bool:
        """Whether it differs from 0 at 5% after the correction."""
        return self.adjusted is not None and self.adjusted < 1 - LEVEL

    @property
    def p_words(self) -> str:
        """ "0.012" and "0.34" after the correction, "<0.001"; "2 seeds" where there are too few; or "undefined"."""
        if self.adjusted is None:
            return _seeds(self.difference.n) if self.difference.n else NO_VALUE
        if isnan(self.adjusted):
            return UNDEFINED
        if self.adjusted < 0.001:
            return "<0.001"
        return f"{self.adjusted:.3f}" if self.adjusted < 0.1 else f"{self.adjusted:.2f}"


@dataclass(frozen=True, slots=True, eq=False)
class ForestRow:
    """One group with a test for each metric of the forest, in their order."""

    group: Group
    tests: tuple[Tested, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """The compared groups but the baseline, in the order of the table."""

    baseline: Group
    metrics: tuple[str, ...]  # four at most
    rows: tuple[ForestRow, ...]

    def in_metric(self, metric: str) -> "Forest | None":
        """The same groups in one metric; None without it."""
        if metric not in self.metrics:
            return None
        at = self.metrics.index(metric)
        rows = tuple(ForestRow(row.group, row.tests[at : at + 1]) for row in self.rows)
        return Forest(self.baseline, (metric,), rows)

    @property
    def tests(self) -> int:
        """The number of tests; differences with too few seeds are not tested."""
        return sum(test.p is not None and not isnan(test.p) for row in self.rows for test in row.tests)


@dataclass(frozen=True, slots=True)
class _Kind:
    """One way to differ from the baseline, with its verb for one group and for several."""

    share: bool  # in a metric of which more is better
    up: bool
    one: str
    several: str
    preposition: str

    def is_of(self, test: Tested) -> bool:
        return is_share(test.metric) is self.share and (test.difference.mean > 0) is self.up


KINDS = (
    _Kind(True, True, "beats", "beat", "on"),
    _Kind(True, False, "is worse than", "are worse than", "on"),
    _Kind(False, True, "is higher than", "are higher than", "in"),
    _Kind(False, False, "is lower than", "are lower than", "in"),
)


def forest_of(rows: Sequence[BaselineRow]) -> Forest:
    """Every group against the baseline in each of the first four metrics.

    Seeds that both have are paired (Student's t); without any the groups are independent (Welch, 1947). p are
    corrected within each metric for the number of its tests (Holm, 1979).

    Args:
        rows: of `against_baseline`, the baseline first.
    """
    baseline, *others = rows
    shown = baseline.cells[:MOST_METRICS]
    metrics = tuple(cell.metric for cell in shown)
    columns = [_column(cell, [row.cells[place] for row in others]) for place, cell in enumerate(shown)]
    tested = [ForestRow(row.group, tuple(column[index] for column in columns)) for index, row in enumerate(others)]
    return Forest(baseline.group, metrics, tuple(tested))


def _column(baseline: Cell, others: Sequence[Cell]) -> list[Tested]:
    return [
        Tested(
            cell.metric,
            cell.difference or NO_DIFFERENCE,
            cell.p,
            cell.adjusted,
            (len(baseline.summary.by_seed), len(cell.summary.by_seed)),
        )
        for cell in others
    ]


def forest_table(forest: Forest) -> list[list[str | float]]:
    """Group, then difference, 95% limits, p after Holm and seeds of each metric, the head first; shares in points.

    Missing values are empty strings.
    """
    head: list[str | float] = ["group"]
    for metric in forest.metrics:
        name = metric_name(metric)
        head += [f"{name} {part}" for part in ("difference", "low_95", "high_95", "p_holm", "seeds")]
    table = [head]
    for row in forest.rows:
        cells: list[str | float] = [row.group.title]
        for test in row.tests:
            difference, unit = test.difference, 100 if is_share(test.metric) else 1
            numbers = (unit * difference.mean, unit * difference.low, unit * difference.high, test.adjusted)
            cells += ["" if value is None or not isfinite(value) else value for value in numbers]
            cells.append(difference.n)
        table.append(cells)
    return table


def in_numbers(test: Tested) -> str:
    """ "MAP@R +3.70 [+2.50, +4.90], 3 seeds, p 0.006 after Holm"; without an interval and a p under three seeds."""
    difference, metric = test.difference, test.metric
    if not difference.n:
        return f"{metric_name(metric)} {NO_VALUE}"
    said = f"{metric_name(metric)} {number(difference.mean, metric, signed=True)}"
    if test.adjusted is None:
        return f"{said}, {_seeds(difference.n)}: no interval"
    if isnan(test.adjusted):
        return f"{said}, the same with {_seeds(difference.n)}: without variance the test is undefined"
    return f"{said} {limits(difference, metric, signed=True)}, {_seeds(difference.n)}, p {test.p_words} after Holm"


def claims(forest: Forest) -> list[str]:
    """Sentences: which groups beat the baseline, are worse, or only differ, on which metrics, at 5% after Holm.

    For a metric that is not a share, it is not known whether more is better: its groups are called higher or lower.
    """
    sentences = [sentence for kind in KINDS for sentence in _told(forest, kind)]
    if sentences or not forest.tests:
        return sentences
    return [f"No group differs from “{forest.baseline.title}” at 5%."]


def _told(forest: Forest, kind: _Kind) -> list[str]:
    """A sentence for each set of metrics, the largest first; the groups that differ in the same set share one."""
    groups: dict[tuple[int, str], list[str]] = {}
    for row in forest.rows:
        differing = [test for test in row.tests if test.differs]
        metrics = [test.metric for test in differing if kind.is_of(test)]
        if metrics:
            where = _metrics(metrics, forest) + (" alone" if len(differing) == 1 < len(forest.metrics) else "")
            groups.setdefault((-len(metrics), where), []).append(f"“{row.group.title}”")
    return [
        f"{_named(titles)} {kind.one if len(titles) == 1 else kind.several} “{forest.baseline.title}” "
        f"{kind.preposition} {where}."
        for (_, where), titles in sorted(groups.items(), key=lambda group: group[0][0])
    ]


def against_the_first(overview: Overview) -> list[str]:
    """Which of several groups differ from the first in the chosen metric, p corrected for their number.

    None for one or two groups: there a comparison needs no correction.
    """
    if len(overview.groups) < 3:
        return []
    forest = corrected_tests(overview, overview.groups[0], overview.metric)
    return [*claims(forest), *remarks(forest)]


def corrected_tests(overview: Overview, baseline: Group, metric: str) -> Forest:
    """The test of every other group of the overview against one of them in one metric."""
    return forest_of(against_baseline(overview, baseline, [metric]))


def verdict_among(forest: Forest, comparison: Comparison) -> str:
    """The verdict on two of the compared groups, with p corrected where more groups are tested against the first.

    Args:
        forest: as `corrected_tests` against the first of the two in the metric of the comparison.
    """
    test = next(row.tests[0] for row in forest.rows if row.group.title == comparison.second.title)
    if forest.tests < 2 or not comparison.over_seeds.decides:
        return comparison.verdict
    corrected = f"p {test.p_words} after Holm's correction for {forest.tests} tests (n = {comparison.over_seeds.n})"
    if not test.differs:
        return f"No winner: {corrected}; the 95% interval over seeds excludes zero, but is not corrected."
    better = comparison.winner or (comparison.second if comparison.over_seeds.mean > 0 else comparison.first)
    word = "higher" if comparison.winner is None else "better"
    return f"“{better.title}” is {word}: {corrected}."


def _metrics(metrics: list[str], forest: Forest) -> str:
    if len(metrics) == len(forest.metrics) > 1:
        return "both metrics" if len(metrics) == 2 else f"all {_digits(len(metrics))} metrics"
    return _joined([metric_name(metric) for metric in metrics])


def remarks(forest: Forest) -> list[str]:
    """Sentences: how many tests were made and how they are corrected, and what few seeds mean for them."""
    sentences = [f"{forest.tests} {'test' if forest.tests == 1 else 'tests'}, Holm-corrected within each metric."]
    if not forest.tests:
        sentences = ["No test was made."]
    if any(test.p is not None and isnan(test.p) for test in _all(forest)):
        sentences.append("A difference that is the same with every seed has no variance: its test is undefined.")
    if any(
        test.p is not None and not isnan(test.p) and not test.differs and not test.difference.holds_zero
        for test in _all(forest)
    ):  # fmt: skip
        sentences.append("Intervals are not corrected: one can leave out 0 where its p is above 0.05.")
    fewest = min((test.difference.n for test in _all(forest) if test.p is not None), default=FEW_SEEDS)
    if fewest < FEW_SEEDS:
        more = _digits(seeds_that_halve(fewest))
        sentences.append(f"{_digits(fewest).capitalize()} seeds are few: {more} would halve an interval.")
    return sentences + _other_images(forest) + _too_few(forest)


def _other_images(forest: Forest) -> list[str]:
    """Which groups have values but no difference from the baseline: they were not measured on its images."""
    titles = [
        f"“{row.group.title}”"
        for row in forest.rows
        if any(not test.difference.n and min(test.seeds) for test in row.tests)
    ]
    if not titles:
        return []
    verb = "was" if len(titles) == 1 else "were"
    return [
        f"{_named(titles)} {verb} not measured on the test images of “{forest.baseline.title}”: their numbers have no "
        "difference."
    ]


def _too_few(forest: Forest) -> list[str]:
    """Which groups have too few seeds for a test: the baseline, others, or only those that the two share."""
    untested = [
        (f"“{row.group.title}”", test.seeds)
        for row in forest.rows
        for test in row.tests
        if 0 < test.difference.n < FEWEST_SEEDS
    ]
    baseline = f"“{forest.baseline.title}”"
    few = [baseline] if any(ours < FEWEST_SEEDS for _, (ours, _) in untested) else []
    few += dict.fromkeys(title for title, (_, theirs) in untested if theirs < FEWEST_SEEDS)
    apart = [*dict.fromkeys(title for title, seeds in untested if min(seeds) >= FEWEST_SEEDS)]
    sentences = []
    for titles, what in ((few, "too few seeds"), (apart, f"too few seeds in common with {baseline}")):
        if titles:
            verb = "has" if len(titles) == 1 else "have"
            needed = f"{_digits(FEWEST_SEEDS)} give an interval and a p-value"
            sentences.append(f"{_named(titles)} {verb} {what}: {needed}.")
    return sentences


def seeds_that_halve(seeds: int) -> int:
    """The fewest seeds whose t-interval is half as wide as that of `seeds` (at least 2), where the spread is equal."""
    from scipy.special import stdtrit

    def width(count: int) -> float:
        return float(stdtrit(count - 1, (1 + LEVEL) / 2)) / sqrt(count)

    more = seeds + 1
    while width(more) > width(seeds) / 2:
        more += 1
    return more


def _all(forest: Forest) -> list[Tested]:
    return [test for row in forest.rows for test in row.tests]


def _seeds(count: int) -> str:
    return f"{count} {'seed' if count == 1 else 'seeds'}"


def _digits(count: int) -> str:
    return DIGITS[count] if count < len(DIGITS) else str(count)


def _named(titles: list[str]) -> str:
    if len(titles) <= MOST_NAMED:
        return _joined(titles)
    return f"{', '.join(titles[: MOST_NAMED - 1])} and {len(titles) - MOST_NAMED + 1} more"


def _joined(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
