"""UMAP from umap-learn's own parts, on exact faiss neighbours and a PCA start; proxies through the fitted map.

Seeded and on one thread, so that a seed gives one map. umap-learn starts from a spectral layout and takes 500 epochs up
to 10,000 points; from the PCA start 200 reach the same trustworthiness (within 0.002 on 10,000 points of MNIST).
"""

import warnings
from dataclasses import dataclass

import faiss
import numpy as np
from scipy.sparse import coo_matrix

from workbench.problem import Problem
from workbench.projection.params import UmapParams
from workbench.projection.pca import fit_pca
from workbench.projection.vectors import Report, quiet

with warnings.catch_warnings():  # umap-learn says that Tensorflow is missing, which nothing here needs
    warnings.simplefilter("ignore", ImportWarning)
    import umap.layouts as layouts
    import umap.umap_ as umap

MOST_POINTS = 200_000
FEWEST_POINTS = 4  # below this there is no neighbourhood to lay out: the start is the map
BLOCK = 4_096  # queries searched between two reports
SPREAD = 10.0  # side of the square that the start fills, as in umap-learn
WARM_RATE = 0.25  # of the layout's steps, when it starts from an earlier map (measured: docs/benchmarks.md)
NEGATIVES = 5  # negative samples per positive one

# umap-learn compiles these anew in every process (10 s); numba can keep them on disk.
for _compiled in (
    umap.smooth_knn_dist,
    umap.compute_membership_strengths,
    layouts._nb_optimize_layout_euclidean_single_epoch,
):
    _compiled.enable_caching()


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """Exact neighbours of fitted points; vectors are unit length for cosine."""

    index: faiss.Index
    metric: str

    def nearest(self, vectors: np.ndarray, k: int, report: Report) -> tuple[np.ndarray, np.ndarray]:
        """Rows [q, k] int32 and distances [q, k] float32, nearest first."""
        rows = np.empty((len(vectors), k), dtype=np.int32)
        distances = np.empty((len(vectors), k), dtype=np.float32)
        for start in range(0, len(vectors), BLOCK):
            report("Searching neighbours", start, len(vectors))
            part = slice(start, start + BLOCK)
            distances[part], rows[part] = self.index.search(vectors[part], k)
        if self.metric == "cosine":
            return rows, np.maximum(1 - distances, 0)
        return rows, np.sqrt(np.maximum(distances, 0))


def umap_map(
    vectors: np.ndarray,
    proxies: np.ndarray | None,
    params: UmapParams,
    seed: int,
    report: Report = quiet,
    epochs: int | None = None,
    before: np.ndarray | None = None,
    labels: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Lay out points, then place proxies among them without moving them.

    Args:
        vectors: [n, d] float32, as vectors.prepared gives them. proxies: [p, d] or None.
        params: n_neighbors counts the point itself, as in umap-learn, and is lowered to n where there are fewer.
        seed: of the layout; the same seed gives the same map on one machine.
        report: told of each stage; may raise Cancelled.
        epochs: of the layout; by default 200 to 500, more for fewer points.
        before: [n, 2] the places of the points in an earlier map, from which the layout then starts instead of from
            PCA; NaN for points that it had not, which start amid those of their neighbours that it had.
        labels: [n] int, when params.target_weight is not 0: points of different classes are then held apart.

    Returns:
        points [n, 2] and proxies [p, 2] float32, or None.

    Raises:
        Problem: more than 200,000 points, or a target weight without labels.
    """
    count = len(vectors)
    if count > MOST_POINTS:
        raise Problem(
            f"UMAP of {count:,} points would take too much time and memory; the limit is {MOST_POINTS:,}.",
            todo="Use PCA for this evaluation.",
        )
    if params.target_weight and labels is None:
        raise Problem("A supervised map needs the classes of its points.", todo="Set the target weight to 0.")
    pca = fit_pca(vectors)
    start = pca.transform(vectors)
    if count < FEWEST_POINTS or np.abs(start).max() == 0:  # nothing to lay out, or all points are one
        return start, None if proxies is None else pca.transform(proxies)
    epochs = epochs or int(np.clip(2_000_000 // count, 200, 500))
    search = _search(vectors, params.metric)
    neighbours = min(params.n_neighbors, count)
    random = np.random.RandomState(seed)
    a, b = umap.find_ab_params(1.0, params.min_dist)
    rows, distances = _with_self_first(*search.nearest(vectors, neighbours, report))
    report("Weighing neighbours", 0, 0)
    graph, _, _ = umap.fuzzy_simplicial_set(vectors, neighbours, random, params.metric, {}, rows, distances)
    warm = before is not None and bool(np.isfinite(before).all(1).any())
    if before is not None and warm:
        start = _filled(before, rows)
    if params.target_weight and labels is not None:
        far = 2.5 / (1 - params.target_weight)  # as umap-learn does for its categorical target metric
        graph = umap.discrete_metric_simplicial_set_intersection(graph, labels, far_dist=far)
    points, _ = umap.simplicial_set_embedding(
        vectors, graph, n_components=2, initial_alpha=WARM_RATE if warm else 1.0, a=a, b=b, gamma=1.0,
        negative_sample_rate=NEGATIVES, n_epochs=epochs, init=_start(start, random), random_state=random,
        metric=params.metric, metric_kwds={}, densmap=False, densmap_kwds={}, output_dens=False,
        euclidean_output=True, parallel=False, tqdm_kwds=_progress(report, "Laying out points"),
    )  # fmt: skip
    if proxies is None:
        return points, None
    rows, distances = search.nearest(proxies, neighbours, quiet)
    return points, _place(rows, distances, points, (a, b), epochs // 3, random, report)


def warm_up(report: Report = quiet) -> None:
    """Compile, or load from disk, all that umap_map runs: the first map then costs no more than others."""
    vectors = np.random.default_rng(0).normal(size=(300, 8)).astype(np.float32)
    umap_map(vectors, vectors[:3], UmapParams(metric="l2"), 0, report, epochs=9)


def _search(vectors: np.ndarray, metric: str) -> _Search:
    index = faiss.IndexFlatIP(vectors.shape[1]) if metric == "cosine" else faiss.IndexFlatL2(vectors.shape[1])
    index.add(vectors)
    return _Search(index, metric)


def _with_self_first(rows: np.ndarray, distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every point as its own first neighbour at distance 0, as umap-learn expects, also among copies of it."""
    own = np.arange(len(rows), dtype=rows.dtype)[:, None]
    found = rows == own
    last = rows.shape[1] - 1
    drop = np.where(found.any(axis=1), found.argmax(axis=1), last)[:, None]
    keep = np.arange(last + 1) != drop
    rest = (len(rows), last)
    return (
        np.hstack([own, rows[keep].reshape(rest)]),
        np.hstack([np.zeros((len(rows), 1), dtype=np.float32), distances[keep].reshape(rest)]),
    )


def _start(points: np.ndarray, random: np.random.RandomState) -> np.ndarray:
    """A map, scaled, with a little noise so that no two points and no axis are one."""
    noise = random.normal(scale=1e-4, size=points.shape)
    return (points * (SPREAD / np.abs(points).max()) + noise).astype(np.float32)


def _filled(before: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Places [n, 2] around (0, 0): those without one get the mean of their neighbours' places, or the middle."""
    centred = before - np.nanmean(before, axis=0)
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
    report: Report,
) -> np.ndarray:
    """New points in a fitted map, as umap-learn's `transform` does: start at the mean of neighbours, points stay."""
    sigmas, rhos = umap.smooth_knn_dist(distances, float(rows.shape[1]), local_connectivity=0.0)
    heads, tails, weights, _ = umap.compute_membership_strengths(rows, distances, sigmas, rhos, bipartite=True)
    graph = coo_matrix((weights, (heads, tails)), shape=(len(rows), len(points)))
    placed = umap.init_graph_transform(graph.tocsr(), points)
    graph.data[graph.data < graph.data.max() / epochs] = 0.0
    graph.eliminate_zeros()
    state = random.randint(np.iinfo(np.int32).min + 1, np.iinfo(np.int32).max - 1, 3).astype(np.int64)
    return layouts.optimize_layout_euclidean(
        placed, points.copy(), graph.row, graph.col, epochs, len(points),
        umap.make_epochs_per_sample(graph.data, epochs), *curve, state, 1.0, 0.25, NEGATIVES,
        tqdm_kwds=_progress(report, "Placing proxies"),
    )  # fmt: skip


class _ProgressFile:
    """Where the layout's progress bar writes: every line becomes a report."""

    def __init__(self, report: Report, text: str) -> None:
        self._report, self._text = report, text

    def write(self, line: str) -> None:
        done, found, total = line.strip().partition("/")
        if found:
            self._report(self._text, int(done), int(total))

    def flush(self) -> None:
        """Nothing is kept back."""


def _progress(report: Report, text: str) -> dict[str, object]:
    """Settings of umap-learn's progress bar that make it report ten times a second."""
    return {
        "disable": False, "file": _ProgressFile(report, text), "bar_format": "{n_fmt}/{total_fmt}", "desc": text,
        "mininterval": 0.1, "leave": False,
    }  # fmt: skip
