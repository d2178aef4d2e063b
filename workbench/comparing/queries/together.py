"""What runs find together: their embeddings side by side, each run alone, every pair and all of them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import inf, nan
from typing import TYPE_CHECKING

import numpy as np

from workbench.comparing.overview import Overview
from workbench.comparing.queries.query_values import QueryValues, read_query_values
from workbench.comparing.queries.searched_alike import (
    SameImages,
    SearchedRun,
    check_products,
    has_room,
    searched_alike,
    table,
)
from workbench.comparing.queries.unread import Unread
from workbench.comparing.statistics.intervals import Interval, paired_bootstrap
from workbench.evaluation.side_by_side import side_by_side, spread
from workbench.progress import Progress, quiet
from workbench.workspace import Workspace

if TYPE_CHECKING:
    from workbench.evaluation.retrieval import Retrieval

METRICS = ("recall@1", "MAP@R")
BYTES = 4  # of a number as a gallery stores it


@dataclass(frozen=True, slots=True)
class Ensemble:
    """One run alone, or several side by side, in the metrics that the runs report (fractions)."""

    runs: tuple[int, ...]
    dim: int  # numbers for each image
    values: Mapping[str, float]  # of METRICS, means over the queries; empty where the memory is too small to search
    better: Mapping[str, int]  # for each metric the better of its runs alone; empty for one run
    gains: Mapping[str, Interval]  # over that run, paired over queries; empty for one run

    @property
    def bytes_per_image(self) -> int:
        """What a gallery of float32 stores of each image."""
        return BYTES * self.dim


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """Every set of runs that searched the same images: each run alone, every pair, and all."""

    ensembles: tuple[Ensemble, ...]  # set by set
    titles: Mapping[int, str]  # run -> title of its group
    sets: tuple[tuple[int, ...], ...]  # of runs with the same images
    queries: tuple[int, ...]  # of each set: those that count
    scaled: tuple[int, ...]  # runs searched by Euclidean distance, whose embeddings are scaled to the same spread
    left_out: tuple[tuple[str, tuple[int, ...]], ...]  # (reason, runs)
    unread: Unread = ()  # runs that are left out as their files or rows cannot be read

    def pairs(self) -> list[list[Ensemble]]:
        """For each set its pairs that could be searched."""
        searched = [ensemble for ensemble in self.ensembles if len(ensemble.runs) == 2 and ensemble.values]
        return [[pair for pair in searched if set(pair.runs) <= set(runs)] for runs in self.sets]


@dataclass(frozen=True, slots=True, eq=False)
class _Alone:
    """A run as it was stored, with its values of queries."""

    ensemble: Ensemble
    values: Mapping[str, QueryValues]  # of METRICS


def together(workspace: Workspace, shown: Overview, progress: Progress = quiet, most: float = inf) -> Together:
    """Search with the embeddings of several runs side by side, each normalised (Musgrave et al., 2020).

    Runs that are searched by cosine are scaled to rows of length 1. Where one is searched by Euclidean distance, each
    is divided by its spread, the root mean square distance from its mean, so that none outweighs the others; that
    changes no ranking of a run alone. Takes a search for every pair and one for all: not on the window's thread.

    Args:
        shown: its groups and place; at most six runs are used, the first of each group before the second ones.
        progress: called for each run and each block of queries; may raise Cancelled.
        most: products of numbers, over all searches, beyond which nothing is searched.

    Raises:
        Problem: no two runs that can be read searched the same images, or it is more than `most`.
    """
    alike = searched_alike(workspace, shown, progress)
    asked = [(images, runs) for images in alike.sets for runs in _asked(images)]
    alone = {
        searched_run.run.id: _alone(workspace, searched_run) for images in alike.sets for searched_run in images.runs
    }
    check_products(sum(_products(images, runs, alone) for images, runs in asked), most)
    joined = [
        _joined(workspace, images, runs, alone, partial(_tell, progress, runs, done, len(asked)))
        for done, (images, runs) in enumerate(asked)
    ]
    ensembles = [ensemble for images in alike.sets for ensemble in _in_set(images, alone, joined)]
    used = [searched_run for images in alike.sets for searched_run in images.runs]
    return Together(
        tuple(ensembles), {searched_run.run.id: searched_run.title for searched_run in used},
        tuple(tuple(searched_run.run.id for searched_run in images.runs) for images in alike.sets),
        tuple(len(images.queries()) for images in alike.sets),
        tuple(searched_run.run.id for searched_run in used if not searched_run.by_cosine), alike.left_out,
        alike.unread,
    )  # fmt: skip


def _tell(
    progress: Progress, runs: tuple[SearchedRun, ...], done: int, every: int, text: str, rows: int, count: int
) -> None:
    """The progress of one search as that of all, in hundredths of a search."""
    numbers = [str(searched_run.run.id) for searched_run in runs]
    named = f"Runs {' and '.join(numbers)}" if len(runs) == 2 else f"All {len(runs)} runs"
    progress(f"{named} together", 100 * done + (100 * rows // count if count else 0), 100 * every)


def _in_set(images: SameImages, alone: Mapping[int, _Alone], joined: Sequence[Ensemble]) -> Iterator[Ensemble]:
    numbers = {searched_run.run.id for searched_run in images.runs}
    yield from (alone[searched_run.run.id].ensemble for searched_run in images.runs)
    yield from (ensemble for ensemble in joined if numbers.issuperset(ensemble.runs))


def _products(images: SameImages, runs: tuple[SearchedRun, ...], alone: Mapping[int, _Alone]) -> float:
    """Products of two numbers that a search needs."""
    dim = sum(alone[searched_run.run.id].ensemble.dim for searched_run in runs)
    return float(len(images.sample_ids)) ** 2 * dim


def _asked(images: SameImages) -> list[tuple[SearchedRun, ...]]:
    """Every pair, and all runs where there are more than two."""
    every = [images.runs] if len(images.runs) > 2 else []
    return [*combinations(images.runs, 2), *every]


def _alone(workspace: Workspace, searched_run: SearchedRun) -> _Alone:
    with closing(workspace.reader()) as db:
        values = {
            metric: read_query_values(db, searched_run.run, searched_run.evaluation, metric) for metric in METRICS
        }
    dim = table(workspace, searched_run)[0].shape[1]
    return _Alone(Ensemble((searched_run.run.id,), dim, _means(values), {}, {}), values)


def _means(values: Mapping[str, QueryValues]) -> dict[str, float]:
    return {metric: float(column.values.mean()) if len(column.values) else nan for metric, column in values.items()}


def _joined(
    workspace: Workspace,
    images: SameImages,
    runs: tuple[SearchedRun, ...],
    alone: Mapping[int, _Alone],
    progress: Progress,
) -> Ensemble:
    numbers = tuple(searched_run.run.id for searched_run in runs)
    dim = sum(alone[number].ensemble.dim for number in numbers)
    if not has_room(len(images.sample_ids), dim):
        return Ensemble(numbers, dim, {}, {}, {})
    retrieved = _searched(workspace, images, runs, progress)
    counted = retrieved.r > 0
    ids = images.sample_ids[counted]
    values = {
        "recall@1": QueryValues(ids, (retrieved.first_hit[counted] == 1).astype(np.float64)),
        "MAP@R": QueryValues(ids, retrieved.ap[counted].astype(np.float64)),
    }
    better, gains = dict[str, int](), dict[str, Interval]()
    for metric, column in values.items():
        of_runs = {number: alone[number].ensemble.values[metric] for number in numbers}
        better[metric] = max(of_runs, key=of_runs.__getitem__)
        _, single, both = alone[better[metric]].values[metric].common(column)
        gains[metric] = paired_bootstrap(single, both)
    return Ensemble(numbers, dim, _means(values), better, gains)


def _searched(
    workspace: Workspace, images: SameImages, runs: tuple[SearchedRun, ...], progress: Progress
) -> "Retrieval":
    from workbench.evaluation.retrieval import retrieve

    unit = [searched_run.by_cosine for searched_run in runs]
    tables = [table(workspace, searched_run) for searched_run in runs]
    scales = None
    if not all(unit):
        spreads = [spread(vectors, by_cosine) for (vectors, _), by_cosine in zip(tables, unit, strict=True)]
        scales = [1 / value if value > 0 else 1.0 for value in spreads]
    progress("", 0, 0)
    joint = side_by_side([vectors for vectors, _ in tables], unit, [order for _, order in tables], scales)
    return retrieve(
        joint, images.labels, images.sample_ids, k=0, ks=(1,), distance="cosine" if all(unit) else "l2",
        is_query=images.is_query, between=partial(progress, "", 0, 0), progress=progress,
    )  # fmt: skip
