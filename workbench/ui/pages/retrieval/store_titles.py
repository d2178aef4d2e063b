"""Where the titles of stores stand in a picture of a deployment."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QFontMetrics

DOT, GAP = 5, 10  # px: half a dot, from its middle to a title


@dataclass(frozen=True, slots=True)
class Mark:
    """A store as it is drawn, in px: its dot, and from where to where its interval goes."""

    name: str
    title: str
    at: QPointF
    top: float
    bottom: float


def placed(marks: Sequence[Mark], first: Collection[str], metrics: QFontMetrics, area: QRectF) -> dict[str, QRectF]:
    """The places of the titles by name: none meets another, a dot or an interval, or leaves the area.

    Args:
        first: names of stores that choose before the others; one without room has no title.
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
    """Beside the dot, then above and below its interval, the best first."""
    x, y = mark.at.x(), mark.at.y()
    for middle in (y, y - height, y + height):
        for left in (x + GAP, x - GAP - width):
            yield QRectF(left, middle - height / 2, width, height)
    for top in (min(mark.top, y - DOT) - height - 1, max(mark.bottom, y + DOT) + 1):
        for left in (x - width / 2, x - width + GAP, x - GAP):
            yield QRectF(left, top, width, height)
