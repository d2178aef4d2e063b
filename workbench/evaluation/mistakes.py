"""Mistakes seen together: which classes are taken for which, which samples intrude, what changed, what was missed."""

from dataclasses import dataclass

import numpy as np

from workbench.evaluation.failures import VOTERS, Occurrences
from workbench.evaluation.stored import BLOCK, Stored, lengths

MIN_ROW_BITS = 16  # as in neighbours.py: gaps are rounded by as many bits as a gallery row's number needs
NOISE = 2.0**-45  # a gap under this is rounding: the two points are the same


@dataclass(frozen=True, slots=True, eq=False)
class Confusions:
    """Pairs of classes among first neighbours, most frequent first; a pair that never occurs is left out."""

    true: np.ndarray  # [c] int64 labels of the queries
    taken: np.ndarray  # [c] int64 labels of their nearest neighbours, never the same
    times: np.ndarray  # [c] int64
    share: np.ndarray  # [c] float64, of the class's queries that count


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """The queries of two evaluations of the same samples, by whether the nearest neighbour is of the class."""

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
    """For each of some samples the other classes in whose lists of ten it stands: (label, times), most first."""
    place = np.full(len(stored.labels), -1, np.int64)
    place[rows] = np.arange(len(rows))
    hubs = place[stored.near[:, :VOTERS]]
    asking = np.broadcast_to(stored.labels[:, None], hubs.shape)
    hit = hubs >= 0
    hubs, asking = hubs[hit], asking[hit]
    other = asking != stored.labels[rows][hubs]
    names, classes = np.unique(asking[other], return_inverse=True)
    pairs, times = np.unique(hubs[other] * max(1, len(names)) + classes, return_counts=True)
    found: list[list[tuple[int, int]]] = [[] for _ in range(len(rows))]
    for at in np.lexsort((pairs, -times)).tolist():
        hub, each = divmod(int(pairs[at]), len(names))
        found[hub].append((int(names[each]), int(times[at])))
    return found


def intruding_hubs(occurrences: Occurrences, most: int) -> np.ndarray:
    """Rows [h] of the hubs, those first that stand in most lists of other classes; at most `most`."""
    rows = np.flatnonzero(occurrences.hubs)
    order = np.lexsort((rows, -occurrences.times[rows], -occurrences.wrong[rows]))
    return np.asarray(rows[order][:most])


def changes(before_ids: np.ndarray, before_hit: np.ndarray, after_ids: np.ndarray, after_hit: np.ndarray) -> Changes:
    """What two evaluations find differently, over the queries that count in both.

    Args:
        before_ids, after_ids: [n], [m] sample ids, unique.
        before_hit, after_hit: [n], [m] rank of the first true neighbour, from 1; 0 for what is no query.
    """
    ids, first, second = np.intersect1d(before_ids, after_ids, assume_unique=True, return_indices=True)
    was, now = before_hit[first], after_hit[second]
    both = (was > 0) & (now > 0)
    ids, was, now = ids[both], was[both] == 1, now[both] == 1
    return Changes(ids[~was & now], ids[was & ~now], int((was & now).sum()), int((~was & ~now).sum()))


def missed(stored: Stored, row: int, beyond: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The true neighbours of a query that stand behind a rank, nearest first.

    Args:
        stored: one evaluation.
        row: the query.
        beyond: rank, at least 0; those up to it are left out.

    Returns:
        rows [m] int64, ranks [m] int64 from 1 in the whole gallery (ties to the lower sample id, as in the metrics),
        similarities [m] float64: cosine, or minus the distance.
    """
    searched = stored.searched()
    searched[row] = False
    rows = np.flatnonzero(searched)
    rows = rows[np.argsort(stored.sample_ids[rows])]
    gaps = _gaps_to(stored, row, rows)
    order = np.argsort(_rounded(gaps), kind="stable")  # of equals the lower id
    true = np.flatnonzero(stored.labels[rows[order]] == stored.labels[row])
    true = true[true >= beyond]
    found = gaps[order[true]]
    similarities = -np.sqrt(found) if stored.distance == "l2" else 1 - found
    return rows[order[true]], true + 1, similarities


def map_at_r_of(stored: Stored, kept: np.ndarray) -> float | None:
    """MAP@R of some of the samples among themselves, from the neighbours that are stored.

    Args:
        stored: one evaluation.
        kept: [n] bool, the samples that stay; the others are neither queries nor in the gallery.

    Returns:
        A fraction; NaN where no query counts; None where a query has more true neighbours than stored neighbours that
        stay, so that all must be ranked anew.
    """
    searched = stored.searched()
    _, classes = np.unique(stored.labels, return_inverse=True)
    sizes = np.bincount(classes[kept & searched], minlength=int(classes.max()) + 1)
    one_set = bool(searched.all())
    rows = np.flatnonzero(kept if one_set else kept & ~searched)
    r = sizes[classes[rows]] - one_set  # not itself
    rows, r = rows[r > 0], r[r > 0]
    total = 0.0
    for start in range(0, len(rows), BLOCK):
        part = slice(start, start + BLOCK)
        near, limit = stored.near[rows[part]], r[part, None]
        stays = kept[near]
        rank = np.cumsum(stays, axis=1)
        if (rank[:, -1:] < limit).any():
            return None
        hits = stays & (rank <= limit) & (classes[near] == classes[rows[part], None])
        precision = np.cumsum(hits, axis=1) / np.maximum(rank, 1)
        total += float(((precision * hits).sum(1, keepdims=True) / limit).sum())
    return total / len(rows) if len(rows) else float("nan")


def _gaps_to(stored: Stored, row: int, rows: np.ndarray) -> np.ndarray:
    """One minus cosine, or the squared distance, of one sample to others: [m] float64, >= 0."""
    query, gaps = stored.vectors(np.array([row]))[0], np.empty(len(rows))
    for start in range(0, len(rows), BLOCK):
        part = slice(start, start + BLOCK)
        vectors = np.asarray(stored.embeddings[rows[part]], np.float64)
        if stored.distance == "l2":
            gaps[part] = lengths(vectors - query) ** 2
        else:
            norms, products = lengths(vectors), vectors @ query
            gaps[part] = 1 - np.divide(products, norms, out=np.zeros_like(norms), where=norms > 0)
    gaps[gaps < NOISE * (query @ query if stored.distance == "l2" else 1)] = 0
    return gaps


def _rounded(gaps: np.ndarray) -> np.ndarray:
    """Gaps [m] without their last bits, as the metrics compare them: those differ between matrix kernels."""
    mask = (1 << max(MIN_ROW_BITS, (len(gaps) - 1).bit_length())) - 1
    return np.asarray((gaps.view(np.int64) + ((mask + 1) >> 1)) & ~mask)
