"""What a plot says under the pointer: the points nearest to it, in words, without Qt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workbench.numerals import raised, significant
from workbench.ui.plots.curve import Curve
from workbench.ui.style.words import THIN

if TYPE_CHECKING:
    from workbench.ui.plots.items import Series


@dataclass(frozen=True, slots=True)
class Pointed:
    """The points of some curves that are nearest to a place on the bottom axis.

    Attributes:
        at: their place there; step: their stored x value.
        indices: of the point of each curve, by the name of its series; none is empty.
    """

    at: float
    step: float
    indices: Mapping[str, int]


def pointed_at(place: float, curves: Mapping[str, Curve], placed: Mapping[str, np.ndarray]) -> Pointed | None:
    """The nearest points of the curves, by the names of their series, which stand at `placed`; None if there are none.

    `at` and `step` are those of the nearest of all of them.
    """
    indices = {name: int(np.argmin(np.abs(places - place))) for name, places in placed.items() if len(places)}
    if not indices:
        return None
    nearest = min(indices, key=lambda name: abs(placed[name][indices[name]] - place))
    index = indices[nearest]
    return Pointed(float(placed[nearest][index]), float(curves[nearest].steps[index]), indices)


def values_in_words(pointed: Pointed, series: Sequence["Series"], curves: Mapping[str, Curve]) -> list[str]:
    """The titles of the curves with their values there."""
    titles = {entry.name: entry.title for entry in series}
    return [f"{titles[name]} {raised(significant(curves[name].values[at], 4))}" for name, at in pointed.indices.items()]


def difference_in_words(
    pointed: Pointed, compared: tuple[str, str], series: Sequence["Series"], curves: Mapping[str, Curve]
) -> str:
    """The first of two curves minus the second; "" unless both have a point at the same step."""
    if not set(compared) <= set(pointed.indices):
        return ""
    first, second = (curves[name] for name in compared)
    at, other_at = (pointed.indices[name] for name in compared)
    if first.steps[at] != second.steps[other_at]:
        return ""
    titles = {entry.name: entry.title for entry in series}
    words = " − ".join(titles[name] for name in compared)
    return f"{words} {raised(significant(float(first.values[at]) - float(second.values[other_at]), 4))}"


def place_in_words(pointed: Pointed, counts: str, x_title: str) -> str:
    """The stored x value, counted in `counts`, and the place on the bottom axis if that is another quantity."""
    where = f"{counts} {pointed.step:,.0f}"
    if x_title == counts:
        return where
    name, _, unit = x_title.partition(", ")
    return f"{where} · {significant(pointed.at)}{THIN}{unit}" if unit else f"{where} · {name} {significant(pointed.at)}"
