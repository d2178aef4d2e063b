"""A colouring of the map: the group of each point, and the name, colour and shape of each group. No Qt."""

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, slots=True)
class Scale:
    """The content of a continuous legend."""

    title: str
    low: float
    high: float
    without: int  # points that have no value


@dataclass(slots=True, eq=False)
class Groups:
    """A colouring: a group number per point, and each group's name, colour and shape."""

    of: np.ndarray  # [n] int
    names: list[str]
    colours: np.ndarray  # [g] uint32, 0xFFRRGGBB
    labels: np.ndarray | None = None  # [g] the class of each group, when colouring by class
    crosses: frozenset[int] = frozenset()  # groups drawn as crosses instead of discs
    scale: Scale | None = None  # for a colouring by a number: the groups are the steps of this scale
    placed: np.ndarray | None = None  # bool [n], the points that the legend counts; None: all
    scored: bool = False  # whether MAP@R of a group says something: tags, halves; classes have it always
    counts: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        counted = self.of if self.placed is None else self.of[self.placed]
        self.counts = np.bincount(counted, minlength=len(self.names))
