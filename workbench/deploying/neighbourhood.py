"""The nearest gallery images of every gallery image, looked up once for the search methods that need them."""

from dataclasses import dataclass

import numpy as np

from workbench.deploying.ranking import ranked, squared_gaps
from workbench.progress import Progress, quiet


@dataclass(frozen=True, slots=True, eq=False)
class Neighbourhood:
    """Every gallery image's nearest others, best first."""

    rows: np.ndarray  # [n, depth] int64
    gaps: np.ndarray  # [n, depth] float64 squared Euclidean distances
    farthest: np.ndarray  # [n] float64, the largest squared distance to any gallery image


def neighbourhood(gallery: np.ndarray, depth: int, progress: Progress = quiet) -> Neighbourhood:
    """Look up the `depth` nearest others of each image, exactly, in blocks.

    Args:
        gallery: [n, d] float32. depth: in 1..n-1.
        progress: called with the images done after each block; may raise Cancelled.
    """
    count = len(gallery)
    rows, near = np.empty((count, depth), np.int64), np.empty((count, depth))
    farthest = np.empty(count)
    for part, gaps in squared_gaps(gallery, gallery):
        farthest[part] = gaps.max(axis=1)
        gaps[np.arange(len(gaps)), np.arange(count)[part]] = np.inf
        rows[part] = ranked(gaps, depth)
        near[part] = np.take_along_axis(gaps, rows[part], axis=1)
        progress("Looking up the neighbours of all images", part.stop, count)
    return Neighbourhood(rows, near, farthest)
