"""Points of scalars as they arrive, by the name of their curve."""

from collections.abc import Container, Iterable, Iterator

import numpy as np


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
