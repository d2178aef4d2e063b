"""Principal components: an immediate map, the same on every machine up to rounding, and the start of UMAP."""

from dataclasses import dataclass

import numpy as np

from workbench.projection.vectors import blocks


@dataclass(frozen=True, slots=True, eq=False)
class Pca:
    """A fitted projection to k dimensions, two unless more were asked for."""

    mean: np.ndarray  # [d] float64
    axes: np.ndarray  # [d, k] float64, orthonormal; zero where the data have fewer directions
    share: tuple[float, ...]  # [k], of the variance along each axis, in 0..1

    def transform(self, vectors: np.ndarray) -> np.ndarray:
        """[n, d] -> [n, k] float32."""
        points = np.empty((len(vectors), self.axes.shape[1]), np.float32)
        for part in blocks(len(vectors)):
            points[part] = (np.asarray(vectors[part], np.float64) - self.mean) @ self.axes
        return points


def fit_pca(vectors: np.ndarray, components: int = 2) -> Pca:
    """Fit this number of components to [n, d] finite numbers, n >= 1.

    The largest weight of each axis is positive, so signs never flip.
    """
    count, width = vectors.shape
    mean = vectors.mean(axis=0, dtype=np.float64)
    if count > width:
        scatter = np.zeros((width, width))
        for part in blocks(count):  # no second table in float64
            rows = vectors[part] - mean
            scatter += rows.T @ rows
    else:
        centred = vectors - mean
        scatter = centred @ centred.T
    values, directions = np.linalg.eigh(scatter)
    values, directions = np.maximum(values[::-1], 0), directions[:, ::-1]
    axes = np.zeros((width, components))
    # Below this a direction is rounding of constant data, not variance.
    squares = float(np.trace(scatter)) + count * float(mean @ mean)
    floor = max(scatter.shape) * np.finfo(np.float64).eps * max(squares, values[0])
    for component in range(min(components, len(values))):
        if values[component] <= floor:
            break
        axis = directions[:, component] if count > width else centred.T @ directions[:, component]
        axis = axis / np.linalg.norm(axis)
        axes[:, component] = axis * np.sign(axis[np.abs(axis).argmax()])
    total = float(values.sum())
    largest = np.pad(values[:components], (0, max(0, components - len(values))))
    return Pca(mean, axes, tuple((largest / total).tolist() if total > floor else [0.0] * components))
