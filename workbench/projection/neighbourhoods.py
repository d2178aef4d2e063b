"""Which neighbours of the embedding a map keeps, and which groups of the map are none in the embedding."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import ConvexHull, QhullError, cKDTree

from workbench.projection.trust import NEIGHBOURS
from workbench.projection.vectors import Report, quiet

BLOCK = 4_096  # points looked at between two reports
STEP = 3.0  # times the median distance to the k-th neighbour of the map: longer steps lie between groups
LEAST = 2 * NEIGHBOURS  # points of a group that is judged
LEAST_SHARE = 0.01  # of all points, for the same
STAYING = 0.5  # of the true neighbours must lie in the group
PIECE = 0.1  # of a group that must be cut off from the rest to count as a piece


@dataclass(frozen=True, slots=True)
class Doubt:
    """A group of the map that is no group in the embedding."""

    count: int  # points of the group
    stay: float  # share of its points' true neighbours that lie in it, in 0..1
    pieces: int  # parts of it without a true neighbour in each other
    outline: list[tuple[float, float]]  # its convex hull, in the map's coordinates

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def true_neighbours(vectors: np.ndarray, k: int = NEIGHBOURS, report: Report = quiet) -> np.ndarray:
    """The k nearest other points of each by Euclidean distance, nearest first: int64 [n, min(k, n - 1)].

    Args:
        vectors: [n, d] float32 as vectors.prepared gives them: of unit length for cosine, where the ranks are the same.
    """
    import faiss  # most of a second, which a map without neighbours does not need

    k = min(k, len(vectors) - 1)
    index = faiss.IndexFlatL2(vectors.shape[1])
    centred = np.ascontiguousarray(vectors - vectors.mean(axis=0), np.float32)  # near points keep their digits
    index.add(centred)
    found = np.empty((len(vectors), k), np.int64)
    for start in range(0, len(vectors), BLOCK):
        report("Looking for true neighbours", start, len(vectors))
        rows = np.arange(start, min(start + BLOCK, len(vectors)))
        found[rows] = _others(index.search(centred[rows], k + 1)[1], rows)
    return found


def map_neighbours(points: np.ndarray, k: int = NEIGHBOURS) -> tuple[np.ndarray, np.ndarray]:
    """The same on the map: rows int64 [n, k] and the distance [n] to the farthest of them."""
    k = min(k, len(points) - 1)
    distances, rows = cKDTree(points).query(points, k + 1)
    return _others(rows, np.arange(len(points))), distances[:, -1]


def _others(rows: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Without the point itself; among more copies than neighbours it may be missing, and the last one goes."""
    same = rows == own[:, None]
    drop = np.where(same.any(axis=1), same.argmax(axis=1), rows.shape[1] - 1)
    keep = np.arange(rows.shape[1]) != drop[:, None]
    return np.asarray(rows[keep].reshape(len(rows), -1), np.int64)


def kept_share(true: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """The share [n] float32 of each point's true neighbours [n, k] that are among those shown [n, k] on the map."""
    found = np.empty(len(true), np.float32)
    for start in range(0, len(true), BLOCK):
        part = slice(start, start + BLOCK)
        found[part] = (true[part, :, None] == shown[part, None, :]).any(axis=2).mean(axis=1)
    return found


def map_groups(points: np.ndarray, shown: np.ndarray, farthest: np.ndarray) -> np.ndarray:
    """Groups [n] int of a map: what hangs together by steps to map neighbours of at most 3 median neighbourhoods."""
    count, k = shown.shape
    heads, tails = np.repeat(np.arange(count), k), shown.ravel()
    short = np.linalg.norm(points[heads] - points[tails], axis=1) <= STEP * np.median(farthest)
    return _parts(heads[short], tails[short], count)


def doubts(points: np.ndarray, true: np.ndarray, shown: np.ndarray, farthest: np.ndarray) -> tuple[Doubt, ...]:
    """Groups of the map that the embedding does not know, largest first.

    A group is doubted when less than half of the true neighbours of its points lie in it, or when it consists of
    two or more pieces, each of at least a tenth of it, without one true neighbour in common. Groups below 30 points or
    1% of all are not judged.
    """
    of = map_groups(points, shown, farthest)
    sizes = np.bincount(of)
    stays = (of[true] == of[:, None]).mean(axis=1)
    found = []
    for group in np.argsort(-sizes, kind="stable").tolist():
        if sizes[group] < max(LEAST, LEAST_SHARE * len(points)):
            break
        rows = np.flatnonzero(of == group)
        stay, pieces = float(stays[rows].mean()), _pieces(rows, true)
        if stay < STAYING or pieces > 1:
            found.append(Doubt(int(sizes[group]), stay, pieces, _outline(points[rows])))
    return tuple(found)


def _pieces(rows: np.ndarray, true: np.ndarray) -> int:
    """How many large parts of some points have no true neighbour in each other."""
    place = np.full(len(true), -1, np.int64)
    place[rows] = np.arange(len(rows))
    heads, tails = np.repeat(np.arange(len(rows)), true.shape[1]), place[true[rows]].ravel()
    inner = tails >= 0
    sizes = np.bincount(_parts(heads[inner], tails[inner], len(rows)))
    return int((sizes >= PIECE * len(rows)).sum())


def _parts(heads: np.ndarray, tails: np.ndarray, count: int) -> np.ndarray:
    graph = coo_matrix((np.ones(len(heads), np.int8), (heads, tails)), shape=(count, count))
    labels: np.ndarray = connected_components(graph, directed=False)[1]
    return labels


def _outline(points: np.ndarray) -> list[tuple[float, float]]:
    """The convex hull; the two ends where all points lie on a line."""
    try:
        corners = points[ConvexHull(points).vertices]
    except QhullError:
        order = np.lexsort((points[:, 1], points[:, 0]))
        corners = points[order[[0, -1]]]
    return [(float(x), float(y)) for x, y in corners.tolist()]
