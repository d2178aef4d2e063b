"""Density of a map's points: contours around the densest parts with given fractions of them."""

from dataclasses import dataclass

import numpy as np

from workbench.projection.coordinates import has_coordinates

SIDE = 128  # cells along the longer side
BLUR = 2.0  # cells, standard deviation of the Gaussian that a point is
MARGIN = 3 * BLUR  # cells around the points
SHARES = (0.9, 0.7, 0.5, 0.3, 0.1)
FEWEST = 10  # points


@dataclass(frozen=True, slots=True, eq=False)
class Contour:
    """The lines around the densest part of a map that contains this fraction of its points."""

    share: float  # in 0..1
    lines: tuple[np.ndarray, ...]  # each [k, 2] in the map's coordinates, closed


def contours(points: np.ndarray, shares: tuple[float, ...] = SHARES) -> tuple[Contour, ...]:
    """Contours of the points' density, a Gaussian kernel estimate with a width of 1/64 of the map's longer side.

    Args:
        points: [n, 2]; rows that are not finite are left out. Fewer than ten have no contours.
        shares: of the points inside each line, in 0..1.
    """
    from contourpy import LineType, contour_generator
    from scipy.ndimage import gaussian_filter

    points = points[has_coordinates(points)].astype(float)
    if len(points) < FEWEST:
        return ()
    low, high = points.min(0), points.max(0)
    cell = float((high - low).max()) / SIDE
    if cell <= 0:
        return ()
    low, high = low - MARGIN * cell, high + MARGIN * cell
    cells = np.ceil((high - low) / cell).astype(int)
    columns, rows = ((points - low) / cell).astype(int).T
    counts = np.bincount(rows * cells[0] + columns, minlength=int(cells.prod())).reshape(cells[1], cells[0])
    density = gaussian_filter(counts.astype(float), BLUR, mode="constant")
    at_points = density[rows, columns]
    x, y = (low[axis] + cell * (np.arange(cells[axis]) + 0.5) for axis in (0, 1))
    generator = contour_generator(x, y, density, line_type=LineType.Separate)
    levels = [float(np.quantile(at_points, 1 - share)) for share in shares]
    return tuple(
        Contour(share, tuple(np.asarray(line) for line in generator.lines(level)))
        for share, level in zip(shares, levels, strict=True)
    )
