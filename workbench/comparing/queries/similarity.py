"""How similar the embeddings of runs are, for all pairs of groups: linear CKA, and nearest neighbours in common."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import nan, sqrt

import numpy as np

from workbench.comparing.measures import Measured, chosen_runs
from workbench.comparing.overview import Overview
from workbench.comparing.queries.overlap import shares_in_common
from workbench.comparing.queries.unread import Unread, no_two
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.workspace import Workspace
from workbench.workspace.measured.evaluations import NoEvaluation
from workbench.workspace.measured.ranking import read_ranking
from workbench.workspace.rows import Run

NEIGHBOURS = 10
MOST_IMAGES = 4_000  # drawn from more: CKA then varies by less than 0.01 from draw to draw
FEWEST_IMAGES = 4  # the estimator divides by n - 3
MOST_GROUPS, MOST_RUNS = 20, 5  # groups, and runs of each: the time grows with the square of their number
SEED = 0  # of the drawn images

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Similar:
    """Two groups, or a group with itself: means over the pairs of their runs, none of a run with itself."""

    cka: float  # 1 for the same embedding up to rotation and scale, about 0 for unrelated ones; NaN without a variance
    neighbours: float  # share of the nearest neighbours of a query that both have, 0 to 1; NaN where none are stored
    pairs: int  # of runs


@dataclass(frozen=True, slots=True, eq=False)
class Similarity:
    """All pairs of groups."""

    titles: tuple[str, ...]  # of the groups
    cells: dict[Place, Similar]  # by places of two groups, both ways round; pairs of other test images are missing
    images: int  # of the largest test set that was compared
    drawn: int  # of these, that were compared
    k: int  # neighbours
    left_out: tuple[str, ...]  # titles of groups in no cell: other test images, or no embeddings; none of `unread`
    unread: Unread = ()  # runs that are left out as their files or rows cannot be read


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """One evaluation on the drawn images, in the order of their ids."""

    group: int
    images: tuple[object, bytes]  # equal for the same test images
    count: int  # of all test images
    vectors: np.ndarray  # [n, d] float32, centred
    squares: np.ndarray  # [n] float64, their squared lengths
    spread: float  # HSIC with itself
    near: np.ndarray  # [n, k] int64, ids of the nearest neighbours
    asked: np.ndarray  # [n] bool, queries with a neighbour of their class


def linear_cka(first: np.ndarray, second: np.ndarray) -> float:
    """Linear centred kernel alignment of two embeddings of the same images, free of the bias of few images.

    Kornblith et al. 2019, "Similarity of neural network representations revisited", equation 2 with linear kernels, and
    HSIC estimated as in Song et al. 2012, equation 5: the plain estimate is near 1 where images are few and dimensions
    many.

    Args:
        first: [n, d]. second: [n, e]. n is 4 or more.

    Returns:
        At most 1; 1 for a rotation, a shift or another scale, about 0, or slightly below, for unrelated embeddings; NaN
        where one of them does not vary.
    """
    (one, ones), (other, others) = _centred(first), _centred(second)
    return _cka(_hsic(one, ones, other, others), _hsic(one, ones, one, ones), _hsic(other, others, other, others))


def _cka(joint: float, first: float, second: float) -> float:
    return joint / sqrt(first * second) if first > 0 and second > 0 else nan


def _centred(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vectors [n, d] less their mean, and their squared lengths [n] float64."""
    centred = vectors - vectors.mean(0, dtype=np.float64)
    return centred, np.einsum("ij,ij->i", centred, centred, dtype=np.float64)


def _hsic(first: np.ndarray, squares: np.ndarray, second: np.ndarray, others: np.ndarray) -> float:
    """The unbiased estimate of Song et al. 2012, equation 5, of centred vectors: rows of their kernels add up to 0."""
    n = len(first)
    both = float(squares @ others)
    trace = float(np.square(first.T @ second, dtype=np.float64).sum()) - both
    sums = float(squares.sum()) * float(others.sum())
    return (trace + sums / ((n - 1) * (n - 2)) - 2 / (n - 2) * both) / (n * (n - 3))


def similarity(workspace: Workspace, shown: Overview, progress: Progress = quiet) -> Similarity:
    """Compare the embeddings of all pairs of runs. Takes seconds: not on the window's thread.

    Args:
        shown: its groups, metric and place; the first 20 groups and five runs of each are compared.
        progress: called for each run and for each pair of groups; may raise Cancelled.

    Raises:
        Problem: there are no two runs with embeddings of the same images that can be read.
    """
    groups = shown.groups[:MOST_GROUPS]
    runs = [(place, run) for place, group in enumerate(groups) for run in _runs(shown, place)]
    seen, unread = list[_Seen](), list[tuple[int, str]]()
    for done, (place, run) in enumerate(runs):
        progress(f"Run {run.id}", done, len(runs))
        try:
            seen.extend(_seen(workspace, place, shown.measured[run.id], shown))
        except NoEvaluation:  # deleted meanwhile
            continue
        except Problem as problem:
            unread.append((run.id, str(problem)))
    cells = dict(_cells(seen, progress))
    if not cells:
        raise no_two(tuple(unread))
    used = {place for cell in cells for place in cell} | {place for place, run in runs if run.id in dict(unread)}
    largest = max(evaluation.count for evaluation in seen)
    return Similarity(
        tuple(group.title for group in groups), cells, largest, min(largest, MOST_IMAGES),
        min(evaluation.near.shape[1] for evaluation in seen),
        tuple(group.title for place, group in enumerate(groups) if place not in used), tuple(unread),
    )  # fmt: skip


def _runs(shown: Overview, place: int) -> list[Run]:
    return chosen_runs(shown.groups[place], shown.measured, shown.metric, shown.at)[:MOST_RUNS]


def _seen(workspace: Workspace, place: int, measured: Measured, shown: Overview) -> Iterator[_Seen]:
    """The compared evaluation of a run; none where it was not kept, or has too few images."""
    evaluation = measured.at(shown.at)
    if evaluation is None or not evaluation.kept:
        return
    ids, _, vectors = workspace.embeddings(evaluation.id)
    if len(ids) < FEWEST_IMAGES:
        return
    order = np.argsort(ids)
    if len(order) > MOST_IMAGES:
        order = order[np.sort(np.random.default_rng(SEED).choice(len(order), MOST_IMAGES, replace=False))]
    drawn = np.array(vectors[order], np.float64)
    if evaluation.distance == "cosine":
        lengths = np.linalg.norm(drawn, axis=1, keepdims=True)
        drawn /= np.where(lengths > 0, lengths, 1)
    centred, squares = _centred(drawn)
    ranking = read_ranking(workspace, evaluation.id)
    row_of = np.argsort(ranking.sample_ids)[np.searchsorted(np.sort(ranking.sample_ids), ids[order])]
    near = ranking.sample_ids[ranking.neighbours[row_of, :NEIGHBOURS]]
    mark = measured.run.images or measured.run.dataset_id, np.sort(ids).tobytes()
    yield _Seen(
        place, mark, len(ids), centred.astype(np.float32), squares, _hsic(centred, squares, centred, squares), near,
        ranking.r[row_of] > 0,
    )  # fmt: skip


def _cells(seen: list[_Seen], progress: Progress) -> Iterator[tuple[Place, Similar]]:
    by_place: dict[Place, list[tuple[float, float]]] = {}
    pairs = [(one, other) for one, other in combinations(seen, 2) if one.images == other.images]
    for done, (one, other) in enumerate(pairs):
        progress(f"Pair {done + 1:,} of runs", done, len(pairs))
        by_place.setdefault((one.group, other.group), []).append(_pair(one, other))
    for (first, second), values in by_place.items():
        cka, near = (_mean([value[column] for value in values]) for column in (0, 1))
        for place in {(first, second), (second, first)}:
            yield place, Similar(cka, near, len(values))


def _pair(one: _Seen, other: _Seen) -> tuple[float, float]:
    """CKA, and the mean share of neighbours in common over the queries of both."""
    cka = _cka(_hsic(one.vectors, one.squares, other.vectors, other.squares), one.spread, other.spread)
    k, both = min(one.near.shape[1], other.near.shape[1]), one.asked & other.asked
    return cka, float(shares_in_common(one.near[both, :k], other.near[both, :k]).mean()) if k and both.any() else nan


def _mean(values: list[float]) -> float:
    known = [value for value in values if value == value]
    return float(np.mean(known)) if known else nan
