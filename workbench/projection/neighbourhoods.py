"""Which neighbours of the embedding a map keeps, and which groups of the map are doubtful."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import ConvexHull, QhullError, cKDTree

from workbench.projection.exact import others
from workbench.projection.trust import NEIGHBOURS

BLOCK = 4_096  # points compared at once
STEP = 3.0  # times the median distance to the k-th neighbour on the map: longer steps are between groups
LEAST = 2 * NEIGHBOURS  # points of a group that is judged
LEAST_SHARE = 0.01  # of all points, for the same
STAYING = 0.5  # fraction of the true neighbours that must be in the group
PIECE = 0.1  # fraction of a group that a separate part needs to count as a piece


@dataclass(frozen=True, slots=True)
class Doubt:
    """A doubtful group of the map: its points are no group in the embedding."""

    count: int  # points of the group
    stay: float  # fraction of its points' true neighbours that are in it, in 0..1
    pieces: int  # parts of it without a true neighbour in each other
    outline: list[tuple[float, ...]]  # corners of its convex hull, in the map's coordinates

    def plain(self) -> dict[str, Any]:
        """The fields as a dictionary for JSON."""
        return asdict(self)


def map_neighbours(points: np.ndarray, k: int = NEIGHBOURS) -> tuple[np.ndarray, np.ndarray]:
    """The nearest other points of each on the map, nearest first, and the distance to the farthest of them.

    Returns:
        rows int64 [n, min(k, n - 1)] and distances [n].
    """
    k = min(k, len(points) - 1)
    distances, rows = cKDTree(points).query(points, k + 1)
    return np.asarray(rows[others(rows)].reshape(len(rows), k), np.int64), distances[:, -1]


def kept_share(true: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """The fraction [n] float32 of each point's true neighbours [n, k] among its neighbours [n, k] on the map."""
    shares = np.empty(len(true), np.float32)
    for start in range(0, len(true), BLOCK):
        part = slice(start, start + BLOCK)
        shares[part] = (true[part, :, None] == shown[part, None, :]).any(axis=2).mean(axis=1)
    return shares


def map_groups(points: np.ndarray, shown: np.ndarray, farthest: np.ndarray) -> np.ndarray:
    """Groups [n] int of a map: points connected by steps to map neighbours of at most 3 median neighbourhoods."""
    count, k = shown.shape
    heads, tails = np.repeat(np.arange(count), k), shown.ravel()
    short = np.linalg.norm(points[heads] - points[tails], axis=1) <= STEP * np.median(farthest)
    return _parts(heads[short], tails[short], count)


def doubts(points: np.ndarray, true: np.ndarray, shown: np.ndarray, farthest: np.ndarray) -> tuple[Doubt, ...]:
    """Doubtful groups of the map, largest first.

    A group is doubtful when less than half of the true neighbours of its points are in it. It is also doubtful when it
    falls into pieces that have no true neighbour in each other, at least two of them with a tenth of it or more. Groups
    below 30 points or 1% of all are not judged.
    """
    of = map_groups(points, shown, farthest)
    sizes = np.bincount(of)
    stays = (of[true] == of[:, None]).mean(axis=1)
    doubtful = []
    for group in np.argsort(-sizes, kind="stable").tolist():
        if sizes[group] < max(LEAST, LEAST_SHARE * len(points)):
            break
        rows = np.flatnonzero(of == group)
        stay, pieces = float(stays[rows].mean()), _pieces(rows, true)
        if stay < STAYING or pieces > 1:
            doubtful.append(Doubt(int(sizes[group]), stay, pieces, _outline(points[rows])))
    return tuple(doubtful)


def _pieces(rows: np.ndarray, true: np.ndarray) -> int:
    """The number of large parts of some points that have no true neighbour in each other."""
    index = np.full(len(true), -1, np.int64)
    index[rows] = np.arange(len(rows))
    heads, tails = np.repeat(np.arange(len(rows)), true.shape[1]), index[true[rows]].ravel()
    inner = tails >= 0
    sizes = np.bincount(_parts(heads[inner], tails[inner], len(rows)))
    return int((sizes >= PIECE * len(rows)).sum())


def _parts(heads: np.ndarray, tails: np.ndarray, count: int) -> np.ndarray:
    graph = coo_matrix((np.ones(len(heads), np.int8), (heads, tails)), shape=(count, count))
    labels: np.ndarray = connected_components(graph, directed=False)[1]
    return labels


def _outline(points: np.ndarray) -> list[tuple[float, ...]]:
    """The convex hull; the two ends if all points are on a line."""
    try:
        corners = points[ConvexHull(points).vertices]
    except QhullError:
        order = np.lexsort((points[:, 1], points[:, 0]))
        corners = points[order[[0, -1]]]
    return [tuple(corner) for corner in corners.astype(float).tolist()]
