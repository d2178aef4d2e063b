"""The points of one curve in numpy buffers that double when full, and the steps where a value is not a number."""

from collections.abc import Callable, Sequence

import numpy as np

from workbench.ui.plots.value_scale import LINEAR, ValueScale

FIRST_CAPACITY = 256


class Curve:
    """Points (step, value) with rising steps; NaN and infinity are kept, drawn as gaps and listed in `breaks`.

    A step that comes again (a run resumed from an earlier checkpoint) replaces what was known from that step on.
    """

    def __init__(self) -> None:
        self._steps = np.empty(FIRST_CAPACITY, np.float64)
        self._values = np.empty(FIRST_CAPACITY, np.float64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def steps(self) -> np.ndarray:
        """[n] float64, rising."""
        return self._steps[: self._count]

    @property
    def values(self) -> np.ndarray:
        """[n] float64, with NaN and infinity as they came."""
        return self._values[: self._count]

    def clear(self) -> None:
        """Remove all points."""
        self._count = 0

    def append(self, steps: Sequence[float] | np.ndarray, values: Sequence[float] | np.ndarray) -> None:
        """Add points; both [n]. Raises ValueError when the lengths differ."""
        new_steps, new_values = np.asarray(steps, np.float64), np.asarray(values, np.float64)
        if new_steps.shape != new_values.shape:
            raise ValueError(f"{len(new_steps)} steps but {len(new_values)} values")
        if len(new_steps) == 0:
            return
        if np.any(np.diff(new_steps) <= 0):
            new_steps, new_values = _last_of_each_step(new_steps, new_values)
        self._count = int(np.searchsorted(self.steps, new_steps[0]))
        self._make_room(self._count + len(new_steps))
        end = self._count + len(new_steps)
        self._steps[self._count : end], self._values[self._count : end] = new_steps, new_values
        self._count = end

    def finite_values(self) -> np.ndarray:
        """[n] float64 with NaN in place of infinity, so that the drawing leaves a gap there."""
        return np.where(np.isfinite(self.values), self.values, np.nan)

    def breaks(self) -> list[tuple[float, str]]:
        """Where each stretch that is no number begins: (step, "NaN" or "infinite")."""
        bad = ~np.isfinite(self.values)
        starts = np.flatnonzero(bad & ~np.concatenate(([False], bad[:-1])))
        return [(float(self.steps[i]), "NaN" if np.isnan(self.values[i]) else "infinite") for i in starts]

    def at(self, places: Callable[["Curve"], np.ndarray]) -> "Curve":
        """The same values at the places [n] that the function gives, in a curve of its own."""
        placed = Curve()
        placed.append(places(self), self.values)
        return placed

    def _make_room(self, needed: int) -> None:
        capacity = len(self._steps)
        if needed <= capacity:
            return
        while capacity < needed:
            capacity *= 2
        for name in ("_steps", "_values"):
            grown = np.empty(capacity, np.float64)
            grown[: self._count] = getattr(self, name)[: self._count]
            setattr(self, name, grown)


def thinned(steps: np.ndarray, values: np.ndarray, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """At most `2 * columns` points, [m] and [m]: the least and the greatest value of each column of the picture.

    No peak is lost; a gap stays where a whole column is NaN.
    """
    if len(steps) <= 2 * columns:
        return steps, values
    size = -(-len(steps) // columns)
    starts = np.arange(0, len(steps), size)
    ends = np.minimum(starts + size, len(steps)) - 1
    return (
        np.column_stack((steps[starts], steps[ends])).ravel(),
        np.column_stack((np.fmin.reduceat(values, starts), np.fmax.reduceat(values, starts))).ravel(),
    )


def drawable(x: np.ndarray, y: np.ndarray, scale: ValueScale = LINEAR) -> tuple[np.ndarray, np.ndarray]:
    """Points [n] as pyqtgraph takes them: none where no value can be drawn, for it looks for the least of all."""
    y = scale.heights(y)
    return (x, y) if (np.isfinite(x) & np.isfinite(y)).any() else (x[:0], y[:0])


def lone_points(values: np.ndarray) -> np.ndarray:
    """Which points [n] bool have no finite neighbour, so that no line reaches them."""
    finite = np.concatenate(([False], np.isfinite(values), [False]))
    lone: np.ndarray = finite[1:-1] & ~finite[:-2] & ~finite[2:]
    return lone


def _last_of_each_step(steps: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    unique, last_from_the_end = np.unique(steps[::-1], return_index=True)
    return unique, values[::-1][last_from_the_end]
