"""t-SNE by openTSNE, on exact faiss neighbours and a PCA start; proxies through the fitted map.

On one thread, as UMAP: the result is the same with more, which beside a training run were slower when measured.
For cosine the vectors are of length one and their Euclidean distances are compared: nearest first is the same order.
"""

import logging
from collections.abc import Callable

import numpy as np
from openTSNE import TSNEEmbedding
from openTSNE.affinity import PerplexityBasedNN
from openTSNE.nearest_neighbors import KNNIndex

from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.projection.exact import Exact
from workbench.projection.params import TsneParams
from workbench.projection.pca import fit_pca
from workbench.projection.subset import MOST_POINTS
from workbench.projection.trust import NEIGHBOURS

FEWEST_POINTS = 5  # below this there is no neighbourhood to lay out: the start is the map
EARLY, EXAGGERATION = 250, 12.0  # iterations in which the clusters form, as van der Maaten did
LATE = 500
PLACING = 250  # iterations for the proxies
START = 1e-4  # standard deviation of the start, as in openTSNE
INTERPOLATED_FROM = 10_000  # points from which the repulsion is interpolated (Linderman et al., 2019)
EVERY = 5  # iterations between two reports

logging.getLogger("openTSNE").setLevel(logging.ERROR)  # it warns where the perplexity is lowered, as said below


class ExactNeighbours(KNNIndex):
    """Exact neighbours by Euclidean distance, for openTSNE. data: [n, d] float32; k of them, the point itself not."""

    VALID_METRICS = ("euclidean",)

    def __init__(self, data: np.ndarray, exact: Exact, k: int, progress: Progress = quiet) -> None:
        super().__init__(data, k)
        self._exact, self._report = exact, progress

    def build(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows [n, k] and distances [n, k] of the neighbours of each point."""
        return _distances(*self._exact.others(self.k, self._report))

    def query(self, query: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows and distances [q, k] of the nearest points to other vectors [q, d]."""
        return _distances(*self._exact.nearest(query, k, self._report))


def _distances(rows: np.ndarray, squares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.ascontiguousarray(rows), np.sqrt(squares, dtype=np.float64)


def tsne_map(
    vectors: np.ndarray,
    proxies: np.ndarray | None,
    params: TsneParams,
    seed: int,
    progress: Progress = quiet,
    iterations: tuple[int, int] = (EARLY, LATE),
    exact: Exact | None = None,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Lay out points, then place proxies among them without moving them.

    Args:
        vectors: [n, d] float32, as vectors.prepared gives them. proxies: [p, d] or None.
        params: the perplexity is lowered to (n - 1) / 3 where there are fewer points.
        seed: of the small noise of the start; the same seed gives the same map on one machine.
        progress: called at each stage; may raise Cancelled.
        iterations: of the two phases.
        exact: of these vectors, where there is one.

    Returns:
        points [n, 2] and proxies [p, 2] float32, or None.

    Raises:
        Problem: more than 200,000 points.
    """
    count = len(vectors)
    if count > MOST_POINTS:
        raise Problem(
            f"t-SNE of {count:,} points would take too much time and memory; the limit is {MOST_POINTS:,}.",
            todo="Map a sample of them, or use PCA.",
        )
    pca = fit_pca(vectors)
    start = pca.transform(vectors)
    if count < FEWEST_POINTS or np.abs(start).max() == 0:  # nothing to lay out, or all points are one
        return start, None if proxies is None else pca.transform(proxies)
    perplexity = min(params.perplexity, (count - 1) / 3)
    exact = exact or Exact(vectors)
    exact.others(max(int(3 * perplexity), NEIGHBOURS), progress)  # one search for these and the kept ones
    index = ExactNeighbours(np.ascontiguousarray(vectors), exact, min(count - 1, int(3 * perplexity)), progress)
    affinities = PerplexityBasedNN(perplexity=perplexity, knn_index=index, n_jobs=1, random_state=seed)
    random = np.random.default_rng(seed)
    scaled = start / start[:, 0].std() * START if start[:, 0].std() > 0 else start
    early, late = iterations
    embedding = TSNEEmbedding(
        scaled + random.normal(scale=START / 100, size=start.shape),  # no two points in one place
        affinities,
        negative_gradient_method="fft" if count >= INTERPOLATED_FROM else "bh",
        random_state=seed,
        n_jobs=1,
        callbacks_every_iters=EVERY,
    )
    for number, exaggeration, momentum, done in ((early, EXAGGERATION, 0.5, 0), (late, 1.0, 0.8, early)):
        embedding.optimize(
            number, inplace=True, exaggeration=exaggeration, momentum=momentum, learning_rate="auto",
            callbacks=_telling(progress, "Optimising layout", done, early + late),
        )  # fmt: skip
    middle = (np.max(embedding, axis=0) + np.min(embedding, axis=0)) / 2  # `transform` moves the map there itself
    embedding -= middle
    points = np.array(embedding, np.float32)
    if proxies is None:
        return points, None
    progress("Placing class vectors", 0, 0)
    stars = embedding.prepare_partial(np.ascontiguousarray(proxies), perplexity=min(5.0, perplexity), k=10)
    stars.optimize(
        PLACING, inplace=True, exaggeration=1.5, momentum=0.8, learning_rate=0.1, max_grad_norm=0.25,
        callbacks=_telling(progress, "Placing class vectors", 0, PLACING), callbacks_every_iters=EVERY,
    )  # fmt: skip
    return points, np.array(stars, np.float32)


def _telling(progress: Progress, text: str, before: int, total: int) -> list[Callable[[int, float, np.ndarray], bool]]:
    """openTSNE's callbacks; what `progress` raises ends the work."""

    def tell(iteration: int, error: float, embedding: np.ndarray) -> bool:
        progress(text, before + iteration, total)
        return False

    return [tell]
