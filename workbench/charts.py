"""Pictures of a method as plain data: a loss describes them, the workspace stores them, the window draws them."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

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
        """As JSON takes it."""
        return asdict(self)


def from_plain(stored: dict[str, Any]) -> Chart:
    """The chart that `plain` wrote. Raises KeyError or TypeError for anything else."""
    marks = tuple(
        Marks(
            mark["title"], mark["look"], tuple(mark["x"]), tuple(mark["y"]), tuple(mark["classes"]),
            mark.get("axis", "left"),  # charts stored before there was a second axis
        )
        for mark in stored["marks"]
    )  # fmt: skip
    return Chart(stored["title"], stored["x_title"], marks, stored["note"])
