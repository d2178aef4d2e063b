"""One map from embeddings to points, proxies and trust, by any method."""

from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from workbench.files.packages import is_bundle, missing
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.projection.align import align
from workbench.projection.exact import Exact
from workbench.projection.neighbourhoods import Doubt, doubts, kept_share, map_neighbours
from workbench.projection.params import IN_SPACE, PcaParams, TsneParams, UmapParams, dimensions_of, read_params
from workbench.projection.pca import fit_pca
from workbench.projection.trust import NEIGHBOURS, Trust, trust
from workbench.projection.vectors import prepared

LIBRARIES = {
    "pca": ("numpy",),
    "umap": ("umap-learn", "faiss-cpu", "numba", "numpy"),
    "tsne": ("openTSNE", "faiss-cpu", "numpy"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Map:
    """What is stored and drawn."""

    points: np.ndarray  # [n, k] float32, k being 2 or 3
    proxies: np.ndarray | None  # [p, k] float32
    trust: Trust | None  # None for fewer than three points
    params: dict[str, Any]  # all of them, defaults filled in
    versions: dict[str, str]  # of the libraries that drew it
    kept: np.ndarray | None  # [n] float32, fraction of each point's neighbours that the map keeps; None as trust
    doubts: tuple[Doubt, ...]  # doubtful groups of the map


def make_map(
    embeddings: np.ndarray,
    proxies: np.ndarray | None,
    method: str,
    params: dict[str, Any],
    seed: int = 0,
    progress: Progress = quiet,
    before: np.ndarray | None = None,
    labels: np.ndarray | None = None,
) -> Map:
    """Map embeddings [n, d] and proxies [p, d] together.

    Args:
        method: "pca", "umap" or "tsne"; "pca-3d" or "umap-3d" for a map of three dimensions.
        params: fields of PcaParams, UmapParams or TsneParams; missing ones are the defaults.
        progress: called at each stage; may raise Cancelled.
        before: [n, k] the coordinates of the same samples in an earlier map, NaN if unknown: UMAP starts from them,
            and every map is rotated, reflected and shifted to match them.
        labels: [n] int, for a supervised UMAP alone.

    Raises:
        Problem: unknown method, bad parameters, empty or non-finite vectors, widths that differ, missing labels, or no
            openTSNE for t-SNE.
    """
    chosen = read_params(method, params)
    assert isinstance(chosen, PcaParams | UmapParams | TsneParams)
    vectors = prepared(embeddings, chosen.metric)
    stars = None if proxies is None else prepared(proxies, chosen.metric, "class vectors", vectors.shape[1])
    exact, dimensions = Exact(vectors), dimensions_of(method)
    if isinstance(chosen, UmapParams):
        progress("Loading UMAP", 0, 0)
        from workbench.projection.umap_map import umap_map  # takes three seconds, which PCA does not need

        points, placed = umap_map(
            vectors, stars, chosen, seed, progress, before=before, labels=labels, exact=exact, dimensions=dimensions
        )
    elif isinstance(chosen, TsneParams):
        progress("Loading t-SNE", 0, 0)
        if said := missing("t-SNE", "tsne", ("openTSNE",)):
            todo = "" if is_bundle() else "On ARM, pip compiles it and needs a C compiler."
            raise Problem(said, kept="Other maps can be made.", todo=todo)
        from workbench.projection.tsne_map import tsne_map

        points, placed = tsne_map(vectors, stars, chosen, seed, progress, exact=exact)
    else:
        pca = fit_pca(vectors, dimensions)
        points, placed = pca.transform(vectors), None if stars is None else pca.transform(stars)
    if before is not None:
        points, placed = align(points, before, placed)
    progress("Measuring trustworthiness", 0, 0)
    measured = trust(vectors, points, seed=seed)
    kept, doubted = (None, ()) if measured is None else _kept(exact, points, progress)
    versions = {name: version(name) for name in LIBRARIES[method.removesuffix(IN_SPACE)]}
    return Map(points, placed, measured, chosen.model_dump(), versions, kept, doubted)


def _kept(exact: Exact, points: np.ndarray, progress: Progress) -> tuple[np.ndarray, tuple[Doubt, ...]]:
    true, _ = exact.others(NEIGHBOURS, progress)
    shown, farthest = map_neighbours(points)
    return kept_share(true, shown), doubts(points, true, shown, farthest)
