"""Coordinates of millions of points, column by column: NumPy reduces the short rows of [n, 2] far more slowly."""

import numpy as np


def has_coordinates(points: np.ndarray) -> np.ndarray:
    """Whether all k coordinates of a point are finite: [n, k], k at least 1, to bool [n]."""
    result: np.ndarray = np.logical_and.reduce([np.isfinite(column) for column in points.T])
    return result


def corners(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and the highest coordinates [k] each of points [n, k], n at least 1; NaN where one is NaN."""
    columns = points.T
    return np.array([column.min() for column in columns]), np.array([column.max() for column in columns])
