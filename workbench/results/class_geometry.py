"""The geometry of every class of an embedding: its radius, its margin, and the class it is confused with.

NumPy only, in blocks, so that it can be measured beside a training run.
"""

from dataclasses import dataclass

import numpy as np

from workbench.files.spreadsheet import csv_text
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.workspace import Workspace
from workbench.workspace.measured.ranking import read_labels

TITLES = ("Class", "Images", "Covering radius", "Margin", "Crossed %", "Intra", "Inter", "Nearest class", "For %")
BLOCK = 2**23  # distances in memory at once (32 MB)
ROOMY = 1e15  # numbers up to this have squares whose sum is finite in float32
OUTER = 64  # samples of a class that bound its radius, and that are compared together


@dataclass(frozen=True, slots=True, eq=False)
class ClassShapes:
    """Numbers of every class, in order of label.

    Distances are Euclidean, in the space of the evaluation's distance: between unit vectors for cosine (0 to 2),
    between the points in the ball for hyperbolic distances.
    """

    labels: np.ndarray  # [K] int64
    counts: np.ndarray  # [K] int64
    radius: np.ndarray  # [K] radius of the smallest ball around one of its own samples that contains all of them
    margin: np.ndarray  # [K] mean distance to the nearest other centre minus that to its own; NaN for a single class
    crossed: np.ndarray  # [K] fraction of its samples nearer to the centre of another class than to their own, 0..1
    intra: np.ndarray  # [K] mean cosine similarity of two of its samples, -1..1; NaN for one sample
    inter: np.ndarray  # [K] mean cosine similarity of its samples and all others; NaN for a single class
    confused: np.ndarray  # [K] class whose centre is the nearest other one of most samples; -1 for a single class
    confused_share: np.ndarray  # [K] fraction of its samples for which that centre is the nearest other one, 0..1
    by_proxies: bool  # centres are the method's proxies, not the means of the samples


def class_shapes(
    embeddings: np.ndarray,
    labels: np.ndarray,
    proxies: tuple[np.ndarray, np.ndarray] | None = None,
    metric: str = "cosine",
    progress: Progress = quiet,
) -> ClassShapes:
    """Measure every class of an embedding.

    Args:
        embeddings: [n, d] finite. labels: [n] int.
        proxies: vectors [p, d] and labels [p]; a class may have several. They are the centres if every class of
            `labels` has one; else, as for classes that were not trained on, the mean of a class is its centre.
        metric: the evaluation's distance.

    Raises:
        Problem: empty or non-finite embeddings, lengths or widths that differ.
        Cancelled: by `progress`.
    """
    vectors = _checked(embeddings, labels)
    directions = _unit(vectors)
    names, classes = np.unique(labels, return_inverse=True)
    counts = np.bincount(classes)
    space = directions if metric == "cosine" else vectors
    order = np.argsort(classes, kind="stable")
    ends = np.cumsum(counts)
    by_proxies = proxies is not None and bool(np.isin(names, proxies[1]).all())
    if by_proxies and proxies is not None:
        table = _checked(proxies[0], proxies[1])
        if table.shape[1] != vectors.shape[1]:
            raise Problem("The class vectors have another number of dimensions than the embeddings.")
        centres, of = (_unit(table) if metric == "cosine" else table), proxies[1]
    else:
        means = np.add.reduceat(space[order], ends - counts, axis=0, dtype=np.float64) / counts[:, None]
        centres, of = (_unit(means) if metric == "cosine" else means).astype(space.dtype), names
    radius = np.empty(len(names))
    for row, (count, end) in enumerate(zip(counts.tolist(), ends.tolist(), strict=True)):
        if row % 256 == 0:
            progress("Measuring covering radii", row, len(names))
        radius[row] = _radius(space[order[end - count : end]])
    margins, foreign = _margins(space, labels, centres, of, progress)
    lone = len(np.unique(of)) < 2
    mean, crossed = (np.bincount(classes, values, len(names)) / counts for values in (margins, margins < 0))
    confused, share = _most(classes, foreign, counts)
    intra, inter = _similarities(directions[order], counts)
    nothing = np.full(len(names), np.nan)
    return ClassShapes(
        names.astype(np.int64), counts, radius, nothing if lone else mean, nothing if lone else crossed, intra,
        inter, np.full(len(names), -1) if lone else confused, nothing if lone else share, by_proxies,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class ClassRow:
    """One class, as in `ClassShapes`; NaN and an empty name where there is nothing to measure."""

    label: int
    name: str
    count: int
    radius: float
    margin: float
    crossed: float  # in 0..1
    intra: float
    inter: float
    confused: str
    confused_share: float  # in 0..1

    def cells(self) -> tuple[str | int | float, ...]:
        """Values in the order of TITLES; shares in percent."""
        return (
            self.name, self.count, self.radius, self.margin, 100 * self.crossed, self.intra, self.inter, self.confused,
            100 * self.confused_share,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class ClassTable:
    """All classes of an evaluation, those with the least margin first."""

    evaluation: int
    metric: str  # the evaluation's distance
    by_proxies: bool  # margins are measured to class vectors, not to class means
    rows: tuple[ClassRow, ...]

    def csv(self) -> bytes:
        """The table as CSV with all digits; a number that does not exist is an empty cell."""
        rows = [["" if cell != cell else cell for cell in row.cells()] for row in self.rows]
        return csv_text(list(TITLES), rows).encode()


def measure_classes(workspace: Workspace, evaluation_id: int, progress: Progress) -> ClassTable:
    """Measure the classes of an evaluation: seconds for 60,000 embeddings, not for the window's thread.

    Raises:
        Problem: embeddings or labels that are missing, damaged or not finite.
        Cancelled: by `progress`.
    """
    evaluation = workspace.evaluation(evaluation_id)
    run = workspace.run(evaluation.run_id)
    names = () if run.dataset_id is None else workspace.dataset(run.dataset_id).class_names
    shapes = class_shapes(
        workspace.vectors(evaluation_id), read_labels(workspace, evaluation_id), workspace.proxies(evaluation_id),
        evaluation.distance, progress,
    )  # fmt: skip

    def named(label: int) -> str:
        return "" if label < 0 else names[label] if label < len(names) else str(label)

    rows = [
        ClassRow(
            label, named(label), int(shapes.counts[row]), float(shapes.radius[row]), float(shapes.margin[row]),
            float(shapes.crossed[row]), float(shapes.intra[row]), float(shapes.inter[row]),
            named(int(shapes.confused[row])), float(shapes.confused_share[row]),
        )
        for row, label in enumerate(shapes.labels.tolist())
    ]  # fmt: skip
    order = np.argsort(shapes.margin, kind="stable").tolist()
    return ClassTable(evaluation_id, evaluation.distance, shapes.by_proxies, tuple(rows[row] for row in order))


def _checked(embeddings: np.ndarray, labels: np.ndarray) -> np.ndarray:
    vectors = np.asarray(embeddings, np.float32)
    if vectors.size and np.abs(vectors).max() > ROOMY:  # of a diverged run
        vectors = vectors.astype(np.float64)
    if vectors.ndim != 2 or 0 in vectors.shape or not np.isfinite(vectors).all():
        raise Problem("Classes can be measured in a table of finite embeddings with at least one row.")
    if np.shape(labels) != (len(vectors),):
        raise Problem("There must be one label for each embedding.")
    return vectors


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Of length one; a zero vector stays zero."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    scaled = np.divide(vectors, largest, out=np.zeros_like(vectors), where=largest > 0)
    return np.asarray(scaled / np.maximum(np.linalg.norm(scaled, axis=1, keepdims=True), 1))


def _radius(members: np.ndarray) -> float:
    """The minimum over the samples of a class of the distance to the farthest other sample.

    The distance to the farthest of some outer samples is a lower bound: if it is above the best radius so far, the
    sample is skipped. This skips most of a class of thousands.
    """
    centred = members - members.mean(axis=0)
    norms = (centred**2).sum(axis=1)
    outer = np.argsort(-norms, kind="stable")[:OUTER]
    bounds = (norms[outer] - 2 * (centred @ centred[outer].T)).max(axis=1) + norms
    order = np.argsort(bounds, kind="stable")
    best, centre = np.inf, int(order[0])
    for start in range(0, len(order), OUTER):
        rows = order[start : start + OUTER]
        if bounds[rows[0]] > best:
            break
        reach = (norms - 2 * (centred[rows] @ centred.T)).max(axis=1) + norms[rows]
        if reach.min() < best:
            best, centre = float(reach.min()), int(rows[reach.argmin()])
    return float(np.sqrt(((members - members[centre]).astype(np.float64) ** 2).sum(axis=1).max()))


def _margins(
    space: np.ndarray, labels: np.ndarray, centres: np.ndarray, of: np.ndarray, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """For every sample the margin [n] and the label [n] of the nearest centre of another class.

    The nearest are found in float32 and their distances measured in float64.
    """
    order = np.argsort(of, kind="stable")
    of, middle = of[order], centres.mean(axis=0)
    table = centres[order] - middle
    first, last = np.searchsorted(of, labels, "left"), np.searchsorted(of, labels, "right")
    own = first[:, None] + np.arange(int((last - first).max()))
    own = np.where(own < last[:, None], own, first[:, None])  # columns of its own class, one perhaps twice
    halves = (table**2).sum(axis=1) / 2
    margins, foreign = np.empty(len(space)), np.empty(len(space), of.dtype)
    step = max(1, BLOCK // len(table))
    for start in range(0, len(space), step):
        progress("Measuring margins", start, len(space))
        part = slice(start, start + step)
        near = (space[part] - middle) @ table.T
        near -= halves  # half the squared distance, less what is the same for all centres, and negative
        best = own[part][np.arange(len(near)), np.take_along_axis(near, own[part], axis=1).argmax(axis=1)]
        np.put_along_axis(near, own[part], -np.inf, axis=1)
        other = near.argmax(axis=1)
        away = [
            np.sqrt(((space[part] - middle - table[rows]).astype(np.float64) ** 2).sum(axis=1))
            for rows in (other, best)
        ]
        margins[part], foreign[part] = away[0] - away[1], of[other]
    return margins, foreign


def _most(classes: np.ndarray, foreign: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The most frequent label among `foreign` of each class (of a tie the lowest), and its fraction."""
    names, columns = np.unique(foreign, return_inverse=True)
    pairs, times = np.unique(classes * len(names) + columns, return_counts=True)
    of, which = np.divmod(pairs, len(names))
    order = np.lexsort((which, -times, of))
    firsts = order[np.unique(of[order], return_index=True)[1]]
    return names[which[firsts]], times[firsts] / counts


def _similarities(directions: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean cosine of two samples of a class [K], and of its samples and all others [K], from sums of directions."""
    starts = np.cumsum(counts) - counts
    sums = np.add.reduceat(directions, starts, axis=0, dtype=np.float64)
    lengths = np.add.reduceat((directions.astype(np.float64) ** 2).sum(axis=1), starts)
    within = (sums**2).sum(axis=1)
    pairs, others = counts * (counts - 1.0), counts * (counts.sum() - counts * 1.0)
    across = sums @ sums.sum(axis=0) - within
    nothing = np.full(len(counts), np.nan)
    return (
        np.divide(within - lengths, pairs, out=nothing.copy(), where=pairs > 0),
        np.divide(across, others, out=nothing.copy(), where=others > 0),
    )
