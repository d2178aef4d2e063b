"""Which of the images without a class to label first: those that are the nearest labelled image of the most others.

Each next image is the one that lessens the sum of all distances to the nearest labelled image most: facility location
(Wei et al., 2015, "Submodularity in data subset selection and active learning"), by the lazy greedy algorithm (Minoux,
1978). docs/results.md compares it with other orders.
"""

from heapq import heapify, heappop, heapreplace

import numpy as np

from workbench.labelling.groups import BLOCK, gaps_between
from workbench.progress import Progress, quiet
from workbench.results.stored import comparable

MOST_RANKED = 10_000  # images whose distances are held at once: 0.4 GB
SEED = 0
ORDERING = "Choosing what to label first"


def typical_first(
    embeddings: np.ndarray, distance: str, similarity: np.ndarray, progress: Progress = quiet
) -> np.ndarray:
    """The place [n] of each image in the order, from 1; 0 for one that is not among MOST_RANKED, which are drawn.

    Args:
        embeddings: [n, d], finite.
        similarity: [n] to the nearest labelled image: cosine, else minus the distance.
        progress: is told of the images that are ordered; may raise Cancelled.
    """
    places, count = np.zeros(len(embeddings), np.int64), len(embeddings)
    drawn = np.arange(count)
    if count > MOST_RANKED:
        drawn = np.sort(np.random.default_rng(SEED).permutation(count)[:MOST_RANKED])
    left = (1 - similarity if distance == "cosine" else -similarity)[drawn].astype(np.float32)
    gaps, gains = _gaps(comparable(embeddings[drawn], distance), distance, left, progress)
    heap = [(-gain, row) for row, gain in enumerate(gains.tolist())]
    heapify(heap)
    place = 0
    while heap:
        row = heap[0][1]
        gain = float(np.maximum(left - gaps[row], 0).sum())
        if len(heap) > 1 and -gain > min(heap[1:3])[0]:  # others may gain more: the gain of none grows
            heapreplace(heap, (-gain, row))
            continue
        heappop(heap)
        np.minimum(left, gaps[row], out=left)
        place += 1
        places[drawn[row]] = place
        if place % 100 == 0:
            progress(ORDERING, place, len(drawn))
    return places


def _gaps(vectors: np.ndarray, distance: str, left: np.ndarray, progress: Progress) -> tuple[np.ndarray, np.ndarray]:
    """All distances [n, n] float32, and what each image would lessen the sum by [n]."""
    count = len(vectors)
    gaps, gains = np.empty((count, count), np.float32), np.empty(count)
    step = max(1, BLOCK // max(1, count))
    for start in range(0, count, step):
        progress("Comparing images without a class", start, count)
        part = slice(start, start + step)
        gaps[part] = gaps_between(vectors[part], vectors, distance)
        gains[part] = np.maximum(left - gaps[part], 0).sum(axis=1)
    return gaps, gains
