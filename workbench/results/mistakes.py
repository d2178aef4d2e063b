"""The mistakes of an evaluation together: confused classes, hubs, what was won and lost, and missed neighbours."""

from dataclasses import dataclass

import numpy as np

from workbench.evaluation.conventions import NOISE, VOTERS, ball_distances, ball_gaps, without_last_bits
from workbench.results.failures import Occurrences
from workbench.results.stored import BLOCK, Stored, lengths
from workbench.workspace import Workspace
from workbench.workspace.measured.ranking import read_first_hits


@dataclass(frozen=True, slots=True, eq=False)
class Confusions:
    """Pairs of classes among first neighbours, most frequent first; a pair that never occurs is left out."""

    true: np.ndarray  # [c] int64 labels of the queries
    taken: np.ndarray  # [c] int64 labels of their nearest neighbours, never the same
    times: np.ndarray  # [c] int64
    share: np.ndarray  # [c] float64, of the class's queries that count


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """The queries that count in two evaluations, by whether the nearest neighbour is of the query's class."""

    won: np.ndarray  # [w] int64 sample ids: wrong before, right now
    lost: np.ndarray  # [l] int64 sample ids: right before, wrong now
    right: int  # right in both
    wrong: int  # wrong in both


def confusions(stored: Stored) -> Confusions:
    """Count which class the nearest neighbours of failed queries have."""
    counted = stored.r > 0
    rows = stored.failed
    names, classes = np.unique(stored.labels, return_inverse=True)
    nearest = classes[stored.near[rows, 0]] if len(rows) else np.empty(0, np.int64)
    pairs, times = np.unique(classes[rows] * len(names) + nearest, return_counts=True)
    true, taken = np.divmod(pairs, max(1, len(names)))
    order = np.lexsort((taken, true, -times))
    queries = np.bincount(classes[counted], minlength=len(names))
    share = times / np.maximum(queries[true], 1)
    return Confusions(names[true][order], names[taken][order], times[order], share[order])


def victims(stored: Stored, rows: np.ndarray) -> list[list[tuple[int, int]]]:
    """For each of some rows the other classes in whose lists of ten neighbours it is: (label, times), most first."""
    number = np.full(len(stored.labels), -1, np.int64)  # of a row among `rows`
    number[rows] = np.arange(len(rows))
    hubs = number[stored.near[:, :VOTERS]]
    asking = np.broadcast_to(stored.labels[:, None], hubs.shape)
    hit = hubs >= 0
    hubs, asking = hubs[hit], asking[hit]
    other = asking != stored.labels[rows][hubs]
    names, classes = np.unique(asking[other], return_inverse=True)
    pairs, times = np.unique(hubs[other] * max(1, len(names)) + classes, return_counts=True)
    of_hubs: list[list[tuple[int, int]]] = [[] for _ in range(len(rows))]
    for at in np.lexsort((pairs, -times)).tolist():
        hub, name = divmod(int(pairs[at]), len(names))
        of_hubs[hub].append((int(names[name]), int(times[at])))
    return of_hubs


def intruding_hubs(occurrences: Occurrences, most: int) -> np.ndarray:
    """Rows [h] of the hubs, those first that are in most lists of other classes; at most `most`."""
    rows = np.flatnonzero(occurrences.hubs)
    order = np.lexsort((rows, -occurrences.times[rows], -occurrences.wrong[rows]))
    return np.asarray(rows[order][:most])


def changes(before_ids: np.ndarray, before_hit: np.ndarray, after_ids: np.ndarray, after_hit: np.ndarray) -> Changes:
    """Compare which queries two evaluations answer rightly, over the queries that count in both.

    Args:
        before_ids, after_ids: [n], [m] sample ids, unique.
        before_hit, after_hit: [n], [m] rank of the first true neighbour, from 1; 0 for what is no query.
    """
    ids, first, second = np.intersect1d(before_ids, after_ids, assume_unique=True, return_indices=True)
    was, now = before_hit[first], after_hit[second]
    both = (was > 0) & (now > 0)
    ids, was, now = ids[both], was[both] == 1, now[both] == 1
    return Changes(ids[~was & now], ids[was & ~now], int((was & now).sum()), int((~was & ~now).sum()))


def read_changes(workspace: Workspace, before: int, after: int) -> Changes:
    """`changes` between two stored evaluations, by their ids. Raises Problem when a file is missing or damaged."""
    return changes(*read_first_hits(workspace, before), *read_first_hits(workspace, after))


def missed(stored: Stored, row: int, beyond: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the true neighbours of a query that rank after `beyond`, nearest first.

    Args:
        stored: one evaluation.
        row: of the query.
        beyond: rank, at least 0; neighbours up to it are left out.

    Returns:
        rows [m] int64, ranks [m] int64 from 1 in the whole gallery (ties to the lower sample id, as in the metrics),
        similarities [m] float64: cosine, or minus the distance.
    """
    searched = stored.searched()
    searched[row] = False
    rows = np.flatnonzero(searched)
    rows = rows[np.argsort(stored.sample_ids[rows])]
    gaps = _gaps_to(stored, row, rows)
    order = np.argsort(without_last_bits(gaps, len(gaps)), kind="stable")  # of equals the lower id
    true = np.flatnonzero(stored.labels[rows[order]] == stored.labels[row])
    true = true[true >= beyond]
    apart = gaps[order[true]]
    if stored.distance == "hyperbolic":
        similarities = -ball_distances(apart)
    else:
        similarities = -np.sqrt(apart) if stored.distance == "l2" else 1 - apart
    return rows[order[true]], true + 1, similarities


def _gaps_to(stored: Stored, row: int, rows: np.ndarray) -> np.ndarray:
    """Gaps of one sample to others, as conventions.py says: [m] float64, >= 0."""
    query, gaps = stored.vectors(np.array([row]))[0], np.empty(len(rows))
    for start in range(0, len(rows), BLOCK):
        part = slice(start, start + BLOCK)
        vectors = np.asarray(stored.embeddings[rows[part]], np.float64)
        if stored.distance != "cosine":
            gaps[part] = lengths(vectors - query) ** 2
        else:
            norms, products = lengths(vectors), vectors @ query
            gaps[part] = 1 - np.divide(products, norms, out=np.zeros_like(norms), where=norms > 0)
    gaps[gaps < NOISE * (1 if stored.distance == "cosine" else query @ query)] = 0
    if stored.distance == "hyperbolic":
        return ball_gaps(gaps, query @ query, lengths(np.asarray(stored.embeddings[rows], np.float64)) ** 2)
    return gaps
