"""What the map shows, without a widget: points, labels, groups of colour, and which points lie in a region."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from workbench.problem import Problem
from workbench.projection.pca import fit_pca
from workbench.projection.vectors import prepared
from workbench.ui import theme
from workbench.ui.pages.map.kept_colouring import kept_groups
from workbench.ui.pages.map.sample_rows import SampleRows
from workbench.ui.pages.map.spatial import PointIndex
from workbench.workspace import Workspace
from workbench.workspace.rows import Projection
from workbench.workspace.stored_maps import kept_neighbours, start_epoch

COLOURINGS = {"class": "Class", "verdict": "Right or wrong", "ap": "Average precision", "kept": "Neighbourhood kept"}
AP_STEPS = 5
AP_COLOURS = ("#B3261E", "#D55E00", "#E69F00", "#56B4E9", "#0072B2")  # low to high, told apart without red and green
NEUTRAL = "#8A8F98"  # on both themes: a seventh class, and samples without a score
GOLDEN = 0.618034
DISC, CROSS = 0, 1  # how points of a group are drawn


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
    index: PointIndex | None = None  # of the points, where a thread has made it
    rows: SampleRows | None = None  # of the ids, likewise
    evaluation: int = 0  # its number
    made: Projection | None = None  # the stored map; None for one that is only shown
    kept: np.ndarray | None = None  # [n] share of each point's true neighbours that the map keeps, in 0..1 or NaN

    def class_name(self, label: int) -> str:
        """The name of a label; its number where the data set is not known."""
        return self.class_names[label] if label < len(self.class_names) else str(label)

    def verdict(self, row: int) -> str:
        """Whether the first neighbour of a point is of its class, as a sign and words."""
        if np.isnan(self.ap[row]):
            return "no other image of its class"
        return "✓ first neighbour right" if self.right[row] else "✗ first neighbour wrong"


@dataclass(slots=True, eq=False)
class Groups:
    """A colouring: a group number per point, and each group's name, colour and shape."""

    of: np.ndarray  # [n] int
    names: list[str]
    colours: np.ndarray  # [g] uint32, 0xFFRRGGBB
    labels: np.ndarray | None = None  # [g] the class of each group, when colouring by class
    crosses: frozenset[int] = frozenset()  # groups drawn as crosses instead of discs
    counts: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.counts = np.bincount(self.of, minlength=len(self.names))


def by_pca(workspace: Workspace, evaluation_id: int, metric: str = "") -> MapData:
    """The evaluation's principal components, by "cosine" or "l2": as it was evaluated unless one is given.

    Raises:
        Problem: when its embeddings are missing or not finite.
    """
    metric = metric or workspace.evaluation(evaluation_id).distance
    embeddings = workspace.vectors(evaluation_id)
    found = workspace.proxies(evaluation_id)
    vectors = prepared(embeddings, metric)
    fitted = fit_pca(vectors)
    stars = None if found is None else fitted.transform(prepared(found[0], metric, "proxies", vectors.shape[1]))
    said = f"PCA ({metric}), {sum(fitted.share):.0%} of the variance"
    return _data(workspace, evaluation_id, fitted.transform(vectors), stars, said, "pca")


def stored(workspace: Workspace, evaluation_id: int, projection_id: int) -> MapData:
    """A map from the workspace, with its parameters in the caption. Raises Problem when it is gone."""
    made = next((each for each in workspace.projections(evaluation_id) if each.id == projection_id), None)
    if made is None:
        raise Problem("This map is not in the workspace any more.", todo="Choose its method again to draw it anew.")
    points, proxies = workspace.coordinates(projection_id)
    said = f"{made.method.upper()} ({_told(made.params)}), seed {made.seed}{_trusted(made)}"
    start = start_epoch(workspace, made)
    if start is not None:
        said += f", starts from epoch {start}"
    data = _data(workspace, evaluation_id, points, proxies, said, made.method)
    return replace(data, made=made, kept=kept_neighbours(workspace, made.id))


def _trusted(made: Projection) -> str:
    """Trustworthiness and continuity, and of how many points where it was not all."""
    parts = (("trustworthiness", made.trustworthiness), ("continuity", made.continuity))
    said = "".join(f", {name} {value:.4f}" for name, value in parts if value is not None)
    return said if made.trust_queries is None else f"{said} (of {made.trust_queries:,} points)"


def _told(params: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in params.items())


def _data(
    workspace: Workspace, evaluation_id: int, points: np.ndarray, proxies: np.ndarray | None, said: str, method: str
) -> MapData:
    queries, run = workspace.queries(evaluation_id), workspace.run(workspace.evaluation(evaluation_id).run_id)
    found = workspace.proxies(evaluation_id)
    if len(points) != len(queries.sample_ids):
        raise Problem("The stored map does not belong to this evaluation.", todo="Evaluate the run again.")
    finite = int(np.isfinite(points).all(1).sum())
    return MapData(
        points=points,
        proxies=proxies,
        proxy_labels=np.empty(0, np.int64) if found is None or proxies is None else found[1],
        ids=queries.sample_ids,
        labels=queries.labels,
        ap=queries.ap,
        right=queries.right,
        class_names=() if run.dataset_id is None else workspace.dataset(run.dataset_id).class_names,
        caption=f"{finite:,} of {len(points):,} test images   ·   {said}",
        method=method,
        index=PointIndex(points),
        rows=SampleRows(queries.sample_ids),
        evaluation=evaluation_id,
    )


def grouped(data: MapData, colouring: str, tokens: theme.Tokens | None = None) -> Groups:
    """The points by "class", "verdict" or "ap", in the colours of a theme: the one on screen unless one is given."""
    tokens = tokens or theme.current()
    alone = np.isnan(data.ap)
    if colouring == "verdict":
        names = ["✓ Right", "✗ Wrong", "No other of its class"]
        of = np.where(alone, 2, np.where(data.right, 0, 1))
        return _without_empty(Groups(of, names, rgb(tokens.right, tokens.wrong, NEUTRAL), crosses=frozenset({1})))
    if colouring == "ap":
        steps = np.minimum((np.nan_to_num(data.ap) * AP_STEPS).astype(int), AP_STEPS - 1)
        names = [f"AP {100 * low // AP_STEPS} to {100 * (low + 1) // AP_STEPS} %" for low in range(AP_STEPS)]
        of = np.where(alone, AP_STEPS, steps)
        return _without_empty(Groups(of, [*names, "No other of its class"], rgb(*AP_COLOURS, NEUTRAL)))
    if colouring == "kept":
        of, names, inks = kept_groups(data.kept, len(data.ids))
        return _without_empty(Groups(of, names, rgb(*inks)))
    present, of = _numbered(data.labels)
    names = [data.class_name(each) for each in present.tolist()]
    return Groups(of, names, class_colours(len(present), tokens.dark), labels=present)


def _numbered(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The labels there are, ascending, and which of them each of [n] is. Small ones are counted: sorting is slow."""
    if not len(labels) or labels.min() < 0 or labels.max() > len(labels):
        return np.unique(labels, return_inverse=True)
    there = np.bincount(labels) > 0
    return np.flatnonzero(there), (np.cumsum(there) - 1)[labels]


def _without_empty(groups: Groups) -> Groups:
    """The last group stands in the legend only where there is something in it."""
    if groups.counts[-1]:
        return groups
    return Groups(groups.of, groups.names[:-1], groups.colours[:-1], crosses=groups.crosses)


def rgb(*colours: str) -> np.ndarray:
    """ "#RRGGBB" as 0xFFRRGGBB, uint32 [g]."""
    return np.array([0xFF000000 | int(colour[1:], 16) for colour in colours], np.uint32)


def class_colours(count: int, dark: bool) -> np.ndarray:
    """Okabe-Ito up to 7 classes; beyond that hues that lie far apart for neighbours in the list. uint32 [count]."""
    if count <= 7:
        return rgb(*theme.OKABE_ITO[:6], NEUTRAL)[:count]
    place = np.arange(count)
    light = np.array((0.62, 0.72, 0.52) if dark else (0.45, 0.36, 0.55))[place % 3]
    return _from_hsl(place * GOLDEN % 1, 0.75, light)


def _from_hsl(hue: np.ndarray, saturation: float, light: np.ndarray) -> np.ndarray:
    """Hue, saturation and lightness in 0..1 as 0xFFRRGGBB."""
    reach = saturation * np.minimum(light, 1 - light)
    made = np.full(len(hue), 0xFF, np.uint32)
    for start in (0, 8, 4):  # red, green, blue
        turn = (start + hue * 12) % 12
        channel = light - reach * np.clip(np.minimum(turn - 3, 9 - turn), -1, 1)
        made = made << np.uint32(8) | np.rint(channel * 255).astype(np.uint32)
    return made
