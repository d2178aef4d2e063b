"""Groups of images that are given no class: each may be a new class. Average linkage, cut where labelled images say.

The cut is the one at which groups of the labelled images agree most with their classes, by the adjusted Rand index
(Hubert and Arabie, 1985): 1 is the same, 0 what chance gives. Of more than MOST_GROUPED images a draw is grouped; each
of the others joins the group with the least mean distance if the cut allows it, and what joins none is grouped next.
"""

from dataclasses import dataclass

import numpy as np

from workbench.evaluation.conventions import ball_distances, ball_gaps
from workbench.progress import Progress, quiet
from workbench.results.stored import Stored, comparable, lengths

MOST_LABELLED = 1_500  # labelled images on which the cut is chosen
MOST_GROUPED = 10_000  # images whose distances are held at once: 0.4 GB, twice while they are linked
BLOCK = 1 << 22  # distances that are computed at once
CUTS = 128  # heights that are tried
SEED = 0
GROUPING = "Grouping images without a class"


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
    tree, labels = _tree(comparable(stored.embeddings[rows], stored.distance), stored.distance), stored.labels[rows]
    merges = np.unique(tree[:, 2])
    # New images are not as near as these at a merge; under the first all are alone, as where each class has one image.
    between = np.concatenate([merges[:1] / 2, (merges[1:] + merges[:-1]) / 2, merges[-1:]])
    heights = np.unique(np.quantile(between, np.linspace(0, 1, CUTS), method="nearest"))
    scores = np.array([adjusted_rand_score(labels, _at(tree, height)) for height in heights])
    best = np.flatnonzero(scores == scores.max())
    middle = int(best[len(best) // 2])
    return Cut(float(heights[middle]), float(scores[middle]), len(rows))


def groups(embeddings: np.ndarray, distance: str, cut: Cut, progress: Progress = quiet) -> np.ndarray:
    """The group [n] of each embedding [n, d], from 1, the largest first; 0 for one that is alone.

    Args:
        embeddings: finite.
        progress: is told of the images that are grouped; may raise Cancelled.
    """
    vectors, count = comparable(embeddings, distance), len(embeddings)
    numbers, highest = np.zeros(count, np.int64), 0
    rest = np.arange(count) if count <= MOST_GROUPED else np.random.default_rng(SEED).permutation(count)
    while len(rest):
        progress(GROUPING, count - len(rest), count)
        drawn, rest = rest[:MOST_GROUPED], rest[MOST_GROUPED:]
        one = len(drawn) == 1
        of_drawn = np.ones(1, np.int64) if one else _at(_tree(vectors[drawn], distance, progress), cut.distance)
        numbers[drawn] = highest + of_drawn
        joined = _joined(vectors[rest], vectors[drawn], of_drawn, distance, cut, progress)
        numbers[rest[joined > 0]] = highest + joined[joined > 0]
        rest, highest = rest[joined == 0], highest + int(of_drawn.max())
    sizes = np.bincount(numbers, minlength=1)
    order = np.argsort(-sizes, kind="stable")
    rank: np.ndarray = np.zeros(len(sizes), np.int64)
    several = order[sizes[order] > 1]
    rank[several] = np.arange(1, len(several) + 1)
    return np.asarray(rank[numbers])


def gaps_between(first: np.ndarray, others: np.ndarray, distance: str) -> np.ndarray:
    """Distances [q, m] of `comparable` vectors [q, d] and [m, d]: 1 - cosine, else Euclidean or hyperbolic."""
    products = first @ others.T
    if distance == "cosine":
        return np.asarray(np.maximum(1 - products, 0))
    of_first, of_others = (lengths(first) ** 2)[:, None], lengths(others) ** 2
    squares = np.maximum(of_first - 2 * products + of_others, 0)
    return ball_distances(ball_gaps(squares, of_first, of_others)) if distance == "hyperbolic" else np.sqrt(squares)


def _joined(
    vectors: np.ndarray, grouped: np.ndarray, of_grouped: np.ndarray, distance: str, cut: Cut, progress: Progress
) -> np.ndarray:
    """For each vector [q, d] the group of the least mean distance, of those given from 1; 0 if it is over the cut."""
    joined = np.zeros(len(vectors), np.int64)
    order = np.argsort(of_grouped, kind="stable")
    sizes = np.bincount(of_grouped)[1:]
    starts, step = np.cumsum(sizes) - sizes, max(1, BLOCK // len(grouped))
    for start in range(0, len(vectors), step):
        progress(GROUPING, start, len(vectors))
        part = slice(start, start + step)
        means = np.add.reduceat(gaps_between(vectors[part], grouped[order], distance), starts, axis=1) / sizes
        best = means.argmin(axis=1)
        near = means[np.arange(len(best)), best] <= cut.distance
        joined[part] = np.where(near, best + 1, 0)
    return joined


def _tree(vectors: np.ndarray, distance: str, progress: Progress = quiet) -> np.ndarray:
    """The merges of average linkage of `comparable` vectors [n, d], as scipy's `linkage` gives them [n - 1, 4]."""
    from scipy.cluster.hierarchy import linkage

    count = len(vectors)
    pairs, end = np.empty(count * (count - 1) // 2), 0  # row after row, of each row the columns behind it
    step = max(1, BLOCK // count)
    for start in range(0, count, step):
        progress("Comparing images without a class", start, count)
        gaps = gaps_between(vectors[start : start + step], vectors[start:], distance)
        for at, row in enumerate(gaps):
            behind = row[at + 1 :]
            pairs[end : end + len(behind)] = behind
            end += len(behind)
    progress(GROUPING, 0, 0)
    return np.asarray(linkage(pairs, method="average"))


def _at(tree: np.ndarray, height: float) -> np.ndarray:
    """The group of each image when the tree is cut at this height, from 1."""
    from scipy.cluster.hierarchy import fcluster

    return np.asarray(fcluster(tree, height, criterion="distance"), np.int64)
