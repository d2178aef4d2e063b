"""The classes of a map's points, numbered, with centres and scores: counted on the thread that reads the map."""

from dataclasses import dataclass

import numpy as np

from workbench.projection.coordinates import has_coordinates


@dataclass(frozen=True, slots=True, eq=False)
class PointClasses:
    """The classes that occur among the points of a map."""

    source: np.ndarray  # [n] the label of each point, for which this holds
    labels: np.ndarray  # [g] that occur, ascending
    of: np.ndarray  # [n] the number of each point's label among them
    names: list[str]  # [g]
    order: np.ndarray | None = None  # [m] rows
    in_order: np.ndarray | None = None  # [m] the classes of these


@dataclass(frozen=True, slots=True, eq=False)
class ClassMeans:
    """Means over the points of each class; the first three fields say for which arrays this holds."""

    of: np.ndarray  # [n] the class of each point
    points: np.ndarray  # [n, 2]
    ap: np.ndarray  # [n]
    centres: np.ndarray  # [g, 2]
    counts: np.ndarray  # [g] points with finite coordinates
    scores: np.ndarray  # [g] AP of these, NaN without any


def classes_of(source: np.ndarray, class_names: tuple[str, ...], order: np.ndarray | None = None) -> PointClasses:
    """Number the labels [n] of points, and name them; `order` are the rows in another order, such as a drawing's."""
    labels, of = numbered(source)
    known = len(class_names)
    names = [class_names[label] if label < known else str(label) for label in labels.tolist()]
    return PointClasses(source, labels, of, names, order, None if order is None else of[order])


def numbered(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct labels, ascending, and the number [n] of each point's label among them.

    Small labels are counted, because sorting is slower.
    """
    if not len(labels) or labels.min() < 0 or labels.max() > len(labels):
        return np.unique(labels, return_inverse=True)
    there = np.bincount(labels) > 0
    return np.flatnonzero(there), (np.cumsum(there) - 1)[labels]


def means_of(classes: PointClasses, points: np.ndarray, ap: np.ndarray) -> ClassMeans:
    """The means over the classes of points [n, 2] with AP [n]."""
    centres, counts = centres_of(points, classes.of, len(classes.labels))
    return ClassMeans(classes.of, points, ap, centres, counts, scores_of(ap, points, classes.of, len(classes.labels)))


def centres_of(points: np.ndarray, group: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The mean [g, 2] of the points [n, 2] of each group that have finite coordinates, and their number [g]."""
    placed = has_coordinates(points)
    if not placed.all():
        group, points = group[placed], points[placed]
    counts = np.bincount(group, minlength=count)
    sums = np.stack([np.bincount(group, points[:, axis], count) for axis in (0, 1)], 1)
    return sums / np.maximum(counts, 1)[:, None], counts


def scores_of(ap: np.ndarray, points: np.ndarray, group: np.ndarray, count: int) -> np.ndarray:
    """The mean [g] of the AP [n] of the points of each group that have one and finite coordinates, NaN without any."""
    known = np.isfinite(ap) & has_coordinates(points)
    if not known.all():
        ap, group = ap[known], group[known]
    sums = np.bincount(group, ap, count)
    with np.errstate(invalid="ignore"):
        means: np.ndarray = sums / np.bincount(group, minlength=count)
    return means
