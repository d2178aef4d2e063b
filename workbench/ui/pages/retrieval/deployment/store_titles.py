"""The positions of the titles of stores in the plot of a deployment."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QFontMetrics

DOT, GAP = 5, 10  # px: radius of a dot, distance from its centre to a title


@dataclass(frozen=True, slots=True)
class Mark:
    """A store as it is drawn, in px: its dot, and the ends of its interval."""

    name: str
    title: str
    at: QPointF
    top: float
    bottom: float


def placed(marks: Sequence[Mark], first: Collection[str], metrics: QFontMetrics, area: QRectF) -> dict[str, QRectF]:
    """Name -> position of its title, in `area` and not over another title, a dot or an interval.

    A title for which there is no room is left out.

    Args:
        first: names of the stores whose titles are placed first.
    """
    taken = [box for mark in marks for box in _drawn(mark)]
    places: dict[str, QRectF] = {}
    for mark in sorted(marks, key=lambda other: other.name not in first):
        width, height = metrics.horizontalAdvance(mark.title) + 2.0, float(metrics.height())
        for box in _around(mark, width, height):
            if area.contains(box) and not any(box.intersects(other) for other in taken):
                taken.append(box)
                places[mark.name] = box
                break
    return places


def _drawn(mark: Mark) -> tuple[QRectF, QRectF]:
    x, y = mark.at.x(), mark.at.y()
    return QRectF(x - DOT, y - DOT, 2 * DOT, 2 * DOT), QRectF(x - 1, mark.top, 2, mark.bottom - mark.top)


def _around(mark: Mark, width: float, height: float) -> Iterator[QRectF]:
    """Possible positions, the best first: beside the dot, then above and below its interval."""
    x, y = mark.at.x(), mark.at.y()
    for middle in (y, y - height, y + height):
        for left in (x + GAP, x - GAP - width):
            yield QRectF(left, middle - height / 2, width, height)
    for top in (min(mark.top, y - DOT) - height - 1, max(mark.bottom, y + DOT) + 1):
        for left in (x - width / 2, x - width + GAP, x - GAP):
            yield QRectF(left, top, width, height)
