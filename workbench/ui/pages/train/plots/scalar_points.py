"""Points of scalars as they arrive, by the name of their curve."""

from array import array
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator

import numpy as np


class Points:
    """The points of one curve that is not drawn: a `Curve` takes ten times as long where thousands get one each."""

    def __init__(self) -> None:
        self._steps, self._values = array("d"), array("d")

    @property
    def steps(self) -> np.ndarray:
        """[n] float64, rising."""
        return np.array(self._steps)

    @property
    def values(self) -> np.ndarray:
        """[n] float64, with NaN and infinity as they came."""
        return np.array(self._values)

    def add(self, step: int, value: float) -> None:
        """Add a point, in place of those from its step on: they come again where a run was resumed."""
        steps = self._steps
        if steps and step <= steps[-1]:
            first = bisect_left(steps, step)
            del steps[first:], self._values[first:]
        steps.append(step)
        self._values.append(value)


def by_name(
    points: Iterable[tuple[str, int, float]], names: Container[str]
) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """The points (name, step, value) of these names: each name with its steps and values, both [n], in their order."""
    gathered: dict[str, tuple[list[int], list[float]]] = {}
    for name, step, value in points:
        if name in names:
            steps, values = gathered.setdefault(name, ([], []))
            steps.append(step)
            values.append(value)
    for name, (steps, values) in gathered.items():
        yield name, np.asarray(steps), np.asarray(values, np.float64)
