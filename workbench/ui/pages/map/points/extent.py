"""The box of all points, the box of the part in view, and the width of a point."""

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QTransform

from workbench.ui.pages.map.model.map_data import MapData
from workbench.ui.pages.map.model.spatial import LEAST, Box, PointIndex


def bounds(data: MapData, index: PointIndex) -> QRectF:
    """The smallest box around all points and proxies; for three dimensions, one that contains them in every view."""
    if data.space is not None:
        reach = data.space.reach
        return QRectF(-reach, -reach, 2 * reach, 2 * reach)
    low, high = index.low, index.high
    if data.proxies is not None:
        stars = data.proxies[np.isfinite(data.proxies).all(1)]
        if len(stars):
            few = [stars] if not len(index.order) else [stars, low[None], high[None]]
            low, high = np.concatenate(few).min(0), np.concatenate(few).max(0)
    wide, tall = np.maximum(high - low, LEAST).tolist()
    return QRectF(QPointF(*low.tolist()), QPointF(low[0] + wide, low[1] + tall))


def box_of(transform: QTransform, size: tuple[int, int], margin: float = 16) -> Box:
    """The part of the map that a view of `size` px shows, and `margin` px around it for points at its edge."""
    seen = transform.inverted()[0].mapRect(QRectF(-margin, -margin, size[0] + 2 * margin, size[1] + 2 * margin))
    return (seen.left(), seen.top(), seen.right(), seen.bottom())


def diameter(count: float) -> float:
    """The width of a point, in px, on a map of this many points."""
    return float(np.clip(12 - 1.7 * np.log10(max(10, count)), 2, 8))
