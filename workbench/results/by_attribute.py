"""Scores of an evaluation across the values of an attribute: from one camera, view or domain to another. NumPy only."""

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from workbench.evaluation.across_values import ALL, OTHERS, Across, across_values
from workbench.evaluation.class_sizes import RELIABLE, Estimate, chance_of_map, chance_of_recall, mean_over_classes
from workbench.evaluation.conventions import searched
from workbench.files.spreadsheet import csv_text
from workbench.names import numbers_in_order, visible
from workbench.numerals import finite, minus, percentage, signed
from workbench.problem import Problem, UnknownName
from workbench.progress import Progress, quiet
from workbench.results.by_class_size import MAP, RECALL, TITLES, cells_of
from workbench.workspace import Workspace
from workbench.workspace.choices.sample_tags import all_tags, attribute_of, attributes

MOST = 12  # values with a row and a column of their own; the others are together in one more
MOST_PAIRS = 4 * 10**8  # that `all_attributes` compares: of one attribute of 20,000 images, about 10 s on a core
METRICS = (RECALL, MAP)
EVERY = "All"  # the row of the queries of all values
TODO = "Store a table with a column for it: `workbench tags RUN --import TABLE.csv`, or Tag on the page Retrieval."
HOW = (
    "A cell has the queries with the value of its row, searched among the images with the value of its column alone, "
    "the query itself left out; queries without a match there do not count. Intervals are 95% bootstrap intervals over "
    "queries; queries of one class are alike, so the scores of other classes would vary more."
)
WHAT_CHANCE_IS = (
    "Cells differ in their numbers of images and of matches, and so in the score that chance gives, which is that of "
    "the images in random order: compare the distance from chance, not the scores alone."
)
RULE = (
    "Other values: images of the query's class that have its own value, too, are ignored, and do not count as errors. "
    "So re-identification leaves out the images of the same camera (Zheng et al., 2015). Both scores are of the same "
    "queries: those with a match of another value. Fewer matches alone lower a score, so chance is given for both."
)
HOW_TO_READ = (HOW, WHAT_CHANCE_IS, RULE)
FEW_QUERIES = f"Intervals over fewer than {RELIABLE} queries are too narrow: do not conclude from them alone."
CSV_TITLES = ["attribute", "query_value", "gallery", "gallery_value", "queries", "left_out", "images", "metric"]
CSV_TITLES += ["score", "low_95", "high_95", "by_chance"]
GALLERIES = ("one value", "all images", "all but matches of the same value")  # in the CSV
Estimates = dict[str, Estimate]  # by metric


@dataclass(frozen=True, slots=True)
class CellScores:
    """Queries of one value among the images of one value; scores are fractions."""

    queries: int  # that count
    left_out: int  # without a match there
    images: int  # that are searched; the query itself is one of them in a cell of the diagonal
    scores: Estimates  # NaN without a query
    chance: dict[str, float]


@dataclass(frozen=True, slots=True)
class OwnValue:
    """The queries of one value among all images, with and without their matches of that value."""

    title: str
    queries: int  # with a match of another value
    left_out: int  # of the others
    usual: Estimates
    usual_chance: dict[str, float]
    others: Estimates
    others_chance: dict[str, float]
    difference: Estimates  # others minus usual, paired over queries


@dataclass(frozen=True, slots=True, eq=False)
class ByAttribute:
    """An evaluation across the values of one attribute."""

    run_id: int
    epoch: int
    attribute: str
    values: tuple[tuple[str, ...], ...]  # of each group; one, but for the group of the rare ones
    titles: tuple[str, ...]  # of the groups: the value, or "other (5 values)"
    cells: tuple[tuple[CellScores, ...], ...]  # by group of the query, then of the images; none for a single group
    own: tuple[OwnValue, ...]  # of each group, then of all
    without: int  # images without a value, which are left out
    sample_ids: np.ndarray  # [q] int64 of the queries
    of: np.ndarray  # [q] int64, the group of each
    matches: np.ndarray  # [q, k + 2] int32, matches of each query in each group, in ALL and in OTHERS
    right: np.ndarray  # [q, k + 2] bool, whether its nearest image there is a match

    def queries_of(self, row: int, column: int, *, failed: bool = False) -> np.ndarray:
        """Sample ids of the queries that count in a cell; those alone whose nearest image there is no match.

        Args:
            row: a group, or their number for the queries of all.
            column: a group, ALL or OTHERS.
        """
        chosen = self.matches[:, column] > 0
        if row < len(self.titles):
            chosen &= self.of == row
        return np.asarray(self.sample_ids[chosen & ~self.right[:, column] if failed else chosen])

    @property
    def verdict(self) -> str:
        """How much of the score is left without matches of the query's own value; empty where nothing is to say."""
        if not self.cells:
            return ""
        every, name = self.own[-1], visible(self.attribute)
        if not every.queries:
            return f"No class has images with two values of {name}, so there is nothing to find across values."
        if (self.matches[:, ALL] == self.matches[:, OTHERS]).all():
            return f"No match has the query's own {name}, so no score comes from it."
        said = (
            f"{TITLES[metric]} is {percentage(every.usual[metric].value)} with matches that have the query's own "
            f"{name}, and {percentage(every.others[metric].value)} without: "
            f"{points_words(every.difference[metric])} points."
            for metric in METRICS
        )
        return f"Over {every.queries:,} queries, {' '.join(said)}"

    @property
    def facts(self) -> list[str]:
        """What is to be said of this attribute: how much of the score is left, or why nothing was searched."""
        if not self.cells:
            name = visible(self.attribute)
            only = f"All images have the value {visible(self.titles[0])} of {name}"
            none = f"No query has a value of {name}, or no searched image has one"
            said = [f"{only if len(self.titles) == 1 else none}: there is nothing to search across."]
        else:
            said = [self.verdict]
            counts = [cell.queries for row in self.cells for cell in row]
            said += [FEW_QUERIES] if any(0 < count < RELIABLE for count in counts) else []
        if self.without:
            have = "image has" if self.without == 1 else "images have"
            said.append(f"{self.without:,} {have} no value of {visible(self.attribute)}: left out.")
        return said

    @property
    def sentences(self) -> list[str]:
        """All that is to be said beside the tables, the most important first."""
        first, *rest = self.facts
        return [first, *(HOW_TO_READ if self.cells else ()), *rest]


def by_attribute(workspace: Workspace, evaluation_id: int, attribute: str, progress: Progress = quiet) -> ByAttribute:
    """Search across the values of an attribute: a minute or two for 60,000 images, not for the window's thread.

    Raises:
        UnknownName: no image of the evaluation has a value of the attribute.
        Problem: the run has no data set, or a file of the evaluation is missing, damaged or not finite.
        Cancelled: by `progress`.
    """
    progress("Reading the embeddings", 0, 0)
    evaluation, queries = workspace.evaluation(evaluation_id), workspace.queries(evaluation_id)
    value_of = _values(workspace, evaluation.run_id, attribute)
    named = [value_of.get(number, "") for number in queries.sample_ids.tolist()]
    rows = np.flatnonzero([bool(value) for value in named])
    if not len(rows):
        known = ", ".join(map(visible, attributes_of(workspace, evaluation_id)))
        todo = f"Its attributes: {known}." if known else TODO
        raise UnknownName(f"No image of this evaluation has a value of {visible(attribute)!r}.", todo=todo)
    values, of_value = np.unique([named[row] for row in rows.tolist()], return_inverse=True)
    groups, of_group = _grouped(values.tolist(), of_value)
    titles = tuple(group[0] if len(group) == 1 else f"other ({len(group)} values)" for group in groups)
    whole, without = searched(queries.labels, queries.r), len(named) - len(rows)
    among = whole[rows]
    facts = (evaluation.run_id, evaluation.epoch, attribute, groups, titles)
    if len(groups) < 2 or (not whole.all() and among.all()) or not among.any():
        return ByAttribute(*facts, (), (), without, *_NOTHING)
    made = across_values(
        workspace.vectors(evaluation_id)[rows], queries.labels[rows], queries.sample_ids[rows], of_value,
        of_group[of_value], among, evaluation.distance, progress,
    )  # fmt: skip
    of, count = of_group[of_value][made.rows], len(groups)
    images = [*np.bincount(of_group[of_value][among], minlength=count).tolist()]
    cells, own = [], []
    for group in range(count):
        progress("Intervals of the scores", group, count)
        mine = np.flatnonzero(of == group)
        cells.append(tuple(_cell(made, mine, column, images[column]) for column in range(count)))
        own.append(_own(titles[group], made, mine))
    own.append(_own(EVERY, made, np.arange(len(of))))
    ids = queries.sample_ids[rows][made.rows]
    return ByAttribute(*facts, tuple(cells), tuple(own), without, ids, of, made.matches, made.right)


_NOTHING = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty((0, 0), np.int32), np.empty((0, 0), bool))


@dataclass(frozen=True, slots=True, eq=False)
class AllAttributes:
    """An evaluation across the values of each of its attributes, as far as that is done in seconds."""

    measured: tuple[ByAttribute, ...]
    left_out: tuple[str, ...]  # attributes that would take longer
    refused: tuple[str, ...]  # what cannot be read, as sentences


def all_attributes(workspace: Workspace, evaluation_id: int, progress: Progress = quiet) -> AllAttributes:
    """Search across the values of the attributes of an evaluation, by name, until MOST_PAIRS pairs were compared.

    Raises:
        Problem: as `attributes_of`.
        Cancelled: by `progress`.
    """
    names = list(attributes_of(workspace, evaluation_id))
    fits = MOST_PAIRS // len(workspace.queries(evaluation_id).sample_ids) ** 2 if names else 0
    measured, refused = list[ByAttribute](), dict[str, None]()
    for name in names[:fits]:
        try:
            measured.append(by_attribute(workspace, evaluation_id, name, progress))
        except Problem as problem:  # the embeddings may be gone, while scores of queries are there
            refused[str(problem)] = None
    return AllAttributes(tuple(measured), tuple(names[fits:]), tuple(refused))


def attributes_of(workspace: Workspace, evaluation_id: int) -> dict[str, int]:
    """The attributes of which an image of the evaluation has a value, by name.

    Returns:
        Of each a number that is another one when images of the data set have other values; it is of this process.

    Raises:
        Problem: the run has no data set, or there is no such evaluation.
    """
    dataset_id = _dataset_of(workspace, workspace.evaluation(evaluation_id).run_id)
    there = set(workspace.queries(evaluation_id).sample_ids.tolist())
    by_tag = all_tags(workspace, dataset_id)
    names = attributes(tag for tag, members in by_tag.items() if not there.isdisjoint(members))
    numbers = dict.fromkeys(names, 0)
    for tag, members in by_tag.items():
        name, value = attribute_of(tag)
        if name in numbers:
            numbers[name] = hash((numbers[name], value, tuple(members)))
    return numbers


def _dataset_of(workspace: Workspace, run_id: int) -> int:
    dataset_id = workspace.run(run_id).dataset_id
    if dataset_id is None:
        raise Problem("This run has no data set yet.")
    return dataset_id


def _values(workspace: Workspace, run_id: int, attribute: str) -> dict[int, str]:
    """The value of the attribute by sample id."""
    value_of: dict[int, str] = {}
    for tag, members in all_tags(workspace, _dataset_of(workspace, run_id)).items():
        name, value = attribute_of(tag)
        if name == attribute:
            value_of.update(dict.fromkeys(members, value))
    return value_of


def _grouped(values: list[str], of: np.ndarray) -> tuple[tuple[tuple[str, ...], ...], np.ndarray]:
    """The values in groups, by name: MOST with the most images alone, the others together at the end.

    Args:
        values: [v] sorted. of: [m] the place of each image's value among them.

    Returns:
        The values of each group, and the group [v] of each value.
    """
    counts = np.bincount(of, minlength=len(values))
    many = set(np.argsort(-counts, kind="stable")[:MOST].tolist())
    alone = sorted(many, key=lambda at: (numbers_in_order(values[at]), values[at]))
    rare = tuple(value for at, value in enumerate(values) if at not in many)
    group_of = np.full(len(values), len(alone))
    group_of[alone] = np.arange(len(alone))
    return (*((values[at],) for at in alone), *([rare] if rare else [])), group_of


def _cell(made: Across, mine: np.ndarray, column: int, images: int) -> CellScores:
    """One cell.

    Args:
        mine: [m] positions of the queries of its row.
    """
    counted = mine[made.matches[mine, column] > 0]
    return CellScores(
        len(counted), len(mine) - len(counted), images, _estimates(made, counted, column),
        _chance(made, counted, column),
    )  # fmt: skip


def _own(title: str, made: Across, mine: np.ndarray) -> OwnValue:
    counted = mine[made.matches[mine, OTHERS] > 0]
    paired = {name: _values_of(made, counted, OTHERS, name) - _values_of(made, counted, ALL, name) for name in METRICS}
    return OwnValue(
        title, len(counted), len(mine) - len(counted),
        _estimates(made, counted, ALL), _chance(made, counted, ALL),
        _estimates(made, counted, OTHERS), _chance(made, counted, OTHERS),
        {name: mean_over_classes(values) for name, values in paired.items()},
    )  # fmt: skip


def _values_of(made: Across, counted: np.ndarray, column: int, metric: str) -> np.ndarray:
    values = made.right if metric == RECALL else made.ap
    return np.asarray(values[counted, column], np.float64)


def _estimates(made: Across, counted: np.ndarray, column: int) -> Estimates:
    """The mean over queries of each metric, with limits that are worked out as those over classes."""
    return {name: mean_over_classes(_values_of(made, counted, column, name)) for name in METRICS}


def _chance(made: Across, counted: np.ndarray, column: int) -> dict[str, float]:
    matches, others = made.matches[counted, column], made.others[counted, column]
    both = {RECALL: chance_of_recall(matches, others), MAP: chance_of_map(matches, others)}
    return {name: float(values.mean()) if len(values) else float("nan") for name, values in both.items()}


# In words and tables


def matrix_titles(measured: ByAttribute, metric: str) -> tuple[str, ...]:
    """The titles of the columns of `matrix_rows`."""
    return (f"{TITLES[metric]} % (chance)", *map(visible, measured.titles))


def matrix_rows(measured: ByAttribute, metric: str, *, chance: bool = True) -> list[tuple[str, ...]]:
    """A row for each value of the query, a cell for each value of the images: the score, and chance, in percent."""
    return [
        (visible(measured.titles[at]), *(scored_text(cell.scores, cell.chance, metric, chance=chance) for cell in row))
        for at, row in enumerate(measured.cells)
    ]


def scored_text(scores: Estimates, by_chance: dict[str, float], metric: str, *, chance: bool = True) -> str:
    """A score, with `chance` and that of chance, in percent: "63.2 (4.1)"; a dash without a query."""
    score, _, at_random = cells_of(scores[metric], by_chance[metric])
    return f"{score} ({at_random})" if chance and isfinite(scores[metric].value) else score


def own_titles(measured: ByAttribute) -> tuple[str, ...]:
    """The titles of the columns of `own_rows`."""
    attribute, all_, others = visible(measured.attribute), "All matches %", "Other values %"
    return ("Score", attribute, "Queries", "Left out", all_, "95%", "Chance %", others, "95%", "Chance %", "Difference")


def own_rows(measured: ByAttribute) -> list[tuple[str, ...]]:
    """A row for each metric and value, and for all values: with and without matches of the query's own value."""
    return [(TITLES[metric], *own_cells(row, metric)) for metric in METRICS for row in measured.own]


def own_cells(row: OwnValue, metric: str) -> tuple[str, ...]:
    """One metric of a row of `own_rows`, but for the name of the metric."""
    return (
        visible(row.title), f"{row.queries:,}", f"{row.left_out:,}",
        *cells_of(row.usual[metric], row.usual_chance[metric]),
        *cells_of(row.others[metric], row.others_chance[metric]), points_words(row.difference[metric]),
    )  # fmt: skip


def points_words(difference: Estimate) -> str:
    """A difference in points with its limits: "−41.9 (−44.1 to −39.8)"; a dash where there is none."""
    value, low, high = (
        minus(signed(100 * part, ".1f")) for part in (difference.value, difference.low, difference.high)
    )
    if not isfinite(difference.value):
        return "–"
    return f"{value} ({low} to {high})" if difference.low < difference.high else value


def as_data(measured: ByAttribute) -> dict[str, Any]:
    """Plain data for JSON, in full precision; None for a number that is not known."""
    cells = [
        {
            "query": measured.titles[row], "gallery": measured.titles[column], "queries": cell.queries,
            "left_out": cell.left_out, "images": cell.images, "scores": _with_chance(cell.scores, cell.chance),
        }
        for row, column, cell in _all_cells(measured)
    ]  # fmt: skip
    own = [
        {
            "value": row.title, "queries": row.queries, "left_out": row.left_out,
            "all_matches": _with_chance(row.usual, row.usual_chance),
            "other_values": _with_chance(row.others, row.others_chance),
            "difference": {name: number.plain() for name, number in row.difference.items()},
        }
        for row in measured.own
    ]  # fmt: skip
    return dict(
        finite(
            {
                "run": measured.run_id, "epoch": measured.epoch, "attribute": measured.attribute,
                "values": [list(group) for group in measured.values], "without_value": measured.without,
                "cells": cells, "own_value": own, "notes": measured.sentences,
            }
        )
    )  # fmt: skip


def _all_cells(measured: ByAttribute) -> list[tuple[int, int, CellScores]]:
    return [(row, column, cell) for row, cells in enumerate(measured.cells) for column, cell in enumerate(cells)]


def _with_chance(scores: Estimates, chance: dict[str, float]) -> dict[str, dict[str, float]]:
    return {name: score.plain() | {"chance": chance[name]} for name, score in scores.items()}


def as_csv(*measured: ByAttribute) -> str:
    """Of each attribute a row for each cell and metric, then those of all images with and without the own value."""
    return csv_text(CSV_TITLES, [[one.attribute, *row] for one in measured for row in _csv_rows(one)])


def _csv_rows(measured: ByAttribute) -> list[list[Any]]:
    one, every, others = GALLERIES
    rows = [
        [measured.titles[row], one, measured.titles[column], cell.queries, cell.left_out, cell.images, *numbers]
        for row, column, cell in _all_cells(measured)
        for numbers in _numbers(cell.scores, cell.chance)
    ]
    for row in measured.own:
        for gallery, scores, chance in ((every, row.usual, row.usual_chance), (others, row.others, row.others_chance)):
            rows += [
                [row.title, gallery, "", row.queries, row.left_out, "", *numbers]
                for numbers in _numbers(scores, chance)
            ]
    return rows


def _numbers(scores: Estimates, chance: dict[str, float]) -> list[list[Any]]:
    return [[name, score.value, score.low, score.high, chance[name]] for name, score in scores.items()]
