"""Whether an embedding is healthy: collapse, dead dimensions, hubs, over-confidence, as numbers and as sentences.

NumPy alone, so that the evaluator, the window and tests share it. Formulas: effective rank of Roy and Vetterli (2007),
alignment and uniformity of Wang and Isola (2020), hubs of Radovanovic et al. (2010).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from workbench.evaluation.conventions import ball_gaps, rows_of_classes
from workbench.numerals import minus, percentage, significant

DEAD = 1e-3  # of the mean variance: a dimension below it is dead
BINS = 60  # of the histograms of similarities
MOST = 2_000  # images that are measured
WATCHED = 1_000  # images of which an evaluation stores the numbers; dead dimensions are always counted on so many
COLLAPSED_RANK, NARROW_SHARE = 2.0, 0.1  # effective rank; fraction of the directions that the classes need
POINT = 0.98  # mean cosine between classes above which all images are one point
OVERLAP = 0.25  # of both histograms: above it positives and negatives are not separated
HUB_TIMES = 10  # times the mean: above it an image is in too many lists
NORM_SPREAD = 0.5  # standard deviation of the norms over their mean
NORM_GROWTH = 100.0  # times the first mean norm: above it the loss falls because norms grow
CONFIDENT_TRAIN, CONFIDENT_TEST = 0.99, 0.2  # accuracy on training images, and how far MAP@R is below it
PREFIX = "geometry/"

OK, NOTE, BAD = "ok", "note", "bad"
DEAD_ONES = "dead dimensions"


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """Measurements of one evaluation's embeddings."""

    numbers: dict[str, float]  # by name without PREFIX; see `numbers_of`
    spectrum: np.ndarray  # [d] singular values over the largest, descending
    variances: np.ndarray  # [d] of each dimension, over at most WATCHED images
    edges: np.ndarray  # [BINS + 1] of the cosines
    positives: np.ndarray  # [BINS] fractions of the pairs within classes
    negatives: np.ndarray  # [BINS] of the pairs between classes


@dataclass(frozen=True, slots=True)
class Alarm:
    """One check of an embedding, in words."""

    level: str  # OK, NOTE or BAD
    title: str
    words: str
    about: str = ""  # DEAD_ONES where the window can show what it is about


def look(embeddings: np.ndarray, labels: np.ndarray, most: int = MOST, distance: str = "cosine") -> Look:
    """Measure embeddings [n, d] finite with labels [n]; of more than `most` images an evenly spread part is taken.

    `distance` is the run's, by which the lists of neighbours are made; similarities are cosines.
    """
    rows = thinned(labels, most)
    vectors, classes = np.asarray(embeddings[rows], np.float64), np.unique(labels[rows], return_inverse=True)[1]
    variances = np.asarray(embeddings[thinned(labels, min(most, WATCHED))], np.float64).var(0)
    centred = vectors - vectors.mean(0)
    values = np.sqrt(np.maximum(np.linalg.eigvalsh(centred.T @ centred)[::-1], 0))
    norms = np.linalg.norm(vectors, axis=1)
    unit = np.divide(vectors, norms[:, None], out=np.zeros_like(vectors), where=norms[:, None] > 0)
    cosines = unit @ unit.T
    first, second = np.triu_indices(len(unit), 1)
    same = classes[first] == classes[second]
    pairs = cosines[first, second]
    edges = np.linspace(min(-0.2, float(pairs.min(initial=0))), 1.0 + 1e-9, BINS + 1)
    positives, negatives = (_shares(pairs[which], edges) for which in (same, ~same))
    numbers = {
        "spectral_rank": _rank(values),
        "dimensions": float(vectors.shape[1]),
        "dead_dimensions": float(len(dead_dimensions(variances))),
        "mean_norm": float(norms.mean()),
        "norm_spread": float(norms.std() / norms.mean()) if norms.any() else float("nan"),
        "overlap": float(np.minimum(positives, negatives).sum()),
        "negative_cosine": float(pairs[~same].mean()) if (~same).any() else float("nan"),
        "positive_cosine": float(pairs[same].mean()) if same.any() else float("nan"),
        "foreign_margin": _foreign_margin(cosines, classes),
        "largest_hub": _largest_hub(cosines if distance == "cosine" else _nearness(vectors, distance)),
        "pairs_uniformity": float(np.log(np.exp(-2 * (2 - 2 * pairs)).mean())) if len(pairs) else float("nan"),
        "pairs_alignment": float((2 - 2 * pairs[same]).mean()) if same.any() else float("nan"),
        "classes": float(classes.max() + 1),
    }
    largest = values[0] if values[0] > 0 else 1.0
    return Look(numbers, values / largest, variances, edges, positives, negatives)


def stored_numbers(seen: Look) -> dict[str, float]:
    """The numbers of a `Look` that an evaluation stores as metrics."""
    kept = ("dead_dimensions", "mean_norm", "norm_spread", "overlap", "foreign_margin", "largest_hub")
    return {f"{PREFIX}{name}": seen.numbers[name] for name in kept}


def alarms(numbers: Mapping[str, float], before: Mapping[str, float] | None = None, accuracy: float | None = None,
           score: float | None = None) -> list[Alarm]:  # fmt: skip
    """Checks for collapse, dead dimensions, overlap of positives and negatives, and hubs; then, if there is something
    to say, for norms, nearest images of other classes, and confidence.

    Args:
        numbers: those of this evaluation. before: those of the network before its first step, for comparison.
        accuracy: on training images, in 0..1. score: MAP@R of the test set, in 0..1.
    """
    return [
        _collapse(numbers, before), _dead(numbers), _parting(numbers, before), _hubs(numbers),
        *_norms(numbers, before), *_margins(numbers), *_confidence(accuracy, score),
    ]  # fmt: skip


def falling_classes(scores: np.ndarray) -> np.ndarray:
    """Columns of classes whose MAP@R falls while the mean rises, the steepest first.

    Args:
        scores: [epochs, K], NaN if a class has no query.
    """
    if len(scores) < 2:
        return np.empty(0, np.int64)
    known = np.isfinite(scores).all(0)
    if not known.any() or scores[-1, known].mean() <= scores[0, known].mean():
        return np.empty(0, np.int64)
    peak = scores[:-1].max(0, initial=-np.inf, where=np.isfinite(scores[:-1]))
    drop = np.where(known, scores[-1] - peak, 0)
    mean_gain = np.nanmean(scores[-1, known]) - np.nanmean(scores[int(np.nanargmax(scores[:-1, known].mean(1))), known])
    falls = np.flatnonzero((drop < -0.02) & (drop < min(0.0, mean_gain)))
    return np.asarray(falls[np.argsort(drop[falls])])


def dead_dimensions(variances: np.ndarray) -> np.ndarray:
    """Numbers [k] int64, from 0, of the dimensions that are dead: all of them where no dimension varies.

    Args:
        variances: [d] of each dimension.
    """
    limit = DEAD * variances.mean() if len(variances) else 0.0
    return np.flatnonzero((variances < limit) | (limit == 0))


def thinned(labels: np.ndarray, most: int) -> np.ndarray:
    """Rows of about `most` images or fewer: the same fraction of each class, evenly spread, at least two of each."""
    if len(labels) <= most:
        return np.arange(len(labels))
    classes = rows_of_classes(labels)
    fewer = [classes[at] for at in np.unique(np.linspace(0, len(classes) - 1, most // 2).astype(int))]
    share = most / sum(len(rows) for rows in fewer)
    counts = [min(len(rows), max(2, round(share * len(rows)))) for rows in fewer]
    return np.sort(np.concatenate([
        rows[np.linspace(0, len(rows) - 1, count).astype(int)] for rows, count in zip(fewer, counts, strict=True)
    ]))  # fmt: skip


def _rank(values: np.ndarray) -> float:
    """exp of the entropy of the normalised singular values; 0 when all embeddings are the same."""
    values = values[values > values[0] * 1e-7] if values[0] > 1e-12 else values[:0]
    if not len(values):
        return 0.0
    share = values / values.sum()
    return float(np.exp(-(share * np.log(share)).sum()))


def _shares(pairs: np.ndarray, edges: np.ndarray) -> np.ndarray:
    counts = np.histogram(pairs, len(edges) - 1, (edges[0], edges[-1]))[0]  # of even bins: no pair is sorted
    return np.asarray(counts / max(1, len(pairs)))


def _foreign_margin(cosines: np.ndarray, classes: np.ndarray) -> float:
    """Median over images of the cosine to the nearest of the same class minus that to the nearest of another."""
    same = classes[:, None] == classes
    other = np.where(same, -np.inf, cosines).max(1)
    np.fill_diagonal(same, False)
    own = np.where(same, cosines, -np.inf).max(1)
    known = np.isfinite(own) & np.isfinite(other)
    return float(np.median((own - other)[known])) if known.any() else float("nan")


def _nearness(vectors: np.ndarray, distance: str) -> np.ndarray:
    """[n, n], the larger the nearer by Euclidean distance: half the squared length of the row's vector less half its
    squared distance; for "hyperbolic" minus the gap."""
    squares = (vectors**2).sum(1)
    nearness = vectors @ vectors.T - squares / 2
    if distance == "hyperbolic":
        return -ball_gaps(squares[:, None] - 2 * nearness, squares[:, None], squares)
    return np.asarray(nearness)


def _largest_hub(nearness: np.ndarray) -> float:
    """In how many lists of ten neighbours the most frequent image is (the mean is ten)."""
    depth = min(10, len(nearness) - 1)
    if depth < 1:
        return float("nan")
    of_others = nearness.copy()
    np.fill_diagonal(of_others, -np.inf)
    near = np.argpartition(-of_others, depth - 1, axis=1)[:, :depth]
    return float(np.bincount(near.ravel(), minlength=len(nearness)).max() * 10 / depth)


def _collapse(numbers: Mapping[str, float], before: Mapping[str, float] | None) -> Alarm:
    rank, needed = numbers["spectral_rank"], min(numbers["classes"] - 1, numbers["dimensions"])
    was = f" It was {before['spectral_rank']:.1f} untrained." if before is not None else ""
    if rank < min(COLLAPSED_RANK, needed) or numbers["negative_cosine"] >= POINT:
        why = f"Images of two classes have a mean cosine of {numbers['negative_cosine']:.3f}"
        return Alarm(BAD, "The embedding has collapsed", f"{why}; the effective rank is {rank:.1f}.{was}")
    if rank < NARROW_SHARE * needed:
        return Alarm(
            NOTE, "The embedding is narrow", f"Effective rank {rank:.1f}; {needed:.0f} tell classes apart.{was}"
        )
    return Alarm(OK, "No collapse", f"Effective rank {rank:.1f} of {numbers['dimensions']:.0f}.{was}")


def _dead(numbers: Mapping[str, float]) -> Alarm:
    dead, of_all = int(numbers["dead_dimensions"]), int(numbers["dimensions"])
    if not dead:
        return Alarm(OK, "No dead dimension", f"Each of {of_all} varies with at least 1/1000 of the mean variance.")
    level = BAD if dead > of_all / 2 else NOTE
    title, words = f"{dead} of {of_all} dimensions are dead", "Their variance is under 1/1000 of the mean."
    return Alarm(level, title, words, DEAD_ONES)


def _parting(numbers: Mapping[str, float], before: Mapping[str, float] | None) -> Alarm:
    was = f", it was {percentage(before['overlap'], 0)} untrained" if before is not None else ""
    words = f"Overlap of their similarities {percentage(numbers['overlap'])}{was}."
    if numbers["overlap"] > OVERLAP:
        return Alarm(NOTE, "Positives and negatives overlap", words)
    return Alarm(OK, "Positives and negatives are separated", words)


def _hubs(numbers: Mapping[str, float]) -> Alarm:
    hub = numbers["largest_hub"]
    if hub > 10 * HUB_TIMES:
        return Alarm(NOTE, "An image is near everything", f"One is in {hub:.0f} lists of ten nearest; the mean is 10.")
    return Alarm(OK, "No large hub", f"The largest is in {hub:.0f} lists of ten nearest; the mean is 10.")


def _norms(numbers: Mapping[str, float], before: Mapping[str, float] | None) -> list[Alarm]:
    norm, spread = numbers["mean_norm"], numbers["norm_spread"]
    if before is not None and norm > NORM_GROWTH * before["mean_norm"] > 0:
        untrained = significant(before["mean_norm"])
        words = f"Their mean is {significant(norm)}, it was {untrained} untrained: "
        words += "a softmax of longer embeddings is more confident."
        return [Alarm(NOTE, "The norms have grown", words)]
    if spread > NORM_SPREAD:
        words = f"Their standard deviation is {percentage(spread, 0)} of their mean, {significant(norm)}; "
        words += "cosines ignore norms."
        return [Alarm(NOTE, "The norms differ widely", words)]
    return []


def _margins(numbers: Mapping[str, float]) -> list[Alarm]:
    margin = numbers["foreign_margin"]
    if not margin < 0:
        return []
    words = minus(f"Median cosine to the nearest image of the class minus that to the nearest other: {margin:.3f}.")
    return [Alarm(NOTE, "Most images are nearest to another class", words)]


def _confidence(accuracy: float | None, score: float | None) -> list[Alarm]:
    if accuracy is None or score is None:
        return []
    words = f"Training accuracy {percentage(accuracy)}, MAP@R {percentage(score)}."
    if accuracy >= CONFIDENT_TRAIN and accuracy - score > CONFIDENT_TEST:
        return [Alarm(NOTE, "Overconfident on training images", words)]
    return []
