"""Runs that searched the same images, so that their embeddings can be used together; no torch is loaded."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from itertools import zip_longest

import numpy as np

from workbench.comparing.measures import chosen_runs
from workbench.comparing.overview import Overview
from workbench.comparing.queries.query_values import read_query_values
from workbench.comparing.queries.unread import Unread, no_two
from workbench.evaluation.conventions import searched
from workbench.machine_memory import available
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.workspace import Workspace
from workbench.workspace.measured.evaluations import NoEvaluation
from workbench.workspace.measured.ranking import read_r
from workbench.workspace.rows import Evaluation, Run

MOST_READ = 100  # runs that are looked at
MOST_RUNS = 6  # that are used: the number of pairs grows with its square
NOT_KEPT, ALONE = "no embeddings are kept", "no other run here was tested on the same images"
NO_QUERIES = "no test image has another one of its class"
HYPERBOLIC = "searched by hyperbolic distance"
NOT_FINITE = "some of its embeddings are NaN or infinite"
TOO_MANY = f"beyond the first {MOST_RUNS} runs"
METRIC = "recall@1"  # by whose values of queries it is seen that they can be read
TIMES_TABLE = 6  # memory of a search, in tables of its embeddings in float64: 5.3 measured for 60,000 x 1,024
MINUTES = "To search with the embeddings of these runs takes minutes."
ROWS = 4096  # checked at a time
ELSEWHERE = "Compare has it in its tab Similarity, and `workbench compare` with --together or --replace."


@dataclass(frozen=True, slots=True)
class SearchedRun:
    """A run with the evaluation that is compared."""

    run: Run
    title: str  # of its group
    evaluation: Evaluation

    @property
    def by_cosine(self) -> bool:
        """Whether it is searched by cosine, else by Euclidean distance."""
        return self.evaluation.distance == "cosine"


@dataclass(frozen=True, slots=True, eq=False)
class SameImages:
    """Runs that searched the same images with the same queries; all arrays are in the order of the sample ids."""

    runs: tuple[SearchedRun, ...]  # two or more
    sample_ids: np.ndarray  # [n] int64, rising
    labels: np.ndarray  # [n] int64
    is_query: np.ndarray | None  # [n] bool; None: every image searches all others

    def of_class(self) -> np.ndarray:
        """How many other images of its class each image can find [n] int64."""
        names, classes = np.unique(self.labels, return_inverse=True)
        searched_classes = classes if self.is_query is None else classes[~self.is_query]
        return np.bincount(searched_classes, minlength=len(names))[classes] - int(self.is_query is None)

    def queries(self) -> np.ndarray:
        """The rows [m] of the queries that count: those that can find an image of their class."""
        counted = self.of_class() > 0
        return np.flatnonzero(counted if self.is_query is None else counted & self.is_query)


@dataclass(frozen=True, slots=True, eq=False)
class SearchedAlike:
    """All sets of runs that searched the same images, and the runs that are in none."""

    sets: tuple[SameImages, ...]
    left_out: tuple[tuple[str, tuple[int, ...]], ...]  # (reason, runs)
    unread: Unread  # runs whose files or rows are damaged or missing, and are left out for that


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    searched_run: SearchedRun
    mark: str  # equal for the same images, labels and queries


def searched_alike(workspace: Workspace, shown: Overview, progress: Progress) -> SearchedAlike:
    """The runs of an overview that searched the same images: the first run of each group, then the second ones, ...

    Args:
        progress: called for each run; may raise Cancelled.

    Raises:
        Problem: no two runs that can be read searched the same images.
    """
    candidates = list(_candidates(shown))[:MOST_READ]
    read, left_out, unread = list[_Read](), dict[int, str](), list[tuple[int, str]]()
    for done, candidate in enumerate(candidates):
        progress(f"Run {candidate.run.id}", done, len(candidates))
        try:
            if why := _why_unused(workspace, candidate):
                left_out[candidate.run.id] = why
            else:
                read.append(_Read(candidate, _mark(workspace, candidate)))
        except NoEvaluation:  # deleted meanwhile
            left_out[candidate.run.id] = NOT_KEPT
        except Problem as problem:
            unread.append((candidate.run.id, str(problem)))
    partnered = [one for one in read if _count(one, read) > 1]
    left_out |= {one.searched_run.run.id: ALONE for one in read if one not in partnered}
    used = partnered[:MOST_RUNS]
    used = [one for one in used if _count(one, used) > 1]
    left_out |= {one.searched_run.run.id: TOO_MANY for one in partnered if one not in used}
    if not used:
        raise no_two(tuple(unread))
    by_mark: dict[str, list[SearchedRun]] = {}
    for one in used:
        by_mark.setdefault(one.mark, []).append(one.searched_run)
    sets = tuple(_same_images(workspace, runs) for runs in by_mark.values())
    reasons = dict.fromkeys(left_out.values())
    gathered = ((why, sorted(run for run, reason in left_out.items() if reason == why)) for why in reasons)
    return SearchedAlike(sets, tuple((why, tuple(runs)) for why, runs in gathered), tuple(unread))


def table(workspace: Workspace, searched_run: SearchedRun) -> tuple[np.ndarray, np.ndarray]:
    """Embeddings [n, d] float32 of a run, a read-only memory map, and the order [n] of rows by rising sample id.

    Raises:
        Problem: its file is missing, damaged or deleted meanwhile.
    """
    ids, _, vectors = workspace.embeddings(searched_run.evaluation.id)
    return vectors, np.argsort(ids)


def has_room(images: int, dim: int) -> bool:
    """Whether the memory is enough to search this many images with embeddings of this size."""
    return TIMES_TABLE * 8 * dim * images <= available()


def check_products(products: float, most: float) -> None:
    """Raises Problem if a search needs more than `most` products of two numbers."""
    if products > most:
        raise Problem(MINUTES, todo=ELSEWHERE)


def _candidates(shown: Overview) -> Iterator[SearchedRun]:
    """The first run of each group, then the second ones, and so on."""
    columns = [
        [
            SearchedRun(run, group.title, evaluation)
            for run in chosen_runs(group, shown.measured, shown.metric, shown.at)
            if (evaluation := shown.measured[run.id].at(shown.at)) is not None
        ]
        for group in shown.groups
    ]
    for row in zip_longest(*columns):
        yield from (candidate for candidate in row if candidate is not None)


def _why_unused(workspace: Workspace, candidate: SearchedRun) -> str:
    """Why a run cannot be searched with others; empty where it can. Raises NoEvaluation; Problem: damaged."""
    if candidate.evaluation.distance == "hyperbolic":
        return HYPERBOLIC
    if not candidate.evaluation.kept:
        return NOT_KEPT
    if not read_r(workspace, candidate.evaluation.id).any():
        return NO_QUERIES
    return "" if _is_finite(workspace, candidate) else NOT_FINITE


def _count(one: _Read, among: list[_Read]) -> int:
    return sum(other.mark == one.mark for other in among)


def _mark(workspace: Workspace, candidate: SearchedRun) -> str:
    ids, labels, is_query = _images(workspace, candidate)
    _check_queries(workspace, candidate, SameImages((candidate,), ids, labels, is_query))
    parts = (ids, labels, np.ones(len(ids), bool) if is_query is None else is_query)
    digest = sha256(repr(candidate.run.images or candidate.run.dataset_id).encode())
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def _check_queries(workspace: Workspace, candidate: SearchedRun, images: SameImages) -> None:
    """Raises Problem if what is stored of its queries cannot be read, or is of other queries."""
    with closing(workspace.reader()) as db:
        stored = read_query_values(db, candidate.run, candidate.evaluation, METRIC)
    if not np.isin(images.sample_ids[images.queries()], stored.sample_ids).all():
        raise Problem(f"The queries that are stored of run {candidate.run.id} are not those of its embeddings.")


def _is_finite(workspace: Workspace, candidate: SearchedRun) -> bool:
    """Whether all its embeddings are numbers: a workspace of elsewhere may hold others."""
    _, _, vectors = workspace.embeddings(candidate.evaluation.id)
    return all(np.isfinite(vectors[first : first + ROWS]).all() for first in range(0, len(vectors), ROWS))


def _images(workspace: Workspace, candidate: SearchedRun) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    ids, labels, _ = workspace.embeddings(candidate.evaluation.id)
    gallery = searched(labels, read_r(workspace, candidate.evaluation.id))
    order = np.argsort(ids)
    is_query = None if gallery.all() else ~gallery[order]
    return np.asarray(ids[order], np.int64), np.asarray(labels[order], np.int64), is_query


def _same_images(workspace: Workspace, runs: list[SearchedRun]) -> SameImages:
    return SameImages(tuple(runs), *_images(workspace, runs[0]))
