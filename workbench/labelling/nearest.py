"""The nearest labelled image of each new one, and at which similarity its class is to be believed. NumPy only.

A new image is given the class of the nearest labelled image if their similarity reaches a threshold, else none. This is
open-set identification by the nearest image, which `results.open_set` measures with half of the classes. Here all are
there: for each labelled image its own class is left out, so that it is an image of an unknown class, and the threshold
is the lowest that at most the wanted share of them reaches (FPIR, false positive identification rate; ISO/IEC
19795-1:2021). With its own class, but without itself, each is an image of a known class.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from workbench.evaluation.conventions import ball_distances, ball_gaps
from workbench.evaluation.intervals import wilson_interval
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.results.open_set import lowest_limit
from workbench.results.stored import Stored, comparable, lengths

BLOCK = 1 << 24  # similarities that are held at once
MOST_QUERIES = 5_000  # labelled images that the threshold is measured with
LEAST = 5  # images of a class whose share is named
SEED = 0
COMPARING = "Comparing with the labelled images"
Share = tuple[float, float, float]  # with the limits of its 95% Wilson interval over queries
DIGITS = 6  # of a similarity in float32: the last ones differ between matrix kernels


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """The searched images of an evaluation, class after class."""

    vectors: np.ndarray  # [m, d] as they are compared: float32 for cosine, else float64
    rows: np.ndarray  # [m] int64 rows of the evaluation
    starts: np.ndarray  # [c] int64 where each class begins
    labels: np.ndarray  # [c] int64, ascending
    distance: str  # as in events.Evaluated


@dataclass(frozen=True, slots=True, eq=False)
class Nearest:
    """For each of q queries its two nearest classes, by the nearest image of each; -1 and -inf where there is none."""

    row: np.ndarray  # [q] int64 rows of the evaluation: the nearest image of the nearest class
    label: np.ndarray  # [q] int64 its class
    similarity: np.ndarray  # [q] float64: cosine, else minus the distance
    second_label: np.ndarray  # [q] int64 the nearest other class
    second_similarity: np.ndarray  # [q] float64


@dataclass(frozen=True, slots=True)
class Threshold:
    """What is given a class from a similarity on, measured with labelled images."""

    fpir: float  # the wanted share of images of unknown classes that are given a class, 0..1
    similarity: float
    queries: int  # labelled images, each as one of an unknown class
    known: int  # of them, those whose class has another image
    named: Share | None  # of these, those that are given a class; None without any
    right: Share | None  # of these, those whose class is right; None without any
    worst: tuple[int, int, int] | None  # the class, left out, of which most reach it: label, how many, of how many


def labelled(stored: Stored) -> Labelled:
    """The images of an evaluation that new ones are compared with.

    Raises:
        Problem: fewer than two classes are searched.
    """
    searched = np.flatnonzero(stored.searched())
    rows = searched[np.argsort(stored.labels[searched], kind="stable")]
    labels, starts = np.unique(stored.labels[rows], return_index=True)
    if len(labels) < 2:
        raise Problem(
            "The searched images of this evaluation are of fewer than two classes.", kept="Nothing was labelled.",
            todo="Choose a run whose test set has more.",
        )  # fmt: skip
    vectors = _compared(stored.embeddings[rows], stored.distance)
    return Labelled(vectors, rows, starts, labels, stored.distance)


def nearest(
    queries: np.ndarray, own: np.ndarray, among: Labelled, progress: Progress = quiet, words: str = COMPARING
) -> Nearest:
    """The two nearest classes of queries.

    Args:
        queries: [q, d] embeddings.
        own: [q] the row of the evaluation that a query is, which is left out; or -1.
        progress: is told of the queries, in these words; may raise Cancelled.
    """
    found_rows, classes = np.empty(len(queries), np.int64), np.full((2, len(queries)), -1)
    ends = np.append(among.starts[1:], len(among.rows))
    similar = np.full((2, len(queries)), -np.inf)
    for part, scores in _similarities(queries, own, among):
        of_class = np.round(np.maximum.reduceat(scores, among.starts, axis=1).astype(np.float64), DIGITS)
        at = np.arange(len(scores))
        for place in range(2):
            best = of_class.argmax(axis=1)
            if place == 0:
                found_rows[part] = [
                    among.rows[low + row[low:high].argmax()]
                    for row, low, high in zip(scores, among.starts[best], ends[best], strict=True)
                ]
            similar[place, part] = of_class[at, best]
            classes[place, part] = np.where(np.isfinite(similar[place, part]), among.labels[best], -1)
            of_class[at, best] = -np.inf
        progress(words, min(part.stop, len(queries)), len(queries))
    return Nearest(found_rows, classes[0], similar[0], classes[1], similar[1])


def _similarities(queries: np.ndarray, own: np.ndarray, among: Labelled) -> Iterator[tuple[slice, np.ndarray]]:
    """Similarities [b, m] of some queries at a time; -inf to the query itself."""
    asked = _compared(queries, among.distance)
    place = np.full(max(int(among.rows.max()), int(own.max(initial=-1))) + 2, -1)
    place[among.rows] = np.arange(len(among.rows))
    itself = np.where(own >= 0, place[own], -1)
    squares = lengths(among.vectors) ** 2
    step = max(1, BLOCK // len(among.rows))
    for start in range(0, len(asked), step):
        part = slice(start, start + step)
        scores = asked[part] @ among.vectors.T
        if among.distance != "cosine":
            of_queries = (lengths(asked[part]) ** 2)[:, None]
            gaps = np.maximum(of_queries - 2 * scores + squares, 0)
            in_ball = among.distance == "hyperbolic"
            scores = -(ball_distances(ball_gaps(gaps, squares, of_queries)) if in_ball else np.sqrt(gaps))
        there = np.flatnonzero(itself[part] >= 0)
        scores[there, itself[part][there]] = -np.inf
        yield part, scores


def _compared(embeddings: np.ndarray, distance: str) -> np.ndarray:
    """Embeddings [m, d] as they are compared; differences of squares need float64."""
    return comparable(embeddings, distance).astype(np.float32 if distance == "cosine" else np.float64, copy=False)


def threshold(stored: Stored, among: Labelled, fpir: float, progress: Progress = quiet) -> Threshold:
    """The lowest similarity that at most a share `fpir` of images of unknown classes reaches.

    Args:
        fpir: more than 0, less than 1.
        progress: is told of the labelled images that it is measured with; may raise Cancelled.

    Raises:
        Problem: there are too few labelled images for so small a share.
    """
    queries = ~stored.searched()  # with a gallery, new images are like the queries
    rows = np.flatnonzero(queries) if queries.any() else np.arange(len(stored.labels))
    rows = np.sort(np.random.default_rng(SEED).permutation(rows)[:MOST_QUERIES])
    if fpir * len(rows) < 1 - 1e-9:
        raise Problem(
            f"A false positive rate of {100 * fpir:g}% cannot be measured with {len(rows):,} labelled images.",
            kept="Nothing was labelled.", todo=f"Ask for {100 / len(rows):.2g}% or more.",
        )  # fmt: skip
    by = nearest(stored.embeddings[rows], rows, among, progress, "Measuring the threshold")
    truth = stored.labels[rows]
    right = by.label == truth
    other = np.where(right, by.second_similarity, by.similarity)  # without its own class
    limit = lowest_limit(other, fpir)
    known = stored.r[rows] > 0
    reach = by.similarity[known] >= limit
    return Threshold(
        fpir, limit, len(rows), int(known.sum()), _share(reach), _share(right[known][reach]),
        _worst(truth, other >= limit),
    )  # fmt: skip


def _worst(truth: np.ndarray, reached: np.ndarray) -> tuple[int, int, int] | None:
    """The class with the highest share of images that reached the threshold without it, of those with LEAST or more."""
    labels, counts = np.unique(truth, return_counts=True)
    hits = np.array([int(reached[truth == label].sum()) for label in labels])
    shares = np.where(counts >= LEAST, hits / counts, -1)
    at = int(shares.argmax())
    return (int(labels[at]), int(hits[at]), int(counts[at])) if shares[at] > 0 else None


def _share(holds: np.ndarray) -> Share | None:
    """The share of those that hold; None without any."""
    if not len(holds):
        return None
    share = float(holds.mean())
    return share, *wilson_interval(share, len(holds))
