"""Pictures of a method as plain data: a loss describes them, the workspace stores them, the window draws them."""

from dataclasses import asdict, dataclass
from math import isfinite, nan
from typing import Any, Literal, get_args

LARGEST = 1e300  # of a coordinate: the width of all of them is a number, too
Look = Literal["line", "dashed", "bars", "circles", "boxes", "vertical"]


@dataclass(frozen=True, slots=True)
class Marks:
    """One set of marks.

    "line" and "dashed" join the points; "bars" rise from the axis and have the width of the first two x; "circles" and
    "boxes" are points, coloured by `classes` if there are any; "vertical" is a line across the chart at each x.
    Lines may have a second axis at the right.
    """

    title: str
    look: Look
    x: tuple[float, ...]
    y: tuple[float, ...]  # as long as x; empty for "vertical"
    classes: tuple[int, ...] = ()  # of each point, from 0
    axis: Literal["left", "right"] = "left"


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture with two axes."""

    title: str  # with the unit of y
    x_title: str
    marks: tuple[Marks, ...]
    note: str = ""  # a sentence below it

    def plain(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return asdict(self)


def from_plain(stored: dict[str, Any]) -> Chart:
    """The chart that `plain` wrote. Raises KeyError or TypeError for anything else."""
    marks = tuple(
        Marks(
            mark["title"], mark["look"], _numbers(mark["x"]), _numbers(mark["y"]), tuple(mark["classes"]),
            mark.get("axis", "left"),  # charts stored before there was a second axis
        )
        for mark in stored["marks"]
    )  # fmt: skip
    chart = Chart(stored["title"], stored["x_title"], marks, stored["note"])
    texts = (chart.title, chart.x_title, chart.note, *(mark.title for mark in marks))
    if not all(isinstance(text, str) for text in texts) or not all(map(_can_be_drawn, marks)):
        raise TypeError("a text, a look or a number of points that no chart has")
    return chart


def _numbers(stored: Any) -> tuple[float, ...]:
    """Coordinates, NaN where none was stored."""
    numbers = tuple(nan if value is None else value for value in stored)
    for value in numbers:
        drawn = type(value) in (int, float) and abs(value) <= LARGEST
        if not drawn and not (type(value) is float and not isfinite(value)):
            raise TypeError("a coordinate that cannot be drawn")
    return tuple(map(float, numbers))


def _can_be_drawn(marks: Marks) -> bool:
    return (
        marks.look in get_args(Look)
        and marks.axis in ("left", "right")
        and all(type(number) is int for number in marks.classes)
        and len(marks.y) == (0 if marks.look == "vertical" else len(marks.x))
    )
