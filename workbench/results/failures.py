"""Why queries fail: one suspected cause for each query whose nearest neighbour is of another class. NumPy only.

Causes in order of precedence. Faults of the data come before those of the method, and causes of
few queries before causes of many:

1. "copy": the nearest neighbour is a near-duplicate with another label.
2. "label": its neighbours agree on another class, so its own label may be wrong.
3. "hub": the nearest neighbour is among the neighbours of very many samples, most of them of other classes.
4. "rare": its class has few samples beside those of most classes.
5. "proxy": a proxy of another class is nearer than any of its own class.
6. "none": none of these.
"""

from dataclasses import dataclass

import numpy as np

from workbench.evaluation.conventions import VOTERS, Between
from workbench.results.stored import BLOCK, Stored, comparable

CAUSES = ("copy", "label", "hub", "rare", "proxy", "none")
# A pair by chance is this near with probability 0.7 x share^m in m dimensions: under one in a thousand for m = 3.
COPY_SHARE = 0.1  # of the median distance of a sample to its nearest neighbour
# A query between two classes, with every neighbour of either by chance, sees nine of ten of the other one time in 93,
# and five of five of a small class one time in 32; fewer votes prove nothing.
AGREEMENT, FEWEST_VOTERS = 0.9, 5
HUB_DEVIATIONS = 2.0  # above the mean number of occurrences, as Radovanovic et al. (2010) define a hub
HUB_WRONG = 0.5  # a hub that is mostly in lists of its own class is a centre of that class
# Of two classes equally far the one with four times the samples gives the nearest neighbour four times in five.
RARE_SHARE = 0.25  # of the median over classes


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """How often each sample is among the ten nearest neighbours of others."""

    times: np.ndarray  # [n] int64
    wrong: np.ndarray  # [n] int64, of them lists of queries of another class
    mean: float  # over the samples that are searched
    limit: float  # mean + 2 standard deviations: from there on a sample is a hub

    @property
    def hubs(self) -> np.ndarray:
        """Which samples [n] bool are hubs: far more often among the neighbours of others than the mean."""
        return np.asarray((self.times >= self.limit) & (self.limit > self.mean))

    @property
    def intruders(self) -> np.ndarray:
        """Hubs [n] bool that are more often in lists of other classes than of their own."""
        return np.asarray(self.hubs & (self.wrong > HUB_WRONG * self.times))


@dataclass(frozen=True, slots=True, eq=False)
class Failures:
    """The failed queries with their causes and the numbers that are the evidence."""

    rows: np.ndarray  # [f] int64 rows of the evaluation
    holds: np.ndarray  # [f, 5] bool: every cause that applies, in the order of CAUSES
    nearest: np.ndarray  # [f] int64 rows of the nearest neighbours
    gap: np.ndarray  # [f] float64 distance to it; of unit vectors for cosine
    typical_gap: float  # median of that distance over all that is searched; NaN if nothing is
    agreed: np.ndarray  # [f] int64 label of most of the first ten neighbours; a tie goes to the nearer
    votes: np.ndarray  # [f] int64, of it among the voters
    voters: np.ndarray  # [f] int64, ten or as many as the agreed class has samples
    typical_r: float  # median over classes of r
    own_proxy: np.ndarray  # [f] float64 cosine, or minus the distance, to the nearest proxy of its class; NaN: none
    other_proxy: np.ndarray  # [f] float64, the same of the other classes
    other_proxy_label: np.ndarray  # [f] int64; -1: none
    occurrences: Occurrences

    @property
    def cause(self) -> np.ndarray:
        """Index [f] into CAUSES of the first cause that applies."""
        return np.where(self.holds.any(1), self.holds.argmax(1), len(CAUSES) - 1)

    def counts(self) -> dict[str, int]:
        """How many failed queries each cause explains; they add up to all of them."""
        counts = np.bincount(self.cause, minlength=len(CAUSES))
        return dict(zip(CAUSES, counts.tolist(), strict=True))


def find_causes(stored: Stored, between: Between = lambda: None) -> Failures:
    """Find the cause of every failed query.

    Args:
        stored: one evaluation; where a query failed, with at least one neighbour per sample.
        between: called after each block of rows; may raise Cancelled.
    """
    rows, searched = stored.failed, stored.searched()
    nearest = stored.near[rows, 0] if len(rows) else np.empty(0, np.int64)
    gap = stored.gaps(rows, nearest, between)
    typical_gap = _typical_gap(stored, searched, between)
    agreed, votes, voters = _votes(stored, rows, searched)
    occurrences = occurrences_of(stored, searched)
    typical_r = _typical_r(stored)
    own, other, other_label = _proxies(stored, rows, between)
    holds = np.stack(
        [
            gap <= COPY_SHARE * typical_gap,
            (agreed != stored.labels[rows]) & (voters >= FEWEST_VOTERS) & (votes >= np.ceil(AGREEMENT * voters)),
            occurrences.intruders[nearest],
            stored.r[rows] <= RARE_SHARE * typical_r,
            other > own,
        ],
        axis=1,
    )
    return Failures(
        rows, holds, nearest, gap, typical_gap, agreed, votes, voters, typical_r, own, other, other_label, occurrences
    )


def occurrences_of(stored: Stored, searched: np.ndarray | None = None) -> Occurrences:
    """Count how often every sample is among the ten neighbours of others.

    Args:
        stored: one evaluation.
        searched: [n] bool, the samples that can be found; by default `stored.searched()`.
    """
    searched = stored.searched() if searched is None else searched
    near, count = stored.near[:, :VOTERS], len(stored.labels)
    times = np.bincount(near.ravel(), minlength=count)
    wrong = np.bincount(near[stored.labels[near] != stored.labels[:, None]], minlength=count)
    seen = times[searched]
    mean, spread = (float(seen.mean()), float(seen.std())) if len(seen) else (0.0, 0.0)
    return Occurrences(times, wrong, mean, mean + HUB_DEVIATIONS * spread)


def _typical_gap(stored: Stored, searched: np.ndarray, between: Between) -> float:
    rows = np.flatnonzero(searched)
    if not stored.near.shape[1] or not len(rows):
        return float("nan")
    return float(np.median(stored.gaps(rows, stored.near[rows, 0], between)))


def _typical_r(stored: Stored) -> float:
    """Median of r over the classes that have queries."""
    counted = stored.r > 0
    if not counted.any():
        return 0.0
    _, first = np.unique(stored.labels[counted], return_index=True)
    return float(np.median(stored.r[counted][first]))


def _votes(stored: Stored, rows: np.ndarray, searched: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The class [f] that most of the first ten neighbours have, its votes [f] and the number of voters [f]."""
    voted = stored.labels[stored.near[rows, :VOTERS]]  # [f, 10]
    if not voted.size:
        none = np.zeros(len(rows), np.int64)
        return stored.labels[rows], none, none
    same = (voted[:, :, None] == voted[:, None, :]).sum(2)
    agreed = voted[np.arange(len(rows)), same.argmax(1)]  # of a tie the nearest
    known, sizes = np.unique(stored.labels[searched], return_counts=True)
    voters = np.minimum(voted.shape[1], sizes[np.searchsorted(known, agreed)])
    asked = np.arange(voted.shape[1]) < voters[:, None]
    return agreed, ((voted == agreed[:, None]) & asked).sum(1), voters


def _proxies(stored: Stored, rows: np.ndarray, between: Between) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Similarity [f] to the nearest proxy of the own class and of the others, and the label of the latter."""
    own, other = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    label = np.full(len(rows), -1, np.int64)
    if stored.proxies is None or stored.proxy_labels is None or not len(stored.proxies):
        return own, other, label
    proxies, proxy_labels = comparable(stored.proxies, stored.distance), np.asarray(stored.proxy_labels)
    # Where training and test classes differ no query has a proxy of its class.
    judged = np.flatnonzero(np.isin(stored.labels[rows], proxy_labels))
    for start in range(0, len(judged), BLOCK // 8):
        part = judged[start : start + BLOCK // 8]
        scores = _similarities(stored.vectors(rows[part]), proxies, stored.distance)
        same = proxy_labels == stored.labels[rows[part], None]
        own[part] = np.where(same, scores, -np.inf).max(1)
        others = np.where(same, -np.inf, scores)
        best = others.argmax(1)
        nearest = others[np.arange(len(part)), best]
        other[part] = np.where(np.isfinite(nearest), nearest, np.nan)
        label[part] = np.where(np.isfinite(nearest), proxy_labels[best], -1)
        between()
    return own, other, label


def _similarities(vectors: np.ndarray, proxies: np.ndarray, distance: str) -> np.ndarray:
    """[m, p] float64: cosine, or minus the Euclidean distance, of comparable vectors."""
    products = vectors @ proxies.T
    if distance == "cosine":
        return np.asarray(products)
    squares = (vectors**2).sum(1)[:, None] + (proxies**2).sum(1) - 2 * products
    return np.asarray(-np.sqrt(np.maximum(squares, 0)))
