"""How many of the k nearest neighbours of a query two runs have in common, and which queries moved most."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.workspace import Workspace
from workbench.workspace.measured.ranking import Ranking, read_ranking


@dataclass(frozen=True, slots=True)
class PairOfRuns:
    """Two runs with the evaluations that are compared."""

    first_run: int
    second_run: int
    first: int  # evaluation
    second: int


@dataclass(frozen=True, slots=True, eq=False)
class NeighbourOverlap:
    """Each query that two runs share, the smallest overlap first; means over the pairs of runs that have it."""

    sample_ids: np.ndarray  # [n] int64
    share: np.ndarray  # [n] float64, 0..1, of the k nearest neighbours
    pairs: np.ndarray  # [n] int64 pairs of runs that have the query
    first_hit: np.ndarray  # [n] int64 rank of the first true neighbour in the first run of `seen`
    second_hit: np.ndarray  # [n] int64
    seen: np.ndarray  # [n] int64: the first of `paired` that has it
    paired: tuple[PairOfRuns, ...]
    k: int  # as asked, or as many as are stored

    @property
    def mean(self) -> float:
        """Over queries; NaN for none."""
        return float(self.share.mean()) if len(self.share) else float("nan")


def neighbour_overlap(
    workspace: Workspace,
    paired: Sequence[PairOfRuns],
    k: int,
    progress: Progress = quiet,
) -> NeighbourOverlap:
    """Read the rankings of all pairs: seconds for 60,000 queries, not for the window's thread.

    Args:
        paired: at least one pair. k: neighbours, from 1; fewer where fewer are stored.
        progress: called at each stage; may raise Cancelled.

    Raises:
        Problem: a ranking cannot be read, or no pair has a query in common.
    """
    read: dict[int, Ranking] = {}
    parts, widths = [], []
    for done, pair in enumerate(paired):
        progress(f"Runs {pair.first_run} and {pair.second_run}", done, len(paired))
        first, second = (
            read[run] if run in read else read.setdefault(run, read_ranking(workspace, run))
            for run in (pair.first, pair.second)
        )
        part = _of_pair(first, second, k)
        parts.append(part)
        widths.append(min(k, first.neighbours.shape[1], second.neighbours.shape[1]))
    every = np.concatenate([part[0] for part in parts])
    if not len(every):
        raise Problem("These runs have no query in common.", todo="Compare runs with the same split.")
    ids, at, index = np.unique(every, return_index=True, return_inverse=True)
    counts = np.bincount(index, minlength=len(ids))
    share = np.bincount(index, weights=np.concatenate([part[1] for part in parts]), minlength=len(ids)) / counts
    hits = [np.concatenate([part[column] for part in parts])[at].astype(np.int64) for column in (2, 3)]
    seen = np.repeat(np.arange(len(parts)), [len(part[0]) for part in parts])[at]
    order = np.lexsort((ids, -np.abs(np.log(hits[0] / hits[1])), share))
    ids, share, counts, before, after, seen = (numbers[order] for numbers in (ids, share, counts, *hits, seen))
    return NeighbourOverlap(ids, share, counts, before, after, seen, tuple(paired), min(widths))


def shares_in_common(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Of each row the share [n] float64, 0..1, of ids that both tables [n, k] hold; no id is in a row twice."""
    if not first.shape[1]:
        return np.zeros(len(first))
    both = np.sort(np.concatenate((first, second), axis=1), axis=1)
    return np.asarray((both[:, 1:] == both[:, :-1]).sum(1) / first.shape[1])


def _of_pair(first: Ranking, second: Ranking, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Ids [m], shares [m] and both first hits [m] of the queries that count in both."""
    ids, mine, theirs = np.intersect1d(first.sample_ids, second.sample_ids, assume_unique=True, return_indices=True)
    both = (first.first_hit[mine] > 0) & (second.first_hit[theirs] > 0)
    ids, mine, theirs = ids[both], mine[both], theirs[both]
    width = min(k, first.neighbours.shape[1], second.neighbours.shape[1])
    tables = (
        ranking.sample_ids[ranking.neighbours[rows, :width]] for ranking, rows in ((first, mine), (second, theirs))
    )
    return ids, shares_in_common(*tables), first.first_hit[mine], second.first_hit[theirs]
