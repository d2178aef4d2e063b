"""What the map shows, without a widget: points, labels, groups of colour, and which points lie in a region."""

from dataclasses import dataclass, field

import numpy as np
from PySide6.QtGui import QColor

from workbench.projection.pca import fit_pca
from workbench.ui import theme
from workbench.workspace import Workspace

COLOURINGS = {"class": "Class", "verdict": "Right or wrong", "ap": "Average precision"}
AP_STEPS = 5
GOLDEN = 0.618034
AP_COLOURS = ("#B3261E", "#D55E00", "#E69F00", "#56B4E9", "#0072B2")  # low to high, told apart without red and green


@dataclass(frozen=True, slots=True, eq=False)
class MapData:
    """One evaluation in two dimensions; rows are in the order of its embeddings."""

    points: np.ndarray  # [n, 2] float32
    proxies: np.ndarray | None  # [p, 2]
    proxy_labels: np.ndarray  # [p]
    ids: np.ndarray  # [n] int64
    labels: np.ndarray  # [n]
    ap: np.ndarray  # [n]
    right: np.ndarray  # [n] bool
    class_names: tuple[str, ...]
    caption: str
    method: str = "pca"


@dataclass(slots=True, eq=False)
class Groups:
    """A colouring: a group number per point, and each group's name and colour."""

    of: np.ndarray  # [n] int
    names: list[str]
    colours: list[QColor]
    counts: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.counts = np.bincount(self.of, minlength=len(self.names))


def by_pca(workspace: Workspace, evaluation_id: int) -> MapData:
    """The evaluation's principal components; by angle when it compares by cosine. Tens of milliseconds for 10,000."""
    evaluation = workspace.evaluation(evaluation_id)
    _, _, embeddings = workspace.embeddings(evaluation_id)
    found = workspace.proxies(evaluation_id)
    vectors, stars = np.asarray(embeddings), None if found is None else found[0]
    if evaluation.distance == "cosine":
        vectors, stars = _unit(vectors), None if stars is None else _unit(stars)
    fitted = fit_pca(vectors)
    points = fitted.transform(vectors)
    said = f"PCA, {sum(fitted.share):.0%} of the variance"
    return _data(workspace, evaluation_id, points, None if stars is None else fitted.transform(stars), said, "pca")


def stored(workspace: Workspace, evaluation_id: int, projection_id: int) -> MapData:
    """A map from the workspace, with its parameters in the caption."""
    made = next(each for each in workspace.projections(evaluation_id) if each.id == projection_id)
    points, proxies = workspace.coordinates(projection_id)
    params = ", ".join(f"{name} {value}" for name, value in made.params.items())
    trust = "" if made.trustworthiness is None else f", trustworthiness {made.trustworthiness:.4f}"
    said = f"{made.method.upper()} ({params}), seed {made.seed}{trust}"
    return _data(workspace, evaluation_id, points, proxies, said, made.method)


def _data(
    workspace: Workspace, evaluation_id: int, points: np.ndarray, proxies: np.ndarray | None, said: str, method: str
) -> MapData:
    queries, run = workspace.queries(evaluation_id), workspace.run(workspace.evaluation(evaluation_id).run_id)
    found = workspace.proxies(evaluation_id)
    names = () if run.dataset_id is None else workspace.dataset(run.dataset_id).class_names
    finite = int(np.isfinite(points).all(1).sum())
    return MapData(
        points=points,
        proxies=proxies,
        proxy_labels=np.empty(0, np.int64) if found is None or proxies is None else found[1],
        ids=queries.sample_ids,
        labels=queries.labels,
        ap=queries.ap,
        right=queries.right,
        class_names=names,
        caption=f"{said}; {finite:,} of {len(points):,} test images",
        method=method,
    )


def grouped(data: MapData, colouring: str) -> Groups:
    """The points by "class", "verdict" or "ap"."""
    tokens = theme.current()
    if colouring == "verdict":
        names = ["✓ first neighbour right", "✗ first neighbour wrong"]
        return Groups(np.where(data.right, 0, 1), names, [QColor(tokens.right), QColor(tokens.wrong)])
    if colouring == "ap":
        steps = np.minimum((np.nan_to_num(data.ap) * AP_STEPS).astype(int), AP_STEPS - 1)
        names = [f"AP {100 * low // AP_STEPS} to {100 * (low + 1) // AP_STEPS} %" for low in range(AP_STEPS)]
        return Groups(steps, names, [QColor(colour) for colour in AP_COLOURS])
    present, of = np.unique(data.labels, return_inverse=True)
    names = [data.class_names[each] if each < len(data.class_names) else str(each) for each in present.tolist()]
    return Groups(of, names, class_colours(len(present), tokens.dark))


def class_colours(count: int, dark: bool) -> list[QColor]:
    """Okabe-Ito up to 7 classes; beyond that hues that lie far apart for neighbours in the list."""
    if count <= 7:
        return [QColor(colour) for colour in theme.OKABE_ITO[:6]][:count] + [QColor("#8A8A8A")] * (count > 6)
    light = (0.62, 0.72, 0.52) if dark else (0.45, 0.36, 0.55)
    return [QColor.fromHslF((place * GOLDEN) % 1, 0.75, light[place % 3]) for place in range(count)]


def inside(points: np.ndarray, outline: np.ndarray) -> np.ndarray:
    """Which of points [n, 2] lie in the closed polygon [m, 2]; bool [n], by the even-odd rule."""
    found = np.zeros(len(points), bool)
    if len(outline) < 3:
        return found
    low, high = outline.min(0), outline.max(0)
    near = np.flatnonzero(((points >= low) & (points <= high)).all(1))
    x, y = points[near, 0], points[near, 1]
    crossed = np.zeros(len(near), bool)
    for (x1, y1), (x2, y2) in zip(outline, np.roll(outline, -1, 0), strict=True):
        if y1 != y2:
            crossed ^= ((y1 > y) != (y2 > y)) & (x < (x2 - x1) * (y - y1) / (y2 - y1) + x1)
    found[near] = crossed
    return found


def _unit(vectors: np.ndarray) -> np.ndarray:
    unit: np.ndarray = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return unit
