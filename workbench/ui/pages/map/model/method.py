"""A request for a map: method, distance, parameters and seed, and whether a stored map fits it. No Qt."""

from dataclasses import dataclass
from typing import Any

from workbench.projection.axes import ACROSS, UP, Direction
from workbench.projection.params import IN_SPACE
from workbench.projection.subset import AT_MOST, LIMITED, MOST_POINTS, mark
from workbench.workspace.rows import Projection

METHODS = {
    "umap": "UMAP", "tsne": "t-SNE", "pca": "PCA", "umap-3d": "UMAP 3-D", "pca-3d": "PCA 3-D", "plane": "Plane",
    "axes": "Custom axes",
}  # fmt: skip
METRICS = {"cosine": "Cosine", "l2": "L2"}
AT_ONCE = ("pca", "pca-3d", "plane", "axes")  # drawn without the analysis process
NOT_STORED_BEFORE = {"target_weight": 0.0}  # the value in maps stored before the parameter existed
Request = dict[str, Any]  # to the analysis process: method, params, seed, and optionally most and only


@dataclass(frozen=True, slots=True)
class MapMethod:
    """A method and all parameters, including those that only other methods use.

    Args:
        method: key of METHODS. metric: key of METRICS.
        n_neighbors, min_dist: UMAP's. perplexity: t-SNE's.
        target_weight: UMAP's weight of the labels, 0..1; None: the labels are not used.
        x, y: the directions of custom axes.
        max_points: if there are more images, UMAP and t-SNE map a sample of this size, stratified by class.
    """

    method: str = "umap"
    metric: str = "cosine"
    n_neighbors: int = 15
    min_dist: float = 0.1
    target_weight: float | None = None
    perplexity: float = 30.0
    max_points: int = MOST_POINTS
    seed: int = 0
    x: Direction = ACROSS
    y: Direction = UP

    @property
    def base(self) -> str:
        """The method without the number of dimensions: "umap" for "umap" and "umap-3d"."""
        return self.method.removesuffix(IN_SPACE)

    def request(self, only: list[int] | None = None) -> Request:
        """The request to the analysis process; `only`: ids of the samples that are mapped, None for all."""
        params: dict[str, Any] = {"metric": self.metric}
        if self.base == "umap":
            params |= {"n_neighbors": self.n_neighbors, "min_dist": self.min_dist}
            if self.target_weight is not None:
                params["target_weight"] = self.target_weight
        elif self.method == "tsne":
            params["perplexity"] = self.perplexity
        elif self.method == "axes":
            params |= {"x": self.x.plain(), "y": self.y.plain()}
        limit = {"most": self.max_points} if self.method in LIMITED else {}
        isolated = {} if only is None else {"only": only}
        return {"method": self.method, "params": params, "seed": self.seed, **limit, **isolated}


def fits(stored: Projection, wanted: Request) -> bool:
    """Whether a stored map fits a request: same samples, method, parameters, limit and seed."""
    params = {**NOT_STORED_BEFORE, **wanted["params"]} if wanted["method"].startswith("umap") else wanted["params"]
    return (
        stored.method == wanted["method"]
        and stored.seed == wanted["seed"]
        and stored.params.get(AT_MOST, MOST_POINTS) == wanted.get("most", MOST_POINTS)
        and stored.params.get("only", "") == (mark(wanted["only"]) if "only" in wanted else "")
        and all(stored.params.get(name, NOT_STORED_BEFORE.get(name)) == value for name, value in params.items())
    )
