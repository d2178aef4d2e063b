"""What the map shows, without a widget: points, labels, groups of colour, and which points lie in a region."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.problem import Problem
from workbench.projection.pca import fit_pca
from workbench.projection.subset import among, rows_of
from workbench.projection.vectors import prepared
from workbench.workspace import Workspace

METHODS = {"umap": "UMAP", "tsne": "t-SNE", "pca": "PCA", "plane": "Plane"}
AT_ONCE = ("pca", "plane")  # need no analysis process
WORDS = {"target_weight": "supervised by class, target_weight"}
Only = list[int] | None  # ids of the samples that are mapped; None: all


@dataclass(frozen=True, slots=True, eq=False)
class MapData:
    """One evaluation in two dimensions; rows are in the order of its embeddings."""

    points: np.ndarray  # [n, 2] float32
    proxies: np.ndarray | None  # [p, 2]
    proxy_labels: np.ndarray  # [p]
    ids: np.ndarray  # [n] int64
    labels: np.ndarray  # [n]
    ap: np.ndarray  # [n]; NaN where the class has no other sample
    right: np.ndarray  # [n] bool
    class_names: tuple[str, ...]
    caption: str
    method: str = "pca"
    width: int = 0  # dimensions of the embeddings
    evaluation: int = 0

    def class_name(self, label: int) -> str:
        """The name of a label; its number where the data set is not known."""
        return self.class_names[label] if label < len(self.class_names) else str(label)

    def verdict(self, row: int) -> str:
        """Whether the first neighbour of a point is of its class, as a sign and words."""
        if np.isnan(self.ap[row]):
            return "no other image of its class"
        return "✓ first neighbour right" if self.right[row] else "✗ first neighbour wrong"


@dataclass(frozen=True, slots=True)
class Scale:
    """What a continuous legend shows."""

    title: str
    low: float
    high: float
    without: int  # points that have no value


@dataclass(slots=True, eq=False)
class Groups:
    """A colouring: a group number per point, and each group's name, colour and shape."""

    of: np.ndarray  # [n] int
    names: list[str]
    colours: np.ndarray  # [g] uint32, 0xFFRRGGBB
    labels: np.ndarray | None = None  # [g] the class of each group, when colouring by class
    crosses: frozenset[int] = frozenset()  # groups drawn as crosses instead of discs
    scale: Scale | None = None  # of a colouring by a number: the groups are its steps
    placed: np.ndarray | None = None  # bool [n], points that are counted; None: all
    counts: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        counted = self.of if self.placed is None else self.of[self.placed]
        self.counts = np.bincount(counted, minlength=len(self.names))


def at_once(workspace: Workspace, evaluation_id: int, wanted: dict[str, Any]) -> MapData:
    """The map that needs no waiting: the plane of two-dimensional embeddings where it is wanted, else PCA.

    Args:
        wanted: method, params and seed as the analysis process takes them, and perhaps `only`, ids of samples.

    Raises:
        Problem: embeddings that are missing, not finite or, for the plane, of other than two dimensions.
    """
    make = by_plane if wanted["method"] == "plane" else by_pca
    return make(workspace, evaluation_id, wanted["params"]["metric"], wanted.get("only"))


def by_pca(workspace: Workspace, evaluation_id: int, metric: str = "", only: Only = None) -> MapData:
    """The evaluation's principal components, by "cosine" or "l2": as it was evaluated unless one is given.

    Raises:
        Problem: when its embeddings are missing or not finite.
    """
    metric = metric or workspace.evaluation(evaluation_id).distance
    ids, _, embeddings = workspace.embeddings(evaluation_id)
    rows = rows_of(ids, only)
    vectors = prepared(embeddings[rows], metric)
    fitted = fit_pca(vectors)
    points = among(fitted.transform(vectors), rows, len(ids))
    stars = _stars(workspace, evaluation_id, metric, vectors.shape[1])
    said = f"PCA ({metric}), {sum(fitted.share):.0%} of the variance"
    places = None if stars is None else fitted.transform(stars)
    return _data(workspace, evaluation_id, points, places, said, "pca", vectors.shape[1])


def by_plane(workspace: Workspace, evaluation_id: int, metric: str = "", only: Only = None) -> MapData:
    """Two-dimensional embeddings as they are, on the unit circle for "cosine". Raises Problem as `at_once`."""
    metric = metric or workspace.evaluation(evaluation_id).distance
    ids, _, embeddings = workspace.embeddings(evaluation_id)
    if embeddings.shape[1] != 2:
        raise Problem(
            f"These embeddings have {embeddings.shape[1]:,} dimensions; the plane shows those that have two.",
            todo="Choose PCA, UMAP or t-SNE.",
        )
    rows = rows_of(ids, only)
    points = among(prepared(embeddings[rows], metric), rows, len(ids))
    stars = _stars(workspace, evaluation_id, metric, 2)
    how = "unit vectors" if metric == "cosine" else "as they are"
    return _data(workspace, evaluation_id, points, stars, f"the embeddings' own plane ({how})", "plane", 2)


def stored(workspace: Workspace, evaluation_id: int, projection_id: int) -> MapData:
    """A map from the workspace, with its parameters in the caption. Raises Problem when it is gone."""
    made = next((each for each in workspace.projections(evaluation_id) if each.id == projection_id), None)
    if made is None:
        raise Problem("This map is not in the workspace any more.", todo="Choose its method again to draw it anew.")
    points, proxies = workspace.coordinates(projection_id)
    trust = "" if made.trustworthiness is None else f", trustworthiness {made.trustworthiness:.4f}"
    said = f"{METHODS.get(made.method, made.method)} ({_told(made.params)}), seed {made.seed}{trust}"
    return _data(workspace, evaluation_id, points, proxies, said, made.method)


def _told(params: dict[str, Any]) -> str:
    """The parameters; not the set of samples, which is counted, nor the weight of classes that were not used."""
    said = {name: value for name, value in params.items() if name != "only" and (name != "target_weight" or value)}
    return ", ".join(f"{WORDS.get(name, name)} {value}" for name, value in said.items())


def _stars(workspace: Workspace, evaluation_id: int, metric: str, width: int) -> np.ndarray | None:
    """Proxies [p, width] as the metric sees them."""
    found = workspace.proxies(evaluation_id)
    return None if found is None else prepared(found[0], metric, "proxies", width)


def _data(
    workspace: Workspace,
    evaluation_id: int,
    points: np.ndarray,
    proxies: np.ndarray | None,
    said: str,
    method: str,
    width: int = 0,
) -> MapData:
    queries, run = workspace.queries(evaluation_id), workspace.run(workspace.evaluation(evaluation_id).run_id)
    found = workspace.proxies(evaluation_id)
    if len(points) != len(queries.sample_ids):
        raise Problem("The stored map does not belong to this evaluation.", todo="Evaluate the run again.")
    placed = np.isfinite(points).all(1)
    if found is not None and proxies is not None and not placed.all():  # stars of classes that are not on this map
        proxies = np.where(np.isin(found[1], queries.labels[placed])[:, None], proxies, np.nan)
    return MapData(
        points=points,
        proxies=proxies,
        proxy_labels=np.empty(0, np.int64) if found is None or proxies is None else found[1],
        ids=queries.sample_ids,
        labels=queries.labels,
        ap=queries.ap,
        right=queries.right,
        class_names=() if run.dataset_id is None else workspace.dataset(run.dataset_id).class_names,
        caption=f"{int(placed.sum()):,} of {len(points):,} test images   ·   {said}",
        method=method,
        width=width or workspace.vectors(evaluation_id).shape[1],
        evaluation=evaluation_id,
    )


def inside(points: np.ndarray, outline: np.ndarray) -> np.ndarray:
    """Which of points [n, 2] lie in the closed polygon [m, 2]; bool [n], by the even-odd rule.

    Points are sorted by height once, so that an edge looks only at those between its two ends.
    """
    found = np.zeros(len(points), bool)
    if len(outline) < 3:
        return found
    low, high = outline.min(0), outline.max(0)
    near = np.flatnonzero(((points >= low) & (points <= high)).all(1))
    near = near[np.argsort(points[near, 1], kind="stable")]
    x, y = points[near].astype(float).T
    crossed = np.zeros(len(near), bool)
    for (x1, y1), (x2, y2) in zip(outline.tolist(), np.roll(outline, -1, 0).tolist(), strict=True):
        if y1 != y2:
            span = slice(*np.searchsorted(y, (min(y1, y2), max(y1, y2))))
            crossed[span] ^= x[span] < (x2 - x1) * (y[span] - y1) / (y2 - y1) + x1
    found[near] = crossed
    return found
