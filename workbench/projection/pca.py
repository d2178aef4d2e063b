"""Principal components: a map at once, the same on every machine up to rounding, and the start of UMAP."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class Pca:
    """A fitted projection to two dimensions."""

    mean: np.ndarray  # [d] float64
    axes: np.ndarray  # [d, 2] float64, orthonormal; zero where the data have fewer directions
    share: tuple[float, float]  # of the variance along each axis, in 0..1

    def transform(self, vectors: np.ndarray) -> np.ndarray:
        """[n, d] -> [n, 2] float32."""
        centred = np.asarray(vectors, dtype=np.float64) - self.mean
        return (centred @ self.axes).astype(np.float32)


def fit_pca(vectors: np.ndarray) -> Pca:
    """Fit to [n, d] finite numbers, n >= 1. The largest weight of each axis is positive, so signs never flip."""
    table = np.asarray(vectors, dtype=np.float64)
    mean = table.mean(axis=0)
    centred = table - mean
    scatter = centred.T @ centred if len(table) > table.shape[1] else centred @ centred.T
    values, directions = np.linalg.eigh(scatter)
    values, directions = np.maximum(values[::-1], 0), directions[:, ::-1]
    axes = np.zeros((table.shape[1], 2))
    # Below this a direction is rounding of constant data, not variance.
    floor = max(scatter.shape) * np.finfo(np.float64).eps * max(float((table**2).sum()), values[0])
    for place in range(min(2, len(values))):
        if values[place] <= floor:
            break
        axis = directions[:, place] if len(table) > table.shape[1] else centred.T @ directions[:, place]
        axis = axis / np.linalg.norm(axis)
        axes[:, place] = axis * np.sign(axis[np.abs(axis).argmax()])
    total = float(values.sum())
    kept = [float(value / total) if total > floor else 0.0 for value in (*values[:2], 0.0)[:2]]
    return Pca(mean, axes, (kept[0], kept[1]))
