"""The threshold of similarity for "same or different" at a wanted rate of false accepts, with its interval."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.evaluation.conventions import Between
from workbench.problem import Problem
from workbench.results.open_set import lowest_limit
from workbench.results.stored import Stored

MOST_IMAGES = 3_000  # all pairs of up to this many images are counted; of more images, about this many are drawn
RESAMPLES, LEVEL = 200, 0.95
BINS = 80  # of the histograms
ROOM = 4  # times the wanted false accepts are kept for resampling
DIGITS = 10  # of a similarity: the last ones differ between matrix kernels
SEED = 0


@dataclass(frozen=True, slots=True)
class OfClass:
    """One class at the threshold of all, and at a threshold of its own. Fractions of pairs."""

    label: int
    false_accepts: float  # of its pairs with other classes
    accepts: float  # of its own pairs; NaN without any
    own_limit: float  # at which its false accepts are as wanted


@dataclass(frozen=True, slots=True)
class Limit:
    """The threshold from which a pair counts as one class. Intervals are 95%, images drawn with replacement."""

    wanted: float  # share of pairs of two classes accepted at most
    similarity: float
    similarity_range: tuple[float, float]
    false_accepts: float  # what it is at the threshold
    accepts: float  # share of pairs of one class
    accepts_range: tuple[float, float]
    equal_error: float  # where false accepts and false rejects are the same
    images: int
    same_pairs: int
    other_pairs: int
    edges: list[float]  # [BINS + 1] of the histograms
    same: list[float]  # [BINS] shares of the pairs of one class
    other: list[float]
    classes: list[OfClass]  # most false accepts first


def limit_of(stored: Stored, wanted: float, between: Between = lambda: None) -> Limit:
    """Find the threshold for an evaluation's embeddings as they were trained.

    Args:
        wanted: in 0..1, exclusive.
        between: called now and then; may raise Cancelled.

    Raises:
        Problem: a rate outside 0..1, no pair of one class, or no pair of two.
    """
    if not 0 < wanted < 1:
        raise Problem(f"The share of false accepts must lie between 0 and 1, not at {wanted:g}.")
    rows = _drawn(stored.labels)
    labels = np.unique(stored.labels[rows], return_inverse=True)[1]
    first, second, similar = _pairs(stored, rows, between)
    same = labels[first] == labels[second]
    if same.all() or not same.any():
        raise Problem("A threshold needs pairs of one class and pairs of two.")
    positives, negatives = similar[same], similar[~same]
    limit = lowest_limit(negatives, wanted)
    limits, accepts = _resampled(labels, first, second, similar, same, wanted, between)
    edges = np.linspace(float(similar.min()), float(similar.max()), BINS + 1)
    return Limit(
        wanted, limit, _range(limits), float((negatives >= limit).mean()), float((positives >= limit).mean()),
        _range(accepts), equal_error(positives, negatives), len(rows), len(positives), len(negatives), edges.tolist(),
        _shares(positives, edges), _shares(negatives, edges),
        _by_class(np.unique(stored.labels[rows]), labels, (first, second, similar, same), limit, wanted),
    )  # fmt: skip


def equal_error(positives: np.ndarray, negatives: np.ndarray) -> float:
    """The rate at which false accepts and false rejects are the same, or the mean of both where they cross."""
    limits = np.unique(np.concatenate([positives, negatives]))
    rejected = np.searchsorted(np.sort(positives), limits) / len(positives)
    accepted = 1 - np.searchsorted(np.sort(negatives), limits) / len(negatives)
    at = int(np.abs(rejected - accepted).argmin())
    return float((rejected[at] + accepted[at]) / 2)


def _drawn(labels: np.ndarray) -> np.ndarray:
    """Rows of about MOST_IMAGES images, of each class in proportion, at least two.

    Of more classes than half as many, as many are drawn, those with more images more often.
    """
    if len(labels) <= MOST_IMAGES:
        return np.arange(len(labels))
    random, rows = np.random.default_rng(SEED), []
    classes, counts = np.unique(labels, return_counts=True)
    if len(classes) > MOST_IMAGES // 2:
        chosen = random.choice(len(classes), MOST_IMAGES // 2, replace=False, p=counts / len(labels))
        classes, counts = classes[chosen], counts[chosen]
    share = MOST_IMAGES / counts.sum()
    for label in classes:
        members = np.flatnonzero(labels == label)
        rows.append(random.permutation(members)[: max(2, round(share * len(members)))])
    return np.sort(np.concatenate(rows))


def _pairs(stored: Stored, rows: np.ndarray, between: Between) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First and second image [p] of every pair (places in `rows`), and how similar they are [p] float64."""
    vectors = stored.vectors(rows)
    first, second = np.triu_indices(len(rows), 1)
    squares = np.einsum("ij,ij->i", vectors, vectors)
    similar = np.empty(len(first))
    start = 0
    for row in range(len(rows) - 1):
        end = start + len(rows) - 1 - row
        products = vectors[row + 1 :] @ vectors[row]
        if stored.distance == "l2":
            similar[start:end] = -np.sqrt(np.maximum(squares[row] + squares[row + 1 :] - 2 * products, 0))
        else:
            similar[start:end] = products
        start = end
        if row % 256 == 0:
            between()
    return first, second, np.round(similar, DIGITS)


def _resampled(
    labels: np.ndarray, first: np.ndarray, second: np.ndarray, similar: np.ndarray, same: np.ndarray, wanted: float,
    between: Between,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The threshold and the share of accepted pairs of one class [RESAMPLES] when images are drawn with replacement.

    A pair counts as often as the product of how often its two images were drawn. Of the pairs of two classes only the
    most similar can decide: ROOM times as many as are wanted are kept.
    """
    random, count = np.random.default_rng(SEED), len(labels)
    negative = np.flatnonzero(~same)
    kept = min(len(negative), max(200, int(ROOM * wanted * len(negative))))
    top = negative[np.argpartition(-similar[negative], kept - 1)[:kept]]
    top = top[np.argsort(-similar[top], kind="stable")]
    positive = np.flatnonzero(same)
    positive = positive[np.argsort(-similar[positive], kind="stable")]
    limits, accepts = np.empty(RESAMPLES), np.empty(RESAMPLES)
    members = np.eye(int(labels.max()) + 1)[labels]
    for at in range(RESAMPLES):
        times = random.multinomial(count, np.full(count, 1 / count)).astype(np.float64)
        others = (times.sum() ** 2 - ((times @ members) ** 2).sum()) / 2
        passed = np.cumsum(times[first[top]] * times[second[top]])
        allowed = min(int(np.searchsorted(passed, wanted * others, side="right")), kept - 1)
        limits[at] = np.nextafter(similar[top[allowed]], np.inf)
        weights = times[first[positive]] * times[second[positive]]
        reached = int(np.searchsorted(-similar[positive], -limits[at], side="right"))
        accepts[at] = weights[:reached].sum() / max(weights.sum(), 1)
        between()
    return limits, accepts


def _range(values: np.ndarray) -> tuple[float, float]:
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def _shares(similar: np.ndarray, edges: np.ndarray) -> list[float]:
    return [float(share) for share in np.histogram(similar, edges)[0] / len(similar)]


def _by_class(
    names: np.ndarray, labels: np.ndarray, pairs: Sequence[np.ndarray], limit: float, wanted: float
) -> list[OfClass]:
    """Each class by itself; `pairs`: first, second, similarity, whether of one class."""
    first, second, similar, same = pairs
    sides = np.concatenate([labels[first[~same]], labels[second[~same]]])  # a pair counts for both of its classes
    both = np.concatenate([similar[~same], similar[~same]])
    order = np.argsort(sides, kind="stable")
    starts = np.searchsorted(sides[order], np.arange(len(names) + 1))
    of_own = labels[first[same]]
    classes = []
    for number, name in enumerate(names.tolist()):
        negatives = both[order[starts[number] : starts[number + 1]]]
        positives = similar[same][of_own == number]
        accepts = float((positives >= limit).mean()) if len(positives) else float("nan")
        own_limit = lowest_limit(negatives, wanted)
        classes.append(OfClass(int(name), float((negatives >= limit).mean()), accepts, own_limit))
    return sorted(classes, key=lambda one: -one.false_accepts)
