"""Whether one run may replace another: the queries of one in the gallery of the other."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from workbench.comparing.overview import Overview
from workbench.comparing.queries.query_values import read_query_values
from workbench.comparing.queries.searched_alike import (
    SameImages,
    SearchedRun,
    check_products,
    has_room,
    searched_alike,
    table,
)
from workbench.comparing.queries.unread import Unread
from workbench.comparing.statistics.intervals import Interval, paired_bootstrap, t_interval
from workbench.evaluation.side_by_side import side_by_side
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.workspace import Workspace

if TYPE_CHECKING:
    from workbench.evaluation.neighbours import Gallery

METRIC = "recall@1"
MOST_QUERIES = 10_000  # drawn from more: recall@1 then varies by about half a point from draw to draw
MOST_FITTED = 20_000  # images that a rotation is fitted on, drawn from more
NO_TWO = "No two of these runs searched the same images by the same distance."
SEED = 0  # of the draws, and of the two halves of the classes
SEARCHES = 2  # of all queries, for two runs: as they are, and rotated


@dataclass(frozen=True, slots=True)
class Crossed:
    """recall@1 of the new run's queries in the old run's gallery."""

    value: float  # fraction
    change: Interval  # from the old run alone, paired over queries
    above_chance: bool  # over classes, as the queries of one class fall together


@dataclass(frozen=True, slots=True)
class Replaced:
    """An old run, whose gallery stays, and a new one, which embeds the queries; all of the same queries."""

    old: int
    new: int
    old_alone: float  # recall@1 of old queries in the old gallery
    new_alone: float
    as_they_are: Crossed | None  # None where the embedding sizes differ
    rotated: Crossed | None  # None without two classes; None for both where the memory is too small


@dataclass(frozen=True, slots=True, eq=False)
class Replacing:
    """Every two runs that searched the same images by the same distance, both ways round."""

    pairs: tuple[Replaced, ...]
    titles: Mapping[int, str]  # run -> title of its group
    sets: tuple[tuple[int, ...], ...]  # of runs with the same images
    queries: tuple[tuple[int, int], ...]  # of each set: how many were searched, of how many
    chance: tuple[float, ...]  # of each set: recall@1 of a neighbour drawn at random
    by_distance: tuple[tuple[tuple[int, ...], ...], ...]  # of each set: its runs, by distance
    left_out: tuple[tuple[str, tuple[int, ...]], ...]  # (reason, runs)
    unread: Unread = ()  # runs that are left out as their files or rows cannot be read


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """What is searched for in one set of runs; rows are those of its images."""

    images: SameImages
    queries: np.ndarray  # [m] rows
    count: int  # of all queries
    gallery: np.ndarray  # [n] rows
    own: np.ndarray | None  # [m] for each query its own place in the gallery
    chance: np.ndarray  # [m] recall@1 of a neighbour drawn at random
    folds: tuple[np.ndarray, ...]  # [images] bool each: in the half of the classes; none with one class


def replacing(workspace: Workspace, shown: Overview, progress: Progress = quiet, most: float = inf) -> Replacing:
    """Search the gallery of each run with the queries of each other one: what a new model finds in an old index.

    Shen et al. 2020, "Towards backward-compatible representation learning". Once as the embeddings are, once after the
    rotation of the new ones that brings them nearest to the old ones (orthogonal Procrustes; the smaller embedding is
    padded with zeros). The queries of one half of the classes are rotated as fitted on images of the other half.

    Args:
        shown: its groups and place; at most six runs are used, the first of each group before the second ones.
        progress: called for each run and each block of queries; may raise Cancelled.
        most: products of numbers, over all searches, beyond which nothing is searched.

    Raises:
        Problem: no two runs that can be read searched the same images, or it is more than `most`.
    """
    alike = searched_alike(workspace, shown, progress)
    asked = [_asked(images) for images in alike.sets]
    pairs = [
        (one, old, new)
        for one in asked
        for old, new in permutations(one.images.runs, 2)
        if old.evaluation.distance == new.evaluation.distance
    ]
    if not pairs:
        raise Problem(NO_TWO, todo="Choose runs that are all searched by cosine, or all by Euclidean distance.")
    dims = {run.run.id: table(workspace, run)[0].shape[1] for images in alike.sets for run in images.runs}
    products = (
        SEARCHES * len(one.queries) * len(one.gallery) * max(dims[old.run.id], dims[new.run.id])
        for one, old, new in pairs
    )
    check_products(float(sum(products)), most)
    hits = {run.run.id: _alone(workspace, run, one) for one in asked for run in one.images.runs}
    replaced = [
        _replaced(workspace, one, (old, new), (hits[old.run.id], hits[new.run.id]), dims,
                  partial(_tell, progress, f"Queries of run {new.run.id} in the gallery of run {old.run.id}", done,
                          len(pairs)))
        for done, (one, old, new) in enumerate(pairs)
    ]  # fmt: skip
    return Replacing(
        tuple(replaced), {run.run.id: run.title for images in alike.sets for run in images.runs},
        tuple(tuple(run.run.id for run in images.runs) for images in alike.sets),
        tuple((len(one.queries), one.count) for one in asked), tuple(float(one.chance.mean()) for one in asked),
        tuple(_by_distance(images) for images in alike.sets), alike.left_out, alike.unread,
    )  # fmt: skip


def _by_distance(images: SameImages) -> tuple[tuple[int, ...], ...]:
    by: dict[str, list[int]] = {}
    for run in images.runs:
        by.setdefault(run.evaluation.distance, []).append(run.run.id)
    return tuple(map(tuple, by.values()))


def _tell(progress: Progress, text: str, done: int, every: int, part: int, parts: int) -> None:
    progress(text, 100 * done + 100 * part // parts, 100 * every)


def _asked(images: SameImages) -> _Asked:
    rng, labels = np.random.default_rng(SEED), images.labels
    gallery = np.arange(len(labels)) if images.is_query is None else np.flatnonzero(~images.is_query)
    names, classes = np.unique(labels, return_inverse=True)
    itself, every = int(images.is_query is None), images.queries()
    queries = every if len(every) <= MOST_QUERIES else np.sort(rng.choice(every, MOST_QUERIES, replace=False))
    half = np.zeros(len(names), bool)
    half[rng.permutation(len(names))[: len(names) // 2]] = True
    folds = (half[classes], ~half[classes]) if len(names) > 1 else ()
    chance = images.of_class()[queries] / max(1, len(gallery) - itself)
    return _Asked(images, queries, len(every), gallery, queries if itself else None, chance, folds)


def _alone(workspace: Workspace, run: SearchedRun, asked: _Asked) -> np.ndarray:
    """Hits [m] of the queries of a run in its own gallery, as they were stored."""
    with closing(workspace.reader()) as db:
        stored = read_query_values(db, run.run, run.evaluation, METRIC)
    ids = asked.images.sample_ids[asked.queries]
    _, rows, _ = np.intersect1d(stored.sample_ids, ids, assume_unique=True, return_indices=True)
    return np.asarray(stored.values[rows])


def _replaced(
    workspace: Workspace,
    asked: _Asked,
    runs: tuple[SearchedRun, SearchedRun],
    hits: tuple[np.ndarray, np.ndarray],
    dims: Mapping[int, int],
    progress: Callable[[int, int], None],
) -> Replaced:
    old, new = (run.run.id for run in runs)
    means = float(hits[0].mean()), float(hits[1].mean())
    dim = max(dims[old], dims[new])
    if not has_room(2 * len(asked.images.labels), dim):
        return Replaced(old, new, *means, None, None)
    return Replaced(old, new, *means, *_searched(workspace, asked, runs, hits[0], dims, progress))


def _searched(
    workspace: Workspace,
    asked: _Asked,
    runs: tuple[SearchedRun, SearchedRun],
    alone: np.ndarray,
    dims: Mapping[int, int],
    progress: Callable[[int, int], None],
) -> tuple[Crossed | None, Crossed | None]:
    from workbench.evaluation.neighbours import Gallery

    progress(0, 100)
    dim = max(dims[run.run.id] for run in runs)
    old, new = (_padded(workspace, run, dim) for run in runs)
    gallery = Gallery(old[asked.gallery], None, "cosine" if runs[0].by_cosine else "l2")
    as_they_are = None
    if len({dims[run.run.id] for run in runs}) == 1:
        right = _hits(asked, gallery, new, np.arange(len(asked.queries)), partial(_tell_part, progress, 0, 50))
        as_they_are = _crossed(asked, alone, right)
    if not asked.folds:
        return as_they_are, None
    right = np.empty(len(asked.queries))
    for number, fold in enumerate(asked.folds):
        places = np.flatnonzero(fold[asked.queries])
        if len(places):
            turned = new @ _rotation(new, old, ~fold)
            right[places] = _hits(
                asked, gallery, turned, places, partial(_tell_part, progress, 50 + 25 * number, 75 + 25 * number)
            )
    return as_they_are, _crossed(asked, alone, right)


def _tell_part(progress: Callable[[int, int], None], before: int, after: int, done: int, count: int) -> None:
    """The progress of one search, as a part of that for two runs, in hundredths."""
    progress(before + (after - before) * done // count, 100)


def _padded(workspace: Workspace, run: SearchedRun, dim: int) -> np.ndarray:
    """Embeddings [images, dim] float64 as the run searches them, in the order of the sample ids."""
    vectors, order = table(workspace, run)
    joint = side_by_side([vectors], [run.by_cosine], [order])
    return np.pad(joint, ((0, 0), (0, dim - joint.shape[1]))) if joint.shape[1] < dim else joint


def _rotation(new: np.ndarray, old: np.ndarray, fitted_on: np.ndarray) -> np.ndarray:
    """The orthogonal matrix R [d, d] that brings `new @ R` nearest to `old` on some of the images."""
    from scipy.linalg import orthogonal_procrustes

    rows = np.flatnonzero(fitted_on)
    if len(rows) > MOST_FITTED:
        rows = np.sort(np.random.default_rng(SEED).choice(rows, MOST_FITTED, replace=False))
    return np.asarray(orthogonal_procrustes(new[rows], old[rows])[0])


def _hits(
    asked: _Asked, gallery: "Gallery", vectors: np.ndarray, places: np.ndarray, progress: Callable[[int, int], None]
) -> np.ndarray:
    """Whether the nearest of each of these queries [k] has its class, 0 or 1 [k] float64."""
    rows = asked.queries[places]
    labels, own = asked.images.labels, None if asked.own is None else asked.own[places]
    nearest = np.empty(len(rows), np.int64)
    for part, keys in gallery.blocks(vectors[rows], own):
        first = gallery.places_of(keys.amin(1)).cpu().numpy()
        nearest[part] = asked.gallery[gallery.order[first]]
        progress(part.stop, len(rows))
    return np.asarray(labels[nearest] == labels[rows], np.float64)


def _crossed(asked: _Asked, alone: np.ndarray, right: np.ndarray) -> Crossed:
    return Crossed(float(right.mean()), paired_bootstrap(alone, right), _is_above_chance(asked, right))


def _is_above_chance(asked: _Asked, right: np.ndarray) -> bool:
    """Whether the mean over classes of what is above chance has a 95% interval above zero.

    Queries of one class usually land in the same class, right or wrong, so that they are no independent draws.
    """
    means = list(_by_class(asked.images.labels[asked.queries], right - asked.chance))
    interval = t_interval(means)
    return not interval.holds_zero and interval.mean > 0


def _by_class(labels: np.ndarray, values: np.ndarray) -> Iterator[float]:
    _, classes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    yield from (np.bincount(classes, weights=values) / counts).tolist()
