"""Agreement of k-means clusters with classes (NMI), by torch: scikit-learn stays in the analysis process."""

from __future__ import annotations  # `help` shows ArrayLike, not the types behind it

from collections.abc import Callable
from typing import get_args

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from workbench.evaluation.plain_arrays import array_of, labels_of
from workbench.events import Distance
from workbench.problem import Problem

ROUNDS = 100  # of k-means, at most
BLOCK = 2**23  # distances in memory at once (32 MB)


def nmi(
    embeddings: ArrayLike,
    labels: ArrayLike,
    distance: Distance = "cosine",
    seed: int = 0,
    device: str = "cpu",
    between: Callable[[], None] = lambda: None,
) -> float:
    """Normalised mutual information, in 0..1 with the arithmetic mean, of k-means clusters and classes.

    Args:
        embeddings: [n, d] finite, also lists and tensors; brought to unit length for "cosine"; of "hyperbolic" the
            points in the ball, as they are.
        labels: [n] numbers or names; k is the number of distinct ones.
        distance: "cosine", "l2" or "hyperbolic".
        seed: of the k-means++ start; one start, as is usual in metric learning.
        between: called often; may raise to cancel.

    Raises:
        Problem: no embeddings, lengths that differ, embeddings that are not finite, or an unknown distance.
    """
    if distance not in get_args(Distance):
        raise Problem(f"There is no distance named {distance!r}.", todo=f"Known: {', '.join(get_args(Distance))}.")
    vectors = array_of(embeddings)
    if vectors.ndim != 2 or 0 in vectors.shape:
        raise Problem(f"Embeddings must be a table of at least one row and one column, not {vectors.shape}.")
    classes = labels_of(labels, len(vectors))
    with_double = "cpu" if torch.device(device).type == "mps" else device  # Apple's GPU has no float64
    if not vectors.flags.writeable:  # as those of a workspace, of which torch warns
        vectors = vectors.copy()
    points = _in_range(torch.as_tensor(vectors, device=with_double), by_row=distance == "cosine")
    if distance == "cosine":
        points = torch.nn.functional.normalize(points)
    return agreement(classes, _k_means(points, len(np.unique(classes)), seed, between).cpu().numpy())


def _in_range(points: Tensor, by_row: bool) -> Tensor:
    """The points as float32, scaled so that their squares are in its range; clusters do not depend on the scale.

    By powers of two, which leave every digit as it is. A zero row stays zero.
    """
    points = points if points.dtype == torch.float64 else points.float()
    if not bool(torch.isfinite(points).all()):
        raise Problem("Embeddings with NaN or infinity cannot be clustered.", todo="Evaluate an earlier checkpoint.")
    largest = points.abs().amax(1, keepdim=True) if by_row else points.abs().amax()
    exponent = torch.frexp(largest).exponent
    # In two steps, because 2^-exponent alone may be out of range.
    return torch.ldexp(torch.ldexp(points, -(exponent // 2)), -(exponent - exponent // 2)).float()


def agreement(labels: np.ndarray, clusters: np.ndarray) -> float:
    """Mutual information of two partitions [n], divided by the mean of their entropies; 1 where both are one part."""
    first, second = (np.unique(partition, return_inverse=True)[1] for partition in (labels, clusters))
    joint = np.unique(first.astype(np.int64) * (second.max() + 1) + second, return_counts=True)[1]
    entropies = [_entropy(counts) for counts in (np.bincount(first), np.bincount(second), joint)]
    mean = (entropies[0] + entropies[1]) / 2
    return 1.0 if mean == 0 else float(np.clip((entropies[0] + entropies[1] - entropies[2]) / mean, 0, 1))


def _entropy(counts: np.ndarray) -> float:
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def _k_means(points: Tensor, k: int, seed: int, between: Callable[[], None]) -> Tensor:
    """Cluster [n] of every point: k-means++ start, then Lloyd's rounds until nothing moves."""
    centres = _start(points, k, seed, between)
    clusters = torch.full((len(points),), -1, device=points.device)
    for _ in range(ROUNDS):
        nearest, gaps = _nearest(points, centres, between)
        if torch.equal(nearest, clusters):
            break
        clusters = nearest
        counts = torch.bincount(clusters, minlength=len(centres))
        sums = torch.zeros_like(centres).index_add_(0, clusters, points)
        centres = sums / counts.clamp_min(1)[:, None]
        empty = (counts == 0).nonzero().flatten()
        centres[empty] = points[gaps.topk(len(empty)).indices]  # to the points farthest from their centres
    return clusters


def _start(points: Tensor, k: int, seed: int, between: Callable[[], None]) -> Tensor:
    """Centres [at most k, d]: each next one drawn in proportion to the squared distance to those before."""
    generator = torch.Generator().manual_seed(seed)
    chosen = [int(torch.randint(len(points), (1,), generator=generator))]
    gaps = torch.full((len(points),), torch.inf, device=points.device)
    while len(chosen) < k:
        between()
        gaps = torch.minimum(gaps, (points - points[chosen[-1]]).square().sum(1))
        reached = gaps.double().cumsum(0)
        if reached[-1] <= 0:
            break  # only copies of centres are left
        draw = torch.rand(1, generator=generator, dtype=torch.float64).to(reached) * reached[-1]
        chosen.append(min(int(torch.searchsorted(reached, draw, right=True)), len(points) - 1))
    return points[chosen]


def _nearest(points: Tensor, centres: Tensor, between: Callable[[], None]) -> tuple[Tensor, Tensor]:
    """The nearest centre [n] of every point, and the squared distance to it [n]."""
    nearest, gaps = [], []
    lengths = centres.square().sum(1)
    for block in points.split(max(1, BLOCK // len(centres))):
        between()
        least = torch.addmm(lengths, block, centres.T, alpha=-2).min(1)
        nearest.append(least.indices)
        gaps.append(least.values + block.square().sum(1))
    return torch.cat(nearest), torch.cat(gaps)
