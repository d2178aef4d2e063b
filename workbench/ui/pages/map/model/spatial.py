"""A grid over the points of a map, which finds those in a box or an outline without testing all of them."""

import numpy as np

from workbench.projection.coordinates import corners, has_coordinates

SIDE = 256  # cells along each side; a cell's number then fits 16 bits, which NumPy sorts in linear time
LEAST = 1e-6  # height and width of a map whose points are all equal
FAR = 8  # for an outline at least this many times as large as the map, the points are tested without the grid
Box = tuple[float, float, float, float]  # left, low, right, high


class PointIndex:
    """Finite points sorted by grid cell; their order within a cell is random, with a fixed seed.

    Data sets list their images by class: drawn in that order, the last classes would cover the others.

    Args:
        points: [n, 2] float; rows that are not finite are left out.
    """

    def __init__(self, points: np.ndarray) -> None:
        finite = np.flatnonzero(np.isfinite(points[:, 0]) & np.isfinite(points[:, 1]))
        finite = np.random.default_rng(0).permutation(finite)
        self.count = len(points)
        x, y = points[finite, 0], points[finite, 1]
        self.low = np.array([x.min(), y.min()] if len(x) else [0.0, 0.0], float)
        self.high = np.array([x.max(), y.max()] if len(x) else [1.0, 1.0], float)
        self._cell = np.maximum(self.high - self.low, LEAST) / SIDE
        keys = (self._along(y, 1) << 8 | self._along(x, 0)).astype(np.uint16)
        by_cell = np.argsort(keys, kind="stable")
        self.order = finite[by_cell]  # [m] row of each slot
        self.x, self.y = x[by_cell], y[by_cell]  # [m] as given
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(keys, minlength=SIDE * SIDE))])

    def slots_in(self, box: Box) -> np.ndarray:
        """Slots [k] of the points in a box, and of some points near it, ascending."""
        ranges = self._ranges(box)
        if not ranges:
            return np.empty(0, np.int64)
        return np.concatenate([np.arange(first, last) for first, last in ranges])

    def all_in(self, box: Box) -> bool:
        """Whether a box contains every point."""
        return bool(
            box[0] <= self.low[0] and box[1] <= self.low[1] and box[2] >= self.high[0] and box[3] >= self.high[1]
        )

    def slots_inside(self, outline: np.ndarray) -> np.ndarray:
        """Slots of the points in a closed polygon [m, 2], by the even-odd rule, in any order.

        A cell that no edge touches is entirely inside or outside; only points of the other cells are tested.
        """
        if len(outline) < 3 or not len(self.order):
            return np.empty(0, np.int64)
        low, high = outline.min(0), outline.max(0)
        if ((high - low) > FAR * SIDE * self._cell).any():
            return np.flatnonzero(inside(np.stack([self.x, self.y], 1), outline))
        touched = self._touched(outline)
        filled = np.diff(self._starts).reshape(SIDE, SIDE) > 0
        columns, rows = np.meshgrid(np.arange(SIDE), np.arange(SIDE))
        centres = self.low + (np.stack([columns, rows], -1) + 0.5) * self._cell
        within = np.zeros((SIDE, SIDE), bool)
        asked = filled & ~touched
        within[asked] = inside(centres[asked], outline)
        whole = self._slots_of(within)
        edge = self._slots_of(touched & filled)
        near = edge[inside(np.stack([self.x[edge], self.y[edge]], 1), outline)]
        return np.concatenate([whole, near])

    def _along(self, values: np.ndarray, axis: int) -> np.ndarray:
        cells: np.ndarray = np.clip((values - self.low[axis]) / self._cell[axis], 0, SIDE - 1)
        return cells.astype(np.int64)

    def _ranges(self, box: Box) -> list[tuple[int, int]]:
        """Ranges of slots (start, end), one for each row of cells in the box."""
        if box[2] < self.low[0] or box[3] < self.low[1] or box[0] > self.high[0] or box[1] > self.high[1]:
            return []
        left, right = self._along(np.array([box[0], box[2]]), 0).tolist()
        below, above = self._along(np.array([box[1], box[3]]), 1).tolist()
        if left == 0 and right == SIDE - 1:
            return [(int(self._starts[below * SIDE]), int(self._starts[(above + 1) * SIDE]))]
        rows = np.arange(below, above + 1) * SIDE
        firsts, lasts = self._starts[rows + left].tolist(), self._starts[rows + right + 1].tolist()
        return [(first, last) for first, last in zip(firsts, lasts, strict=True) if last > first]

    def _touched(self, outline: np.ndarray) -> np.ndarray:
        """Bool [SIDE, SIDE]: cells that an edge may cross, which are those around every half cell along it."""
        mask = np.zeros((SIDE + 2, SIDE + 2), bool)
        ways = (np.roll(outline, -1, 0) - outline) / self._cell
        steps = 2 + (2 * np.abs(ways).max(1)).astype(np.int64)
        part = (np.arange(steps.sum()) - np.repeat(np.cumsum(steps) - steps, steps)) / np.repeat(steps - 1, steps)
        places = np.repeat((outline - self.low) / self._cell, steps, 0) + part[:, None] * np.repeat(ways, steps, 0)
        column, row = np.floor(np.clip(places, -2, SIDE + 2)).astype(np.int64).T + 1
        good = (column >= 0) & (column < SIDE + 2) & (row >= 0) & (row < SIDE + 2)
        mask[row[good], column[good]] = True
        spread = np.zeros((SIDE, SIDE), bool)
        for down in range(3):
            for across in range(3):
                spread |= mask[down : down + SIDE, across : across + SIDE]
        return spread

    def _slots_of(self, cells: np.ndarray) -> np.ndarray:
        chosen = np.flatnonzero(cells.ravel())
        firsts, counts = self._starts[chosen], self._starts[chosen + 1] - self._starts[chosen]
        total = int(counts.sum())
        before = np.cumsum(counts) - counts
        return np.repeat(firsts - before, counts) + np.arange(total)


def inside(points: np.ndarray, outline: np.ndarray) -> np.ndarray:
    """Which of points [n, 2] lie in the closed polygon [m, 2]; bool [n], by the even-odd rule.

    Points are sorted by y once, so that each edge is compared only with the points between its ends.
    """
    mask = np.zeros(len(points), bool)
    if len(outline) < 3:
        return mask
    low, high = outline.min(0), outline.max(0)
    near = np.flatnonzero(((points >= low) & (points <= high)).all(1))
    near = near[np.argsort(points[near, 1], kind="stable")]
    x, y = points[near].astype(float).T
    crossed = np.zeros(len(near), bool)
    for (x1, y1), (x2, y2) in zip(outline.tolist(), np.roll(outline, -1, 0).tolist(), strict=True):
        if y1 != y2:
            span = slice(*np.searchsorted(y, (min(y1, y2), max(y1, y2))))
            crossed[span] ^= x[span] < (x2 - x1) * (y[span] - y1) / (y2 - y1) + x1
    mask[near] = crossed
    return mask


def box_around(points: np.ndarray, margin: float = 0.0) -> Box | None:
    """The smallest box around the finite ones of points [n, 2], wider on each side by `margin` of its longer side.

    None if no point is finite.
    """
    finite = points[has_coordinates(points)]
    if not len(finite):
        return None
    (left, low), (right, high) = (corner.tolist() for corner in corners(finite))
    room = margin * max(right - left, high - low, LEAST)
    return left - room, low - room, right + room, high + room
