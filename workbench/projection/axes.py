"""A map by two chosen directions: where each embedding lies between two classes or two images, or along a PCA."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.problem import Problem
from workbench.projection.pca import fit_pca

MEANS, PROXIES, SAMPLES, COMPONENT = "means", "proxies", "samples", "component"


@dataclass(frozen=True, slots=True)
class Direction:
    """One axis. `first` and `second` are labels, or ids of samples, and the axis leads from second to first; of a
    component, `first` is its number from 0 and `second` is unused."""

    kind: str  # MEANS, PROXIES, SAMPLES or COMPONENT
    first: int
    second: int = 0

    def plain(self) -> list[Any]:
        """Its plain form in a request."""
        return [self.kind, self.first, self.second]


ACROSS, UP = Direction(COMPONENT, 0), Direction(COMPONENT, 1)  # the axes of PCA


@dataclass(frozen=True, slots=True, eq=False)
class Axes:
    """Two unit vectors with the zero point on each."""

    directions: np.ndarray  # [d, 2] float64, each of length 1
    zero: np.ndarray  # [2]

    def transform(self, vectors: np.ndarray) -> np.ndarray:
        """[n, d] -> [n, 2] float32: each coordinate is the projection on its own axis, whatever the other is."""
        places: np.ndarray = np.asarray(vectors, np.float64) @ self.directions - self.zero
        return places.astype(np.float32)

    @property
    def angle(self) -> float:
        """Degrees between the two directions, 0 to 180; at 90 the map is a true projection on a plane."""
        cosine = float(np.clip(self.directions[:, 0] @ self.directions[:, 1], -1, 1))
        return float(np.degrees(np.arccos(cosine)))


def axes(
    vectors: np.ndarray, labels: np.ndarray, proxies: np.ndarray | None, proxy_labels: np.ndarray, x: Direction,
    y: Direction, sample_ids: np.ndarray | None = None,
) -> Axes:  # fmt: skip
    """Two directions among embeddings [n, d] of labels [n] and proxies [p, d] of labels [p], as the metric has them.

    0 lies halfway between two class means, proxies or samples, and at the mean of all embeddings for a component.
    Several proxies of a class count by their mean. `sample_ids` [n] are those of the embeddings.

    Raises:
        Problem: a class without embeddings or proxies, a sample that is not among the embeddings, two ends that are
            equal, a component that the embeddings do not have.
    """
    ids = np.empty(0, np.int64) if sample_ids is None else sample_ids
    both = [_direction(vectors, labels, proxies, proxy_labels, ids, direction) for direction in (x, y)]
    return Axes(np.stack([unit for unit, _ in both], 1), np.array([zero for _, zero in both]))


def _direction(
    vectors: np.ndarray, labels: np.ndarray, proxies: np.ndarray | None, proxy_labels: np.ndarray, ids: np.ndarray,
    chosen: Direction,
) -> tuple[np.ndarray, float]:  # fmt: skip
    if chosen.kind == COMPONENT:
        fitted = fit_pca(vectors, chosen.first + 1)
        unit = fitted.axes[:, -1]
        if not unit.any():
            raise Problem(f"The embeddings have no principal component {chosen.first + 1}.", todo="Choose a lower one.")
        return unit, float(fitted.mean @ unit)
    if chosen.kind == MEANS:
        ends = [_mean(vectors, labels, label, "embedding") for label in (chosen.first, chosen.second)]
    elif chosen.kind == PROXIES and proxies is not None:
        ends = [_mean(proxies, proxy_labels, label, "class vector") for label in (chosen.first, chosen.second)]
    elif chosen.kind == SAMPLES:
        ends = [_of_sample(vectors, ids, sample) for sample in (chosen.first, chosen.second)]
    else:
        raise Problem("This run has no class vectors.", todo="Choose class means.")
    apart = ends[0] - ends[1]
    length = float(np.linalg.norm(apart))
    if length == 0:
        what, one = ("images", "image") if chosen.kind == SAMPLES else ("classes", "class")
        raise Problem(f"An axis needs two different {what}.", todo=f"Choose another {one} for one of its ends.")
    return apart / length, float((ends[0] + ends[1]) / 2 @ (apart / length))


def _mean(vectors: np.ndarray, labels: np.ndarray, label: int, what: str) -> np.ndarray:
    of_class = vectors[labels == label]
    if not len(of_class):
        raise Problem(f"A class of the axes has no {what} on this map.", todo="Choose another class.")
    mean: np.ndarray = of_class.mean(0, dtype=np.float64)
    return mean


def _of_sample(vectors: np.ndarray, ids: np.ndarray, sample: int) -> np.ndarray:
    row = np.flatnonzero(ids == sample)
    if not len(row):
        raise Problem("An image of the axes is not on this map.", todo="Select two images that are, and choose them.")
    vector: np.ndarray = vectors[row[0]].astype(np.float64)
    return vector
