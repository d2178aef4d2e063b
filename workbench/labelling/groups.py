"""Groups of images that are given no class: each may be a new class. Average linkage, cut where labelled images say.

The cut is the one at which groups of the labelled images agree most with their classes, by the adjusted Rand index
(Hubert and Arabie, 1985): 1 is the same, 0 what chance gives.
"""

from dataclasses import dataclass

import numpy as np

from workbench.evaluation.conventions import ball_distances, ball_gaps
from workbench.results.stored import Stored, comparable, lengths

MOST_LABELLED = 1_500  # labelled images on which the cut is chosen
MOST_GROUPED = 5_000  # images that are grouped: their distances are held at once
CUTS = 128  # heights that are tried
SEED = 0


@dataclass(frozen=True, slots=True)
class Cut:
    """The distance at which average linkage of the labelled images is cut."""

    distance: float  # for cosine 1 - cosine
    agreement: float  # adjusted Rand index of groups and classes of the labelled images
    images: int  # labelled ones, on which it was chosen


def cut_of(stored: Stored) -> Cut:
    """Choose the cut on up to MOST_LABELLED images of an evaluation; of whole classes, so that groups are as large."""
    from sklearn.metrics import adjusted_rand_score  # late: it takes a second

    random, rows = np.random.default_rng(SEED), np.empty(0, np.int64)
    for label in random.permutation(np.unique(stored.labels)):
        of_class = np.flatnonzero(stored.labels == label)
        if len(rows) + len(of_class) > MOST_LABELLED and len(rows):
            break
        rows = np.concatenate([rows, of_class[:MOST_LABELLED]])
    if len(rows) < 2:
        return Cut(0.0, 0.0, len(rows))
    tree, labels = _tree(stored.embeddings[rows], stored.distance), stored.labels[rows]
    merges = np.unique(tree[:, 2])
    # New images are not as near as these at a merge; under the first all are alone, as where each class has one image.
    between = np.concatenate([merges[:1] / 2, (merges[1:] + merges[:-1]) / 2, merges[-1:]])
    heights = np.unique(np.quantile(between, np.linspace(0, 1, CUTS), method="nearest"))
    scores = np.array([adjusted_rand_score(labels, _at(tree, height)) for height in heights])
    best = np.flatnonzero(scores == scores.max())
    middle = int(best[len(best) // 2])
    return Cut(float(heights[middle]), float(scores[middle]), len(rows))


def groups(embeddings: np.ndarray, distance: str, cut: Cut) -> np.ndarray:
    """The group [n] of each embedding [n, d], from 1, the largest first; 0 for one that is alone.

    Args:
        embeddings: at most MOST_GROUPED, finite.
    """
    if len(embeddings) < 2:
        return np.zeros(len(embeddings), np.int64)
    numbers: np.ndarray = _at(_tree(embeddings, distance), cut.distance)
    sizes = np.bincount(numbers)
    order = np.argsort(-sizes, kind="stable")
    rank: np.ndarray = np.zeros(len(sizes), np.int64)
    several = order[sizes[order] > 1]
    rank[several] = np.arange(1, len(several) + 1)
    return np.asarray(rank[numbers])


def _tree(embeddings: np.ndarray, distance: str) -> np.ndarray:
    """The merges of average linkage, as scipy's `linkage` gives them [n - 1, 4]."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    vectors = comparable(embeddings, distance)
    products = vectors @ vectors.T
    if distance == "cosine":
        gaps = np.maximum(1 - products, 0)
    else:
        squares = lengths(vectors) ** 2
        between = np.maximum(squares[:, None] - 2 * products + squares, 0)
        in_ball = distance == "hyperbolic"
        gaps = ball_distances(ball_gaps(between, squares[:, None], squares)) if in_ball else np.sqrt(between)
    np.fill_diagonal(gaps, 0)
    return np.asarray(linkage(squareform((gaps + gaps.T) / 2, checks=False), method="average"))


def _at(tree: np.ndarray, height: float) -> np.ndarray:
    """The group of each image when the tree is cut at this height."""
    from scipy.cluster.hierarchy import fcluster

    return np.asarray(fcluster(tree, height, criterion="distance"), np.int64)
