"""A map of three dimensions, its view, and the projection of its points on the screen. No Qt."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.projection.coordinates import corners, has_coordinates

STEEPEST = 90.0  # degrees


@dataclass(frozen=True, slots=True)
class View:
    """The direction of view: the map is first turned around its vertical axis, then tilted towards the viewer.

    Args:
        turn: degrees, -180 to 180.
        tilt: degrees, -90 (from below) to 90 (from above).
    """

    turn: float = 30.0
    tilt: float = 20.0

    def moved(self, turn: float, tilt: float) -> "View":
        """The view after turning and tilting by these degrees."""
        return View((self.turn + turn + 180) % 360 - 180, min(STEEPEST, max(-STEEPEST, self.tilt + tilt)))

    @property
    def axes(self) -> np.ndarray:
        """Rows [3, 3] float32: the directions of the map that point right, up and to the viewer."""
        turn, tilt = np.radians(self.turn), np.radians(self.tilt)
        right = (np.cos(turn), 0.0, -np.sin(turn))
        up = (-np.sin(tilt) * np.sin(turn), np.cos(tilt), -np.sin(tilt) * np.cos(turn))
        near = (np.cos(tilt) * np.sin(turn), np.sin(tilt), np.cos(tilt) * np.cos(turn))
        return np.array([right, up, near], np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """A map of three dimensions.

    Args:
        points: [n, 3]; NaN for samples that are not on the map.
        proxies: [p, 3] or None.
        doubts: groups that are not groups in the embedding, with outlines of three coordinates.
        view: the direction of view.
        middle: [3] the centre of the turns; if None, it and `reach` are computed from points and proxies.
        reach: radius of the ball around `middle` that contains all points and proxies.
    """

    points: np.ndarray
    proxies: np.ndarray | None
    doubts: tuple[dict[str, Any], ...] = ()
    view: View = field(default_factory=View)
    middle: np.ndarray | None = None
    reach: float = 0.0

    def __post_init__(self) -> None:
        if self.middle is not None:
            return
        tables = [self.points] if self.proxies is None else [self.points, self.proxies]
        every = np.concatenate([table[has_coordinates(table)] for table in tables])
        middle = np.add(*corners(every)) / 2 if len(every) else np.zeros(3, np.float32)
        reach = float(np.linalg.norm(every - middle, axis=1).max()) if len(every) else 1.0
        object.__setattr__(self, "middle", middle)
        object.__setattr__(self, "reach", reach or 1.0)

    def places(self, points: np.ndarray) -> np.ndarray:
        """Where points [..., 3] are on the screen, [..., 2] float32: 0 is the middle."""
        assert self.middle is not None
        seen: np.ndarray = (points - self.middle).astype(np.float32) @ self.view.axes[:2].T
        return seen

    @property
    def depth(self) -> np.ndarray:
        """How near the points [n] are to the viewer: 0 at the back of the ball, 1 at its front, NaN if not placed."""
        assert self.middle is not None
        towards: np.ndarray = (self.points - self.middle).astype(np.float32) @ self.view.axes[2]
        nearness: np.ndarray = np.clip(towards / np.float32(2 * self.reach) + np.float32(0.5), 0, 1)
        return nearness

    @property
    def outlines(self) -> tuple[dict[str, Any], ...]:
        """The doubts, with the outlines of their groups in this view."""
        return tuple(
            {**doubt, "outline": hull(self.places(np.asarray(doubt["outline"], np.float32))).tolist()}
            for doubt in self.doubts
        )


def hull(points: np.ndarray) -> np.ndarray:
    """The corners [m, 2] of the convex hull of a few points [n, 2], in their order around it (Andrew, 1979)."""
    ordered = sorted(map(tuple, points.tolist()))
    if len(ordered) < 3:
        return points
    halves = []
    for line in (ordered, ordered[::-1]):
        corners: list[tuple[float, ...]] = []
        for point in line:
            while len(corners) > 1 and _turns_right(corners[-2], corners[-1], point):
                corners.pop()
            corners.append(point)
        halves.append(corners[:-1])
    return np.array(halves[0] + halves[1])


def _turns_right(first: tuple[float, ...], second: tuple[float, ...], third: tuple[float, ...]) -> bool:
    (x, y), across, up = first, second[0] - first[0], second[1] - first[1]
    return across * (third[1] - y) - up * (third[0] - x) <= 0
