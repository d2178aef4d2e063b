"""UMAP on umap-learn's graph, exact faiss neighbours and a PCA start; proxies through the fitted map.

Seeded and laid out on one thread (layout.py), so that a seed gives one map. It takes no fewer epochs than umap-learn,
which starts from a spectral layout.
"""

import warnings
from collections.abc import Callable

import numpy as np
from scipy.sparse import coo_matrix

from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.projection.exact import Exact
from workbench.projection.layout import lay_out
from workbench.projection.params import UmapParams
from workbench.projection.pca import fit_pca
from workbench.projection.subset import MOST_POINTS
from workbench.projection.trust import NEIGHBOURS

with warnings.catch_warnings():  # umap-learn says that Tensorflow is missing, which nothing here needs
    warnings.simplefilter("ignore", ImportWarning)
    import umap.umap_ as umap

FEWEST_POINTS = 4  # below this there is no neighbourhood to lay out: the start is the map
POINT_EPOCHS = 5_000_000  # points times epochs of a layout, within the two numbers of epochs below
EPOCHS = 200, 500
SPREAD = 10.0  # side of the square that the start fills, as in umap-learn
NOISE = 1e-4  # of the start, before it is brought to that square
WARM_RATE = 0.25  # of the layout's steps, when it starts from an earlier map (measured: docs/benchmarks.md)
PLACING_RATE = 0.25  # of the steps of proxies, as in umap-learn's transform

# umap-learn compiles these again in every process (10 s); numba can keep them on disk.
for _compiled in (umap.smooth_knn_dist, umap.compute_membership_strengths):
    _compiled.enable_caching()


def umap_map(
    vectors: np.ndarray,
    proxies: np.ndarray | None,
    params: UmapParams,
    seed: int,
    progress: Progress = quiet,
    epochs: int | None = None,
    before: np.ndarray | None = None,
    labels: np.ndarray | None = None,
    exact: Exact | None = None,
    dimensions: int = 2,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Lay out points, then place proxies among them without moving them.

    Args:
        vectors: [n, d] float32, as vectors.prepared gives them. proxies: [p, d] or None.
        params: n_neighbors counts the point itself, as in umap-learn, and is lowered to n where there are fewer.
        seed: of the layout; the same seed gives the same map on one machine.
        progress: called at each stage; may raise Cancelled.
        epochs: of the layout; by default 200 to 500, more for fewer points.
        before: [n, dimensions] coordinates of the points in an earlier map, from which the layout then starts
            instead of PCA; NaN for new points, which start at the mean of their neighbours in that map.
        labels: [n] int, if params.target_weight is not 0: points of different classes are then separated.
        exact: of these vectors, where there is one.
        dimensions: of the map, 2 or 3.

    Returns:
        points [n, dimensions] and proxies [p, dimensions] float32, or None.

    Raises:
        Problem: more than 200,000 points, or a target weight without labels.
    """
    count = len(vectors)
    if count > MOST_POINTS:
        raise Problem(
            f"UMAP of {count:,} points would take too much time and memory; the limit is {MOST_POINTS:,}.",
            todo="Map a sample of them, or use PCA.",
        )
    if params.target_weight and labels is None:
        raise Problem("A supervised map needs the classes of its points.", todo="Set the target weight to 0.")
    pca = fit_pca(vectors, dimensions)
    start = pca.transform(vectors)
    if count < FEWEST_POINTS or np.abs(start).max() == 0:  # nothing to lay out, or all points are one
        return start, None if proxies is None else pca.transform(proxies)
    epochs = epochs or int(np.clip(POINT_EPOCHS // count, *EPOCHS))
    neighbours = min(params.n_neighbors, count)
    random = np.random.RandomState(seed)
    curve = umap.find_ab_params(1.0, params.min_dist)
    exact = exact or Exact(vectors)
    # As many as the shares of kept neighbours will ask for: one search does for both.
    rows, squares = exact.others(max(neighbours - 1, NEIGHBOURS), progress)
    rows, distances = with_self_first(rows[:, : neighbours - 1], squares[:, : neighbours - 1], params.metric)
    progress("Weighting neighbours", 0, 0)
    graph, _, _ = umap.fuzzy_simplicial_set(vectors, neighbours, random, params.metric, {}, rows, distances)
    warm = before is not None and bool(np.isfinite(before).all(1).any())
    if before is not None and warm:
        start = filled(before, rows)
    if params.target_weight and labels is not None:
        far = 2.5 / (1 - params.target_weight)  # as umap-learn does for its categorical target metric
        graph = umap.discrete_metric_simplicial_set_intersection(graph, labels, far_dist=far)
    points = _start(start, random)
    rate = WARM_RATE if warm else 1.0
    lay_out(points, points, graph, curve, epochs, rate, _drawn(random), _telling(progress, "Optimising layout"))
    if proxies is None:
        return points, None
    rows, squares = exact.nearest(proxies, neighbours)
    near = rows.astype(np.int32), _distances(squares, params.metric)
    return points, _place(*near, points, curve, epochs // 3, random, progress)


def warm_up(progress: Progress = quiet) -> None:
    """Compile, or load from disk, all that umap_map needs: the first map then costs no more than others."""
    vectors = np.random.default_rng(0).normal(size=(300, 8)).astype(np.float32)
    umap_map(vectors, vectors[:3], UmapParams(metric="l2"), 0, progress, epochs=9)


def _distances(squares: np.ndarray, metric: str) -> np.ndarray:
    """Float32 distances from squared Euclidean ones of prepared vectors; for cosine one minus the similarity.

    A zero vector has no direction: its distance to every other is one half.
    """
    return np.asarray(squares / 2 if metric == "cosine" else np.sqrt(squares), np.float32)


def with_self_first(rows: np.ndarray, squares: np.ndarray, metric: str) -> tuple[np.ndarray, np.ndarray]:
    """Neighbours [n, k] with each point before them as its own first at distance 0, as umap-learn expects."""
    own = np.arange(len(rows))[:, None]
    zero = np.zeros((len(rows), 1), np.float32)
    return np.hstack([own, rows]).astype(np.int32), np.hstack([zero, _distances(squares, metric)])


def _start(points: np.ndarray, random: np.random.RandomState) -> np.ndarray:
    """A map as float32 [n, k] that fills the square or cube, with a little noise so that no two points are one."""
    noisy = points * (SPREAD / np.abs(points).max()) + random.normal(scale=NOISE, size=points.shape)
    low = noisy.min(axis=0)
    return np.ascontiguousarray(SPREAD * (noisy - low) / (noisy.max(axis=0) - low), np.float32)


def _drawn(random: np.random.RandomState) -> int:
    """A seed for a layout."""
    return int(random.randint(0, 2**63 - 1, dtype=np.int64))


def filled(before: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Coordinates [n, k] around the origin: missing ones are the mean of the neighbours' coordinates, or the origin."""
    centred: np.ndarray = before - np.nanmean(before, axis=0)
    known = np.isfinite(before).all(1)
    for row in np.flatnonzero(~known).tolist():
        near = rows[row][known[rows[row]]]
        centred[row] = centred[near].mean(axis=0) if len(near) else 0.0
    return centred


def _place(
    rows: np.ndarray,
    distances: np.ndarray,
    points: np.ndarray,
    curve: tuple[float, float],
    epochs: int,
    random: np.random.RandomState,
    progress: Progress,
) -> np.ndarray:
    """New points in a fitted map, as umap-learn's `transform` does: start at the mean of neighbours, points stay."""
    sigmas, rhos = umap.smooth_knn_dist(distances, float(rows.shape[1]), local_connectivity=0.0)
    heads, tails, weights, _ = umap.compute_membership_strengths(rows, distances, sigmas, rhos, bipartite=True)
    graph = coo_matrix((weights, (heads, tails)), shape=(len(rows), len(points)))
    placed = np.ascontiguousarray(umap.init_graph_transform(graph.tocsr(), points), np.float32)
    telling = _telling(progress, "Placing class vectors")
    lay_out(placed, points, graph, curve, epochs, PLACING_RATE, _drawn(random), telling)
    return placed


def _telling(progress: Progress, text: str) -> Callable[[int, int], None]:
    return lambda done, total: progress(text, done, total)
