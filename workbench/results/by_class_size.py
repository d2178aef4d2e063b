"""Scores of an evaluation by the size of the classes: how rare classes do beside frequent ones. NumPy only."""

from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from workbench.evaluation.class_sizes import (
    RELIABLE,
    Estimate,
    SizeGroup,
    by_rank,
    by_shots,
    chance_of_map,
    chance_of_recall,
    mean_over_classes,
    rank_correlation,
)
from workbench.evaluation.conventions import searched
from workbench.files.spreadsheet import csv_text
from workbench.numerals import counted, finite, minus, percentage, signed
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.results.few_shot import similarities
from workbench.results.stored import comparable
from workbench.workspace import Workspace
from workbench.workspace.rows import Evaluation, Queries
from workbench.workspace.training_sizes import shares_classes, training_sizes

RECALL, MAP, NEAREST = "recall@1", "MAP@R", "nearest class"
TITLES = {RECALL: "R@1", MAP: "MAP@R", NEAREST: "Nearest class"}
TRAINING, GALLERY = "training", "gallery"  # which images of a class are counted
COUNTED = {TRAINING: "training images", GALLERY: "searched images"}
BLOCK = 2**22  # similarities held at once, 32 MB
MOST_PRODUCTS = 2 * 10**11  # of numbers of embeddings and class vectors: about half a minute on one core
WHAT_CHANCE_IS = (
    "Recall@1 and MAP@R depend on class size by themselves: the more images of a class are searched, the easier it is "
    "to find one. Chance is the score with the searched images in random order."
)
BY_SHOTS = "over 100, 20 to 100, and under 20 (Liu et al., 2019)"
NOT_MEASURED = "The nearest class is not measured."
FEW_CLASSES = f"Intervals over fewer than {RELIABLE} classes are too narrow: do not conclude from them alone."
NO_CLASS = "No class of this evaluation has a query with an image to find, so no class has a score."
CSV_TITLES = ("class", "size", "counted", "group", "queries")


@dataclass(frozen=True, slots=True, eq=False)
class ClassesBySize:
    """The classes of an evaluation that have a score, in order of label; scores are fractions."""

    labels: np.ndarray  # [k] int64
    names: tuple[str, ...]
    sizes: np.ndarray  # [k] int64, images of each class
    queries: np.ndarray  # [k] int64, 1 or more
    values: dict[str, np.ndarray]  # by metric the mean [k] over the queries of a class
    chance: dict[str, np.ndarray]  # by metric what chance gives [k]
    sample_ids: np.ndarray  # [q] int64 of the queries
    of: np.ndarray  # [q] int64, the position of each query's class


@dataclass(frozen=True, slots=True)
class GroupScores:
    """Classes of similar size: means over classes, each with its 95% bootstrap interval over classes."""

    title: str
    low: int  # images of its smallest and its largest class
    high: int
    classes: int
    queries: int
    scores: dict[str, Estimate]
    chance: dict[str, float]

    @property
    def size_words(self) -> str:
        """Its sizes: "20 to 100", or "20"."""
        return sizes_in_words(self.low, self.high)


@dataclass(frozen=True, slots=True, eq=False)
class BySize:
    """The classes of an evaluation, in groups by size, the largest first."""

    run_id: int
    epoch: int
    counted: str  # TRAINING or GALLERY
    shots: bool  # whether groups are those of BY_SHOTS, else thirds of the classes
    classes: ClassesBySize
    members: tuple[np.ndarray, ...]  # of each group, positions [m] among the classes
    groups: tuple[GroupScores, ...]  # none where all classes have the same size
    correlations: dict[str, Estimate]  # by metric, of score and size
    remarks: tuple[str, ...] = ()

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that are measured, in the order of TITLES."""
        return tuple(self.classes.values)

    @property
    def sentence(self) -> str:
        """How the classes are grouped, or why they are not."""
        count, what = len(self.classes.labels), COUNTED[self.counted]
        if not count:
            return NO_CLASS
        if not self.groups:
            size = int(self.classes.sizes[0])
            whose = "The only class has" if count == 1 else f"All {count:,} classes have"
            return f"{whose} {counted(size, what.removesuffix('s'))}: there is nothing to compare by class size."
        if self.shots:
            how = f"Classes are grouped by their {what}: {BY_SHOTS}."
        else:
            how = f"Classes are ranked by their {what} and divided into thirds; classes of one size stay together."
        return f"{how} Scores are means over the classes of a group, with 95% bootstrap intervals over classes."

    @property
    def correlation_sentence(self) -> str:
        """The rank correlation of each score with size, with its interval; empty without groups."""
        if not self.groups:
            return ""
        said = (f"{TITLES[name]} {_correlation(number)}" for name, number in self.correlations.items())
        return f"Rank correlation of score and class size (Spearman, 95% interval): {'; '.join(said)}."

    @property
    def sentences(self) -> list[str]:
        """All that is to be said beside the table."""
        beside = [self.correlation_sentence, WHAT_CHANCE_IS] if self.groups else []
        small = any(group.classes < RELIABLE for group in self.groups)
        return [self.sentence, *beside, *([FEW_CLASSES] if small else []), *self.remarks]


def sizes_in_words(low: int, high: int) -> str:
    """The sizes of a group: "20 to 100", or "20"."""
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _correlation(number: Estimate) -> str:
    if not isfinite(number.value):
        return "undefined, as all scores are the same"
    rho, low, high = (minus(signed(value, ".2f")) for value in (number.value, number.low, number.high))
    return f"{rho} ({low} to {high})" if isfinite(number.low) else rho


def by_class_size(
    workspace: Workspace, evaluation_id: int, progress: Progress = quiet, *, nearest_class: bool = True
) -> BySize:
    """Measure an evaluation by class size: seconds for 100,000 classes, not for the window's thread.

    Sizes are training images where test classes were trained; else images of the class among those that are searched.

    Args:
        nearest_class: whether the accuracy of the nearest class vector is measured, too, where there are such vectors.

    Raises:
        Problem: the queries of the evaluation are missing or damaged.
        Cancelled: by `progress`.
    """
    evaluation, queries = workspace.evaluation(evaluation_id), workspace.queries(evaluation_id)
    run = workspace.run(evaluation.run_id)
    names = () if run.dataset_id is None else workspace.dataset(run.dataset_id).class_names
    progress("Scores of the classes", 0, 0)
    nearest = _nearest_class(workspace, evaluation, queries, progress) if nearest_class else ""
    right, vectors = nearest if isinstance(nearest, tuple) else (None, 0)
    classes = scores_of_classes(queries, names, right, vectors)
    remarks = [nearest] if isinstance(nearest, str) and nearest else []
    if unscored := len(np.unique(queries.labels)) - len(classes.labels):
        remarks.append(
            f"{unscored:,} {'class has' if unscored == 1 else 'classes have'} no query with a match: left out."
        )
    counted = GALLERY
    if shares_classes(workspace, run.id) and len(classes.labels):
        progress("Counting the training images", 0, 0)
        try:
            trained = training_sizes(workspace, run.id, queries.sample_ids)
        except Problem as problem:
            remarks.append(f"{problem} Searched images are counted instead.")
        else:
            counted, classes = TRAINING, replace(classes, sizes=trained.of(classes.labels))
            remarks += [trained.remark] if trained.remark else []
    return grouped(run.id, evaluation.epoch, counted, classes, tuple(remarks))


def grouped(run_id: int, epoch: int, counted: str, classes: ClassesBySize, remarks: tuple[str, ...] = ()) -> BySize:
    """Group classes by their sizes, and measure each group."""
    shots = by_shots(classes.sizes) if counted == TRAINING else []
    parts = shots or by_rank(classes.sizes)
    return BySize(
        run_id, epoch, counted, bool(shots), classes, tuple(part.members for part in parts),
        tuple(_measured(part, classes) for part in parts),
        {name: rank_correlation(classes.sizes, values) for name, values in classes.values.items()} if parts else {},
        remarks,
    )  # fmt: skip


def _measured(part: SizeGroup, classes: ClassesBySize) -> GroupScores:
    of = part.members
    return GroupScores(
        part.title, part.low, part.high, len(of), int(classes.queries[of].sum()),
        {name: mean_over_classes(values[of]) for name, values in classes.values.items()},
        {name: float(values[of].mean()) for name, values in classes.chance.items()},
    )  # fmt: skip


def scores_of_classes(
    queries: Queries, class_names: tuple[str, ...], right: np.ndarray | None = None, vectors: int = 0
) -> ClassesBySize:
    """The scores of each class that has a query with a match, and its number of searched images.

    Args:
        queries: those with a match count; one whose average precision is not a number does not.
        right: [n] bool, whether the nearest class vector of each is one of its class; None without class vectors.
        vectors: classes that have class vectors.
    """
    among = searched(queries.labels, queries.r)
    counted = (queries.r > 0) & np.isfinite(queries.ap)
    labels, of = np.unique(queries.labels[counted], return_inverse=True)
    r, number = queries.r[counted], np.bincount(of, minlength=len(labels))
    others = int(among.sum()) - bool(among[counted].any())

    def mean(values: np.ndarray) -> np.ndarray:
        return np.asarray(np.bincount(of, values, len(labels)) / number)

    values = {RECALL: mean(queries.first_hit[counted] == 1), MAP: mean(queries.ap[counted].astype(np.float64))}
    chance = {RECALL: mean(chance_of_recall(r, others)), MAP: mean(chance_of_map(r, others))}
    if right is not None:
        values[NEAREST] = mean(right[counted])
        chance[NEAREST] = np.full(len(labels), 1 / vectors)
    searched_labels, images = np.unique(queries.labels[among], return_counts=True)
    sizes = images[np.searchsorted(searched_labels, labels)] if len(labels) else np.empty(0, np.int64)
    named = tuple(class_names[at] if 0 <= at < len(class_names) else str(at) for at in labels.tolist())
    return ClassesBySize(labels, named, sizes, number, values, chance, queries.sample_ids[counted], of)


def _nearest_class(
    workspace: Workspace, evaluation: Evaluation, queries: Queries, progress: Progress
) -> tuple[np.ndarray, int] | str:
    """Whether the nearest class vector of each query [n] is of its class, and of how many classes there are vectors.

    A sentence, perhaps empty, where that is not measured: without a vector of every class, as of unseen ones, and for
    hyperbolic distances.
    """
    try:
        stored = workspace.proxies(evaluation.id)
        if stored is None or evaluation.distance == "hyperbolic" or not np.isin(queries.labels, stored[1]).all():
            return ""
        vectors, labels = workspace.vectors(evaluation.id), stored[1]
    except Problem as problem:
        return f"{problem} {NOT_MEASURED}"
    if len(vectors) * stored[0].size > MOST_PRODUCTS:
        return f"{NOT_MEASURED} {len(vectors):,} embeddings and {len(labels):,} class vectors would take minutes."
    if not np.isfinite(stored[0]).all():
        return f"The class vectors are not finite. {NOT_MEASURED}"
    proxies = comparable(stored[0], evaluation.distance)
    right = np.empty(len(vectors), bool)
    step = max(1, BLOCK // max(1, len(proxies)))
    for start in range(0, len(vectors), step):
        progress("Nearest classes", start, len(vectors))
        part = slice(start, start + step)
        near = similarities(comparable(vectors[part], evaluation.distance), proxies, evaluation.distance)
        right[part] = labels[near.argmax(axis=1)] == queries.labels[part]
    return right, len(np.unique(labels))


def titles_of(measured: BySize) -> tuple[str, ...]:
    """The titles of the columns of `rows_of`."""
    return (
        "Score",
        "Group",
        COUNTED[measured.counted].capitalize(),
        "Classes",
        "Queries",
        "%",
        "95%",
        "Chance %",
    )


def rows_of(measured: BySize) -> list[tuple[str, ...]]:
    """The table as texts: a row for each metric and group, with the score, its interval and chance in percent."""
    return [
        (
            TITLES[name], group.title, group.size_words, f"{group.classes:,}", f"{group.queries:,}",
            *cells_of(group.scores[name], group.chance[name]),
        )
        for name in measured.metrics
        for group in measured.groups
    ]  # fmt: skip


def cells_of(score: Estimate, chance: float) -> tuple[str, str, str]:
    """A score, its limits and chance in percent, without the sign.

    A dash for limits that are not known, and where all classes are alike: that nothing varies is no certainty.
    """
    limits = "–" if not score.low < score.high else f"{_percent(score.low)} to {_percent(score.high)}"
    return _percent(score.value), limits, _percent(chance)


def _percent(share: float) -> str:
    return percentage(share).removesuffix("%")


def as_data(measured: BySize) -> dict[str, Any]:
    """Plain data for JSON: groups and rank correlations, in full precision; None for a number that is not known."""
    groups = [
        {
            "group": group.title, "smallest": group.low, "largest": group.high, "classes": group.classes,
            "queries": group.queries,
            "scores": {
                name: score.plain() | {"chance": group.chance[name]} for name, score in group.scores.items()
            },
        }
        for group in measured.groups
    ]  # fmt: skip
    return dict(
        finite(
            {
                "run": measured.run_id, "epoch": measured.epoch, "counted": measured.counted,
                "grouped": "shots" if measured.shots else "thirds", "classes": len(measured.classes.labels),
                "groups": groups,
                "rank_correlation": {name: number.plain() for name, number in measured.correlations.items()},
                "notes": measured.sentences,
            }
        )
    )  # fmt: skip


def as_csv(measured: BySize) -> str:
    """A row for each class, the largest first, with its size, group, scores and chance as fractions."""
    classes, group_of = measured.classes, dict[int, str]()
    for group, members in zip(measured.groups, measured.members, strict=True):
        group_of.update(dict.fromkeys(members.tolist(), group.title))
    named = [name.replace(" ", "_") for name in measured.metrics]
    columns = [*map(classes.values.__getitem__, measured.metrics), *map(classes.chance.__getitem__, measured.metrics)]
    rows = [
        [
            classes.names[at], int(classes.sizes[at]), measured.counted, group_of.get(at, ""), int(classes.queries[at]),
            *map(partial(_cell, at), columns),
        ]
        for at in np.argsort(-classes.sizes, kind="stable").tolist()
    ]  # fmt: skip
    return csv_text([*CSV_TITLES, *named, *(f"{name}_by_chance" for name in named)], rows)


def _cell(at: int, values: np.ndarray) -> float | str:
    value = float(values[at])
    return value if isfinite(value) else ""
