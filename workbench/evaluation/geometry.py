"""The shape of an embedding: the spread of classes, the distances between them, the dimensions that are used."""

from __future__ import annotations  # `help` shows ArrayLike, not the types behind it

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import ArrayLike

from workbench.evaluation.plain_arrays import labels_of, rows_of
from workbench.problem import Problem

TALL = 20  # samples per dimension above which the covariance matrix is used
BLOCK = 2**21  # distances in memory at once (16 MB)


def covering_radius(embeddings: ArrayLike, labels: ArrayLike | None = None, centres: int = 1) -> float:
    """Mean over classes of the radius within which `centres` of its own samples cover a class (Gürbüz et al. 2023).

    Args:
        embeddings: [n, d] finite, also lists and tensors; normalise them first for distances on the sphere.
        labels: [n] numbers or names; None: all samples are one class.
        centres: per class, at least 1; a class with fewer samples has radius 0.

    Returns:
        A Euclidean distance. With one centre it is the smallest possible; with more, that of greedy k-center (Gonzalez,
        1985) from that centre, at most twice the smallest possible.

    Raises:
        Problem: empty or non-finite embeddings, lengths that differ, centres that are not an integer of 1 or more.
    """
    return float(covering_radii(embeddings, labels, centres)[:, -1].mean())


def covering_radii(embeddings: ArrayLike, labels: ArrayLike | None = None, centres: int = 1) -> np.ndarray:
    """Radii [K, centres] of every class, in order of label, with 1, 2, ... `centres` centres; see covering_radius."""
    if not isinstance(centres, int | np.integer) or centres < 1:
        raise Problem(f"A covering radius needs a whole number of centres, 1 or more: got {centres!r}.")
    vectors, classes = _checked(embeddings, labels)
    return np.stack([_greedy_radii(vectors[classes == label], centres) for label in range(classes.max() + 1)])


def class_distances(embeddings: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Mean Euclidean distance [K, K] between samples of two classes, in order of label.

    The diagonal is the mean over pairs of different samples of one class; NaN if a class has one sample.
    """
    vectors, classes = _checked(embeddings, labels)
    members = np.eye(classes.max() + 1)[classes]  # [n, K]
    sums = np.zeros((members.shape[1], members.shape[1]))
    for part, squares in _squares(vectors):
        sums += members[part].T @ np.sqrt(squares) @ members
    counts = members.sum(axis=0)
    pairs = np.outer(counts, counts)
    np.fill_diagonal(pairs, counts * (counts - 1))
    return np.divide(sums, pairs, out=np.full_like(sums, np.nan), where=pairs > 0)


def class_shape(embeddings: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """The spread of classes and the distance between them (Gürbüz et al. 2023, CCP, supplement, Section 1.2).

    Args:
        embeddings: [n, d] finite. labels: [n] int. Memory grows with the square of the number of classes.

    Returns:
        radius: mean over classes of the mean covering radius by 1, 2, ... n of a class's own n samples.
        distance: mean over pairs of classes of the mean Euclidean distance of their samples; NaN with one class.

    Raises:
        Problem: empty or non-finite embeddings, lengths that differ.
    """
    of_classes = [embeddings[labels == label] for label in np.unique(labels)]
    radius = np.mean([covering_radii(own, centres=max(1, len(own)))[0].mean() for own in of_classes])
    apart = class_distances(embeddings, labels)
    between = apart[~np.eye(len(apart), dtype=bool)]
    return float(radius), float(between.mean()) if len(between) else float("nan")


def effective_rank(embeddings: np.ndarray) -> float:
    """exp of the entropy of the normalised singular values of the centred embeddings (Roy and Vetterli, 2007).

    Between 1 and min(n - 1, d); 0 when all embeddings are the same.
    """
    vectors, _ = _checked(embeddings, None)
    centred = vectors - vectors.mean(axis=0)
    if len(vectors) > TALL * vectors.shape[1]:  # the same values from the d x d matrix, many times faster
        squares = torch.linalg.eigvalsh(torch.from_numpy(centred.T @ centred)).numpy()
        values = np.sqrt(np.maximum(squares[::-1], 0))
        values = values[values > values[0] * 1e-7]  # smaller ones are rounding errors of the squares
    else:
        values = torch.linalg.svdvals(torch.from_numpy(centred)).numpy()  # NumPy would hold the interpreter lock
    values = values[values > values[0] * max(vectors.shape) * np.finfo(np.float64).eps]
    if np.ptp(vectors, axis=0).max() == 0 or len(values) == 0:
        return 0.0
    share = values / values.sum()
    return float(np.exp(-(share * np.log(share)).sum()))


def alignment_uniformity(embeddings: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """Alignment and uniformity of embeddings on the sphere (Wang and Isola, 2020, Eq. 1 and 2; alpha 2, t 2).

    Args:
        embeddings: [n, d] finite, none of them zero; brought to unit length here. labels: [n] int.

    Returns:
        alignment: mean squared distance over pairs of one class, NaN without such pairs; 0 is best.
        uniformity: log of the mean of exp(-2 squared distance) over all pairs of different samples; lower is more even.
    """
    vectors, classes = _checked(embeddings, labels)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if (norms == 0).any():
        raise Problem("An embedding of length zero has no direction.")
    vectors = vectors / norms
    close = near = pairs = 0.0
    for part, squares in _squares(vectors):
        same = classes[part][:, None] == classes
        pairs += same.sum() - len(squares)  # without pairs of a sample with itself
        near += (squares * same).sum()
        close += np.exp(-2 * squares).sum() - len(squares)
    others = len(vectors) * (len(vectors) - 1)
    return (near / pairs if pairs else float("nan")), (float(np.log(close / others)) if others else float("nan"))


def _checked(embeddings: ArrayLike, labels: ArrayLike | None) -> tuple[np.ndarray, np.ndarray]:
    """Float64 embeddings and classes 0..K-1. Raises Problem."""
    vectors = rows_of(embeddings)
    if vectors.ndim != 2 or 0 in vectors.shape or not np.isfinite(vectors).all():
        raise Problem("Geometry needs a table of finite embeddings with at least one row.")
    if labels is None:
        return vectors, np.zeros(len(vectors), dtype=np.int64)
    return vectors, np.unique(labels_of(labels, len(vectors)), return_inverse=True)[1]


def _squares(vectors: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Blocks of squared distances to all: (rows, [rows, n]); exactly 0 from a sample to itself."""
    centred = vectors - vectors.mean(axis=0)
    norms = (centred**2).sum(axis=1)
    step = max(1, BLOCK // len(vectors))
    for start in range(0, len(vectors), step):
        part = slice(start, min(start + step, len(vectors)))
        squares = np.maximum(norms[part, None] + norms - 2 * centred[part] @ centred.T, 0)
        squares[np.arange(len(squares)), np.arange(start, part.stop)] = 0
        yield part, squares


def _greedy_radii(vectors: np.ndarray, centres: int) -> np.ndarray:
    """Radius after each of `centres` greedy centres of one class."""
    reach = np.concatenate([squares.max(axis=1) for _, squares in _squares(vectors)])
    centre = int(reach.argmin())
    nearest = np.full(len(vectors), np.inf)
    radii = np.empty(centres)
    for count in range(centres):
        nearest = np.minimum(nearest, ((vectors - vectors[centre]) ** 2).sum(axis=1))
        centre = int(nearest.argmax())
        radii[count] = np.sqrt(nearest[centre])
    return radii
